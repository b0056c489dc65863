"""The k-path of a GLM in one kernel call."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from .. import _core, searched, walked
from .._types import Columns, Vector
from ..constraints import AtMost

if TYPE_CHECKING:
    from .glm import GLM

SMALL_SHARE = 1e-6  # share of the null value below which a path needs the data
KEPT = 0.5  # share of X that the kernel may keep of its own


def glm_path(f: "GLM", constraint: AtMost, plan: walked.PathPlan) -> walked.Walked | None:
    """The path, or None where the data are too large, or of a kind that needs more care."""
    if constraint.unit_of is not None or f.loss.code is None or not f.smooth or f.data.lean or constraint.k < 1:
        return None
    return _quadratic(f, constraint, plan) if f.gram is not None else _likelihood(f, constraint, plan)


def _quadratic(f: "GLM", constraint: AtMost, plan: walked.PathPlan) -> walked.Walked | None:
    assert f.gram is not None
    gram, everything, (n, p) = f.gram, np.arange(f.dim), f.data.shape
    if (constraint.k + 1) * p > max(walked.STATE, KEPT * f.work):
        return None
    null, h = f.null, f.curvatures(f.null, everything)
    ridge = np.where(h > f.ridge, f.ridge, 0.0)
    squares, mean = h - f.ridge, f.data.moments().mean if f.fit_intercept else np.zeros(p)
    if bool((mean**2 > searched.FAR**2 * squares)[squares > 0].any()):
        return None
    down = np.where(squares <= 0, 0.0, null.gradient - mean * f.tilt)
    whole = gram.small or (plan.thorough and p <= walked.THOROUGH and n * p * p <= walked.WHOLE)
    plan = plan._replace(thorough=plan.thorough and whole and p <= walked.THOROUGH)

    def row(j: int, gains: Vector) -> Vector:
        return gram.columns(np.array([j]), gains)[0]

    rows = gram.columns(everything) if whole else row
    found = walked.quadratic(rows, down, h, ridge, null.value, SMALL_SHARE * null.value, 1e-9 * f.height, constraint,
                             plan)  # fmt: skip
    if found is None:
        return None
    base = null.free if f.fit_intercept else 0.0

    def free(S: Columns, x: Vector) -> float:
        return base - float(gram.means[S] @ x) if f.fit_intercept else 0.0

    return replace(found, points=[point._replace(free=free(point.support, point.coef)) for point in found.points])


def _likelihood(f: "GLM", constraint: AtMost, plan: walked.PathPlan) -> walked.Walked | None:
    if not searched.affordable(f.data.shape, 1, constraint):
        return None
    A, rows = f.data.copied()
    even = searched.Evened.of(A, rows.c, f.fit_intercept)
    if even is None:
        return None
    curve = float(f.loss.smoothness) if np.isfinite(f.loss.smoothness) else 0.0
    kernel = partial(_core.likelihood_path, rows.samples(f.loss), curve)
    found = walked.likelihood(kernel, even, f.ridge, 1, constraint, f.floor, 1e-9 * f.height, f.fit_intercept, plan)
    if found is None:
        return None
    points = [point._replace(coef=point.coef[:, 0], free=float(point.free[0])) for point in found.points]
    return replace(found, points=points)
