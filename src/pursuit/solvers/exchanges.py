"""All single exchanges at a refitted point, ranked: the building block of local search.

The formula is exact for the squared loss and a model for others (``core/exchange.hpp`` has it, with its derivation in
docs/notation.md): all k (p - k) exchanges cost one product of k Hessian rows with their k x k inverse. Where a column
is close to a combination of the support's the formula is rounding: such pairs are listed, for refits to decide.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._utils.arrays import inside, without
from .._utils.types import Columns, Flags, Vector
from ..constraints import AtMost, Exchange
from ..engines import check_time
from ..objectives.base import Objective
from ..objectives.point import Point
from ..refits.factor import unit_scale
from . import orthonormal_sweep
from .orthonormal_sweep import PairSweep

MAX_HESSIAN_ENTRIES = 8e6  # numbers of Hessian rows beyond which a sweep takes the columns outside piece by piece
GROUP_COLUMNS_AT_A_TIME = 64  # columns whose Hessian block is formed at once
# share of a column (or ratio of eigenvalues of the support's) below which the formula is not trusted
NEARLY_DEPENDENT = 1e-7
MIN_NEW_SHARE = 1e-11  # share of H_jj below which column j adds nothing new, as in the kernel
MIN_IMPROVEMENT = 1e-10  # share of f by which an exchange must lower it to count
MAX_REPORTED_ROUNDING = 1e-6  # share of f: rounding of the best change beyond which it is not reported
MIN_CLEAR_IMPROVEMENT = 1e-8  # share of f by which it must to be made without a refit
MAX_FOLLOWED = 50  # exchanges that are made without one
MAX_SCALE_RATIO = 1e30  # ratio of scales above which rows are scaled before they are multiplied


@dataclass(frozen=True)
class Ranked:
    """Exchanges from the best down, and those about which the formula says nothing."""

    best: list[Exchange]
    doubtful: Columns  # units that would enter, for any of ``free``
    free: Columns
    reported: Exchange | None = None  # the best of those that the formula can judge
    pairs: list[tuple[int, int]] | None = None  # all doubtful exchanges; None: every one with a doubtful unit


class _Sweep(NamedTuple):
    """Per unit outside: the change, whom to drop, the share of it that the support leaves, and its gain on top of it.

    ``exact``: the formula is trusted.

    ``reach`` is sum_l sqrt(V_l), V_l being 1 / (the share of column l that the others leave), and what the dearest unit
    costs: with them rounding grows (``rounding.exchange_rounding`` says how).
    """

    change: Vector
    who: Columns
    left: Vector
    gain: Vector
    exact: bool
    reach: tuple[float, float]

    def of(self, others: Columns) -> "_Sweep":
        return self._replace(
            change=self.change[others], who=self.who[others], left=self.left[others], gain=self.gain[others]
        )

    def noise(self, rounding: float) -> Vector:
        """What rounding may add to each change."""
        spread, dearest = self.reach
        return np.asarray(rounding * (spread * (1 + 1 / np.sqrt(np.maximum(self.left, MIN_NEW_SHARE)))) ** 2 * dearest)

    def unsure(self, rounding: float) -> Flags:
        """Units whose change is within rounding of nothing."""
        return np.asarray(self.change < self.noise(rounding))


def exchanges(f: Objective, constraint: AtMost, point: Point, units: Columns | None = None, most: int = 1) -> Ranked:
    """The ``most`` best exchanges with units of ``units`` (None: all that are allowed)."""
    mine = constraint.units_of(point.support)
    every = units is None
    others = constraint.allowed if units is None else without(units, constraint.exclude)
    others = without(others, mine)
    free = without(mine, constraint.include)
    if len(others) == 0 or len(free) == 0:
        return Ranked([], others[:0], free)
    own = f.ranked_exchanges(constraint, point, most)
    if own is not None:
        return Ranked(own, others[:0], free)
    sweep = _sweep(f, constraint, point, mine, others, every)
    unknown = others if not sweep.exact else others[(sweep.left < NEARLY_DEPENDENT) | sweep.unsure(f.rounded)]
    coarse = sweep.noise(f.rounded)[int(np.argmin(sweep.change))] > MAX_REPORTED_ROUNDING * abs(point.value)
    if every and f.quadratic and constraint.by_blocks(f.width) and (len(unknown) or coarse or f.far_from_zero):
        careful = _by_basis(f, constraint, point)
        if careful is not None:
            return careful
    few = min(most, len(others))
    order = np.argpartition(sweep.change, few - 1)[:few]
    order = order[np.argsort(sweep.change[order], kind="stable")]
    best = [
        Exchange((int(mine[sweep.who[j]]),), (int(others[j]),), float(sweep.change[j]))
        for j in order
        if sweep.who[j] >= 0
    ]
    return Ranked(best, unknown, free, _reported(sweep, mine, others, unknown) if f.quadratic else None)


def newcomers(
    f: Objective, constraint: AtMost, point: Point, banned: Columns, most: int, units: Columns | None = None
) -> tuple[Columns, Vector]:
    """The ``most`` units outside that lower f most on top of a refit by the quadratic model, and by how much.

    ``banned`` units are left out; of ``units``, if that is given.
    """
    mine = constraint.units_of(point.support)
    others = without(without(constraint.allowed, mine) if units is None else without(units, mine), banned)
    others = without(others, constraint.exclude)
    if len(others) == 0:
        return others, np.empty(0)
    gain = _sweep(f, constraint, point, mine, others, units is None).gain
    order = np.argsort(-gain, kind="stable")[:most]
    order = order[gain[order] > 0]
    return others[order], gain[order]


def _sweep(f: Objective, constraint: AtMost, point: Point, mine: Columns, others: Columns, every: bool) -> "_Sweep":
    if constraint.unit_of is None:
        return _columns(f, constraint, point, others, every)
    model = group_model(f, constraint, point, mine, others)
    return _Sweep(*model.changes(~inside(mine, constraint.include)), model.exact, model.reach)


def _reported(sweep: "_Sweep", mine: Columns, others: Columns, unknown: Columns) -> Exchange | None:
    """The best exchange with a unit that is not in doubt."""
    change = np.where(inside(others, unknown) | (sweep.who < 0), np.inf, sweep.change)
    j = int(np.argmin(change))
    return Exchange((int(mine[sweep.who[j]]),), (int(others[j]),), float(change[j])) if change[j] < np.inf else None


def _sweep_by_basis(
    f: Objective, constraint: AtMost, support: Columns, value: float
) -> tuple[Columns, PairSweep] | None:
    """All exchanges from an orthonormal basis of the columns; None where f has none or they lack digits."""
    problem, units = f.unit_columns(), constraint.units_of(support)
    others, free = without(constraint.allowed, units), ~inside(units, constraint.include)
    if problem is None or not (len(others) and free.any()):
        return None
    found = orthonormal_sweep.sweep(problem, units, others, free, MIN_IMPROVEMENT * f.scale(value))
    return None if found is None else (others, found)


def _by_basis(f: Objective, constraint: AtMost, point: Point) -> Ranked | None:
    """The best exchange at a point from an orthonormal basis of the columns."""
    S, known = constraint.units_of(point.support), _sweep_by_basis(f, constraint, point.support, point.value)
    if known is None:
        return None
    others, found = known
    free = without(S, constraint.include)
    j = int(np.argmin(found.change))
    best = Exchange((int(S[found.who[j]]),), (int(others[j]),), float(found.change[j]))
    reported = None
    if found.reported is not None:
        leave, enter, change = found.reported
        reported = Exchange((int(S[leave]),), (int(others[enter]),), change)
    rows, cols = np.nonzero(found.unsure)
    pairs = list(zip(free[rows].tolist(), others[cols].tolist(), strict=True))
    return Ranked([best], np.unique(others[cols]), free, reported, pairs)


def reported_by_basis(f: Objective, constraint: AtMost, point: Point) -> Exchange | None:
    """The exchange that changes f least at a point, from an orthonormal basis; None where none has digits."""
    known = _by_basis(f, constraint, point) if constraint.by_blocks(f.width) else None
    return None if known is None else known.reported


def follow_by_basis(f: Objective, constraint: AtMost, support: Columns, value: float) -> Columns:
    """Make the best exchange while one helps by more than rounding, without refits; returns the last support."""
    seen = {support.tobytes()}
    for _ in range(MAX_FOLLOWED):
        check_time()
        known = _sweep_by_basis(f, constraint, support, value)
        if known is None:
            break
        others, found = known
        j = int(np.argmin(found.change))
        if not found.change[j] + found.noise[j] < -MIN_CLEAR_IMPROVEMENT * f.scale(value):
            break
        leave = int(constraint.units_of(support)[found.who[j]])
        support = apply(constraint, support, (leave,), (int(others[j]),))
        if support.tobytes() in seen:
            break
        seen.add(support.tobytes())
    return support


def removals(f: Objective, constraint: AtMost, point: Point) -> tuple[Columns, Vector]:
    """The units of a refitted point and what dropping each would cost, x_I' (B_II)^-1 x_I / 2; forced-in ones: inf."""
    units = constraint.units_of(point.support)
    own = f.removal_costs(point)
    if own is not None:
        own[inside(units, constraint.include)] = np.inf
        return units, own
    S, ends = constraint.ordered(units)
    x = point.coef[np.searchsorted(point.support, S)]
    B, s, _ = inverse(f.exchange_model(point, S, S).small)
    x = x / np.where(s > 0, s, 1.0)
    if constraint.unit_of is None:
        cost = x**2 / (2 * B.diagonal())
    else:
        pieces = [slice(a, b) for a, b in pairwise(ends)]
        cost = np.array([0.5 * x[i] @ np.linalg.solve(B[i, i], x[i]) for i in pieces])
    cost[inside(units, constraint.include)] = np.inf
    return units, cost


def apply(constraint: AtMost, support: Columns, leave: tuple[int, ...], enter: tuple[int, ...]) -> Columns:
    """The support after an exchange of units."""
    units = without(constraint.units_of(support), np.array(leave))
    return constraint.columns_of(np.union1d(units, enter))


Inverse = tuple[Vector, Vector, bool]


def inverse(A: Vector) -> Inverse:
    """The inverse of a positive matrix on a unit diagonal (ridged where it is nearly singular), and that scale."""
    if len(A) == 0:
        return A, np.empty(0), True
    s = unit_scale(A)
    values, vectors = np.linalg.eigh(A * s * s[:, None])
    inverse = (vectors / np.maximum(values, 1e-10 * values[-1])) @ vectors.T
    return inverse, s, bool(values[0] > NEARLY_DEPENDENT * values[-1])


def _kernel(rows: Any, inner: Inverse, g: Any, h: Any, point: Point, constraint: AtMost) -> _Sweep:
    """The kernel's answers, rows on the support's unit diagonal where their own scales are too far apart."""
    B, s, exact = inner
    x, spread = point.coef, float(np.sqrt(B.diagonal()).sum())
    if len(s) == 0 or (s.min() > 0 and s.max() < MAX_SCALE_RATIO * s.min()):
        B = B * s * s[:, None]
    else:
        rows, x = (rows * s[:, None]).astype(rows.dtype), x / np.where(s > 0, s, 1.0)
    free = ~inside(point.support, constraint.include)
    change, who, gain, left = _core.exchange(rows, B, g, h, x, free.astype(np.uint8))
    dearest = float((x[free] ** 2 / (2 * B.diagonal()[free])).max(initial=0.0))
    return _Sweep(change, who, left, gain, exact, (spread, dearest))


def _columns(f: Objective, constraint: AtMost, point: Point, others: Columns, every: bool) -> _Sweep:
    S, room = point.support, max(1, int(MAX_HESSIAN_ENTRIES / max(1, len(point.support))))
    if len(others) > room:
        return _piecewise(f, constraint, point, others, room)
    model = f.exchange_model(point, S, None if every else others)
    inner = inverse(model.small)
    sweep = _kernel(model.rows, inner, point.gradient[model.others], model.diagonal(), point, constraint)
    if not every:
        return sweep
    # all columns in one product; what is in S or forbidden is left out of the answer
    return sweep.of(others)


def _piecewise(f: Objective, constraint: AtMost, point: Point, others: Columns, room: int) -> _Sweep:
    """The same, ``room`` columns at a time."""
    inner, sweeps = None, list[_Sweep]()
    for first in range(0, len(others), room):
        check_time()
        cols = others[first : first + room]
        model = f.exchange_model(point, point.support, cols)
        inner = inner or inverse(model.small)
        sweeps.append(_kernel(model.rows, inner, point.gradient[cols], model.diagonal(), point, constraint))
    change, who, left, gain = (np.concatenate(some) for some in zip(*(sweep[:4] for sweep in sweeps), strict=True))
    return sweeps[0]._replace(change=change, who=who, left=left, gain=gain)


@dataclass(frozen=True)
class GroupModel:
    """The quadratic model on groups: Hessian rows and blocks, where groups begin, and whether it is trusted."""

    rows: Vector
    B: Vector
    g: Vector
    blocks: Vector
    x: Vector
    row_ends: Columns
    col_ends: Columns
    exact: bool

    @property
    def reach(self) -> tuple[float, float]:
        """As a sweep's."""
        if not len(self.x):
            return 0.0, 0.0
        sizes = np.add.reduceat(np.abs(self.x), self.row_ends[:-1])  # x_I' B_II^-1 x_I is at most the square of that
        return float(np.sqrt(self.B.diagonal()).sum()), 0.5 * float((sizes**2).max(initial=0.0))

    def changes(self, droppable: Flags) -> tuple[Vector, Columns, Vector, Vector]:
        """Per group outside: the change of f, whom to drop, the share that the support leaves, the gain on top."""
        change, who, gain, left = _core.group_exchange(
            self.rows, self.B, self.g, self.blocks, self.x, self.row_ends, self.col_ends, droppable.astype(np.uint8)
        )
        return change, who, left, gain


def group_model(f: Objective, constraint: AtMost, point: Point, mine: Columns, others: Columns) -> GroupModel:
    """The quadratic model on groups inside and outside, rows on the support's unit diagonal."""
    S, row_ends = constraint.ordered(mine)
    C, col_ends = constraint.ordered(others)
    place = np.searchsorted(point.support, S)
    model = f.exchange_model(point, S, C)
    B, s, exact = inverse(model.small)
    rows = model.rows * s[:, None]
    blocks: list[Vector] = []
    first = 0
    while first < len(others):  # as many groups at a time as fit into a chunk, at least one
        last = max(
            first + 1, int(np.searchsorted(col_ends, col_ends[first] + GROUP_COLUMNS_AT_A_TIME, side="right")) - 1
        )
        last = min(last, len(others))
        H = model.block(slice(col_ends[first], col_ends[last]))
        ends = col_ends[first : last + 1] - col_ends[first]
        blocks += [H[a:b, a:b].ravel() for a, b in pairwise(ends)]
        first = last
    x = point.coef[place] / np.where(s > 0, s, 1.0)
    return GroupModel(rows, B, point.gradient[C], np.concatenate(blocks), x, row_ends, col_ends, exact)
