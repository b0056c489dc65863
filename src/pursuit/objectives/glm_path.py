"""The k-path of a GLM in one kernel call."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from .._utils.rounding import MAX_MEAN_TO_SPREAD, MAX_ROUNDING_SHARE, value_rounding
from .._utils.types import Columns, Vector
from ..constraints import AtMost
from ..designs import centre
from ..kernels import search as search_kernel
from ..kernels.path import (
    MAX_GRAM_WORK,
    MAX_SEARCHED_WORK,
    MAX_THOROUGH_COLUMNS,
    MIN_STATE_SIZE,
    PathPlan,
    PathPoint,
    PathSolution,
    likelihood_path,
    quadratic_path,
    working_set_path,
)
from ..kernels.search import ScaledColumns, is_affordable
from ..refits.factor import MIN_GOOD_CONDITION
from . import least_squares, likelihood
from .batched_refits import refits_by_gram
from .point import Point, from_kernel
from .working_set import first_columns, on_working_set

if TYPE_CHECKING:
    from .glm import GLM

MAX_STATE_SHARE = 0.5  # share of X that the kernel may keep of its own


def glm_path(f: "GLM", constraint: AtMost, plan: PathPlan) -> PathSolution | None:
    """The path, or None where the data are too large, or of a kind that needs more care."""
    if (
        not constraint.by_blocks(f.outputs)
        or f.loss.code is None
        or not f.smooth
        or f.data.products_only
        or constraint.k < 1
    ):
        return None
    return _quadratic(f, constraint, plan) if f.gram is not None else _likelihood(f, constraint, plan)


def _quadratic(f: "GLM", constraint: AtMost, plan: PathPlan) -> PathSolution | None:
    assert f.gram is not None
    gram, null, p = f.gram, f.null, f.data.shape[1]
    if (constraint.k + 1) * p > max(MIN_STATE_SIZE, MAX_STATE_SHARE * f.work):
        return None
    cheap = p <= MAX_THOROUGH_COLUMNS and f.work * p <= MAX_GRAM_WORK  # enough for a search at every size
    cheap = cheap and (plan.only is not None or p * constraint.k**3 <= MAX_SEARCHED_WORK)
    claims = plan.thorough
    plan = plan._replace(thorough=plan.thorough and cheap)
    if f.outputs > 1:
        return _on_copy(f, constraint, plan) if plan.thorough else least_squares.path(f, constraint, plan, claims)
    whole = gram.whole or plan.thorough
    H = gram.matrix() if whole and p <= gram.capacity else None  # which has means and squares too
    h = f.curvatures(null, np.arange(p))
    squares, mean = h - f.ridge, np.zeros(p)
    if f.fit_intercept:
        mean = f.data.moments().mean if H is None else gram.means
    if bool((mean**2 > MAX_MEAN_TO_SPREAD**2 * squares)[squares > 0].any()):
        return None
    down = np.where(squares <= 0, 0.0, null.gradient - mean * f.tilt)
    if not whole:
        found = least_squares.path(f, constraint, plan, claims) if gram.products is None else None
        if found is not None:
            return found
        rows: Any = gram.products or _Rows(f)
    else:
        rows = gram.columns(np.arange(p)) if H is None else H
    ridge = np.where(squares > 0, f.ridge, 0.0)
    found = quadratic_path(
        rows, down, h, ridge, null.value, 1e-9 * f.height, constraint, plan, f.rounded, f.unit_columns
    )
    return None if found is None else least_squares.path_with_intercepts(f, found, mean)


def _on_copy(f: "GLM", constraint: AtMost, plan: PathPlan) -> PathSolution | None:
    """The path of several responses on a centred copy of the columns, whose means may be far from zero."""
    problem = least_squares.problem_of(f, copied=True)
    if problem is None:
        return None
    A, rows = f.data.copied()
    if f.fit_intercept:
        centre(A, rows.c)
    A *= np.sqrt(rows.c)[:, None]
    down = np.where(problem.useful, -(least_squares.residuals(f, rows) @ A), 0.0)
    ridge, value = np.where(problem.useful, f.ridge, 0.0), f.null.value
    found = quadratic_path(
        A.T @ A, down, problem.h, ridge, value, 1e-9 * f.height, constraint, plan, f.rounded, f.unit_columns
    )
    return None if found is None else least_squares.path_with_intercepts(f, found, problem.mean)


def glm_refits(f: "GLM", supports: list[Columns]) -> list[Point] | None:
    """Refits of the squared loss on small data, many in one call; None where they cannot be had so."""
    if f.gram is not None and f.gram.small and f.gram.complete:
        return refits_by_gram(f, supports)
    products = None if f.gram is None else f.gram.products
    if products is None:
        return None
    null, mean = f.null, f.data.moments().mean if f.fit_intercept else np.zeros(f.dim)
    h = f.curvatures(null, np.arange(f.dim))
    down, ridge = null.gradient - mean * f.tilt, np.broadcast_to(f.ridge, f.dim).astype(np.float64)
    points = []
    for S, (x, condition) in zip(supports, products.solve(down, ridge, supports), strict=True):
        value = null.value + 0.5 * float(down[S] @ x)
        noise = value_rounding(x, h[S], null.value, f.rounded)
        if condition < MIN_GOOD_CONDITION or noise > MAX_ROUNDING_SHARE * value:
            points.append(f.refit(S))
        else:
            at = PathPoint(S, x, null.free - float(mean[S] @ x) if f.fit_intercept else 0.0, value, "none", True)
            points.append(from_kernel(f, at))
    return points


class _Rows:
    """The kernel's way to Gram columns: computed a few at a time, kept where every solver keeps them."""

    def __init__(self, f: "GLM") -> None:
        assert f.gram is not None
        self.gram, self.centred = f.gram, f.fit_intercept
        self.model = f.data.model(f.null.support, f.null.coef, f.null.free)

    def has(self, j: int) -> bool:
        return bool(self.gram.slot[j] >= 0)

    def row(self, j: int) -> Vector | None:
        return None if self.gram.slot[j] < 0 else self.gram.columns(np.array([j]))[0]

    def block(self, cols: Columns) -> Vector:
        return np.ascontiguousarray(self.model.rows(cols, cols, self.centred))

    def fetch(self, cols: Columns) -> None:
        with self.gram.lock:
            self.gram.keep(cols)


def _likelihood(f: "GLM", constraint: AtMost, plan: PathPlan) -> PathSolution | None:
    if not f.data.near:
        return None
    small = is_affordable(float(np.prod(f.data.shape)), 1, constraint, small=True)
    if plan.thorough and small:
        return _on_columns(f, constraint, plan, None)
    found = _on_working_set(f, constraint, plan)
    if found is not None or small:
        return found or _on_columns(f, constraint, plan, None)
    h, room = f.curvatures(f.null, np.arange(f.dim)), int(search_kernel.MAX_SMALL_ENTRIES // f.data.shape[0])
    cols = first_columns(constraint, f.null.gradient**2 / np.maximum(h, 1e-300), room)
    quiet = plan._replace(reached=None, thorough=False)
    return on_working_set(f, constraint, plan, lambda few, at: _on_columns(f, few, quiet, at), cols, room)


def _on_working_set(f: "GLM", constraint: AtMost, plan: PathPlan) -> PathSolution | None:
    """The path on a working set of columns that goes along from size to size; None where X is not in memory."""
    problem = likelihood.in_memory_problem(f, constraint)
    if problem is None:
        return None
    columns, arguments = problem
    kernel = partial(_core.working_set_path, *arguments)
    return working_set_path(kernel, columns, f.work, 1e-9 * f.height, constraint, plan)


def _on_columns(f: "GLM", constraint: AtMost, plan: PathPlan, cols: Columns | None) -> PathSolution | None:
    """The path on a copy of some columns (None: all)."""
    A, rows = f.data.copied(cols)
    even = ScaledColumns.dense(A, rows.c, f.fit_intercept)
    if even is None:
        return None
    curve = float(f.loss.smoothness) if np.isfinite(f.loss.smoothness) else 0.0
    kernel = partial(_core.likelihood_path, rows.samples(f.loss), curve)
    few = constraint if cols is None else constraint.restricted(cols)
    ridge = f.ridge if cols is None or isinstance(f.ridge, float) else f.ridge[cols]
    found = likelihood_path(kernel, even, ridge, 1, few, f.floor, 1e-9 * f.height, f.fit_intercept, plan)
    if found is None:
        return None
    points = [
        at._replace(
            support=at.support if cols is None else cols[at.support],
            coef=at.coef[:, 0],
            free=float(np.asarray(at.free)[0]),
            optimality=at.optimality if cols is None else "stationary",
        )
        for at in found.points
    ]
    return replace(found, points=points)
