"""The claims of the papers and what became of them."""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pursuit._utils.validation import first_line

from .experiment import AGREES, DIFFERS, FAILED, UNDECIDED, Experiment, Judgement
from .folders import TABLE, VERDICT, folder_of, read_table

OUTCOMES = (AGREES, DIFFERS, UNDECIDED, FAILED)
PAPER = "paper"  # a claim of the paper on its own data, or on data that stand in for them
KINDS = {
    PAPER: "",
    "aim": "our own aim",
    "slip": "a slip of the paper, checked",
    "other": "on data that the paper did not have",
}
QUICK, FULL = "quick", "full"


@dataclass(frozen=True)
class Verdict:
    """An experiment's judgements, and how much work stands behind them."""

    experiment: str
    mode: str
    replications: int
    processor_seconds: float
    versions: dict[str, str]
    judgements: tuple[Judgement, ...]
    note: str = ""  # why a quick verdict, or few replications, must do

    def written(self) -> str:
        return json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n"


@dataclass
class Account:
    """What ``verify`` counts: outcomes of the papers' claims, of rows beside them, and everything that is left open.

    Open is what has neither a full verdict nor an explanation, is undecided without a number of replications, or was
    replicated and has no standard error (but for claims marked ``exact``, in which nothing is random).
    """

    outcomes: Counter[str] = field(default_factory=Counter)
    beside: Counter[str] = field(default_factory=Counter)
    replicated: int = 0  # of the papers' claims, those with a standard error
    open: list[str] = field(default_factory=list)


def kind_of(experiment: Experiment, claim: str) -> str:
    """Whether a row is a claim of the paper, or what else: see ``KINDS``."""
    return str(experiment.expected["claims"][claim].get("kind", PAPER))


def judged(experiment: Experiment, table: Any) -> tuple[Judgement, ...]:
    """The experiment's judgements: one for each claim, in the order in which the paper makes them."""
    claims = experiment.expected["claims"]
    found = {one.claim: one for one in experiment.judge(table)}
    if set(found) - set(claims):
        raise ValueError(
            f"{experiment.name} judges {sorted(set(found) - set(claims))}, which {experiment.expected_in} lacks"
        )
    return tuple(found[claim] for claim in claims if claim in found)


def read_verdict(path: Path) -> Verdict:
    held = json.loads(path.read_text(encoding="utf-8"))
    held["judgements"] = tuple(Judgement(**one) for one in held["judgements"])
    return Verdict(**held)


def verify(experiments: Iterable[Experiment], root: Path) -> Account:
    """Judge every committed table anew, and see that each claim has a full verdict or an explanation."""
    account = Account()
    for experiment in experiments:
        folder = folder_of(experiment, root)
        if not (folder / VERDICT).exists() or not (folder / TABLE).exists():
            account.open += [f"{experiment.name}: {claim}: not run" for claim in experiment.expected["claims"]]
            continue
        try:
            verdict = read_verdict(folder / VERDICT)
            again = judged(experiment, read_table(folder / TABLE))
        except (ValueError, LookupError, TypeError) as error:  # edited by hand, or cut off
            account.open.append(f"{folder}: {VERDICT} or {TABLE} is damaged ({first_line(error)}); run it again")
            continue
        if again != verdict.judgements:
            account.open.append(f"{experiment.name}: {VERDICT} is not what {TABLE} gives; run it again")
        held = {one.claim: one for one in again}
        for claim in experiment.expected["claims"]:
            if claim not in held:
                account.open.append(f"{experiment.name}: {claim}: not judged")
                continue
            counted = account.outcomes if kind_of(experiment, claim) == PAPER else account.beside
            counted[held[claim].outcome] += 1
            account.replicated += kind_of(experiment, claim) == PAPER and held[claim].se is not None
            if held[claim].outcome == UNDECIDED and held[claim].needed is None:
                account.open.append(f"{experiment.name}: {claim}: undecided, and nothing says how many would decide")
            if (
                verdict.replications > 1
                and held[claim].se is None
                and not experiment.expected["claims"][claim].get("exact")
            ):
                account.open.append(f"{experiment.name}: {claim}: replicated, and the verdict has no standard error")
            if held[claim].outcome != AGREES and not held[claim].why:
                account.open.append(f"{experiment.name}: {claim}: {held[claim].outcome}, and nothing says why")
            if verdict.mode != FULL and not verdict.note:
                account.open.append(f"{experiment.name}: {claim}: only a quick verdict, and no note says why")
    return account
