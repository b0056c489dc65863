"""Exhaustive local search where the loss is not squared.

K. Axiotis, M. Sviridenko (2020), section 4: "a version of OMPR that examines all possible insertions/removals in each
iteration". ``LocalSearch`` ranks all exchanges by one quadratic model at the current point, which is exact for the
squared loss. For the logistic loss that model misjudges what it costs to drop a strong column, and proposes only its
cheapest removal for each newcomer. So here, where it finds nothing more, every column is dropped in turn and f
refitted without it; the newcomers are then ranked by the model there, and the best few of all are refitted.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pursuit import LocalSearch, Point, Solver
from pursuit.constraints import AtMost
from pursuit.objectives.base import Objective

FEW = 3  # newcomers for each column dropped, and
REFITTED = 20  # exchanges in all, that are refitted


@dataclass(frozen=True)
class Exhaustive(Solver):
    """The best exchange of one column, removals refitted one by one, while any helps."""

    def iterate(self, f: Objective, constraint: AtMost, start: Point) -> Iterator[Point]:
        better: Point | None = start
        while better is not None:
            point = better
            for point in LocalSearch().iterate(f, constraint, better):
                yield point
            better = None if f.quadratic else _improved(f, point)
            if better is not None:
                yield better


def _improved(f: Objective, point: Point) -> Point | None:
    """The lowest of the most promising exchanges, refitted, if it is lower than the point."""
    proposed: list[tuple[float, list[int], Point]] = []
    for leaving in point.support:
        rest = f.refit(np.setdiff1d(point.support, [leaving]), start=point)
        gain = _gains(f, rest)
        gain[point.support] = -np.inf
        best = np.argsort(-gain, kind="stable")[:FEW]
        proposed += [(rest.value - gain[enters], [*rest.support, int(enters)], rest) for enters in best]
    proposed.sort(key=lambda one: one[0])
    trials = (f.refit(np.sort(support), start=rest) for _, support, rest in proposed[:REFITTED])
    lowest = min(trials, key=lambda trial: trial.value, default=point)
    return lowest if lowest.value < point.value - 1e-12 * abs(point.value) else None


def _gains(f: Objective, point: Point) -> np.ndarray:
    """By how much each column would lower f on top of the point, by the quadratic model: g_j^2 / (2 d_j)."""
    H = f.curvatures(point, np.arange(f.dim))
    left = H.copy()
    if len(point.support):
        rows = f.hessian_rows(point, point.support)
        inverse = np.linalg.pinv(rows[:, point.support], hermitian=True)
        left -= np.einsum("ij,ij->j", rows, inverse @ rows)
    new = left > 1e-9 * np.maximum(H, 1e-300)
    return np.where(new, point.gradient**2 / (2 * np.where(new, left, 1.0)), 0.0)
