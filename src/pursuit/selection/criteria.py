"""The choice of k by an information criterion, without folds.

A criterion is -2 log-likelihood + c df, df = free coefficients and intercepts.

| rule | c |
|---|---|
| aic | 2 |
| bic | log n |
| ebic | log n, and 2 log C(p, k) once |
| gic | log p log log n |
| hq | 2 log log n |
| cp | 2, with RSS / s^2 for -2 log-likelihood, s^2 from the model with all columns |

n is the number of rows with a weight (whole-number weights: their sum), weights are scaled to mean 1. The squared loss
has the Gaussian profile likelihood n log(RSS / n). Constants of the data are left out.
"""

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaln

from .._utils.types import Columns, Vector
from ..losses import Loss
from ..objectives.point import Point
from .choose import Chosen
from .grid import Grid
from .models import Models
from .problem import Problem

if TYPE_CHECKING:
    from ..objectives.glm import GLM

CRITERIA = ("aic", "bic", "ebic", "gic", "hq", "cp")
MIN_DEVIANCE = 1e-300


def check_criterion(rule: str, loss: Loss, n: float, p: int, intercept: bool) -> None:
    """Raise where the loss or the data have no such criterion."""
    if not loss.likelihood:
        raise ValueError(f"rule={rule!r} needs a likelihood, and loss {loss.name!r} has none; use rule='min'")
    if rule == "cp" and not loss.quadratic:
        raise ValueError(f"rule='cp' is for loss='squared', not for loss {loss.name!r}; use rule='aic'")
    if rule == "cp" and p + int(intercept) >= n:
        columns = f"{p} columns" + (" and an intercept" if intercept else "")
        raise ValueError(f"rule='cp' needs more rows than columns, and there are {columns} for {n:g} rows")
    if rule == "gic" and p == 1:
        raise ValueError(
            "rule='gic' has the penalty log p log log n, which is 0 for the one column of X; use rule='bic'"
        )


def deviance(loss: Loss, value: Vector, n: float, outputs: int) -> Vector:
    """-2 log-likelihood, up to a constant, from the weighted mean loss."""
    value = np.asarray(value, dtype=np.float64)
    if loss.quadratic:
        return n * outputs * np.log(np.maximum(2 * value / outputs, MIN_DEVIANCE))
    return 2 * n * value


def criterion(
    rule: str,
    loss: Loss,
    value: Vector,
    df: Vector,
    units: Columns,
    *,
    n: float,
    p: int,
    outputs: int,
    full: float,
    intercept: bool,
) -> Vector:
    """The criterion of models with these mean losses; ``full`` is the mean loss with all columns, for Cp."""
    loglog = np.log(max(np.log(max(n, 1.0)), 1.0))
    if rule == "cp":
        left = n - p - int(intercept)  # degrees of freedom of the full model
        noise = 2 * n * full / (outputs * left)
        return np.asarray(2 * n * np.asarray(value) / max(noise, MIN_DEVIANCE) - n * outputs + 2 * df)
    fit = deviance(loss, value, n, outputs)
    c = {"aic": 2.0, "bic": np.log(n), "ebic": np.log(n), "gic": np.log(p) * loglog, "hq": 2 * loglog}[rule]
    ways = gammaln(p + 1) - gammaln(units + 1) - gammaln(p - units + 1) if rule == "ebic" else 0.0
    return np.asarray(fit + c * df + 2 * ways)


def by_criterion(problem: Problem, f: "GLM", grid: Grid, rule: str) -> Chosen:
    """The path at one ridge, and its size with the least criterion.

    The ridge is the user's, or the refit's, which is that of ``f``.
    """
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
        values = criterion(
            rule,
            problem.loss,
            value,
            df,
            units,
            n=problem.n,
            p=p,
            outputs=q,
            full=full,
            intercept=problem.fit_intercept,
        )
        best = int(np.argmin(values))
        at_end = ks[best] == grid.ks[-1] < grid.end
        if not (at_end and grid.open):
            break
        grid = grid.further()
    table = {"k": np.array(ks), "loss": value, "df": df, rule: values}
    notes = [*grid.notes, *([f"k={ks[best]} is the largest of ks, and larger ones may be better"] if at_end else [])]
    scores = dict(zip(ks, (-values).tolist(), strict=True))
    return Chosen(
        _models(f, points), best, ks[best], None, l2, 1.0, ks[best], table, table, found, scores, ks[best], notes=notes
    )


def _models(f: "GLM", points: list[Point]) -> Models:
    q = f.width
    cols = np.unique(np.concatenate([point.support // q for point in points])).astype(np.int64)
    B, b = np.zeros((len(points), len(cols), q)), np.zeros((len(points), q))
    for i, point in enumerate(points):
        B[i, np.searchsorted(cols, point.support[::q] // q)], b[i] = point.coef.reshape(-1, q), point.free
    return Models(f, cols, B, b)
