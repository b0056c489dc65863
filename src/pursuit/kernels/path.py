"""A whole path, the best support of every size, in one kernel call (core/path_search.hpp).

The kernel works as ``pursuit.solvers.path_search`` does: on the Gram matrix for the squared loss (all of it, or columns
as they are needed), on a copy of small data with columns scaled to unit mean square for other losses.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._utils.rounding import (
    MAX_ROUNDING_SHARE,
    MIN_VALUE_ERROR,
    MIN_VALUE_SHARE,
    SUM_ROUNDING,
    has_safe_range,
    value_rounding,
)
from .._utils.types import Array, Columns, Intercept, Ridge, Vector
from ..constraints import AtMost, Exchange
from .search import WIDENING_FACTOR, ScaledColumns, SearchPlan, as_exchange, make_request, unit_masks
from .unit_columns import UnitColumns

NO_COLUMNS = np.empty(0, np.int64)
MAX_THOROUGH_COLUMNS = 500  # columns up to which every size has a search of its own
MAX_GRAM_WORK = 1e8  # multiplications for the Gram matrix up to which that is so
# Columns (for losses other than the squared: entries of X, times squared outputs) times k^3 up to which a path with a
# search at every size takes no more than about 0.2 s. Beyond it a path has no such searches, so that ``solve``, which
# begins with the same path, is never worse.
MAX_SEARCHED_WORK = 2.5e6
# Rows (at most columns and responses) times columns times k^2 up to which a path on the columns themselves takes no
# more than about 0.3 s
MAX_ORTHONORMAL_WORK = 1e7
MIN_STATE_SIZE = 8e6  # numbers that the kernel may always keep: k rows of p of them

MIN_WORKING_SET = 40  # columns of a working set beside the support
NEGLIGIBLE_VALUE_SHARE = 1e-24  # of the null value: an orthonormal basis leaves less than that to rounding
WELL_CONDITIONED = 1e-6  # a lower bound of a reciprocal condition number (by a factor k too low, or k^2)


class PathPlan(NamedTuple):
    """The request to a path kernel: a search at every size too (``thorough``), a seed, a stop test, a callback.

    ``sizes`` are those that are wanted (none: all of them); at others a light path does no more than pass through, if
    it goes there at all. ``only``: the one size whose point is returned (or the last one that was reached),
    every exchange there judged; no point where one of the sizes needs refits, but for a value next to 0.
    """

    thorough: bool
    seed: int
    should_stop: Callable[[], bool] | None
    reached: Callable[[int, float], object] | None
    sizes: Sequence[int] = ()
    only: int | None = None


class PathPoint(NamedTuple):
    """The best point of a size, and what is known of it; with optimality "none" refits should look again.

    ``exact`` says that it minimises f over its support as nearly as a refit would; ``exchange`` is the cheapest one,
    where all were judged but those with ``doubtful`` newcomers, of which the optimality says nothing; ``lower_bound``
    is one of f over the support.
    """

    support: Columns
    coef: Vector
    free: Intercept | None  # None where there is none
    value: float
    optimality: str
    exact: bool = False
    exchange: Exchange | None = None
    doubtful: Columns | None = None
    lower_bound: float | None = None


@dataclass(frozen=True)
class PathSolution:
    """Points of the sizes ``first``, ``first`` + 1, ... (or of ``sizes``, as far as it came).

    Whether the kernel was stopped, and what was raised meanwhile.
    """

    first: int
    points: list[PathPoint]
    stopped: bool
    trouble: BaseException | None = field(default=None, repr=False)
    sizes: Sequence[int] | None = None

    def by_size(self) -> dict[int, PathPoint]:
        """The points."""
        sizes = range(self.first, self.first + len(self.points)) if self.sizes is None else self.sizes
        return dict(zip(sizes, self.points, strict=False))


# Restarts of a search at one size, how many unsuccessful ones in a row end it, what they may cost: quadratics, others.
RESTART_LIMITS = {True: (200, 40, 5.0), False: (160, 24, 6.0)}
# Times fewer restarts at each size of a quadratic's path than at the one size of ``only``. ``solve`` takes the same
# path and adds restarts at its own size, so that it is never worse than a path to k + 1.
RESTART_DIVISOR = 10
# Times more restarts, unsuccessful or not, with several responses: they have more supports that no exchange improves
SEVERAL_RESPONSES_FACTOR = 4


def path_request(
    plan: PathPlan,
    constraint: AtMost,
    useful: Array,
    quadratic: bool,
    scale: float,
    start: Columns = NO_COLUMNS,
    responses: int = 1,
) -> _core.SearchRequest:
    """A request for the path; ``useful``: a flag for each column."""
    restarts, patience, effort = RESTART_LIMITS[quadratic]
    patience += constraint.units // 10
    if responses > 1:
        restarts, patience = SEVERAL_RESPONSES_FACTOR * restarts, SEVERAL_RESPONSES_FACTOR * patience
    if quadratic and plan.only is None:  # as the kernel itself does on the way to one size
        patience, effort = -(-patience // RESTART_DIVISOR), effort / RESTART_DIVISOR
    limits = SearchPlan(restarts, patience, effort, 0, plan.seed, plan.should_stop)
    return make_request(constraint, useful, start, WIDENING_FACTOR[quadratic], scale, limits)


def _wanted(plan: PathPlan, k: int) -> Any:
    """A flag for every size from 0 to k; the last one is wanted always."""
    if plan.thorough or not plan.sizes:
        return np.ones(k + 1, np.uint8)
    return (np.isin(np.arange(k + 1), plan.sizes) | (np.arange(k + 1) == k)).astype(np.uint8)


def quadratic_path(
    rows: Any,
    c: Vector,
    h: Vector,
    ridge: Vector,
    f0: float,
    scale: float,
    constraint: AtMost,
    plan: PathPlan,
    rounded: float = SUM_ROUNDING,
    columns: Callable[[], UnitColumns | None] | None = None,
) -> PathSolution | None:
    """The path of f0 + c'x + x'(H + ridge)x/2; ``rows`` is H, or a function of a column that gives its row.

    With a row of c for each response the quadratics are added up, with one support. Where products of columns have too
    few digits for a claim at some size, a path with a search at every size is computed from ``columns`` instead.
    """
    if not has_safe_range(h):
        return None
    c = np.atleast_2d(c)
    on_columns = columns() if columns is not None and plan.thorough else None
    if on_columns is not None:
        rows_left = min(len(on_columns.columns), len(h) + len(c))
        size = constraint.k if plan.only is None else plan.only  # so that a path to this size takes the same way
        on_columns = on_columns if rows_left * len(h) * size**2 <= MAX_ORTHONORMAL_WORK else None
    request = path_request(plan, constraint, h > ridge, True, scale, responses=len(c))
    judged = -1 if plan.only is None else plan.only
    floor = MIN_VALUE_SHARE * f0
    needed = rounded if on_columns is not None else 0.0
    solution = _core.quadratic_path(rows, c, h, ridge, f0, floor, request, plan.thorough, plan.reached, judged, needed)
    if on_columns is not None and not solution.stopped:
        last = solution.point(solution.sizes - 1).value if solution.sizes else np.inf
        complete = solution.sizes == constraint.k - len(constraint.include) + 1 and solution.claimed(f0, rounded)
        points = [solution.point(i) for i in range(solution.sizes)]
        if last > floor and not complete:
            return orthonormal_path(on_columns, scale, constraint, plan)
        if last > floor and any(on_columns.near_combination(at.support, at.doubtful) for at in points):
            known = points[-1 if plan.only is None else plan.only - len(constraint.include)].support
            if len(c) > 1:  # from there a light path misses pairs of near-copies whose difference explains much
                known = NO_COLUMNS
            return orthonormal_path(on_columns, scale, constraint, plan, known)
    return _from_quadratic(solution, request, h, f0, constraint, plan, rounded)


def orthonormal_path(
    given: UnitColumns, scale: float, constraint: AtMost, plan: PathPlan, known: Columns = NO_COLUMNS
) -> PathSolution | None:
    """The path of a least squares problem whose columns may be close to dependent; nothing is claimed of its points.

    For one size a ``known`` support stands in for the searches at other sizes.
    """
    useful, (A, Y) = given.square > 0, given.triangle()
    thorough, start = (True, NO_COLUMNS) if plan.only is None else (not len(known), known)
    request = path_request(plan, constraint, useful, True, scale, start, len(Y))
    judged = -1 if plan.only is None else plan.only
    floor = NEGLIGIBLE_VALUE_SHARE * 0.5 * float(np.sum(Y**2))
    solution = _core.orthonormal_path(A, Y, given.lengths, given.least, floor, request, thorough, plan.reached, judged)
    first, points = len(constraint.include), list[PathPoint]()
    for at in solution.points:
        x = at.coef if len(Y) == 1 else at.coef.reshape(len(at.support), len(Y))
        points.append(PathPoint(at.support, x, None, at.value, "none"))
    if plan.only is not None and points:
        size = min(plan.only, first + len(points) - 1)
        first, points = size, [points[size - first]]
    return PathSolution(first, points, solution.stopped, request.take_error()) if points else None


def least_squares_path(
    kernel: _core.LeastSquares,
    useful: Array,
    h: Vector,
    f0: float,
    scale: float,
    room: float,
    constraint: AtMost,
    plan: PathPlan,
    rounded: float,
    claims: bool,
) -> PathSolution | None:
    """The path of a least squares problem whose X is in memory, every size tested against all columns (``claims``)."""
    request = path_request(plan, constraint, useful, True, scale)
    solution = kernel.path(request, thorough=plan.thorough, claims=claims, reached=plan.reached, room=room)
    return _from_quadratic(solution, request, h, f0, constraint, plan, rounded)


def _from_quadratic(
    solution: _core.PathSolution,
    request: _core.SearchRequest,
    h: Vector,
    f0: float,
    constraint: AtMost,
    plan: PathPlan,
    rounded: float,
) -> PathSolution | None:
    first = len(constraint.include)
    if plan.only is not None and solution.sizes:
        size = min(plan.only, first + solution.sizes - 1)
        sure = solution.sizes == constraint.k - first + 1 and solution.claimed(f0, rounded)
        at = solution.point(size - first)
        tiny = at.value <= MIN_VALUE_SHARE * f0  # where the kernel ends
        points = [_point(at, h, f0, rounded)] if sure or solution.stopped or tiny else []
        return PathSolution(size, points, solution.stopped, request.take_error())
    found = solution.points
    sizes: Sequence[int] = range(first, first + len(found))
    if plan.sizes and not plan.thorough:  # a light path passes through the others, which are not requested
        wanted = {*plan.sizes, first, sizes[-1]} if found else set()
        sizes = [size for size in sizes if size in wanted]
        found = [found[size - first] for size in sizes]
    points = [_point(at, h, f0, rounded) for at in found]
    return PathSolution(first, points, solution.stopped, request.take_error(), sizes) if points else None


def _point(at: _core.PathPoint, h: Vector, f0: float, rounded: float) -> PathPoint:
    S, x, value = at.support, at.coef, at.value
    if len(x) > len(S):  # several responses
        x = x.reshape(len(S), -1)
    claim = "swap_optimal" if at.claimed(f0, rounded) else "none"
    noise = value_rounding(x, h[S], f0, rounded)
    exact = at.condition > WELL_CONDITIONED and noise <= MAX_ROUNDING_SHARE * value
    least = value - max(noise, MIN_VALUE_ERROR * value) if exact else None
    return PathPoint(S, x, None, value, claim, exact, as_exchange(at.exchange), at.doubtful, least)


def likelihood_path(
    kernel: Callable[..., Any],
    even: ScaledColumns,
    l2: Ridge,
    outputs: int,
    constraint: AtMost,
    floor: float,
    scale: float,
    intercept: bool,
    plan: PathPlan,
) -> PathSolution | None:
    """The path of a loss; ``kernel`` has the samples, and takes everything else."""
    forced, allowed = unit_masks(constraint, even.sizes > 0)
    if (forced & ~allowed & 1).any():  # a constant column that is forced in
        return None
    request = path_request(plan, constraint, even.sizes > 0, False, scale)
    columns = even.kernel(l2, intercept)
    found = kernel(columns, floor, _wanted(plan, constraint.k), request, plan.thorough, plan.reached)
    points = []
    for at in found.points:
        Z = at.coef.reshape(-1, outputs)
        coef, free = even.back(at.support, Z[:-1], Z[-1])
        points.append(PathPoint(at.support, coef, free, at.value, "swap_stationary" if at.settled else "none"))
    return PathSolution(len(constraint.include), points, found.stopped, request.take_error()) if points else None


def light_class_path(
    kernel: Callable[..., Any],
    even: ScaledColumns,
    l2: Any,
    outputs: int,
    constraint: AtMost,
    floor: float,
    scale: float,
    intercept: bool,
    plan: PathPlan,
) -> PathSolution | None:
    """The path of several classes on a working set of columns; sizes that are not wanted have the point below."""
    forced, allowed = unit_masks(constraint, even.sizes > 0)
    if (forced & ~allowed & 1).any():  # a constant column that is forced in
        return None
    request = path_request(plan, constraint, even.sizes > 0, False, scale)
    columns = even.kernel(l2, intercept)
    found = kernel(columns, floor, _wanted(plan, constraint.k), MIN_WORKING_SET, request, plan.reached)
    points: list[PathPoint] = []
    first = len(constraint.include)
    for at in found.points:
        Z = at.coef.reshape(-1, outputs)
        coef, free = even.back(at.support, Z[:-1], Z[-1])
        points += points[-1:] * (len(at.support) - first - len(points))
        points.append(PathPoint(at.support, coef, free, at.value, "stationary"))
    return PathSolution(first, points, found.stopped, request.take_error()) if points else None


def working_set_path(
    kernel: Callable[..., Any],
    columns: ScaledColumns,
    pass_work: float,
    scale: float,
    constraint: AtMost,
    plan: PathPlan,
) -> PathSolution | None:
    """The path of a loss on a working set of columns; ``pass_work`` is what a pass over X costs."""
    request = path_request(plan, constraint, columns.sizes > 0, False, scale)
    found = kernel(_wanted(plan, constraint.k), MIN_WORKING_SET, pass_work, request, plan.reached)
    points = []
    for at in found.points:
        coef, free = columns.back(at.support, at.coef[:-1, None], at.coef[-1:])
        points.append(PathPoint(at.support, coef[:, 0], float(free[0]), at.value, "stationary"))
    return PathSolution(len(constraint.include), points, found.stopped, request.take_error()) if points else None
