"""What every unit of a solution is worth: the cost of dropping it, and the units outside that could stand in for it.

The formulas are those of ``exchanges`` (docs/notation.md), which reduces them over the units inside; here they are
reduced over the units outside, one unit inside after the other. Exact for the squared loss. For other objectives, and
inside bounds, they rank, and what they rank first is refitted where that is affordable.

Cost: one product of k Hessian rows with their k x k inverse, and k passes over the columns.
"""

from dataclasses import dataclass

import numpy as np

from .._utils.arrays import inside, without
from .._utils.types import Columns, Flags, Vector
from ..constraints import AtMost
from ..objectives.base import Objective
from ..objectives.point import Point
from .exchanges import MIN_NEW_SHARE, group_model, inverse, removals

HESSIAN_ENTRIES_AT_A_TIME = 2e6  # numbers of k Hessian rows that are multiplied at once
MAX_REFITTED_RIVALS = 3  # rivals of a unit that are refitted, the nearest of which is taken
MAX_REFIT_WORK = 2e9  # multiplications up to which costs are refitted where the formulas are a model
EXPECTED_NEWTON_STEPS = 20  # Newton steps that a refit is thought to take


@dataclass(frozen=True)
class Rivals:
    """Per unit of the support: the change of f when it is dropped, its closest rival (-1: none) and the change then.

    Units that are forced in have no such numbers: inf, -1, inf. ``how`` is "exact", "refitted" (the numbers are, the
    rivals are the nearest by the quadratic model) or "model" (numbers too are the quadratic model's).
    """

    units: Columns
    drop: Vector
    rival: Columns
    change: Vector
    how: str


def rivals(f: Objective, constraint: AtMost, point: Point) -> Rivals:
    """The cost of every unit of a refitted point, and its closest rival."""
    units = constraint.units_of(point.support)
    free = ~inside(units, constraint.include)
    _, drop = removals(f, constraint, point)
    refits = not f.quadratic and affordable(f, len(units), len(point.support))
    near = nearest(f, constraint, point, MAX_REFITTED_RIVALS if refits else 1)
    rival, change = np.full(len(units), -1), np.full(len(units), np.inf)
    for i, (outside, delta) in enumerate(near):
        if refits and free[i]:
            drop[i] = _cost(f, constraint, point, int(units[i]), None)
            delta = np.array([_cost(f, constraint, point, int(units[i]), int(j)) for j in outside])
        if len(outside) and free[i]:
            best = int(np.argmin(delta))
            rival[i], change[i] = outside[best], delta[best]
    how = "exact" if f.quadratic else "refitted" if refits else "model"
    return Rivals(units, drop, rival, change, how)


def affordable(f: Objective, units: int, k: int, multiple: float = 1.0) -> bool:
    """Whether the nearest rivals of all units, k coordinates together, can be refitted, or that times ``multiple``."""
    newton_step = f.work / f.dim * k**2
    return units * (MAX_REFITTED_RIVALS + 1) * EXPECTED_NEWTON_STEPS * newton_step <= multiple * MAX_REFIT_WORK


def nearest(
    f: Objective, constraint: AtMost, point: Point, most: int = MAX_REFITTED_RIVALS
) -> list[tuple[Columns, Vector]]:
    """Per unit of a refitted point the ``most`` units outside that are nearest to it by the quadratic model.

    And the model's change of f with each; nothing for units that are forced in.
    """
    units = constraint.units_of(point.support)
    free, others = ~inside(units, constraint.include), without(constraint.allowed, units)
    if not (len(others) and free.any()):
        return [(others[:0], np.empty(0))] * len(units)
    sweep = _columns if constraint.unit_of is None else _groups
    return sweep(f, constraint, point, units, others, free, min(most, len(others)))


def _cost(f: Objective, constraint: AtMost, point: Point, leave: int, enter: int | None) -> float:
    """What f gains when a unit leaves, and another one perhaps comes in."""
    enters = np.empty(0, np.int64) if enter is None else np.array([enter])
    units = np.union1d(without(constraint.units_of(point.support), np.array([leave])), enters)
    return f.refit(constraint.columns_of(units), start=point).value - point.value


def _columns(
    f: Objective, constraint: AtMost, point: Point, units: Columns, others: Columns, free: Flags, most: int
) -> list[tuple[Columns, Vector]]:
    """Per column inside the ``most`` nearest outside, and their changes."""
    S, k = point.support, len(units)
    model = f.exchange_model(point, S, None)
    B, s, _ = inverse(model.small)
    g, h, x = point.gradient, model.diagonal(), point.coef / np.where(s > 0, s, 1.0)
    room, found = max(1, int(HESSIAN_ENTRIES_AT_A_TIME / k)), [(others[:0], np.empty(0)) for _ in units]
    with np.errstate(all="ignore"):
        for first in range(0, len(others), room):
            cols = others[first : first + room]
            rows = model.rows[:, cols] * s[:, None]
            U = B @ rows
            d = h[cols] - np.einsum("ij,ij->j", rows, U)
            d = np.where(d > MIN_NEW_SHARE * h[cols], d, 0.0)
            for i in np.flatnonzero(free):
                t = x[i] / B[i, i]
                slope, curve = g[cols] - t * U[i], d + U[i] ** 2 / B[i, i]
                real = (h[cols] > 0) & (curve > MIN_NEW_SHARE * h[cols])  # of a constant column all is rounding
                gain = np.where(real, 0.5 * (slope / np.sqrt(curve)) ** 2, 0.0)
                found[i] = _nearest(found[i], cols, 0.5 * x[i] * t - gain, most)
    return found


def _groups(
    f: Objective, constraint: AtMost, point: Point, units: Columns, others: Columns, free: Flags, most: int
) -> list[tuple[Columns, Vector]]:
    """The same for groups: the kernel of ``exchanges``, one group being droppable at a time."""
    model = group_model(f, constraint, point, units, others)
    found = [(others[:0], np.empty(0)) for _ in units]
    for i in np.flatnonzero(free):
        change, *_ = model.changes(np.arange(len(units)) == i)
        found[i] = _nearest(found[i], others, change, most)
    return found


def _nearest(before: tuple[Columns, Vector], outside: Columns, change: Vector, most: int) -> tuple[Columns, Vector]:
    """The ``most`` units of least change, among those known before and some more; ties to the first."""
    units, delta = np.concatenate([before[0], outside]), np.concatenate([before[1], change])
    if len(units) > 8 * most:
        part = np.sort(np.argpartition(delta, most)[: most + 1])
        units, delta = units[part], delta[part]
    order = np.argsort(delta, kind="stable")[:most]
    return units[order], delta[order]
