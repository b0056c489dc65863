"""The search for the best support of a loss that is not squared, on data in memory.

Two kernels: one searches on a working set of columns and tests all others (core/likelihood_working_set.hpp), for X of
any size; the other (core/likelihood_search.hpp) searches on all columns from several starts and judges every exchange,
where that is affordable and the first has not settled it.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from .._utils.arrays import inside, without
from .._utils.types import Columns
from ..constraints import AtMost
from ..kernels.path import PathPlan
from ..kernels.search import (
    BEAM_WIDTH,
    MAX_STATE_UNITS,
    WIDENING_FACTOR,
    ScaledColumns,
    SearchPlan,
    SearchSolution,
    is_affordable,
    make_request,
    search_likelihood,
    unit_masks,
)

if TYPE_CHECKING:
    from .glm import GLM

MAX_CONTESTED_COLUMNS = 5  # columns that the test may leave where the search on a working set counts as settled
# Columns of a dense X for each that the test may leave without a sweep where no other search follows: of 43 simulated
# problems (n 600-2000, p 2000-10000) sweeps changed two, in which 156 and 970 columns were left
COLUMNS_PER_CONTESTED = 250
VALUE_TOLERANCE = 1e-9  # relative difference of values that may be rounding
RESTARTS_ALWAYS = 2  # what `Plan.all_columns` says where restarts are wanted in any case
# entries of X times k^3 up to which a path with a search at every size takes no more than 0.1 s
MAX_SEARCHED_PATH_WORK = 1e6
MAX_MODEL_WORK = 5e8  # multiplications for a model of the loss on 3k columns, up to which a working set pays
MAX_SMALL_WORK = 1.5e5  # entries of X times k^3 (times k) up to which a path (all starts) are tried in any case
MAX_FEW_ROWS = 200  # below so many rows, and with more columns, gradients say little
SIZES_BEYOND = 2  # sizes that it goes on, since smaller sizes are improved from larger ones
BEAM_EFFORT = 4.0  # of restarts after a beam, as a multiple of what went before
NO_BEAM = -1  # in place of a beam: exchanges from where the working set ended, and no other start


def search(f: "GLM", constraint: AtMost, start: Columns, plan: SearchPlan) -> SearchSolution | None:
    """What the kernels find; None where the data are not in memory or need more care."""
    here = f.data.in_memory() is not None  # else rows are gathered, and copied
    entries = f.work if here else float(np.prod(f.data.shape))
    affordable = f.data.near and is_affordable(entries, 1, constraint, small=not here)
    first = _on_working_set(f, constraint, start, plan, f.dim if affordable else _sweep_above(f, plan))
    settled, begin, known = False, start, None
    if first is not None:
        known, contested = first
        begin = known.points[-1][0]
        settled = 0 <= contested <= MAX_CONTESTED_COLUMNS and plan.all_columns < RESTARTS_ALWAYS and not _hard(f)
        if not plan.all_columns:
            return known  # nobody wants more
        if known.trouble is not None:
            return known
    if not affordable:
        return known if first is not None and first[1] >= 0 else None  # else it did not come to its end
    path_work = f.work * constraint.k**3
    path_first = path_work <= (MAX_SMALL_WORK if settled else MAX_SEARCHED_PATH_WORK)
    if path_first:
        at = _path_point(f, constraint, plan)
        if at is not None and (known is None or at.points[-1][-1] < known.points[-1][-1]):
            known, begin = replace(at, trouble=None), at.points[-1][0]
        if known is not None and at is not None and at.trouble is not None:
            return replace(known, trouble=at.trouble)
    n, p = f.data.shape
    beam = BEAM_WIDTH if not f.data.full or (p > n and not settled) else 0
    if settled and (p > n or f.work * constraint.k > MAX_SMALL_WORK):
        beam = NO_BEAM
    if beam > 0:
        plan = plan._replace(effort=max(plan.effort, BEAM_EFFORT))
    found = _better(f, known, _on_all_columns(f, constraint, begin, plan, beam))
    if (
        found is None
        or found.n_unchecked <= 0
        or found.trouble is not None
        or path_first
        or path_work > MAX_SEARCHED_PATH_WORK
    ):
        return found
    at = _path_point(f, constraint, plan)  # it was not as settled as it seemed
    value = found.points[-1][-1]
    if at is None or at.trouble is not None or at.points[-1][-1] >= value - VALUE_TOLERANCE * f.scale(value):
        return found
    return _better(f, at, _on_all_columns(f, constraint, at.points[-1][0], plan, beam))


def _better(f: "GLM", known: SearchSolution | None, found: SearchSolution | None) -> SearchSolution | None:
    """The one with the lower value; ``found`` where they differ by rounding."""
    if found is None or known is None:
        return found or known
    before, after = known.points[-1][-1], found.points[-1][-1]
    return found if after <= before + VALUE_TOLERANCE * f.scale(before) else known


def _hard(f: "GLM") -> bool:
    """Whether many supports explain so few rows: then the test says little."""
    n, p = f.data.shape
    return bool(p > n and n < MAX_FEW_ROWS)


def _path_point(f: "GLM", constraint: AtMost, plan: SearchPlan) -> SearchSolution | None:
    """The point of this size on a path with a search at every size."""
    longer = constraint.with_budget(min(constraint.k + SIZES_BEYOND, len(constraint.allowed)))
    found = f.quick_path(longer, PathPlan(True, plan.seed, plan.should_stop, None, (constraint.k,)))
    known = {} if found is None else found.by_size()
    if found is None or not known:
        return None
    at = known[min(constraint.k, max(known))]
    if found.trouble is None and constraint.count(at.support) < constraint.k:
        return None
    total = constraint.k * (constraint.units - constraint.k)
    point = (at.support, at.coef, at.free, at.value)
    return SearchSolution([point], None, total, total, trouble=found.trouble)


def _sweep_above(f: "GLM", plan: SearchPlan) -> int:
    """Columns that the test may leave without exchanges ranked at S - i, where no other search follows."""
    if not plan.all_columns:
        return f.dim
    wide = f.data.full and plan.all_columns < RESTARTS_ALWAYS
    return max(MAX_CONTESTED_COLUMNS, f.dim // COLUMNS_PER_CONTESTED if wide else 0)


def _on_working_set(
    f: "GLM", constraint: AtMost, start: Columns, plan: SearchPlan, sweep_above: int
) -> tuple[SearchSolution, int] | None:
    """What the search on a working set finds, and how many columns the test leaves (-1: it did not come to its end).

    Where it leaves more than ``sweep_above``, exchanges ranked at S - i are tried as well.
    """
    k = constraint.k
    if WIDENING_FACTOR[False] * k > MAX_STATE_UNITS or f.data.shape[0] * (3.0 * k) ** 2 > MAX_MODEL_WORK:
        return None
    problem = in_memory_problem(f, constraint)
    if problem is None:
        return None
    columns, arguments = problem
    request = make_request(constraint, columns.sizes > 0, start, WIDENING_FACTOR[False], 1e-9 * f.height, plan)
    kernel: Callable[..., _core.SearchSolution] = _core.working_set_search
    found = kernel(*arguments, sweep_above, request)
    points: list[Any] = []
    for at in found.points:
        coef, b = columns.back(at.support, at.coef[:-1, None], at.coef[-1:])
        points.append((at.support, coef[:, 0], float(b[0]), at.value))
    if not points or not all(inside(constraint.include, S).all() for S, *_ in points):
        return None
    total = constraint.k * (constraint.units - constraint.k)
    return SearchSolution(points, None, total, total, trouble=request.take_error()), found.contested


def in_memory_problem(f: "GLM", constraint: AtMost) -> tuple[ScaledColumns, tuple[Any, ...]] | None:
    """The columns of X where it lies, and what kernels that work on a set of them take before their request.

    None where X is not in memory, or a column that is forced in is constant.
    """
    columns = stored_columns(f, f.fit_intercept)
    if columns is None or columns.centre is None or columns.scale is None:
        return None
    useful, null = columns.sizes > 0, f.null
    forced, allowed = unit_masks(constraint, useful)
    if (forced & ~allowed & 1).any():
        return None
    gradient = np.where(useful, null.gradient - columns.means * f.tilt, 0.0) / np.where(useful, columns.sizes, 1.0)
    return columns, (
        *_samples(f, f.data.raw.rows),
        columns.source,
        columns.centre,
        columns.scale,
        columns.ridge(f.ridge),
        columns.sizes,
        gradient,
        f.fit_intercept,
        f.floor,
    )


def _on_all_columns(f: "GLM", constraint: AtMost, start: Columns, plan: SearchPlan, beam: int) -> SearchSolution | None:
    columns = stored_columns(f, f.fit_intercept and f.data.full)
    if columns is not None:
        rows = f.data.raw.rows
    else:
        A, rows = f.data.copied()
        columns = ScaledColumns.dense(A, rows.c, f.fit_intercept)
    if columns is None:
        return None
    samples = _samples(f, rows)
    found = search_likelihood(
        lambda *rest: _core.likelihood_search(*samples, *rest),
        columns,
        f.ridge,
        1,
        constraint,
        start,
        f.floor,
        1e-9 * f.height,
        f.fit_intercept,
        plan,
        beam,
    )
    if found is None:
        return None
    points = [(S, coef[:, 0], float(b[0]), value) for S, coef, b, value in found.points]
    ignored = without(constraint.allowed[columns.sizes[constraint.allowed] <= 0], constraint.include)
    ignored = ignored[~f.data.scales(f.fit_intercept)[2][ignored]] if len(ignored) else ignored
    if len(ignored) and not found.n_unchecked:  # columns that vary too little for the kernel: refits decide
        n_unchecked = constraint.k * len(ignored)
        return replace(found, points=points, n_unchecked=n_unchecked, unknown=ignored)
    return replace(found, points=points)


def stored_columns(f: "GLM", centred: bool) -> ScaledColumns | None:
    """The columns of X where it lies; None where it is not in memory, or a view of it needs an intercept."""
    stored = f.data.in_memory()
    if stored is None or not (f.fit_intercept or np.all(stored[1] == 0)):
        return None
    X, shift, scale = stored
    return ScaledColumns.stored(X, f.data.raw.moments(), centred, shift, scale)


def _samples(f: "GLM", rows: Any) -> tuple[_core.Samples, float]:
    bound = f.loss.smoothness
    return rows.samples(f.loss), float(bound) if np.isfinite(bound) else 0.0
