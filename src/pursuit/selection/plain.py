"""The plain path at one ridge, and the size with the least criterion: no folds."""

from typing import Any

import numpy as np

from ..objectives.point import Point
from .choose import Chosen
from .criteria import check_criterion, criterion
from .grid import Grid
from .models import Models
from .problem import Problem


def by_criterion(problem: Problem, f: Any, grid: Grid, rule: str) -> Chosen:
    """Choose by a criterion; the ridge is the user's, or the refit's, which is that of ``f``."""
    p, q = problem.data.shape[1], f.width
    check_criterion(rule, problem.loss, problem.n, p, problem.fit_intercept)
    l2 = grid.ridges[0] if len(grid.ridges) == 1 else grid.refit
    free = problem.loss.basis(q).shape[1]  # classes sum to 0
    full = f.loss_at(problem.restricted(f).refit(np.arange(f.dim))) if rule == "cp" else 0.0
    constraint = problem.sparse_set(f, 1)
    while True:
        found = problem.points(problem.at(f, l2), grid.ks[-1])
        ks = [k for k in grid.ks if k in found]
        points = [found[k] for k in ks]
        units = np.array([constraint.count(point.support) for point in points])
        df = free * (np.array([len(point.support) // q for point in points]) + int(problem.fit_intercept))
        value = np.array([f.loss_at(point) for point in points])
        told = criterion(
            rule, problem.loss, value, df, units, n=problem.n, p=p, outputs=q, full=full,
            intercept=problem.fit_intercept,
        )  # fmt: skip
        best = int(np.argmin(told))
        at_end = ks[best] == grid.ks[-1] < grid.end
        if not (at_end and grid.open):
            break
        grid = grid.further()
    table = {"k": np.array(ks), "loss": value, "df": df, rule: told}
    notes = [*grid.notes, *([f"k={ks[best]} is the largest of ks, and larger ones may be better"] if at_end else [])]
    scores = dict(zip(ks, (-told).tolist(), strict=True))
    return Chosen(
        _models(f, points), best, ks[best], None, l2, 1.0, ks[best], table, table, found, scores, ks[best], notes=notes
    )


def _models(f: Any, points: list[Point]) -> Models:
    q = f.width
    cols = np.unique(np.concatenate([point.support // q for point in points])).astype(np.int64)
    B, b = np.zeros((len(points), len(cols), q)), np.zeros((len(points), q))
    for i, point in enumerate(points):
        B[i, np.searchsorted(cols, point.support[::q] // q)], b[i] = point.coef.reshape(-1, q), point.free
    return Models(f, cols, B, b)
