"""What a user should get without thinking: a fast pursuit, then exchanges until none helps.

1. GraHTP from the start, taken to exchange-optimality (``local_search``).
2. Where that is cheap, the same from two other starts: OMP, and OMP to 2k units and back to k by dropping the cheapest.
   On 200 linear instances (docs/adr/0006) one start is no worse than the best peer in 95%, three in 99%.
3. With a time limit: random exchanges of the best point, each repaired to exchange-optimality, until time is up.

Invariant: the result is exchange-optimal for the squared loss, exchange-stationary by the quadratic model for others.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..constraints import AtMost
from ..objectives.base import Objective, Point
from .base import Solver
from .exchanges import removals
from .grahtp import GraHTP
from .local_search import search
from .omp import OMP


@dataclass(frozen=True)
class Auto(Solver):
    """GraHTP, then every single exchange until none helps; from several starts where that is cheap.

    Parameters
    ----------
    starts : 1 to 3 starts, or None: three where k passes over X are cheap, else one
    cheap : number of multiplications for a pass over X, times k, up to which a problem counts as cheap
    restarts : go on from random exchanges of the best point until a limit ends the run (set by ``time_limit``)
    """

    starts: int | None = None
    cheap: float = 2e6
    restarts: bool = False
    random_state: Any = None

    halted: ClassVar[str] = "no single exchange helps"

    def iterate(self, f: Objective, constraint: AtMost, start: Point) -> Iterator[Point]:
        best: Point | None = None
        for pursuit in self._pursuits(f, constraint, start):
            point = start
            for point in pursuit:
                yield point
            if best is not None and np.array_equal(point.support, best.support):
                continue
            for point in search(f, constraint, point):
                yield point
            best = point if best is None or point.value < best.value else best
        while self.restarts and best is not None:
            rng = np.random.default_rng(self.random_state)
            while True:
                point = f.refit(_shaken(constraint, best.support, rng), start=best)
                for point in search(f, constraint, point):
                    yield point
                best = point if point.value < best.value else best

    def _pursuits(self, f: Objective, constraint: AtMost, start: Point) -> Iterator[Iterator[Point]]:
        count = self.starts or (3 if f.work * constraint.k <= self.cheap else 1)
        yield GraHTP().iterate(f, constraint, start)
        if count > 1:
            yield OMP().iterate(f, constraint, start)
        if count > 2:
            yield there_and_back(f, constraint, start)


def there_and_back(f: Objective, constraint: AtMost, start: Point) -> Iterator[Point]:
    """Forward to twice the budget, then drop the cheapest unit until the budget holds; only the end is yielded."""
    point = start
    for point in OMP().iterate(f, constraint.with_budget(2 * constraint.k), start):
        if point.value <= f.floor:
            break
    while constraint.count(point.support) > constraint.k:
        units, cost = removals(f, constraint, point)
        point = f.refit(constraint.columns_of(np.delete(units, int(np.argmin(cost)))), start=point)
    yield point


def _shaken(constraint: AtMost, support: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A support with up to a third of its free units (at least one) replaced at random."""
    units = constraint.units_of(support)
    free = np.setdiff1d(units, constraint.include)
    outside = np.setdiff1d(constraint.allowed, units)
    most = min(len(outside), max(1, len(free) // 3))
    count = int(rng.integers(1, most + 1)) if most else 0
    left = np.setdiff1d(units, rng.choice(free, count, replace=False))
    return constraint.columns_of(np.union1d(left, rng.choice(outside, count, replace=False)))
