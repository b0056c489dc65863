"""Branch and bound over nodes that bound themselves.

A node returns what it found (``NodeBound``) and writes nothing outside. The two children of a node are bounded at the
same time, each against the solutions known before: threads change no result.
"""

import heapq
import itertools
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from .. import _core
from .._utils.progress import Progress as ProgressBar
from .._utils.types import Vector

ROUNDING_SHARE = 1e-9  # share of the scale that is left for rounding when a column is fixed
SEARCH_SHARE = 0.1  # share of the time that may go into looking for better solutions
FIRST_SEARCH_SECONDS = 0.1  # seconds that a search is thought to take before there has been one


class Progress(NamedTuple):
    """What a long proof shows: bounds, nodes still open, nodes looked at, seconds."""

    lower: float
    upper: float
    open: int
    nodes: int
    seconds: float


@dataclass
class Solutions:
    """The best solutions found: sets of units with their values; the ``nbest``-th is the one to beat.

    ``scale`` says what a gap at a value is relative to (``GLM.scale``).
    """

    tolerance: float
    scale: Callable[[float], float]
    nbest: int = 1
    found: dict[tuple[int, ...], float] = field(default_factory=dict)
    doubt: float = np.inf  # a bound for solutions that were met, but whose values are not sure

    @property
    def upper(self) -> float:
        """The value to beat."""
        values = sorted(self.found.values())
        return values[self.nbest - 1] if len(values) >= self.nbest else np.inf

    @property
    def slack(self) -> float:
        """Room for rounding when a column is fixed."""
        return ROUNDING_SHARE * self.scale(self.upper) if np.isfinite(self.upper) else 0.0

    @property
    def target(self) -> float:
        """A bound that reaches this needs no further look."""
        return self.upper - self.tolerance * self.scale(self.upper) if np.isfinite(self.upper) else np.inf

    def offer(self, support: tuple[int, ...], value: float, low: float | None = None) -> None:
        """Add a solution; the best ``nbest`` stay. ``low``: its value is only known to be at least that."""
        if low is not None and low < value - ROUNDING_SHARE * self.scale(value):
            self.doubt = min(self.doubt, low)
        if np.isfinite(value) and value < self.found.get(support, np.inf) and value < self.upper:
            self.found[support] = value
            if len(self.found) > self.nbest:
                del self.found[max(self.found, key=self.found.__getitem__)]

    def copy(self) -> "Solutions":
        return Solutions(self.tolerance, self.scale, self.nbest, dict(self.found), self.doubt)

    def merge(self, other: "Solutions") -> None:
        """Add the solutions of another collection."""
        self.doubt = min(self.doubt, other.doubt)
        for support, value in other.found.items():
            self.offer(support, value)


class NodeBound(NamedTuple):
    """What bounding a node gave.

    ``lower`` bounds all solutions inside the node that are not among ``solutions``; ``node`` is a smaller equivalent
    node; ``indicators`` are to branch on, None where nothing is left to decide. Columns were fixed in (``always``) and
    out (``never``). ``relaxed`` is the node after its first relaxation, before columns were fixed.
    """

    lower: float
    node: "Node"
    indicators: Vector | None
    solutions: Solutions
    relaxed: "Node | None" = None
    always: Sequence[int] = ()
    never: Sequence[int] = ()


class Node(Protocol):
    def bound(self, known: Solutions, effort: int, precise: bool = False) -> NodeBound:
        """``known`` is read only; ``precise``: the bound is the last one, not one on the way to more nodes."""

    def children(self, t: Vector) -> Sequence["Node"]: ...
    def sets(self) -> tuple[Sequence[int], Sequence[int]]:
        """Units that are in, and all that are not out."""


def node_bar() -> Callable[[Progress], None]:
    """A bar for branch and bound: how many nodes there were, and the relative gap."""
    bar = ProgressBar("nodes", lines=True)

    def show(now: Progress) -> None:
        bar(now.nodes, (now.upper - now.lower) / max(abs(now.upper), 1e-300))

    return show


@dataclass
class Tree(Solutions):
    """One run of branch and bound: the solutions found, the limits, and what was fixed at the root."""

    deadline: float | None = None
    progress: Callable[[Progress], None] | None = None
    search: Callable[["Tree", Sequence[int], Sequence[int]], None] | None = None  # offers one between two sets of units
    searched: float = FIRST_SEARCH_SECONDS  # seconds spent on it, and to be spent on the next one
    relaxed_root: "Node | None" = None  # the root after its first relaxation: it serves other budgets
    nodes: int = 0
    always: Sequence[int] = ()
    never: Sequence[int] = ()
    began: float = field(default_factory=time.perf_counter)

    def late(self) -> bool:
        return self.deadline is not None and time.perf_counter() >= self.deadline

    def report(self, lower: float, waiting: int) -> None:
        """Shows how far the proof is."""
        if self.progress is not None:
            self.progress(Progress(lower, self.upper, waiting, self.nodes, time.perf_counter() - self.began))

    def run(self, root: Node, effort: int = 400, branch: bool = True) -> float:
        """A lower bound for all solutions that were not found; without ``branch``, the root's."""
        bound = root.bound(self, 5 * effort, precise=not branch)
        self.merge(bound.solutions)
        self.nodes, self.relaxed_root = 1, bound.relaxed
        self.always, self.never = bound.always, bound.never
        if bound.indicators is None:
            return min(self.upper, self.doubt)
        if bound.lower >= self.target:
            return min(bound.lower, self.upper)
        if not branch:
            return bound.lower
        with ThreadPoolExecutor(
            2 if _core.get_threads() > 1 else 1, initializer=_core.set_threads, initargs=(1,)
        ) as pool:
            return self._branch(bound.lower, bound.node, bound.indicators, effort, pool)

    def _branch(self, lower: float, node: Node, t: Vector, effort: int, pool: ThreadPoolExecutor) -> float:
        """Best node first; from it, dives."""
        ticket = itertools.count()
        heap: list[tuple[float, int, Node, Vector]] = [(lower, next(ticket), node, t)]
        while heap and not self.late():
            lower, _, node, t = heapq.heappop(heap)
            self._search_near(node)
            while lower < self.target:  # dive: branch, go on with the better child, keep the other
                children = sorted(
                    (max(bound.lower, lower), next(ticket), bound.node, bound.indicators)
                    for bound in self._bounds(node.children(t), effort, pool)
                    if bound.indicators is not None and max(bound.lower, lower) < self.target
                )
                for spare in children[1:]:
                    heapq.heappush(heap, spare)
                if not children:
                    break
                lower, _, node, t = children[0]
                self.report(min(lower, heap[0][0]) if heap else lower, len(heap) + 1)
                if self.late():
                    heapq.heappush(heap, children[0])
                    break
        return min(min((waiting[0] for waiting in heap), default=self.upper), self.upper, self.doubt)

    def _bounds(self, children: Sequence[Node], effort: int, pool: ThreadPoolExecutor) -> list[NodeBound]:
        """Every child's bound, at the same time; their solutions are added afterwards."""
        self.nodes += len(children)

        def bound(child: Node) -> NodeBound:
            with np.errstate(all="ignore"):
                return child.bound(self, effort)

        bounds = list(pool.map(bound, children))
        for found in bounds:
            self.merge(found.solutions)
        return bounds

    def _search_near(self, node: Node) -> None:
        """A solver's solution inside a node, as long as that takes a small share of the time."""
        now = time.perf_counter()
        if self.search is None or self.searched > SEARCH_SHARE * (now - self.began):
            return
        self.search(self, *node.sets())
        self.searched += time.perf_counter() - now


def undecided(t: Vector) -> int:
    """The position to branch on: an indicator that is not decided but leans towards 1, whose two sides differ most."""
    return int(np.argmin(np.abs(t - 0.7) + (t == 0)))
