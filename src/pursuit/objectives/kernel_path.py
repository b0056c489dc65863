"""The k-path of a GLM in one kernel call."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from .. import _core, searched, walked
from .._types import Columns, Vector
from ..constraints import AtMost
from ..refits.factor import WELL_CONDITIONED
from .point import Point, from_kernel

if TYPE_CHECKING:
    from .glm import GLM

SMALL_SHARE = 1e-6  # share of the null value below which a path needs the data
NEAR, LEAST = 4, 200  # columns of a working set to begin with: a multiple of k, and at least
COMES_NEAR = 0.7  # share of the gain of the next size from which on a column is looked at
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

    rows = gram.columns(everything) if whole else (gram.products or _Rows(f))
    found = walked.quadratic(rows, down, h, ridge, null.value, SMALL_SHARE * null.value, 1e-9 * f.height, constraint,
                             plan)  # fmt: skip
    if found is None:
        return None

    def free(S: Columns, x: Vector) -> float:
        return null.free - float(mean[S] @ x) if f.fit_intercept else 0.0

    return replace(found, points=[point._replace(free=free(point.support, point.coef)) for point in found.points])


def glm_refits(f: "GLM", supports: list[Columns]) -> list[Point] | None:
    """Refits of the squared loss on small data, many in one kernel call; None where there is no such kernel."""
    products = None if f.gram is None else f.gram.products
    if products is None:
        return None
    null, mean = f.null, f.data.moments().mean if f.fit_intercept else np.zeros(f.dim)
    down, ridge = null.gradient - mean * f.tilt, np.broadcast_to(f.ridge, f.dim).astype(np.float64)
    points = []
    for S, (x, condition) in zip(supports, products.solve(down, ridge, supports), strict=True):
        value = null.value + 0.5 * float(down[S] @ x)
        if condition < WELL_CONDITIONED or value < walked.CANCELLED * null.value:
            points.append(f.refit(S))
        else:
            at = walked.Reached(S, x, null.free - float(mean[S] @ x) if f.fit_intercept else 0.0, value, "none", True)
            points.append(from_kernel(f, at))
    return points


class _Rows:
    """The kernel's way to Gram columns: asked for a few at a time, kept where every solver keeps them."""

    def __init__(self, f: "GLM") -> None:
        assert f.gram is not None
        self.gram, self.centred = f.gram, f.fit_intercept
        self.model = f.data.model(f.null.support, f.null.coef, f.null.free)

    def row(self, j: int) -> Vector | None:
        return None if self.gram.slot[j] < 0 else self.gram.columns(np.array([j]))[0]

    def block(self, cols: Columns) -> Vector:
        return np.ascontiguousarray(self.model.rows(cols, cols, self.centred))

    def fetch(self, cols: Columns) -> None:
        with self.gram.lock:
            self.gram.keep(cols)


def _likelihood(f: "GLM", constraint: AtMost, plan: walked.PathPlan) -> walked.Walked | None:
    if searched.affordable(f.data.shape, 1, constraint):
        return _on_columns(f, constraint, plan, None)
    return _on_working_set(f, constraint, plan._replace(thorough=False))


def _on_working_set(f: "GLM", constraint: AtMost, plan: walked.PathPlan) -> walked.Walked | None:
    """On the columns of largest gain, and again with those that could have come in at some size.

    At size k a column outside can matter if its gain, were it unrelated to those inside, g_j^2 / (2 H_jj), comes near
    what size k + 1 gained over k. The gradients of all sizes are one pass over X. Shorter paths come first, and the
    whole one at most twice: what a third could add is noise that is fitted.
    """
    everything = np.arange(f.dim)
    h, null = f.curvatures(f.null, everything), f.null
    weight = f.data.model(null.support, null.coef, null.free).weight
    room = int(searched.ENTRIES // f.data.shape[0])
    many = int(np.clip(NEAR * constraint.k, LEAST, room))
    cols = np.sort(constraint.top(null.gradient / np.sqrt(np.maximum(h, 1e-300)), budget=many))
    size, whole = max(len(constraint.include) + 1, constraint.k // 4), 0
    while len(cols) <= room and constraint.k <= len(cols):
        whole += size == constraint.k
        found = _on_columns(f, constraint.with_budget(size), plan._replace(reached=None), cols)
        if found is None or found.stopped:
            return found
        slope, weights = f.data.slopes([(at.support, at.coef, at.free) for at in found.points])
        gain = slope**2 / (2 * np.maximum(np.outer(weights / weight, h), 1e-300))
        gain[:, cols] = 0.0
        gain[:, constraint.exclude] = 0.0
        values = np.array([at.value for at in found.points])
        gained = np.maximum(values[:-1] - values[1:], 0.0) if len(values) > 1 else np.zeros(1)
        wanted = (gain / np.maximum(np.append(gained, gained[-1]), 1e-300)[:, None]).max(axis=0)
        new = _core.top_k(wanted, min(many, f.dim))
        new = new[wanted[new] > COMES_NEAR]
        if whole == 2 or (whole and len(new) == 0):
            if plan.reached is None or not any(plan.reached(found.first + i, v) for i, v in enumerate(values)):
                return found
            return replace(found, stopped=True)
        cols, size = np.union1d(cols, new), min(2 * size, constraint.k)
    return None


def _on_columns(f: "GLM", constraint: AtMost, plan: walked.PathPlan, cols: Columns | None) -> walked.Walked | None:
    """The path on some columns (None: all)."""
    A, rows = f.data.copied(cols)
    even = searched.Evened.of(A, rows.c, f.fit_intercept)
    if even is None:
        return None
    curve = float(f.loss.smoothness) if np.isfinite(f.loss.smoothness) else 0.0
    kernel = partial(_core.likelihood_path, rows.samples(f.loss), curve)
    few = constraint if cols is None else constraint.restricted(cols)
    ridge = f.ridge if cols is None or isinstance(f.ridge, float) else f.ridge[cols]
    found = walked.likelihood(kernel, even, ridge, 1, few, f.floor, 1e-9 * f.height, f.fit_intercept, plan)
    if found is None:
        return None
    points = [
        at._replace(
            support=at.support if cols is None else cols[at.support], coef=at.coef[:, 0], free=float(at.free[0]),
            optimality=at.optimality if cols is None else "stationary",
        )
        for at in found.points
    ]  # fmt: skip
    return replace(found, points=points)
