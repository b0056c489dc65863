"""A whole path, the best support of every size, in one kernel call (core/path_search.hpp).

The kernel works as ``pursuit.solvers.walk`` does, on the Gram matrix for the squared loss (all of it, or columns as
they are wanted) and on an evened copy of small data for other losses.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from . import _core, searched
from ._types import Columns, Vector
from .constraints import AtMost, Exchange

THOROUGH = 500  # columns up to which every size has a search of its own
WHOLE = 5e8  # multiplications for the Gram matrix up to which that is so
STATE = 8e6  # numbers that the kernel may always keep: k rows of p of them

WELL_CONDITIONED = 1e-6  # a lower bound of a reciprocal condition number (by a factor k too low, or k^2)


class PathPlan(NamedTuple):
    """What is asked of a kernel: a search at every size too (``thorough``), a seed, whether to stop, whom to tell.

    ``sizes`` are those that are wanted (none: all of them); at others a light path does no more than pass through, if
    it goes there at all. ``most`` limits the multiplications, roughly, of a path on a working set of columns, for
    losses other than the squared. ``only``: the one size whose point is returned (or the last one that was reached),
    every exchange there judged.
    """

    thorough: bool
    seed: int
    ask: Callable[[], bool]
    reached: Callable[[int, float], Any] | None
    sizes: Sequence[int] = ()
    most: float = float("inf")
    only: int | None = None


class Reached(NamedTuple):
    """The best point of a size, and what is known of it; with optimality "none" refits should look again.

    ``exact`` says that it minimises f over its support as nearly as a refit would; ``exchange`` is the cheapest one,
    where all were judged but those with ``doubtful`` newcomers, of which the optimality says nothing; ``least`` is a
    lower bound of f over the support.
    """

    support: Columns
    coef: Vector
    free: Any
    value: float
    optimality: str
    exact: bool = False
    exchange: Exchange | None = None
    doubtful: Columns | None = None
    least: float | None = None


@dataclass(frozen=True)
class Walked:
    """Points of the sizes ``first``, ``first`` + 1, ... (or of ``sizes``, as far as it came).

    Whether the kernel was stopped, and what was raised meanwhile.
    """

    first: int
    points: list[Reached]
    stopped: bool
    trouble: BaseException | None = field(default=None, repr=False)
    sizes: Sequence[int] | None = None
    sure: bool = True  # no size of the path needs refits, where only one size is given

    def by_size(self) -> dict[int, Reached]:
        """The points."""
        sizes = range(self.first, self.first + len(self.points)) if self.sizes is None else self.sizes
        return dict(zip(sizes, self.points, strict=False))


# Restarts of a search at one size, how many in a row may be in vain, what they may cost; for quadratics, for others:
# more than ``auto`` has, since all sizes gain.
RESTARTS = {True: (200, 40, 5.0), False: (160, 24, 6.0)}


def _make_request(
    plan: PathPlan, constraint: AtMost, useful: Any, quadratic: bool, scale: float
) -> _core.SearchRequest:
    restarts, patience, effort = RESTARTS[quadratic]
    limits = searched.Plan(restarts, patience + constraint.units // 10, effort, 0, plan.seed, plan.ask)
    nothing = np.empty(0, np.int64)
    return searched.make_request(constraint, useful, nothing, searched.WIDEST[quadratic], scale, limits)


def _wanted(plan: PathPlan, k: int) -> Any:
    """A flag for every size from 0 to k; the last one is wanted always."""
    if plan.thorough or not plan.sizes:
        return np.ones(k + 1, np.uint8)
    return (np.isin(np.arange(k + 1), plan.sizes) | (np.arange(k + 1) == k)).astype(np.uint8)


def quadratic(
    rows: Any,
    c: Vector,
    h: Vector,
    ridge: Vector,
    f0: float,
    floor: float,
    scale: float,
    constraint: AtMost,
    plan: PathPlan,
    rounded: float = searched.ROUNDED,
) -> Walked | None:
    """The path of f0 + c'x + x'(H + ridge)x/2; ``rows`` is H, or a function of a column that gives its row."""
    if not searched.sane(h):
        return None
    request = _make_request(plan, constraint, h > ridge, True, scale)
    judged = -1 if plan.only is None else plan.only
    solution = _core.quadratic_path(rows, c, h, ridge, f0, floor, request, plan.thorough, plan.reached, judged)
    return _from_quadratic(solution, request, h, f0, constraint, plan, rounded)


def least_squares(
    kernel: _core.LeastSquares, useful: Any, h: Vector, f0: float, scale: float, room: float, constraint: AtMost,
    plan: PathPlan, rounded: float,
) -> Walked | None:  # fmt: skip
    """The path of a least squares problem whose X is in memory."""
    request = _make_request(plan, constraint, useful, True, scale)
    solution = kernel.path(request, thorough=plan.thorough, reached=plan.reached, room=room)
    return _from_quadratic(solution, request, h, f0, constraint, plan, rounded)


def _from_quadratic(
    solution: _core.PathSolution, request: _core.SearchRequest, h: Vector, f0: float, constraint: AtMost,
    plan: PathPlan, rounded: float,
) -> Walked | None:  # fmt: skip
    first = len(constraint.include)
    if plan.only is not None:
        if not solution.sizes:
            return None
        size = min(plan.only, first + solution.sizes - 1)
        points = [_point(solution.point(size - first), h, f0, rounded)]
        sure = solution.sizes == constraint.k - first + 1 and all(
            _claimed(solution.point(at), f0, rounded) for at in range(1, solution.sizes)
        )
        return Walked(size, points, solution.stopped, request.take_error(), sure=sure)
    found = solution.points
    sizes: Sequence[int] = range(first, first + len(found))
    if plan.sizes and not plan.thorough:  # a light path passes through the others, and nobody asks for them
        wanted = {*plan.sizes, first, sizes[-1]} if found else set()
        sizes = [size for size in sizes if size in wanted]
        found = [found[size - first] for size in sizes]
    points = [_point(at, h, f0, rounded) for at in found]
    return Walked(first, points, solution.stopped, request.take_error(), sizes) if points else None


def _point(at: _core.PathPoint, h: Vector, f0: float, rounded: float) -> Reached:
    S, x, value = at.support, at.coef, at.value
    claim = "swap_optimal" if _claimed(at, f0, rounded) else "none"
    noise = searched.rounding(x, h[S], f0, rounded)
    exact = at.condition > WELL_CONDITIONED and noise <= searched.CANCELLED * value
    least = value - max(noise, searched.LEAST_DOUBT * value) if exact else None
    return Reached(S, x, None, value, claim, exact, searched.as_exchange(at.exchange), at.doubtful, least)


def _claimed(at: _core.PathPoint, f0: float, rounded: float) -> bool:
    """Whether no exchange helps at a point of a path, for certain."""
    return at.settled and _judged(at.condition, at.share, at.nearest, f0, rounded)


def _judged(condition: float, share: float, nearest: float, f0: float, rounded: float) -> bool:
    """Whether the nearest exchange is further from helping than rounding can be."""
    return min(condition, share) > searched.CONDITION and nearest > searched.doubt(condition, f0, share, rounded)


def likelihood(
    kernel: Callable[..., Any], even: searched.EvenColumns, l2: Any, outputs: int, constraint: AtMost, floor: float,
    scale: float, intercept: bool, plan: PathPlan,
) -> Walked | None:  # fmt: skip
    """The path of a loss; ``kernel`` has the samples, and takes everything else."""
    forced, allowed = searched.masks(constraint, even.sizes > 0)
    if (forced & ~allowed & 1).any():  # a constant column that is forced in
        return None
    request = _make_request(plan, constraint, even.sizes > 0, False, scale)
    columns = even.kernel(l2, intercept)
    found = kernel(columns, floor, _wanted(plan, constraint.k), request, plan.thorough, plan.reached)
    points = []
    for at in found.points:
        Z = at.coef.reshape(-1, outputs)
        coef, free = even.back(at.support, Z[:-1], Z[-1])
        points.append(Reached(at.support, coef, free, at.value, "swap_stationary" if at.settled else "none"))
    return Walked(len(constraint.include), points, found.stopped, request.take_error()) if points else None
