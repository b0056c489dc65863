"""What an experiment is."""

import json
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Size:
    """How much of an experiment is asked for: all of it, or the quick form; ``replications`` overrides their number."""

    quick: bool = False
    replications: int | None = None

    def pick(self, full: T, quick: T) -> T:
        return quick if self.quick else full

    def copies(self, full: int, quick: int = 1) -> range:
        """The numbers of the replications, which also seed them."""
        return range(self.pick(full, quick) if self.replications is None else self.replications)


@dataclass(frozen=True)
class Judgement:
    """What was found about one claim, and why where it does not agree.

    ``agrees``; ``differs``, for a reason outside us; ``undecided``, within two standard errors either way; ``failed``.
    Where a difference decides, ``lead`` is it (positive: for the claim), ``se`` its standard error over ``copies``
    replications, and ``needed`` how many of them would decide if the difference stayed what it is.
    """

    claim: str
    outcome: str
    measured: str
    why: str = ""
    lead: float | None = None
    se: float | None = None
    copies: int | None = None
    needed: int | None = None

    @property
    def evidence(self) -> str:
        """Lead, standard error and replications in words; empty where nothing was averaged."""
        if self.lead is None or self.se is None:
            return ""
        words = f"lead {self.lead:+.3g}, standard error {self.se:.2g}, {self.copies} replications"
        return words if self.needed is None else f"{words}; about {self.needed} would decide"

    @classmethod
    def by_lead(
        cls, claim: str, lead: float, se: float, copies: int, measured: str, why: str = "", otherwise: str = DIFFERS
    ) -> "Judgement":
        """Agrees or not where a difference is two standard errors off zero; else undecided."""
        lead, se, copies = float(lead), float(se), int(copies)
        if abs(lead) > DECISIVE * se:
            outcome = AGREES if lead > 0 else otherwise
            return cls(claim, outcome, measured, "" if outcome == AGREES else why, lead, se, copies)
        needed = ceil(copies * (DECISIVE * se / abs(lead)) ** 2) if lead else None
        return cls(claim, UNDECIDED, measured, why, lead, se, copies, needed)

    @classmethod
    def of(cls, claim: str, holds: bool, measured: str, why: str = "", otherwise: str = DIFFERS) -> "Judgement":
        """Agrees where it holds; `why` is told only where it does not."""
        return cls(claim, AGREES, measured) if holds else cls(claim, otherwise, measured, why)


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
