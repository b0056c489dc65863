"""The search for the best support of a loss that is not squared, on data in memory.

Two kernels: one searches on a working set of columns and tests all others (core/likelihood_working_set.hpp), for X of
any size; the other (core/likelihood_search.hpp) searches on all columns from several starts and judges every exchange,
where that is affordable and the first has not settled it.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core, searched
from .._types import Columns
from ..constraints import AtMost
from ..designs.base import Rows

if TYPE_CHECKING:
    from .glm import GLM

FEW = 5  # columns that the test may leave where the search on a working set counts as settled
PER_COLUMN = 500  # and one more for so many columns
JUDGED = 2e8  # multiplications for every exchange, up to which they are judged where nothing else is left to do
FROM_START = -1  # in place of a beam: exchanges from where the working set ended, and no other start


def search(f: "GLM", constraint: AtMost, start: Columns, plan: searched.Plan) -> searched.Searched | None:
    """What the kernels find; None where the data are not in memory or need more care."""
    first = _on_working_set(f, constraint, start, plan)
    if first is None:
        settled, begin = False, start
    else:
        found, contested = first
        settled = 0 <= contested <= max(FEW, f.dim // PER_COLUMN)
        begin = found.points[-1][0]
        if not plan.all_columns:
            return replace(found, swept=True)  # nobody wants more
        if found.trouble is not None or plan.ask():
            return found
    if not (f.data.near and searched.affordable(f.work, 1, constraint)):
        return None if first is None else first[0]
    columns, rows = even_columns(f)
    if columns is None:
        return None if first is None else first[0]
    beam = searched.BEAM if columns.scale is not None or (columns.wide and not settled) else FROM_START if settled else 0
    kernel = _kernel(_core.likelihood_search, f, rows)
    found = searched.likelihood(
        lambda *rest: kernel(*rest), columns, f.ridge, 1, constraint, begin, f.floor, 1e-9 * f.height,
        f.fit_intercept, plan, beam,
    )  # fmt: skip
    if found is None:
        return None
    points = [(S, coef[:, 0], float(b[0]), value) for S, coef, b, value in found.points]
    return replace(found, points=points)


def even_columns(f: "GLM") -> tuple[searched.EvenColumns | None, Rows]:
    """The columns as the search on all columns takes them, and what belongs to the rows."""
    stored = None if f.data.full else f.data.in_memory()
    if stored is not None and (f.fit_intercept or np.all(stored[1] == 0)):
        squares = f.data.raw.moments().moment(False)
        return searched.EvenColumns.stored(stored[0], squares, *stored[1:]), f.data.rows
    A, rows = f.data.copied()
    return searched.EvenColumns.dense(A, rows.c, f.fit_intercept), rows


def _kernel(call: Any, f: "GLM", rows: Rows) -> Any:
    bound = f.loss.smoothness
    samples, curve = rows.samples(f.loss), float(bound) if np.isfinite(bound) else 0.0
    return lambda *rest: call(samples, curve, *rest)


def _on_working_set(
    f: "GLM", constraint: AtMost, start: Columns, plan: searched.Plan
) -> tuple[searched.Searched, int] | None:
    """What the search on a working set finds, and how many columns the test has left (-1: it did not come to its end)."""
    stored = f.data.in_memory()
    if stored is None or searched.WIDEST[False] * constraint.k > searched.ROOM:
        return None
    X, shift, scale = stored
    if not f.fit_intercept and not np.all(shift == 0):
        return None
    moments = f.data.raw.moments()
    squares = moments.moment(f.fit_intercept)
    if not searched.sane(squares):
        return None
    useful = squares > 1e-14 * moments.moment(False)  # others are constant, or all but
    sizes = np.sqrt(np.where(useful, squares, 1.0))
    unit = np.where(useful, sizes / scale, 0.0)
    mean = moments.mean if f.fit_intercept else np.zeros(f.dim)
    forced, allowed = searched.masks(constraint, useful)
    if (forced & ~allowed & 1).any():
        return None
    inverse = np.where(useful, 1.0 / sizes, 0.0)
    ridge = np.where(useful, f.ridge / np.where(useful, unit, 1.0) ** 2, 1.0)
    null = f.null
    gradient = np.where(useful, null.gradient - (mean - shift) / scale * f.tilt, 0.0) * (inverse * scale)
    request = searched.make_request(constraint, useful, start, searched.WIDEST[False], 1e-9 * f.height, plan)
    found = _kernel(_core.working_set_search, f, f.data.raw.rows)(
        X, mean, inverse, ridge, unit, gradient, f.fit_intercept, f.floor, request
    )
    points = []
    for at in found.points:
        coef = at.coef[:-1] / unit[at.support]
        points.append((at.support, coef, at.coef[-1] - float(((mean - shift) / scale)[at.support] @ coef), at.value))
    if not points:
        return None
    total = constraint.k * (constraint.units - constraint.k)
    return searched.Searched(points, None, total, total, trouble=request.take_error()), found.contested
