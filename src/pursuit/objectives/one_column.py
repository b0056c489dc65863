"""The best single column of a GLM: every column is fitted alone, so that k = 1 is exact (core/single_column.hpp)."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import _core
from .._utils.types import Columns, Vector
from ..constraints import AtMost, Exchange
from ..designs import DenseBlock, Rows, SparseBlock
from ..designs.standardized import StandardizedBlock
from ..kernels.search import SearchPlan, SearchSolution

if TYPE_CHECKING:
    from .glm import GLM

ENTRIES = 2e6  # numbers of X that are fitted between two looks at the clock
MOST = 3e8  # numbers of X, or of a sparse X's entries and levels, beyond which columns are not fitted one by one
REFITTED = 40  # columns that the kernel could not decide and that are refitted with more care, at most
ABOVE, MINIMUM, FLOOR, UNDECIDED = range(4)  # how a fit ended; of the first kind the value is a lower bound


class ColumnFits(NamedTuple):
    """Per column of ``cols``: value (or a lower bound of it), coefficient, intercept, and how its fit ended."""

    cols: Columns
    value: Vector
    coef: Vector
    free: Vector
    end: Any


def best_column(f: "GLM", constraint: AtMost, plan: SearchPlan) -> SearchSolution | None:
    """The best column and the next best, or None where the data are too large or too far away."""
    fits, stopped = fit_each(f, constraint.allowed, plan)
    if fits is None or not len(fits.cols):
        return None
    known = np.flatnonzero(fits.end != ABOVE)
    if not len(known):
        return None
    unsure = known[fits.end[known] == UNDECIDED]
    unsure = unsure[np.argsort(fits.value[unsure], kind="stable")]
    least, value = fits.value.copy(), fits.value.copy()  # a lower bound per column, and what it reaches
    value[fits.end == ABOVE] = np.inf
    least[unsure] = -np.inf
    for j in unsure[:REFITTED]:
        point = f.refit(fits.cols[j : j + 1])
        least[j], value[j] = point.lower_bound, point.value
    best = int(np.argmin(value))
    at = fits.cols[best : best + 1]
    found: tuple[Columns, Vector, Any, float] = (
        at,
        fits.coef[best : best + 1],
        float(fits.free[best]),
        value[best],
    )
    if fits.end[best] == UNDECIDED:
        again = f.refit(at)
        found = at, again.coef, again.free, again.value
    others = np.delete(np.arange(len(fits.cols)), best)
    doubt = int((least[others] < value[best] - 1e-9 * f.scale(value[best])).sum())
    exchange = None
    if len(others) and np.isfinite(second := value[others].min()):
        enter = fits.cols[others[int(np.argmin(value[others]))]]
        exchange = Exchange((int(at[0]),), (int(enter),), max(float(second - value[best]), 0.0))
    total = len(constraint.allowed) - 1
    return SearchSolution([found], exchange, -1 if stopped else doubt, total)


def fit_each(f: "GLM", cols: Columns, plan: SearchPlan) -> tuple[ColumnFits | None, bool]:
    """Every column that is not constant fitted alone, as far as two of them are not known to be better; time's up."""
    _, _, constant = f.data.scales(f.fit_intercept)
    cols = cols[~constant[cols]]
    curve = float(f.loss.smoothness) if np.isfinite(f.loss.smoothness) else 0.0
    start = float(f.null.free) if f.fit_intercept else 0.0
    pieces, best, stopped = list[ColumnFits](), np.full(2, np.inf), False
    for some, matrix, rows, shift, scale in _blocks(f, cols):
        ridge = np.broadcast_to(f._ridge(some), len(some)) * scale**2
        value, v, b, end = matrix.fit_columns(
            rows.samples(f.loss), ridge, f.fit_intercept, start, f.floor, 1e-9 * f.height, curve, best
        )
        pieces.append(ColumnFits(some, value, v * scale, b + shift * v, end))
        best = np.sort(np.append(best, value[end != ABOVE]))[:2]
        if (plan.should_stop is not None and plan.should_stop()) or best[0] <= f.floor:
            stopped = bool(best[0] > f.floor and some[-1] != cols[-1])
            break
    if not pieces:
        return None, stopped
    return ColumnFits(*(np.concatenate(some) for some in zip(*pieces, strict=True))), stopped


def _blocks(f: "GLM", cols: Columns) -> Iterator[tuple[Columns, _core.Matrix, Rows, Vector, Vector]]:
    """Columns block by block as the kernel takes them, their rows, and what was taken off and divided by.

    Nothing where there are too many.
    """
    data, n = f.data, f.data.shape[0]
    sparse = data.whole and not data.full
    if sparse:
        levels = len(np.unique(data.rows.y)) if data.rows.offset is None else n
        if f.work + len(cols) * levels > MOST:
            return
        step = max(1, int(10 * ENTRIES // (f.work / f.dim + levels)))
    else:
        if n * float(len(cols)) > MOST:
            return
        step = max(1, int(ENTRIES // n))
    for low in range(0, len(cols), step):
        some = cols[low : low + step]
        zero, one = np.zeros(len(some)), np.ones(len(some))
        block = data.design.block(some) if sparse else None
        if isinstance(block, StandardizedBlock) and isinstance(block.base, SparseBlock):
            if block.m.any() and not f.fit_intercept:
                return
            yield some, block.base.core, data.rows, block.m, block.s
        elif isinstance(block, SparseBlock | DenseBlock):
            yield some, block.core, data.rows, zero, one
        else:
            A, rows = data.copied(some)
            yield some, _core.Matrix(A), rows, zero, one
