"""From an experiment to its folder: table, verdict, picture, page."""

import json
import sys
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .claims import FULL, QUICK, Verdict, judged, read_verdict
from .experiment import Experiment, Size
from .folders import EXPECTED, PICTURE, README, TABLE, VERDICT, folder_of, pieces_of, read_table
from .pages import readme
from .running import rows_of

if TYPE_CHECKING:
    from pandas import DataFrame

PACKAGES = ("pursuit", "numpy", "scipy", "scikit-learn")


def reproduce(
    experiment: Experiment,
    size: Size,
    root: Path,
    *,
    jobs: int = 1,
    minutes: float = np.inf,
    note: str = "",
    replace_table: bool = False,
) -> Verdict:
    """Run what is not done yet, and write the folder: the verdict is by the table as its file holds it.

    A table of more replications is replaced only with ``replace_table``.
    """
    import matplotlib as mpl

    folder = folder_of(experiment, root)
    rows, seconds = rows_of(experiment, size, pieces_of(experiment, root), jobs=jobs, minutes=minutes)
    found = experiment.table(rows)
    before, now = _copies(read_table(folder / TABLE)) if (folder / TABLE).exists() else 0, _copies(found)
    if now < before and not (size.quick or replace_table):
        raise ValueError(
            f"{experiment.name}: the lines of {folder / TABLE} rest on {before} replications in all, and what is done"
            f" so far would be {now}: run it for longer, or with --fresh to begin anew and replace the table"
        )
    folder.mkdir(parents=True, exist_ok=True)
    found.to_csv(folder / TABLE, index=False)
    table = read_table(folder / TABLE)
    verdict = Verdict(
        experiment.name,
        QUICK if size.quick else FULL,
        _replications(table),
        round(seconds, 1),
        _versions(),
        judged(experiment, table),
        note,
    )
    with mpl.rc_context(
        {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False}
    ):
        experiment.draw(table).savefig(folder / PICTURE, dpi=110, bbox_inches="tight", metadata={"Software": None})
    _write(experiment, verdict, folder)
    return verdict


def judge_again(experiment: Experiment, root: Path) -> None:
    """Verdict and page from the table that is there: after a claim or an explanation was put in other words."""
    folder = folder_of(experiment, root)
    if (folder / VERDICT).exists():
        again = judged(experiment, read_table(folder / TABLE))
        _write(experiment, replace(read_verdict(folder / VERDICT), judgements=again), folder)


def _write(experiment: Experiment, verdict: Verdict, folder: Path) -> None:
    expected = json.dumps(experiment.expected, indent=2, ensure_ascii=False) + "\n"
    (folder / EXPECTED).write_text(expected, encoding="utf-8")
    (folder / VERDICT).write_text(verdict.written(), encoding="utf-8")
    (folder / README).write_text(readme(experiment, verdict, read_table(folder / TABLE)), encoding="utf-8")


def _replications(table: "DataFrame") -> int:
    """The fewest replications behind a line of the table (its column ``copies``), 1 where nothing is random."""
    return int(table["copies"].min()) if "copies" in table else 1


def _copies(table: "DataFrame") -> int:
    """The replications of all lines of the table together."""
    return int(table["copies"].sum()) if "copies" in table else len(table)


def _versions() -> dict[str, str]:
    return {"python": sys.version.partition(" ")[0], **{one: version(one) for one in PACKAGES}}


def printed(verdict: Verdict, claims: dict[str, Any]) -> str:
    """The verdict for a terminal."""
    lines = [f"{verdict.experiment} ({verdict.mode}, {verdict.replications} replications)"]
    for one in verdict.judgements:
        lines.append(f"  {one.outcome:10}{claims[one.claim]['says']}\n{'':12}measured: {one.measured}")
        if one.evidence:
            lines.append(f"{'':12}{one.evidence}")
        if one.why:
            lines.append(f"{'':10}why: {one.why}")
    return "\n".join(lines)
