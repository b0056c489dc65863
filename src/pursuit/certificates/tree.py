"""Branch and bound over sub-problems that know how to bound themselves.

A sub-problem's ``bound`` returns a valid lower bound for every solution inside it, a smaller equivalent problem
(columns that no better solution uses are gone), and indicators to branch on, or None when nothing is left to decide.
The two children of a node are bounded at the same time, each against what was known before: threads change no result.
"""

import heapq
import itertools
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

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


class Problem(Protocol):
    def bound(self, tree: "Tree", effort: int, root: bool = False) -> tuple[float, "Problem", Vector | None]: ...
    def children(self, t: Vector) -> Sequence["Problem"]: ...
    def sets(self) -> tuple[Sequence[int], Sequence[int]]:
        """Units that are in, and all that are not out."""


def node_bar() -> Callable[[Progress], None]:
    """A bar for branch and bound: how many nodes there were, and the relative gap."""
    bar = ProgressBar("nodes", lines=True)

    def show(now: Progress) -> None:
        bar(now.nodes, (now.upper - now.lower) / max(abs(now.upper), 1e-300))

    return show


@dataclass
class Tree:
    """One run: the best values found (the ``nbest``-th is the one to beat), the limits, what was fixed at the root.

    ``scale`` says what a gap at a value is relative to (``GLM.scale``).
    """

    tolerance: float
    scale: Callable[[float], float]
    nbest: int = 1
    deadline: float | None = None
    progress: Callable[[Progress], None] | None = None
    search: Callable[["Tree", Sequence[int], Sequence[int]], None] | None = None  # offers one between two sets of units
    searched: float = FIRST_SEARCH_SECONDS  # seconds spent on it, and to be spent on the next one
    first: Any = None  # the root after its first relaxation, before anything was fixed: what serves another budget
    doubt: float = np.inf  # a bound for solutions that were met, but whose values are not sure
    branching: bool = True
    nodes: int = 0
    found: dict[tuple[int, ...], float] = field(default_factory=dict)
    tried: dict[tuple[int, ...], tuple[float, float]] = field(default_factory=dict)
    always: set[int] = field(default_factory=set)
    never: set[int] = field(default_factory=set)
    began: float = field(default_factory=time.perf_counter)
    lock: Any = field(default_factory=threading.Lock)

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
        """A solution; the best ``nbest`` are kept. ``low``: its value is only known to be at least that."""
        if low is not None and low < value - ROUNDING_SHARE * self.scale(value):
            self.doubt = min(self.doubt, low)
        if np.isfinite(value) and value < self.found.get(support, np.inf) and value < self.upper:
            self.found[support] = value
            if len(self.found) > self.nbest:
                del self.found[max(self.found, key=self.found.__getitem__)]

    def late(self) -> bool:
        return self.deadline is not None and time.perf_counter() >= self.deadline

    def report(self, lower: float, waiting: int) -> None:
        """Shows how far the proof is."""
        if self.progress is not None:
            self.progress(Progress(lower, self.upper, waiting, self.nodes, time.perf_counter() - self.began))

    def run(self, problem: Problem, effort: int = 400, branch: bool = True) -> float:
        """A lower bound for all solutions that were not found; without ``branch``, the root's."""
        self.branching = branch
        lower, problem, t = problem.bound(self, 5 * effort, root=True)
        self.nodes = 1
        if t is None:
            return min(self.upper, self.doubt)
        if lower >= self.target:
            return min(lower, self.upper)
        if not branch:
            return lower
        with ThreadPoolExecutor(
            2 if _core.get_threads() > 1 else 1, initializer=_core.set_threads, initargs=(1,)
        ) as pool:
            return self._branch(lower, problem, t, effort, pool)

    def _branch(self, lower: float, problem: Problem, t: Vector, effort: int, pool: ThreadPoolExecutor) -> float:
        """Best node first; from it, dives."""
        ticket = itertools.count()
        heap: list[tuple[float, int, Problem, Vector]] = [(lower, next(ticket), problem, t)]
        while heap and not self.late():
            lower, _, problem, t = heapq.heappop(heap)
            self._search_near(problem)
            while lower < self.target:  # dive: branch, go on with the better child, keep the other
                children = []
                for low, smaller, indicators in self._bounds(problem.children(t), effort, pool):
                    if indicators is not None and max(low, lower) < self.target:
                        children.append((max(low, lower), next(ticket), smaller, indicators))
                children.sort()
                for spare in children[1:]:
                    heapq.heappush(heap, spare)
                if not children:
                    break
                lower, _, problem, t = children[0]
                self.report(min(lower, heap[0][0]) if heap else lower, len(heap) + 1)
                if self.late():
                    heapq.heappush(heap, children[0])
                    break
        return min(min((node[0] for node in heap), default=self.upper), self.upper, self.doubt)

    def _bounds(
        self, children: Sequence[Problem], effort: int, pool: ThreadPoolExecutor
    ) -> list[tuple[float, Problem, Vector | None]]:
        """Every child's bound, at the same time; what they found is told afterwards."""
        self.nodes += len(children)
        twins = [replace(self, found=dict(self.found)) for _ in children]

        def bound(child: Problem, twin: "Tree") -> tuple[float, Problem, Vector | None]:
            with np.errstate(all="ignore"):
                return child.bound(twin, effort)

        bounds = list(pool.map(bound, children, twins))
        for twin in twins:
            self.doubt = min(self.doubt, twin.doubt)
            for support, value in twin.found.items():
                self.offer(support, value)
        return bounds

    def _search_near(self, problem: Problem) -> None:
        """A solver's solution inside a node, as long as that takes a small share of the time."""
        now = time.perf_counter()
        if self.search is None or self.searched > SEARCH_SHARE * (now - self.began):
            return
        self.search(self, *problem.sets())
        self.searched += time.perf_counter() - now


def undecided(t: Vector) -> int:
    """The position to branch on: an indicator that is not decided but leans towards 1, whose two sides differ most."""
    return int(np.argmin(np.abs(t - 0.7) + (t == 0)))
