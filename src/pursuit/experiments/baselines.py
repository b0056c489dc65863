"""Baselines of other packages, called as the papers call theirs."""

from collections.abc import Iterator
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


def logistic_path(
    X: Any, y: np.ndarray, *, l1_ratio: float = 1.0, fit_intercept: bool = True, points: int = 100, least: float = 1e-3
) -> Iterator[Point]:
    """The glmnet-like path of skglm: mean logistic loss + alpha (l1_ratio ||x||_1 + (1 - l1_ratio)/2 ||x||^2).

    ``y`` is 0 or 1. From the smallest alpha whose solution is zero down to ``least`` of it, each from the last one;
    it is an iterator, so that whoever has seen enough stops it.
    """
    from skglm.datafits import Logistic
    from skglm.penalties import L1_plus_L2
    from skglm.solvers import ProxNewton

    dense = isinstance(X, np.ndarray)
    X = np.asfortranarray(X) if dense else X.tocsc()
    n, p = X.shape
    sign = np.where(y > 0, 1.0, -1.0)
    share = np.mean(y > 0) if fit_intercept else 0.5
    top = np.max(np.abs(X.T @ ((y > 0) - share))) / n / l1_ratio
    solver = ProxNewton(tol=1e-6, fit_intercept=fit_intercept, warm_start=True)
    w, margins = np.zeros(p + fit_intercept), np.zeros(n)
    for alpha in top * np.geomspace(1.0, least, points):
        w, _, _ = solver.solve(X, sign, Logistic(), L1_plus_L2(alpha, l1_ratio), w, margins)
        bias = float(w[p]) if fit_intercept else 0.0
        margins = X @ w[:p] + bias
        yield Point(float(alpha), w[:p].copy(), bias)


def at_most(path: Iterator[Point], k: int) -> Point:
    """The last point of a path with at most k non-zeros, before the first one with more."""
    last = next(path)
    for point in path:
        if len(point.support) > k:
            break
        last = point
    return last
