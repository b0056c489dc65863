"""The generic route of ``auto``, for objectives without a search kernel: pursuits, exchanges, restarts.

1. GraHTP, OMP, OMPR, and OMP to twice the budget and back by dropping the cheapest units, each taken to where no
   exchange is found that helps. The result is no worse than any of them.
2. Restarts: some units of the best point are dropped and forbidden while others come in, and it goes on from there.
3. For the squared loss every exchange at the best point is judged; for others the rivals of a summary are fitted.
"""

from collections.abc import Generator, Iterator
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from .._utils.types import Seed
from ..constraints import AtMost
from ..engines import check_time
from ..objectives.base import Objective, Point
from .base import generator
from .grahtp import GraHTP
from .local_search import search, there_and_back, try_rivals
from .omp import OMP
from .ompr import OMPR

STARTS = ("grahtp", "omp", "ompr", "there and back")
_value = attrgetter("value")


class Multistart(NamedTuple):
    """How many of ``STARTS`` and restarts there are, and how many of these in a row may be unsuccessful."""

    starts: int
    restarts: int
    patience: int
    random_state: Seed
    rivals: bool = True


def multistart(
    f: Objective, constraint: AtMost, start: Point, known: Point | None, plan: Multistart
) -> Iterator[Point]:
    """Points of all searches; ``known`` is a point of a kernel to begin with, ``start`` where the pursuits do."""
    local = _LocalSearches(f, constraint, start)
    if known is not None:
        yield from local.search_from(known)
    omp = start
    names = STARTS[: plan.starts]
    # OMP first where GraHTP can use the Gram columns that it leaves behind
    for name in ("omp", "grahtp", *names[2:]) if f.quadratic and plan.starts == len(STARTS) else names:
        point = start
        for point in _pursuit(name, f, constraint, omp):
            yield point
        omp = point if name == "omp" else omp
        yield from local.search_from(point)
    yield from _restart(f, constraint, local, plan)
    best = local.best
    if f.quadratic and best.optimality != "swap_optimal":
        yield from search(f, constraint, best)
    if plan.rivals:
        yield from try_rivals(f, constraint, best)


class _LocalSearches:
    """The best end of the local searches so far; no support is searched from twice."""

    def __init__(self, f: Objective, constraint: AtMost, best: Point) -> None:
        self.f, self.constraint, self.best, self.seen = f, constraint, best, set[bytes]()

    def search_from(self, point: Point) -> Generator[Point, None, None]:
        if point.support.tobytes() not in self.seen:
            end = yield from search(self.f, self.constraint, point, doubts=False)
            self.seen.update((point.support.tobytes(), end.support.tobytes()))
            self.best = min(self.best, end, key=_value)


def _pursuit(name: str, f: Objective, constraint: AtMost, start: Point) -> Iterator[Point]:
    """One of the starts; those that begin with OMP go on from its end, if it has been there."""
    if name == "there and back":
        return there_and_back(f, constraint, start)
    return {"grahtp": GraHTP(), "omp": OMP(), "ompr": OMPR()}[name].iterate(f, constraint, start)


def _restart(f: Objective, constraint: AtMost, local: _LocalSearches, plan: Multistart) -> Iterator[Point]:
    """Restarts from the best point."""
    units = constraint.units_of(local.best.support)
    if not (len(np.setdiff1d(units, constraint.include)) and len(np.setdiff1d(constraint.allowed, units))):
        return
    rng, unsuccessful = generator(plan.random_state), 0
    for _ in range(plan.restarts):
        before = local.best.value
        yield from local.search_from(_refilled(f, constraint, local.best, rng))
        check_time()  # where nothing new is found no point is given, and the driver cannot look
        unsuccessful = 0 if local.best.value < before else unsuccessful + 1
        if unsuccessful >= plan.patience:
            return


def _refilled(f: Objective, constraint: AtMost, best: Point, rng: np.random.Generator) -> Point:
    """The best point with some of its free units (up to half) dropped, and others in their places by their gradient."""
    units = constraint.units_of(best.support)
    free = np.setdiff1d(units, constraint.include)
    gone = rng.choice(free, int(rng.integers(1, (len(free) + 1) // 2 + 1)), replace=False)
    if len(np.setdiff1d(constraint.allowed, units)) < len(gone):
        gone = gone[:1]
    left = f.refit(constraint.columns_of(np.setdiff1d(units, gone)), start=best)
    slope = left.gradient.copy()
    slope[constraint.columns_of(gone)] = 0.0
    return f.refit(constraint.top(slope, keep=left.support), start=left)
