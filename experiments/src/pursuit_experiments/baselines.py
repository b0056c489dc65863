"""Baselines of other packages, called as the papers call theirs."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np


class Point(NamedTuple):
    """A point of a regularisation path."""

    alpha: float
    coef: np.ndarray
    intercept: float

    @property
    def support(self) -> np.ndarray:
        return np.flatnonzero(self.coef)


class Penalised:
    """Mean logistic loss + alpha (l1_ratio ||x||_1 + (1 - l1_ratio)/2 ||x||^2), minimised by skglm; ``y`` is 0 or 1."""

    def __init__(self, X: Any, y: np.ndarray, l1_ratio: float = 1.0, fit_intercept: bool = True) -> None:
        from skglm.solvers import ProxNewton

        self.X = np.asfortranarray(X) if isinstance(X, np.ndarray) else X.tocsc()
        self.sign, self.l1_ratio, self.fit_intercept = np.where(y > 0, 1.0, -1.0), l1_ratio, fit_intercept
        share = np.mean(y > 0) if fit_intercept else 0.5
        self.top = float(np.max(np.abs(self.X.T @ ((y > 0) - share))) / len(y) / l1_ratio)  # below it x is not zero
        self.solver = ProxNewton(tol=1e-6, fit_intercept=fit_intercept, warm_start=True)

    def at(self, alpha: float, start: Point | None = None) -> Point:
        from skglm.datafits import Logistic
        from skglm.penalties import L1_plus_L2

        p = self.X.shape[1]
        coef, bias = (np.zeros(p), 0.0) if start is None else (start.coef, start.intercept)
        w = np.append(coef, bias) if self.fit_intercept else coef.copy()
        w, _, _ = self.solver.solve(
            self.X, self.sign, Logistic(), L1_plus_L2(alpha, self.l1_ratio), w, self.X @ coef + bias
        )
        return Point(float(alpha), w[:p].copy(), float(w[p]) if self.fit_intercept else 0.0)

    def path(self, points: int, least: float) -> Iterator[Point]:
        point = None
        for alpha in self.top * np.geomspace(1.0, least, points):
            point = self.at(alpha, point)
            yield point


def logistic_path(
    X: Any, y: np.ndarray, *, l1_ratio: float = 1.0, fit_intercept: bool = True, points: int = 100, least: float = 1e-3
) -> Iterator[Point]:
    """The glmnet-like path of skglm, from the smallest alpha whose solution is zero down to ``least`` of it.

    Each point from the last one; it is an iterator, so that the caller stops it.
    """
    return Penalised(X, y, l1_ratio, fit_intercept).path(points, least)


def at_most(path: Iterator[Point], k: int) -> Point:
    """The last point of a path with at most k non-zeros, before the first one with more."""
    last = next(path)
    for point in path:
        if len(point.support) > k:
            break
        last = point
    return last


class Sized(NamedTuple):
    """The last point of the path's grid with at most so many non-zeros, and the last point between it and the next."""

    grid: Point
    refined: Point


def logistic_points(
    X: Any,
    y: np.ndarray,
    sizes: Sequence[int],
    *,
    l1_ratio: float = 1.0,
    fit_intercept: bool = True,
    points: int = 100,
    least: float = 1e-2,
    halvings: int = 8,
) -> dict[int, Sized]:
    """For every size the end of the path before more non-zeros come in; alpha is bisected where the grid jumps past."""
    model, found = Penalised(X, y, l1_ratio, fit_intercept), dict[int, Sized]()
    last: Point | None = None
    for point in model.path(points, least):
        for k in [] if last is None else [k for k in sizes if k not in found and len(point.support) > k]:
            assert last is not None
            found[k] = Sized(last, _between(model, last, point, k, halvings))
        last = point
        if len(found) == len(sizes):
            break
    assert last is not None
    return found | {k: Sized(last, last) for k in sizes if k not in found}


def _between(model: Penalised, low: Point, high: Point, k: int, halvings: int) -> Point:
    """The last point found with at most k non-zeros between one that has at most k and one that has more."""
    for _ in range(halvings):
        if len(low.support) == k:
            break
        middle = model.at(float(np.sqrt(low.alpha * high.alpha)), low)
        low, high = (middle, high) if len(middle.support) <= k else (low, middle)
    return low
