"""All single exchanges at a refitted point, ranked: the building block of local search.

The formula is exact for the squared loss and a model for others (``core/exchange.hpp`` has it, with its derivation in
docs/notation.md): all k (p - k) exchanges cost one product of k Hessian rows with their k x k inverse.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._sorted import inside, without
from ..constraints import AtMost
from ..objectives.base import Exchange, Objective, Point

Columns = NDArray[np.int64]
REFINED = 32  # exchanges that a single-precision sweep hands on to double precision, at least
MARGIN = 1e-3  # share of f within which it hands on all
GROUP_CHUNK = 64  # columns whose Hessian block is formed at once


@dataclass(frozen=True)
class Ranked:
    """Exchanges from the best down; ``exact`` is False where the support is too close to dependent to trust them."""

    best: list[Exchange]
    exact: bool


def exchanges(f: Objective, constraint: AtMost, point: Point, units: Columns | None = None, most: int = 1) -> Ranked:
    """The ``most`` best exchanges with units of ``units`` (None: all that are allowed)."""
    mine = constraint.units_of(point.support)
    every = units is None
    others = constraint.allowed if units is None else without(units, constraint.exclude)
    others = without(others, mine)
    if len(others) == 0 or len(mine) == 0:
        return Ranked([], True)
    if constraint.unit_of is None:
        rough = getattr(f, "rough_rows", _nothing)(point, point.support) if every else None
        change, who, exact = _columns(f, constraint, point, others, every, rough)
    else:
        change, who, exact = _groups(f, constraint, point, mine, others)
    few = min(most, len(change))
    order = np.argpartition(change, few - 1)[:few]
    order = order[np.argsort(change[order], kind="stable")]
    return Ranked(
        [Exchange((int(mine[who[j]]),), (int(others[j]),), float(change[j])) for j in order if who[j] >= 0], exact
    )


def removals(f: Objective, constraint: AtMost, point: Point) -> tuple[Columns, NDArray[np.float64]]:
    """The units of a refitted point and what dropping each would cost, x_I' (B_II)^-1 x_I / 2; forced-in ones: inf."""
    units = constraint.units_of(point.support)
    S, ends = constraint.ordered(units)
    x = point.coef[np.searchsorted(point.support, S)]
    B, _ = _inverse(f.hessian_rows(point, S, S))
    if constraint.unit_of is None:
        cost = x**2 / (2 * B.diagonal())
    else:
        pieces = [slice(a, b) for a, b in pairwise(ends)]
        cost = np.array([0.5 * x[i] @ np.linalg.solve(B[i, i], x[i]) for i in pieces])
    cost[inside(units, constraint.include)] = np.inf
    return units, cost


def apply(constraint: AtMost, support: Columns, exchange: Exchange) -> Columns:
    """The support after an exchange."""
    units = without(constraint.units_of(support), np.array(exchange.leave))
    return constraint.columns_of(np.union1d(units, exchange.enter))


def _inverse(A: NDArray[np.float64]) -> tuple[NDArray[np.float64], bool]:
    """The inverse of a positive matrix, ridged where it is nearly singular."""
    scale = 1.0 / np.sqrt(np.maximum(A.diagonal(), 1e-300))
    values, vectors = np.linalg.eigh(A * scale * scale[:, None])
    least = 1e-10 * values[-1]
    inverse = (vectors / np.maximum(values, least)) @ vectors.T
    return inverse * scale * scale[:, None], bool(values[0] > least)


def _columns(
    f: Objective, constraint: AtMost, point: Point, others: Columns, every: bool, rough: Any = None
) -> tuple[NDArray[np.float64], Columns, bool]:
    S = point.support
    if every and rough is not None:
        return _refined(f, constraint, point, others, rough)
    if every:  # all columns in one product; what is in S or forbidden is left out of the answer
        rows = f.hessian_rows(point, S)
        B, exact = _inverse(rows[:, S])
        h, g = f.curvatures(point, np.arange(f.dim)), point.gradient
    else:
        rows = f.hessian_rows(point, S, others)
        B, exact = _inverse(f.hessian_rows(point, S, S))
        h, g = f.curvatures(point, others), point.gradient[others]
    free = (~inside(S, constraint.include)).astype(np.uint8)
    change, who, _ = _core.exchange(rows, B, g, h, point.coef, free)
    return (change[others], who[others], exact) if every else (change, who, exact)


def _nothing(point: Point, cols: Columns) -> None:
    """What an objective without single-precision rows has of them."""


def _refined(
    f: Objective, constraint: AtMost, point: Point, others: Columns, rough: tuple[Any, NDArray[np.float64]]
) -> tuple[NDArray[np.float64], Columns, bool]:
    """All exchanges in single precision; the few that come out near the best again in double.

    The rest is further from helping than single precision can err: a share ``MARGIN`` of f.
    """
    S = point.support
    B, exact = _inverse(f.hessian_rows(point, S, S))
    free = (~inside(S, constraint.include)).astype(np.uint8)
    change, who, _ = _core.exchange(rough[0], B, point.gradient, rough[1], point.coef, free)
    change, who = change[others], who[others]
    near = np.argpartition(change, min(REFINED, len(change)) - 1)[:REFINED]
    near = np.sort(np.union1d(near, np.flatnonzero(change < MARGIN * abs(point.value))))
    change[near], who[near], _ = _columns(f, constraint, point, others[near], False)
    return change, who, exact


def _groups(
    f: Objective, constraint: AtMost, point: Point, mine: Columns, others: Columns
) -> tuple[NDArray[np.float64], Columns, bool]:
    S, row_ends = constraint.ordered(mine)
    C, col_ends = constraint.ordered(others)
    place = np.searchsorted(point.support, S)
    B, exact = _inverse(f.hessian_rows(point, S, S))
    rows = f.hessian_rows(point, S, C)
    blocks: list[NDArray[np.float64]] = []
    first = 0
    while first < len(others):  # as many groups at a time as fit into a chunk, at least one
        last = max(first + 1, int(np.searchsorted(col_ends, col_ends[first] + GROUP_CHUNK, side="right")) - 1)
        last = min(last, len(others))
        chunk = C[col_ends[first] : col_ends[last]]
        H = f.hessian_rows(point, chunk, chunk)
        ends = col_ends[first : last + 1] - col_ends[first]
        blocks += [H[a:b, a:b].ravel() for a, b in pairwise(ends)]
        first = last
    free = (~inside(mine, constraint.include)).astype(np.uint8)
    change, who, _ = _core.group_exchange(
        rows, B, point.gradient[C], np.concatenate(blocks), point.coef[place], row_ends, col_ends, free
    )
    return change, who, exact
