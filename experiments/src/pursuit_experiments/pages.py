"""The pages that people read: a README per experiment, and docs/reproduction.md over all of them."""

import math
import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .catalogue import PAPERS
from .claims import KINDS, OUTCOMES, PAPER, Verdict, kind_of, read_verdict
from .experiment import AGREES, DIFFERS, FAILED, UNDECIDED, Experiment, Judgement
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
    """The paper's claims; our own aims, checked slips and data that the paper did not have in a table of their own."""
    own = [one for one in verdict.judgements if kind_of(experiment, one.claim) == PAPER]
    beside = [one for one in verdict.judgements if kind_of(experiment, one.claim) != PAPER]
    parts = [_rows(experiment, own, "the paper says")] if own else []
    if beside:
        parts += [
            "Beside the paper's claims, and not counted among them:",
            _rows(experiment, beside, "what was looked at"),
        ]
    return "\n\n".join(parts)


def _rows(experiment: Experiment, judgements: list[Judgement], heading: str) -> str:
    lines = [f"| {heading} | we measured | | why it differs |", "|---|---|---|---|"]
    claims = experiment.expected["claims"]
    for one in judgements:
        measured = f"{one.measured} ({one.evidence})" if one.evidence else one.measured
        says, kind = claims[one.claim]["says"], KINDS[kind_of(experiment, one.claim)]
        words = (f"({kind}) {says}" if kind else says, measured, f"**{one.outcome}**", one.why)
        lines.append("| " + " | ".join(_cell(word) for word in words) + " |")
    return "\n".join(lines)


def reproduction(experiments: Iterable[Experiment], root: Path, page: Path) -> str:
    """docs/reproduction.md from the verdicts under ``root``; links are relative to ``page``."""
    found = [(one, folder_of(one, root)) for one in experiments]
    found = [(one, folder) for one, folder in found if (folder / VERDICT).exists()]
    held = [(one, folder, read_verdict(folder / VERDICT)) for one, folder in found]
    judged = [(one, verdict) for one, _, verdict in held]
    lines = ["# The papers, reproduced", _overview(judged), _summary(judged)]
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


def _overview(judged: list[tuple[Experiment, Verdict]]) -> str:
    """One line for each paper: how many of its claims agree, differ with a cause, are undecided, failed."""
    headings = {AGREES: "agree", DIFFERS: "differ, with cause", UNDECIDED: "undecided", FAILED: "failed"}
    lines = [f"| paper | claims | {' | '.join(headings[one] for one in OUTCOMES)} |", "|---|" + "---|" * 5]
    for paper, citation in PAPERS.items():
        counts = Counter(
            one.outcome
            for experiment, verdict in judged
            if experiment.name.startswith(f"{paper}/")
            for one in verdict.judgements
            if kind_of(experiment, one.claim) == PAPER
        )
        if counts:
            cells = " | ".join(str(counts[outcome]) for outcome in OUTCOMES)
            lines.append(f"| {_cell(citation)} | {sum(counts.values())} | {cells} |")
    return "\n".join(lines)


def _summary(judged: list[tuple[Experiment, Verdict]]) -> str:
    beside = sum(
        kind_of(experiment, one.claim) != PAPER for experiment, verdict in judged for one in verdict.judgements
    )
    return (
        f"{len(judged)} experiments. A claim *differs* where the cause lies outside our solvers (substitute data, a"
        " slip of the paper, a baseline better than the paper's); it is *undecided* where what was measured is within"
        " two standard errors either way, and then it says how many replications would decide; it *failed* where we"
        f" know of no cause outside. {beside} rows are our own aims, checks of slips, or on data that the paper did"
        " not have: they stand in tables of their own and are not counted. `pursuit-experiments verify` judges the"
        " committed tables anew, `pursuit-experiments report` writes this page, and `pursuit-experiments run NAME`"
        " does an experiment again, or goes on with it. Where something was replicated, each verdict names the"
        " comparison that speaks least for the claim, with its lead (positive: for the claim), the standard error of"
        " the lead and the number of replications. Where nothing was replicated (a formula, one data set, one run of"
        " each method) there is no standard error."
    )


def _effort(verdict: Verdict) -> str:
    hours = verdict.processor_seconds / 3600
    spent = f"{hours:.1f} processor hours" if hours >= 1 else f"{60 * hours:.2g} processor minutes"
    copies = f", at least {verdict.replications} replications" if verdict.replications > 1 else ", not replicated"
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
