"""What an experiment is."""

import json
import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

Cell = dict[str, Any]  # one piece of work: its seed and settings, plain values that JSON holds
Row = dict[str, Any]  # one line of what a piece found, as plain
T = TypeVar("T")
AGREES, DIFFERS, UNDECIDED, FAILED = "agrees", "differs", "undecided", "failed"
DECISIVE = 2.0  # standard errors by which a difference must be off zero
TIE = 1e-9  # share of its standard error below which a difference is rounding of equal means


@dataclass(frozen=True)
class Size:
    """How much of an experiment to run: all of it, or the quick form; ``replications`` overrides their number."""

    quick: bool = False
    replications: int | None = None

    def pick(self, full: T, quick: T) -> T:
        return quick if self.quick else full

    def copies(self, full: int, quick: int = 1) -> range:
        """The numbers of the replications, which also seed them."""
        return range(self.pick(full, quick) if self.replications is None else self.replications)


@dataclass(frozen=True)
class Comparison:
    """One difference that a claim rests on: ``lead`` is positive where it speaks for the claim.

    ``se`` is its standard error over ``copies`` replications; 0 where nothing varies.
    """

    about: str
    lead: float
    se: float
    copies: int

    def __post_init__(self) -> None:
        if abs(self.lead) <= TIE * self.se:
            object.__setattr__(self, "lead", 0.0)

    @property
    def ratio(self) -> float:
        """The lead in standard errors."""
        return self.lead / self.se if self.se > 0 else math.copysign(math.inf, self.lead) if self.lead else 0.0

    @property
    def needed(self) -> int | None:
        """How many replications would make the lead two standard errors, if it stayed what it is; None for no lead."""
        return ceil(self.copies * (DECISIVE * self.se / abs(self.lead)) ** 2) if self.lead else None


def weakest(comparisons: Iterable[Comparison]) -> Comparison:
    """The comparison with the least lead in standard errors; of equals, the least lead."""
    return min(comparisons, key=lambda one: (one.ratio, one.lead))


@dataclass(frozen=True)
class Judgement:
    """What was found about one claim, and why where it does not agree.

    ``agrees``; ``differs``, for a reason outside us; ``undecided``, within two standard errors either way; ``failed``.
    Where differences over replications decide, ``about``, ``lead``, ``se`` and ``copies`` are those of the
    `Comparison` that speaks least for the claim, and ``needed`` says how many replications would decide if the
    difference stayed what it is. Where nothing was replicated they are empty.
    """

    claim: str
    outcome: str
    measured: str
    why: str = ""
    lead: float | None = None
    se: float | None = None
    copies: int | None = None
    needed: int | None = None
    about: str = ""

    @property
    def evidence(self) -> str:
        """The weakest comparison in words; empty where nothing was replicated."""
        if self.lead is None or self.se is None:
            return ""
        named = f"weakest comparison, {self.about}: " if self.about else ""
        words = f"{named}lead {self.lead:+.3g}, standard error {self.se:.2g}, {self.copies} replications"
        if self.tied:
            return f"{words}; while the means are equal no number would decide"
        return words if self.needed is None else f"{words}; about {self.needed} would decide"

    @property
    def tied(self) -> bool:
        """Whether the claim is undecided since the weakest comparison has equal means: no number would decide."""
        return self.outcome == UNDECIDED and self.needed is None and self.lead == 0

    @classmethod
    def by_leads(
        cls, claim: str, comparisons: Iterable[Comparison], measured: str, why: str = "", otherwise: str = DIFFERS
    ) -> "Judgement":
        """A claim that needs every lead: agrees where all are two standard errors above zero, and does not where one
        is as far below; else undecided."""
        found = list(comparisons)
        least = weakest(found)
        if least.ratio > DECISIVE:
            return cls.of(claim, True, measured, rests_on=least)
        if least.ratio < -DECISIVE:
            return cls.of(claim, False, measured, why, otherwise, rests_on=least)
        return cls(claim, UNDECIDED, measured, why, *_plain(least), _needed(found), least.about)

    @classmethod
    def of(
        cls,
        claim: str,
        holds: bool,
        measured: str,
        why: str = "",
        otherwise: str = DIFFERS,
        rests_on: Comparison | None = None,
    ) -> "Judgement":
        """Agrees where it holds; ``why`` is given only where it does not."""
        found = cls(claim, AGREES, measured) if holds else cls(claim, otherwise, measured, why)
        if rests_on is None:
            return found
        lead, se, copies = _plain(rests_on)
        return replace(found, lead=lead, se=se, copies=copies, about=rests_on.about)


def _needed(comparisons: list[Comparison]) -> int | None:
    """Replications that decide if every lead stays what it is: one lead below zero refutes, else all must be sure."""
    below = [one.needed for one in comparisons if one.lead < 0]
    if below:
        return min(one for one in below if one is not None)
    above = [one.needed for one in comparisons if one.ratio <= DECISIVE]
    return None if None in above else max(one for one in above if one is not None)


def _plain(one: Comparison) -> tuple[float, float, int]:
    """The numbers as JSON holds them, without the last bits, in which machines differ."""
    return float(f"{one.lead:.10g}"), float(f"{one.se:.10g}"), int(one.copies)


class Experiment(ABC):
    """A table or figure of a paper. The module's ``<stem>.json`` (`expected`) holds what the paper printed."""

    name: ClassVar[str]  # paper/table2: also the folder of its results
    title: ClassVar[str]
    about: ClassVar[str]  # Markdown: protocol, the paper's units in ours, what the text leaves open and we chose
    expected_in: ClassVar[str]  # name of the JSON file beside the module
    data: ClassVar[tuple[str, ...]] = ()  # real data it cannot do without
    quick_data: ClassVar[tuple[str, ...] | None] = None  # what the quick form needs, where that is less
    view_of: ClassVar[str] = ""  # another experiment whose pieces are the same, so that they are done once

    @abstractmethod
    def cells(self, size: Size) -> list[Cell]:
        """The pieces of work, replications outermost, so that a run that ends early has something of everything."""

    @abstractmethod
    def run(self, cell: Cell) -> list[Row]:
        """Do one piece. Called in a worker process with one thread."""

    @abstractmethod
    def table(self, rows: "DataFrame") -> "DataFrame":
        """The rows of all pieces, each with its cell's settings, summed up: number, mean, standard error."""

    @abstractmethod
    def draw(self, table: "DataFrame") -> "Figure":
        """The paper's picture."""

    @abstractmethod
    def judge(self, table: "DataFrame") -> Iterator[Judgement]:
        """One judgement per claim of the expected file, from the table as it is read back from its file."""

    @cached_property
    def expected(self) -> dict[str, Any]:
        module = Path(str(sys.modules[type(self).__module__].__file__))
        found: dict[str, Any] = json.loads((module.parent / self.expected_in).read_text(encoding="utf-8"))
        return found
