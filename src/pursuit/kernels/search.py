"""The search for the best support in one kernel call: its request, its solution, the scaled columns that it takes.

The kernels take columns of equal length: for the squared loss a Gram matrix (core/working_set.hpp), for other losses
``ScaledColumns`` (core/likelihood_search.hpp). They compare gradients in the objective's own units.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._utils.arrays import inside
from .._utils.rounding import (
    MIN_CONDITION,
    MIN_VALUE_SHARE,
    MIN_VARIANCE_SHARE,
    SUM_ROUNDING,
    exchange_rounding,
    has_safe_range,
)
from .._utils.types import Array, Columns, Ridge, Vector
from ..constraints import AtMost, Exchange
from ..data.answers import Moments
from ..designs import DenseBlock, centre

MAX_SEARCH_WORK = 4e7  # entries of X times k (and squared outputs) up to which a likelihood is searched in the kernel
MAX_PATH_WORK = 1e7  # the same for a path, and for X that is not in memory
# Multiple of k to which units are added before all but k go: quadratics, others
WIDENING_FACTOR = {True: 3, False: 2}
MAX_COPIED_ENTRIES = 1e7  # entries of X, which is copied for that
MAX_SMALL_ENTRIES = 2e6  # the same for these, and for several outputs
BEAM_WIDTH = 5  # supports that are extended at once where gradients say little of what a column brings
MAX_STATE_UNITS = 500  # units that the kernel keeps the state of


class SearchPlan(NamedTuple):
    """The settings of a search: restarts, how many unsuccessful ones in a row end it, their cost, and when to stop."""

    restarts: int
    patience: int
    effort: float  # of the restarts, as a multiple of what went before
    prove: int  # every exchange is judged: 0 no (the best-ranked are), 1 for as long as the search took, 2 to the end
    seed: int
    should_stop: Callable[[], bool] | None  # whether to stop
    # search on all columns 0 never, 1 where many supports are about as good, 2 always
    all_columns: int = 1


@dataclass(frozen=True)
class SearchSolution:
    """Points (support, coefficients, intercept, value), each better than the one before, and what is known of the last.

    ``n_unchecked`` of ``total`` exchanges are not excluded (-1: none was checked); where only those with some newcomers
    are not, these are the ``unknown``. ``trouble`` is what was raised meanwhile, ``doubtful`` are supports with columns
    too close to dependent for the kernel's fits.
    """

    points: list[tuple[Columns, Vector, Any, float]]
    exchange: Exchange | None = None
    n_unchecked: int = 0
    total: int = 0
    unknown: Columns | None = None
    trouble: BaseException | None = field(default=None, repr=False)
    doubtful: list[Columns] = field(default_factory=list)


def make_request(
    constraint: AtMost, useful: Array, start: Columns, widest: int, scale: float, plan: SearchPlan
) -> _core.SearchRequest:
    """A search request for a kernel: which units, from where, how many restarts, when to stop."""
    forced, allowed = unit_masks(constraint, useful)
    return _core.SearchRequest(
        constraint.k,
        forced,
        allowed,
        start,
        restarts=plan.restarts,
        patience=plan.patience,
        widest=widest,
        effort=plan.effort,
        seed=plan.seed,
        scale=scale,
        stop=plan.should_stop,
    )


def search_quadratic(
    H: Vector,
    c: Vector,
    ridge: Vector,
    f0: float,
    constraint: AtMost,
    start: Columns,
    scale: float,
    plan: SearchPlan,
    rounded: float = SUM_ROUNDING,
) -> SearchSolution | None:
    """The best support of f0 + c'x + x'(H + ridge)x/2; None where that is too large or lacks digits.

    With a row of c for each response the quadratics are added up, with one support. ``rounded`` is the share of |H_ij|,
    |c_j| and f0 that rounding may be.
    """
    diagonal = H.diagonal()
    if WIDENING_FACTOR[True] * constraint.k > MAX_STATE_UNITS or not has_safe_range(diagonal):
        return None
    request = make_request(constraint, diagonal > 0, start, WIDENING_FACTOR[True], scale, plan)
    found = _core.quadratic_search(H, np.atleast_2d(c), ridge, f0, MIN_VALUE_SHARE * f0, request)
    return quadratic_solution(found, request, constraint, f0, rounded)


def quadratic_solution(
    found: _core.SearchSolution,
    request: _core.SearchRequest,
    constraint: AtMost,
    f0: float,
    rounded: float = SUM_ROUNDING,
) -> SearchSolution | None:
    """What a kernel found for a quadratic, and which exchanges its rounding leaves unjudged."""
    points = [(at.support, at.coef, None, at.value) for at in found.points]
    forced = constraint.include  # which dependent columns among them keep out
    tiny = bool(points) and points[-1][-1] <= MIN_VALUE_SHARE * f0  # where the kernel ends, with fewer units perhaps
    if not (_has_k_units(points, constraint) or tiny) or not all(inside(forced, S).all() for S, *_ in points):
        return None
    total, doubtful = constraint.k * (constraint.units - constraint.k), found.doubtful[0]
    sure = min(found.condition, found.share) > MIN_CONDITION and not tiny
    sure = sure and found.change > exchange_rounding(found.condition, f0, found.share, rounded)
    unsure = constraint.k * len(doubtful) if sure else total
    return SearchSolution(
        points, as_exchange(found.nearest), unsure, total, doubtful if sure else None, request.take_error()
    )


@dataclass(frozen=True)
class ScaledColumns:
    """All columns scaled to mean square 1, and centred where there is an intercept (but for those of a sparse X).

    ``source`` is a copy, or a matrix with what the kernels subtract from its columns and multiply them with. ``sizes``
    and ``means`` are those of the objective's own columns.
    """

    source: Any
    means: Vector
    sizes: Vector
    centre: Vector | None = None
    scale: Vector | None = None

    @classmethod
    def dense(cls, A: Vector, c: Vector, intercept: bool) -> "ScaledColumns | None":
        """From a copy that is ours; None where a column's numbers are beyond what can be squared."""
        means = centre(A, c) if intercept else np.zeros(A.shape[1])
        squares = DenseBlock(A).curvatures(c, False)
        if not has_safe_range(squares):
            return None
        sizes = np.sqrt(squares)
        A /= np.where(sizes > 0, sizes, 1.0)
        return cls(A, means, sizes)

    @classmethod
    def stored(cls, X: _core.Matrix, spread: Moments, centred: bool, shift: Any, scale: Any) -> "ScaledColumns | None":
        """From a matrix with these moments, of which the objective's columns are (X - shift) / scale."""
        squares, around = spread.moment(centred), spread.mean if centred else np.zeros(len(spread.mean))
        if not has_safe_range(squares):
            return None
        useful = squares > MIN_VARIANCE_SHARE * spread.moment(False)
        inverse = np.where(useful, 1.0, 0.0) / np.sqrt(np.where(useful, squares, 1.0))
        sizes = np.where(useful, np.sqrt(squares), 0.0) / scale
        return cls(X, (around - shift) / scale, sizes, around, inverse)

    def kernel(self, l2: Ridge, intercept: bool) -> _core.EvenColumns:
        """The columns as the search on all of them takes them."""
        if self.centre is None or self.scale is None:
            return _core.EvenColumns(self.source, self.ridge(l2), self.sizes, intercept)
        return _core.EvenColumns(self.source, self.centre, self.scale, self.ridge(l2), self.sizes, intercept)

    def ridge(self, l2: Ridge) -> Vector:
        even = self.sizes > 0
        return np.where(even, l2 / np.where(even, self.sizes, 1.0) ** 2, 1.0)

    def back(self, support: Columns, z: Vector, b: Vector) -> tuple[Vector, Vector]:
        """Coefficients (a row per column) and intercepts in the objective's units."""
        coef = z / self.sizes[support][:, None]
        return coef, b - self.means[support] @ coef


def search_likelihood(
    kernel: Callable[..., Any],
    columns: ScaledColumns,
    l2: Ridge,
    outputs: int,
    constraint: AtMost,
    start: Columns,
    floor: float,
    scale: float,
    intercept: bool,
    plan: SearchPlan,
    beam: int = 0,
) -> SearchSolution | None:
    """The best support of a loss; ``kernel`` has the samples, and takes everything else."""
    useful = columns.sizes > 0
    forced, allowed = unit_masks(constraint, useful)
    if (forced & ~allowed & 1).any():  # a constant column that is forced in
        return None
    request = make_request(constraint, useful, start, WIDENING_FACTOR[False], scale, plan)
    found = kernel(columns.kernel(l2, intercept), floor, plan.prove, beam, request)
    points = []
    for at in found.points:
        Z = at.coef.reshape(-1, outputs)
        points.append((at.support, *columns.back(at.support, Z[:-1], Z[-1]), at.value))
    if not (_has_k_units(points, constraint) or (points and points[-1][-1] <= floor)):
        return None
    if not all(inside(constraint.include, S).all() for S, *_ in points):
        return None
    return SearchSolution(
        points,
        as_exchange(found.nearest),
        found.unjudged,
        found.total,
        trouble=request.take_error(),
        doubtful=found.doubtful,
    )


def is_affordable(entries: float, outputs: int, constraint: AtMost, small: bool = False) -> bool:
    """Whether a search of a likelihood in the kernel takes no longer than one would wait for it.

    ``small``: a path, or X that has to be gathered.
    """
    work = MAX_PATH_WORK if small and outputs == 1 else MAX_SEARCH_WORK
    return (
        entries <= (MAX_SMALL_ENTRIES if small or outputs > 1 else MAX_COPIED_ENTRIES)
        and entries * outputs**2 * constraint.k <= work
        and WIDENING_FACTOR[False] * constraint.k <= MAX_STATE_UNITS
    )


def _has_k_units(points: list[tuple[Columns, Vector, Any, float]], constraint: AtMost) -> bool:
    """Whether a search came to k units: where columns are dependent it may not, and more care is wanted."""
    return bool(points) and len(points[-1][0]) == constraint.k


def unit_masks(constraint: AtMost, useful: Array) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Which units are forced in, and which are allowed, as the kernels take it."""
    forced, allowed = np.zeros(constraint.units, np.uint8), useful.astype(np.uint8)
    forced[constraint.include] = 1
    allowed[constraint.exclude] = 0
    return forced, allowed


def as_exchange(nearest: tuple[int, int, float]) -> Exchange | None:
    """A kernel's exchange; None where it found none."""
    leave, enter, change = nearest
    return None if leave < 0 or not np.isfinite(change) else Exchange((leave,), (enter,), max(change, 0.0))
