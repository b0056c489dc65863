"""The claims of the papers and what became of them."""

import json
import math
import re
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
LAST_BITS = 1e-9  # relative: sums and logarithms of another processor or library differ in their last bits
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")


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

    Open is what has neither a full verdict nor an explanation, is undecided without a number of replications (but for
    equal means, from which no number follows), or was replicated and has no standard error (but for claims marked
    ``exact``, in which nothing is random).
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


def same_judgements(ours: tuple[Judgement, ...], theirs: tuple[Judgement, ...]) -> bool:
    """Whether two judgings of one table say the same, up to the last bits of another machine."""
    return len(ours) == len(theirs) and all(map(_same, ours, theirs))


def _same(one: Judgement, other: Judgement) -> bool:
    exact = ("claim", "outcome", "why", "copies", "about")
    return (
        all(getattr(one, name) == getattr(other, name) for name in exact)
        and all(_close(getattr(one, name), getattr(other, name)) for name in ("lead", "se"))
        and _close(one.needed, other.needed, slack=1)  # rounded up
        and _same_text(one.measured, other.measured)
    )


def _close(one: float | None, other: float | None, slack: float = LAST_BITS) -> bool:
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=LAST_BITS, abs_tol=slack)


def _same_text(one: str, other: str) -> bool:
    """Equal words, and numbers that differ at most by one in their last printed digit."""
    if NUMBER.sub("", one) != NUMBER.sub("", other):
        return False
    pairs = zip(NUMBER.findall(one), NUMBER.findall(other), strict=True)
    return all(abs(float(a) - float(b)) <= 1.001 * max(_last_digit(a), _last_digit(b)) for a, b in pairs if a != b)


def _last_digit(number: str) -> float:
    """What one more in the last printed digit is worth; nothing in a whole number, which is a count."""
    mantissa, _, power = number.partition("e")
    decimals = len(mantissa.partition(".")[2])
    return 10.0 ** (int(power or 0) - decimals) if decimals or power else 0.0


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
        if not same_judgements(again, verdict.judgements):
            account.open.append(f"{experiment.name}: {VERDICT} is not what {TABLE} gives; run it again")
        held = {one.claim: one for one in again}
        for claim in experiment.expected["claims"]:
            if claim not in held:
                account.open.append(f"{experiment.name}: {claim}: not judged")
                continue
            counted = account.outcomes if kind_of(experiment, claim) == PAPER else account.beside
            counted[held[claim].outcome] += 1
            account.replicated += kind_of(experiment, claim) == PAPER and held[claim].se is not None
            if held[claim].outcome == UNDECIDED and held[claim].needed is None and not held[claim].tied:
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
