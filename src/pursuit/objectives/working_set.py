"""Paths on a working set of columns, when most columns never come near to being chosen.

At size k a column outside can matter if its gain, were it unrelated to those inside, g_j^2 / (2 H_jj), comes near what
size k + 1 gained over k. Gradients of several sizes are one pass over X. Shorter paths come first and find most of what
is needed; the whole one is followed at most twice: what a third could add is noise that is fitted.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from .. import _core
from .._utils.types import Columns, Vector
from ..constraints import AtMost
from ..kernels.path import PathPlan, PathPoint, PathSolution

if TYPE_CHECKING:
    from .glm import GLM

FIRST_COLUMNS_PER_UNIT, MIN_FIRST_COLUMNS = 4, 200  # columns of a working set to begin with
MIN_GAIN_SHARE = 0.7  # share of the gain of the next size from which on a column is looked at
SAMPLED_SIZES = 8  # sizes whose gradients are looked at
COLUMNS_AT_A_TIME = 1 << 13  # columns whose gains are computed at a time, so that they stay in the processor's cache
MIN_CURVATURE_SHARE = 1e-10  # share of the largest mean phi'' below which a Hessian says nothing

#: The path on some columns, with the budget that the sparse set has.
On = Callable[[AtMost, Columns], PathSolution | None]


def first_columns(constraint: AtMost, gains: Vector, room: int) -> Columns:
    """Those of largest gain over nothing, what is forced in among them."""
    many = int(np.clip(FIRST_COLUMNS_PER_UNIT * constraint.k, MIN_FIRST_COLUMNS, max(room, 1)))
    return np.sort(constraint.top(np.sqrt(gains), budget=many))


def on_working_set(
    f: "GLM", constraint: AtMost, plan: PathPlan, on: On, cols: Columns, room: int
) -> PathSolution | None:
    """The path on a working set that has grown as far as it must; None where ``room`` does not suffice."""
    null, h = f.null, f.curvatures(f.null, np.arange(f.dim))
    h, step = h / f._model(null).weight, len(cols)
    size, whole = max(len(constraint.include) + 1, constraint.k // 4), 0
    while constraint.k <= len(cols) <= room:
        found = on(constraint.with_budget(size), cols)
        if found is None or found.stopped:
            return found
        whole += size == constraint.k
        new = np.empty(0, np.int64) if whole == 2 else _missed(f, constraint, found.points, cols, h, step)
        if whole == 2 or (whole and len(new) == 0):
            reached = plan.reached or (lambda size, value: False)
            return replace(found, stopped=any(reached(found.first + i, at.value) for i, at in enumerate(found.points)))
        cols, size = np.union1d(cols, new), min(2 * size, constraint.k)
    return None


def _missed(f: "GLM", constraint: AtMost, points: list[PathPoint], cols: Columns, h: Vector, most: int) -> Columns:
    """Columns outside that come near to being chosen at some size; h is their curvature for phi'' = 1."""
    values = np.array([at.value for at in points])
    gained = np.maximum(values[:-1] - values[1:], 0.0) if len(values) > 1 else np.full(1, values[0])
    gained = np.append(gained, gained[-1])
    looked = np.unique(np.linspace(0, len(points) - 1, min(SAMPLED_SIZES, len(points))).round().astype(np.int64))
    slope, weights = f.data.slopes([(points[i].support, points[i].coef, points[i].free) for i in looked])
    if np.isfinite(f.loss.smoothness):  # as in the Hessian: where phi'' is next to nothing, the bound on it
        weights = np.where(weights > MIN_CURVATURE_SHARE * f.loss.smoothness, weights, f.loss.smoothness)
    wanted, least = np.empty(len(h)), np.maximum(gained[looked], 1e-300)[:, None]
    for low in range(0, len(h), COLUMNS_AT_A_TIME):
        some = slice(low, low + COLUMNS_AT_A_TIME)
        gain = slope[:, some] ** 2 / (2 * np.maximum(np.outer(weights, h[some]), 1e-300))
        wanted[some] = (gain / least).max(axis=0)
    wanted[cols] = 0.0
    wanted[constraint.exclude] = 0.0
    new = _core.top_k(wanted, min(most, f.dim))
    return new[wanted[new] > MIN_GAIN_SHARE]
