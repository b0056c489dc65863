"""The pages that people read: a README per experiment, and docs/reproduction.md over all of them."""

import math
import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .catalogue import PAPERS
from .claims import OUTCOMES, Verdict, read_verdict
from .experiment import Experiment
from .folders import PICTURE, README, TABLE, VERDICT, folder_of

if TYPE_CHECKING:
    from pandas import DataFrame

LINES = 40  # of a table that is shown whole


def readme(experiment: Experiment, verdict: Verdict, table: "DataFrame") -> str:
    shown = _markdown(table) if len(table) <= LINES else f"{len(table)} lines: [{TABLE}]({TABLE})."
    parts = [
        f"# {experiment.name}: {experiment.title}",
        f"{PAPERS[experiment.name.partition('/')[0]]}; {experiment.expected['where']}. {_effort(verdict)}",
        f"    pursuit-experiments run {experiment.name}{' --quick' if verdict.mode == 'quick' else ''}",
        "## What was done",
        experiment.about.strip(),
        "## Claims",
        claims_table(experiment, verdict),
        f"![{experiment.title}]({PICTURE})",
        "## Measured",
        shown,
        "Written by `pursuit-experiments run`: change the code, not this page.",
    ]
    return "\n\n".join(parts) + "\n"


def claims_table(experiment: Experiment, verdict: Verdict) -> str:
    lines = ["| the paper says | we measured | | why it differs |", "|---|---|---|---|"]
    claims = experiment.expected["claims"]
    for one in verdict.judgements:
        words = (claims[one.claim]["says"], one.measured, f"**{one.outcome}**", one.why)
        lines.append("| " + " | ".join(_cell(word) for word in words) + " |")
    return "\n".join(lines)


def reproduction(experiments: Iterable[Experiment], root: Path, page: Path) -> str:
    """docs/reproduction.md from the verdicts under ``root``; links are relative to ``page``."""
    found = [(one, folder_of(one, root)) for one in experiments]
    found = [(one, folder) for one, folder in found if (folder / VERDICT).exists()]
    held = [(one, folder, read_verdict(folder / VERDICT)) for one, folder in found]
    lines = ["# The papers, reproduced", _summary([verdict for _, _, verdict in held])]
    for paper, citation in PAPERS.items():
        own = [entry for entry in held if entry[0].name.startswith(f"{paper}/")]
        if own:
            lines.append(f"## {citation}")
        for experiment, folder, verdict in own:
            where = Path(os.path.relpath(folder, page.parent)).as_posix()
            lines += [
                f"### {experiment.name}: {experiment.title}",
                f"{experiment.expected['where']}. {_effort(verdict)} [Protocol, units and numbers]({where}/{README}).",
                claims_table(experiment, verdict),
                f"![{experiment.title}]({where}/{PICTURE})",
            ]
    return "\n\n".join(lines) + "\n"


def _summary(verdicts: list[Verdict]) -> str:
    outcomes = Counter(one.outcome for verdict in verdicts for one in verdict.judgements)
    counts = ", ".join(f"{outcomes[outcome]} {outcome}" for outcome in OUTCOMES)
    return (
        f"{len(verdicts)} experiments, {sum(outcomes.values())} claims: {counts}. A claim *differs* where the cause"
        " lies outside our solvers (substitute data, a slip of the paper, a baseline better than the paper's); it"
        " *failed* where we know of no such cause. `pursuit-experiments verify` judges the committed tables anew,"
        " `pursuit-experiments report` writes this page, and `pursuit-experiments run NAME` does an experiment again."
    )


def _effort(verdict: Verdict) -> str:
    hours = verdict.processor_seconds / 3600
    spent = f"{hours:.1f} processor hours" if hours >= 1 else f"{60 * hours:.2g} processor minutes"
    copies = f", at least {verdict.replications} replications" if verdict.replications > 1 else ""
    return f"**{verdict.mode}** run{copies}, {spent}.{' ' + verdict.note if verdict.note else ''}"


def _markdown(table: "DataFrame") -> str:
    lines = ["| " + " | ".join(map(str, table.columns)) + " |", "|" + "---|" * len(table.columns)]
    rows = table.itertuples(index=False)
    lines += ["| " + " | ".join(_cell(_number(value)) for value in row) + " |" for row in rows]
    return "\n".join(lines)


def _number(value: Any) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.4g}"
    return str(value)


def _cell(text: str) -> str:
    return " ".join(str(text).split()).replace("|", "\\|")


def write_reproduction(experiments: Iterable[Experiment], root: Path, page: Path) -> None:
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(reproduction(experiments, root, page), encoding="utf-8")
