"""The methods of the paper's section 5, by the names of its tables."""

from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from pursuit import GLM, OMP, Auto, GraSP, LocalSearch, solve
from pursuit._utils.types import Ridge
from pursuit.objectives import Point

from ..baselines import Point as PathPoint
from ..baselines import Sized, logistic_points
from .stopped import GRADIENT, Rule, Stopped

MIXING = 0.8  # omega of the elastic net, and of eta
ITERATIONS = 60  # of GraSP at most: without a ridge it may wander for hundreds
SEPARATED = 1e-9  # loss at which a support counts as separable
RIDGES = (1e-3, 3e-3, 1e-2)  # on standardised columns, for the search of the best
TRIES = 100  # exchanges that the last search refits


def eta(n: int, p: int) -> float:
    """The paper's ridge, which in f is eta/2 ||x||^2 as ours is."""
    return float((1 - MIXING) * np.sqrt(np.log(p) / n))


class Iterates(NamedTuple):
    """Where a run of GraSP ended, and the losses of all its iterates, both without the penalty."""

    last: Point
    losses: list[float]


def plain_loss(point: Point, l2: Ridge) -> float:
    """The logistic loss of a point of f, without the penalty."""
    return float(point.value - 0.5 * (l2 * point.coef) @ point.coef)


def grasp(f: GLM, s: int, variant: str, tol: float, rule: Rule = GRADIENT) -> Iterates:
    """GraSP as printed: it returns where it halted, which need not be the best of its iterates (pursuit gives that)."""
    l2, inner = float(f.ridge), Stopped(f, tol, rule)
    points = list(islice(GraSP(variant=variant, polish=False).iterate(inner, f.sparse_set(s), f.null), ITERATIONS))
    return Iterates(points[-1], [plain_loss(point, l2) for point in points])


def logit_omp(f: GLM, s: int, tol: float, rule: Rule = GRADIENT) -> Iterator[Point]:
    """The largest entry of the gradient comes in, and all is minimised: one point per size."""
    yield from OMP().iterate(Stopped(f, tol, rule), f.sparse_set(s), f.null)


def scaled(X: Any) -> tuple[Any, np.ndarray]:
    """X with columns of standard deviation one, as glmnet scales them, and the factors; empty columns stay empty."""
    mean, squares = np.asarray(X.mean(axis=0)).ravel(), np.asarray((X * X).mean(axis=0)).ravel()
    spread = np.sqrt(np.maximum(squares - mean**2, 0.0))
    factors = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 1e-9 * np.sqrt(squares + 1e-300))
    return X * factors, factors


def glmnet(X: Any, y: np.ndarray, sizes: list[int], mixing: float, fit_intercept: bool) -> dict[int, Sized]:
    """Points of glmnet's path (scaled columns), their coefficients in the units of X."""
    Z, factors = scaled(X)
    found = logistic_points(Z, y, sizes, l1_ratio=mixing, fit_intercept=fit_intercept)
    return {s: Sized(*(one._replace(coef=one.coef * factors) for one in pair)) for s, pair in found.items()}


def loss_of(f: GLM, point: PathPoint) -> float:
    return f.value(point.support, point.coef[point.support], point.intercept)


def best_found(X: Any, y: np.ndarray, s: int, fit_intercept: bool, seconds: float) -> tuple[float, str]:
    """The lowest loss that pursuit finds, and how: ``auto``, then with a ridge, restarted, refitted, exchanged."""
    f = GLM(X, y, "logistic", fit_intercept=fit_intercept)
    first = solve(f, s, time_limit=seconds)
    best, how = first.value, "auto"
    for l2 in RIDGES:
        if best <= SEPARATED:
            break
        ridged = GLM(X, y, "logistic", l2=l2, standardize=True, fit_intercept=fit_intercept)
        found = solve(ridged, s, solver=Auto(restarts="limit"), time_limit=seconds)
        start = f.refit(found.support)
        searched = solve(f, s, solver=LocalSearch(tries=TRIES), start=start, time_limit=seconds)
        if searched.value < best:
            best, how = searched.value, f"auto with ridge {l2:g}, local_search"
    return best, how
