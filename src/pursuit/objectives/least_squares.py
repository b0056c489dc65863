"""The search for the best support of the squared loss in one kernel call, on data of any size that lie in memory.

The kernel (core/working_set.hpp) searches on a working set of columns, tests all others against every exchange, and
searches on all columns where the test leaves more than a few. It works on columns of unit length. Several responses
share the Gram matrix, and norms over them take the place of absolute values (ADR 35).
"""

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .. import _core
from .._utils.rounding import MAX_ROUNDING_SHARE, MIN_VALUE_ERROR, MIN_VALUE_SHARE, has_safe_range
from .._utils.types import Columns, Flags, Intercept, Matrix, Vector
from ..constraints import AtMost
from ..data.gram import MAX_WHOLE_GRAM_WORK, NO_COLUMNS
from ..designs import Rows
from ..kernels.path import WELL_CONDITIONED, PathPlan, PathPoint, PathSolution, least_squares_path, path_request
from ..kernels.search import (
    MAX_STATE_UNITS,
    WIDENING_FACTOR,
    SearchPlan,
    SearchSolution,
    as_exchange,
    make_request,
    quadratic_solution,
    search_quadratic,
)

if TYPE_CHECKING:
    from .glm import GLM

MIN_GRAM_NUMBERS = 8e6  # numbers that the search on all columns may always hold; else half as many as X has
RESIDUAL_ROUNDING = 1e-28  # share of the mean square of y at which residuals are rounding: constant responses
# mean over spread of a column from which on it is subtracted before columns are multiplied
MIN_CENTRED_MEAN_TO_SPREAD = 1e3


def search(f: "GLM", constraint: AtMost, start: Columns, plan: SearchPlan) -> SearchSolution | None:
    """What the kernel finds; None where the data are not in memory or need more care."""
    if not constraint.by_blocks(f.outputs) or f.data.products_only:
        return None
    units = constraint.units_of(start)
    found = _by_gram(f, constraint, units, plan)
    return _by_working_set(f, constraint, units, plan) if found is None else found


def _by_gram(f: "GLM", constraint: AtMost, start: Columns, plan: SearchPlan) -> SearchSolution | None:
    """From the whole Gram matrix, where that is small."""
    gram, null = f.gram, f.null
    if gram is None or not gram.small:
        return None
    everything = np.arange(f.data.shape[1])
    H = gram.columns(everything)
    if f._far(everything, H.diagonal()):
        return None
    down = np.where(H.diagonal() == 0, 0.0, _gradients(f, gram.means))
    ridge = np.where(H.diagonal() > 0, f.ridge, 0.0)
    scale = 1e-9 * f.height
    found = search_quadratic(H, down, ridge, null.value, constraint, start, scale, plan, f.rounded)
    return None if found is None else _with_intercepts(f, found, gram.means)


def _gradients(f: "GLM", mean: Vector) -> Matrix:
    """Of the null model on centred columns, a row per response."""
    return f.null.gradient.reshape(-1, f.outputs).T - np.outer(f.tilt, mean)


def best_subset(f: "GLM", constraint: AtMost, plan: SearchPlan | PathPlan) -> PathPoint | None:
    """The best support of small dense data in one call from the rows, every exchange judged but ``doubtful`` ones.

    None where the data are not such, or where one call does not suffice. The model without columns comes along.
    """
    data, (n, p) = f.data, f.data.shape
    stored = data.in_memory() if n * p * p <= MAX_WHOLE_GRAM_WORK and data.full and data.shared is None else None
    if stored is None or constraint.unit_of is not None:
        return None
    every, judged = np.ones(p, np.uint8), -1
    if isinstance(plan, PathPlan):
        request, judged = path_request(plan, constraint, every, True, 0.0), plan.only or constraint.k
    else:
        request = make_request(constraint, every, NO_COLUMNS, WIDENING_FACTOR[True], 0.0, plan)
    rows, ridge = data.raw.rows, f.ridge
    common, own = (ridge, None) if isinstance(ridge, float) else (0.0, ridge)
    found = _core.best_subset(
        stored[0],
        rows.y,
        rows.c,
        rows.offset,
        common,
        own,
        None if data.view is None else np.stack(data.view[:2]),
        f.fit_intercept,
        request,
        judged,
        MIN_VALUE_SHARE,
        f.rounded,
    )
    if found is None or found.condition <= WELL_CONDITIONED or found.noise > MAX_ROUNDING_SHARE * found.value:
        return None
    f.know_null(found.null_intercept, found.null_value, found.tilt)
    if judged >= 0 and len(found.doubtful):  # columns that are nearly combinations of others need more digits
        columns = f.unit_columns()
        if columns is not None and columns.near_combination(found.support, found.doubtful):
            return None
    least = found.value - max(found.noise, MIN_VALUE_ERROR * found.value)
    exchange = as_exchange(found.exchange)
    return PathPoint(
        found.support, found.coef, found.intercept, found.value, "swap_optimal", True, exchange, found.doubtful, least
    )


class Problem(NamedTuple):
    """The squared loss as the kernel takes it; which columns are not constant, their means and curvatures."""

    kernel: _core.LeastSquares
    useful: Flags
    mean: Vector
    h: Vector

    @property
    def room(self) -> float:
        """Numbers that Gram rows may take."""
        n, p = self.kernel.shape
        return max(MIN_GRAM_NUMBERS, 0.5 * n * p)


def problem_of(f: "GLM", copied: bool = False) -> Problem | None:
    """The problem; None where the data are not in memory or need more care.

    ``copied``: the caller multiplies centred copies of the columns, so that sparse ones may be far from zero.
    """
    stored = f.data.in_memory() if f.data.near else None
    if stored is None:
        return None
    matrix, shift, scale = stored
    null, h = f.null, f.curvatures(f.null, np.arange(0, f.dim, f.outputs))
    mean = f.data.moments().mean if f.fit_intercept else np.zeros(len(h))
    squares = h - f.ridge
    useful = squares > 0
    if not has_safe_range(squares):
        return None
    length = np.sqrt(np.where(useful, h, 1.0))
    far = bool((np.abs(mean * scale + shift) > MIN_CENTRED_MEAN_TO_SPREAD * np.sqrt(squares) * scale)[useful].any())
    if far and not (f.data.full or copied):
        return None
    rows = f.data.raw.rows
    if null.value <= RESIDUAL_ROUNDING * float(np.sum(rows.c @ rows.y**2)):
        return None
    kernel = _core.LeastSquares(
        matrix,
        rows.c,
        residuals(f, rows),
        mean * scale + shift,
        np.where(useful, 1.0, 0.0) / (length * scale),
        np.where(useful, f.ridge / length**2, 0.0),
        np.where(useful, _gradients(f, mean), 0.0) / length,
        length,
        f0=null.value,
        floor=MIN_VALUE_SHARE * null.value,
        far=far,
    )
    return Problem(kernel, useful, mean, h)


def residuals(f: "GLM", rows: Rows) -> Matrix:
    """Residuals of the null model, a row per response, multiplied by the roots of the weights."""
    left = rows.y - f.null.free - (0.0 if rows.offset is None else rows.offset)
    return np.atleast_2d(np.sqrt(rows.c) * left.T)


def _by_working_set(f: "GLM", constraint: AtMost, start: Columns, plan: SearchPlan) -> SearchSolution | None:
    value, widest = f.null.value, WIDENING_FACTOR[True]
    problem = problem_of(f) if 0 < constraint.k <= MAX_STATE_UNITS else None
    if problem is None:
        return None
    fits = (widest * constraint.k + 1) * constraint.units <= problem.room
    request = make_request(constraint, problem.useful, start, widest, 1e-9 * f.height, plan)
    solution = problem.kernel.search(request, all_columns=plan.all_columns if fits else 0, room=problem.room)
    found = quadratic_solution(solution, request, constraint, value, f.rounded)
    if found is None or (f.outputs > 1 and found.points[-1][-1] < MIN_VALUE_SHARE * value):
        return None  # too little is left for differences of products to tell
    return _with_intercepts(f, found, problem.mean)


def path(f: "GLM", constraint: AtMost, plan: PathPlan, claims: bool) -> PathSolution | None:
    """The path with products that the kernel computes itself; None where X is not in memory or needs more care."""
    problem = problem_of(f)
    if problem is None:
        return None
    found = least_squares_path(
        problem.kernel,
        problem.useful,
        problem.h,
        f.null.value,
        1e-9 * f.height,
        problem.room,
        constraint,
        plan,
        f.rounded,
        claims,
    )
    if found is None:
        return None
    if not claims:
        found = replace(found, points=[at._replace(optimality="stationary") for at in found.points])
    return path_with_intercepts(f, found, problem.mean)


def _intercept(f: "GLM", mean: Vector, S: Columns, x: Vector) -> Intercept:
    """The best one beside coefficients x of some columns."""
    return f.null.free - mean[S] @ x.reshape(len(S), *np.shape(f.null.free)) if f.fit_intercept else f.null.free


def _with_intercepts(f: "GLM", found: SearchSolution, mean: Vector) -> SearchSolution:
    points = [(f.coordinates(S), x, _intercept(f, mean, S, x), value) for S, x, _, value in found.points]
    return replace(found, points=points)


def path_with_intercepts(f: "GLM", found: PathSolution, mean: Vector) -> PathSolution:
    """The points in f's own coordinates."""
    points = [
        at._replace(
            support=f.coordinates(at.support), coef=at.coef.ravel(), free=_intercept(f, mean, at.support, at.coef)
        )
        for at in found.points
    ]
    return replace(found, points=points)
