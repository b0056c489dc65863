"""What an experiment is."""

import json
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

Cell = dict[str, Any]  # one piece of work: its seed and settings, plain values that JSON holds
Row = dict[str, Any]  # one line of what a piece found, as plain
T = TypeVar("T")
AGREES, DIFFERS, FAILED = "agrees", "differs", "failed"


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
    """What was found about one claim: ``agrees``, ``differs`` (for a reason outside us) or ``failed``; `why` if not."""

    claim: str
    outcome: str
    measured: str
    why: str = ""

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
