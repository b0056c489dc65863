"""The search and the path of one support for several responses with the squared loss, each in one kernel call.

The kernels are those of one response (core/working_set.hpp): responses share the Gram matrix, and norms over them take
the place of absolute values (ADR 35).
"""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from .. import _core
from .._utils.rounding import MIN_VALUE_SHARE, SUM_ROUNDING, has_safe_range
from .._utils.types import Columns, Vector
from ..constraints import AtMost
from ..designs import Rows, centre
from ..kernels.path import (
    MAX_GRAM_WORK,
    MAX_SEARCHED_WORK,
    MAX_THOROUGH_COLUMNS,
    MIN_STATE_SIZE,
    PathPlan,
    PathSolution,
    least_squares_path,
    quadratic_path,
)
from ..kernels.search import (
    MAX_STATE_UNITS,
    WIDENING_FACTOR,
    SearchPlan,
    SearchSolution,
    make_request,
    quadratic_solution,
)
from .least_squares import FAR, Problem

if TYPE_CHECKING:
    from .glm import GLM

RESIDUAL_ROUNDING = 1e-28  # share of the mean square of y at which residuals are rounding: constant responses


def search_responses(f: "GLM", constraint: AtMost, start: Columns, plan: SearchPlan) -> SearchSolution | None:
    """The best features; None where X is not in memory or needs more care."""
    given = problem_of(f, constraint) if constraint.k <= MAX_STATE_UNITS else None
    if given is None:
        return None
    problem, _ = given
    value, widest = f.null.value, WIDENING_FACTOR[True]
    fits = (widest * constraint.k + 1) * constraint.units <= problem.room
    request = make_request(constraint, problem.useful, constraint.units_of(start), widest, 1e-9 * value, plan)
    solution = problem.kernel.search(request, all_columns=plan.all_columns if fits else 0, room=problem.room)
    found = quadratic_solution(solution, request, constraint, value)
    if found is None or found.points[-1][-1] < MIN_VALUE_SHARE * value:
        return None  # too little is left for differences of products to tell
    points = [(f.coordinates(S), x, _intercepts(f, problem, S, x), at) for S, x, _, at in found.points]
    return replace(found, points=points)


def path_of_responses(f: "GLM", constraint: AtMost, plan: PathPlan) -> PathSolution | None:
    """The best features of every size; None where X is not in memory or needs more care."""
    (n, p), value = f.data.shape, f.null.value
    small = p <= MAX_THOROUGH_COLUMNS and n * p * p <= MAX_GRAM_WORK
    small = small and (plan.only is not None or p * constraint.k**3 <= MAX_SEARCHED_WORK)
    plan = plan._replace(thorough=plan.thorough and small)
    fits = (constraint.k + 1) * p <= max(MIN_STATE_SIZE, 0.5 * n * p)
    given = problem_of(f, constraint, copied=plan.thorough) if fits else None
    if given is None:
        return None
    problem, gradient = given
    if plan.thorough:
        A, rows = f.data.copied()
        if f.fit_intercept:
            centre(A, rows.c)
        A *= np.sqrt(rows.c)[:, None]
        gradient = np.where(problem.useful, -(_residual(f, rows) @ A), 0.0)
        ridge = np.where(problem.useful, f.ridge, 0.0)
        found = quadratic_path(
            A.T @ A,
            gradient,
            problem.h,
            ridge,
            value,
            1e-9 * value,
            constraint,
            plan,
            columns=f.unit_columns,
        )
    else:
        found = least_squares_path(
            problem.kernel,
            problem.useful,
            problem.h,
            value,
            1e-9 * value,
            problem.room,
            constraint,
            plan,
            SUM_ROUNDING,
        )
    if found is None:
        return None
    points = [
        at._replace(
            support=f.coordinates(at.support), coef=at.coef.ravel(), free=_intercepts(f, problem, at.support, at.coef)
        )
        for at in found.points
    ]
    return replace(found, points=points)


def problem_of(f: "GLM", constraint: AtMost, copied: bool = False) -> tuple[Problem, Vector] | None:
    """The problem as the kernels take it, and gradients at the null model, a row per response; None: they cannot.

    ``copied``: the caller multiplies centred copies of the columns, so that means may be far from zero.
    """
    stored = f.data.in_memory() if constraint.by_blocks(f.outputs) and f.data.near and constraint.k > 0 else None
    if stored is None:
        return None
    matrix, shift, scale = stored
    null, p, moments = f.null, f.data.shape[1], f.data.moments()
    squares, mean = moments.moment(f.fit_intercept), moments.mean if f.fit_intercept else np.zeros(p)
    useful, h = squares > 0, squares + f.ridge
    if not has_safe_range(squares):
        return None
    far = bool((np.abs(mean * scale + shift) > FAR * np.sqrt(squares) * scale)[useful].any())
    if far and not copied:
        return None
    rows = f.data.raw.rows
    if null.value <= RESIDUAL_ROUNDING * float(rows.c @ (rows.y**2).sum(axis=1)):
        return None
    gradient = np.where(useful, null.gradient.reshape(p, -1).T - np.outer(f.tilt, mean), 0.0)
    length = np.sqrt(np.where(useful, h, 1.0))
    kernel = _core.LeastSquares(
        matrix,
        rows.c,
        _residual(f, rows),
        mean * scale + shift,
        np.where(useful, 1.0, 0.0) / (length * scale),
        np.where(useful, f.ridge / length**2, 0.0),
        gradient / length,
        length,
        f0=null.value,
        floor=MIN_VALUE_SHARE * null.value,
        far=False,
    )
    return Problem(kernel, useful, mean, h), gradient


def _residual(f: "GLM", rows: Rows) -> Vector:
    """Residuals of the null model, a row per response, multiplied by the roots of the weights."""
    return np.sqrt(rows.c) * (rows.y - f.null.free - (0.0 if rows.offset is None else rows.offset)).T


def _intercepts(f: "GLM", problem: Problem, S: Columns, x: Vector) -> Vector:
    return f.null.free - problem.mean[S] @ x.reshape(len(S), f.width) if f.fit_intercept else np.zeros(f.width)
