"""Searches and paths of the multinomial loss in one kernel call.

On all columns (core/likelihood_search.hpp, core/path_search.hpp) where a dense copy is small, else on the columns that
models choose (core/class_search.hpp, core/class_path.hpp).
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .. import _core
from .._utils.types import Columns, Vector
from ..constraints import AtMost
from ..designs.rows import Rows
from ..kernels.path import PathPlan, PathSolution, light_class_path, likelihood_path
from ..kernels.search import (
    MAX_COPIED_ENTRIES,
    MAX_SMALL_ENTRIES,
    ScaledColumns,
    SearchPlan,
    SearchSolution,
    is_affordable,
    search_likelihood,
)
from ..refits.columns import one_hot
from .likelihood import stored_columns

if TYPE_CHECKING:
    from .glm import GLM

#: Samples, columns, and the basis of the coefficients.
KernelInputs: TypeAlias = tuple[tuple[Any, ...], ScaledColumns, Vector]

# entries of X times squared outputs times k^3 up to which the path that a search starts from has searches
MAX_SEARCHED_PATH_WORK = 1.5e5
MAX_LIGHT_COEFFICIENTS = 1000  # columns times outputs up to which a light path on a working set takes Newton steps
MAX_MODEL_WORK = 5e8  # multiplications for a model on a working set that has room for that many columns
OUTSIDE_COLUMNS = 15, 100  # fewest and most columns outside that a model of a search has
FIRST_BEAM = 2  # supports that are extended at once, before all starts, where there are more columns than rows
SIZES_BEYOND = 2  # sizes that it goes on then, since smaller sizes are improved from larger ones


def search(f: "GLM", constraint: AtMost, start: Columns, plan: SearchPlan) -> "SearchSolution | None":
    """The best features; None where the data are too large for that."""
    begin = constraint.units_of(start)
    if is_affordable(float(np.prod(f.data.shape)), f.width - 1, constraint):
        return _on_all_columns(f, constraint, begin, plan)
    return _on_working_set(f, constraint, begin, plan)


def _on_all_columns(f: "GLM", constraint: AtMost, begin: Columns, plan: SearchPlan) -> SearchSolution | None:
    small = _copied(f, constraint)
    if small is None:
        return None
    at_floor = False
    if constraint.k > 1 and not len(begin):
        begin, at_floor = _path_support(f, constraint, plan)
    n, p = f.data.shape
    found = None
    if constraint.k > 2 and p > n and not at_floor and plan.all_columns:
        first = plan._replace(restarts=0, prove=0)
        found = _run(f, _core.multinomial_search, small, constraint, begin, first, FIRST_BEAM)
        begin = begin if found is None else constraint.units_of(found.points[-1][0])
    if found is None or (found.trouble is None and found.points[-1][-1] > f.floor):
        found = _run(f, _core.multinomial_search, small, constraint, begin, plan) or found  # none where time is up
    return found


def _on_working_set(f: "GLM", constraint: AtMost, begin: Columns, plan: SearchPlan) -> SearchSolution | None:
    """What a search on the columns finds that models on a working set choose; nothing is claimed of it."""
    some = _in_memory(f, constraint)
    if some is None:
        return None
    kernel = partial(_core.class_search, outside=_n_outside(f, constraint.k))
    return _run(f, kernel, some, constraint, begin, plan._replace(prove=0), FIRST_BEAM if plan.all_columns else 0)


def _n_outside(f: "GLM", k: int) -> int:
    """Columns of a working set beside the support: as many as a model affords."""
    affordable = np.sqrt(MAX_MODEL_WORK / (f.data.shape[0] * f.width * (f.width - 1) / 2)) - k
    return int(np.clip(affordable, *OUTSIDE_COLUMNS))


def _run(
    f: "GLM",
    kernel: Callable[..., Any],
    given: "KernelInputs",
    constraint: AtMost,
    begin: Columns,
    plan: SearchPlan,
    beam: int = 0,
) -> SearchSolution | None:
    """A search in a kernel, its points in the objective's coordinates."""
    samples, columns, E = given
    outputs, scale = f.width - 1, 1e-9 * f.null.value
    found = search_likelihood(
        partial(kernel, *samples),
        columns,
        f.ridge,
        outputs,
        constraint,
        begin,
        f.floor,
        scale,
        f.fit_intercept,
        plan,
        beam,
    )
    if found is None:
        return None
    points = [(f.coordinates(S), (Z @ E.T).ravel(), b @ E.T, value) for S, Z, b, value in found.points]
    at_floor = points[-1][-1] <= f.floor  # there is nothing below: no other support needs a fit
    return replace(found, points=points, doubtful=[] if at_floor else [f.coordinates(S) for S in found.doubtful])


def _path_support(f: "GLM", constraint: AtMost, plan: SearchPlan) -> tuple[Columns, bool]:
    """The features of this size on the path, with a search at every size where the data are tiny.

    Last, whether the path ends at the floor of f.
    """
    thorough = float(np.prod(f.data.shape)) * (f.width - 1) ** 2 * constraint.k**3 <= MAX_SEARCHED_PATH_WORK
    longer = constraint.with_budget(min(constraint.k + SIZES_BEYOND * thorough, len(constraint.allowed)))
    found = path(f, longer, PathPlan(thorough, plan.seed, plan.should_stop, None, (constraint.k,)))
    if found is not None and found.trouble is not None:
        raise found.trouble
    known = {} if found is None else found.by_size()
    sizes = [size for size in known if size <= constraint.k]
    if not sizes:
        return np.empty(0, np.int64), False
    at = known[max(sizes)]
    return constraint.units_of(at.support), at.value <= f.floor


def path(f: "GLM", constraint: AtMost, plan: PathPlan) -> "PathSolution | None":
    """The best features of every size; None where the data are too large for that."""
    affordable = is_affordable(float(np.prod(f.data.shape)), f.width - 1, constraint)
    if constraint.k < 1 or (plan.thorough and not affordable):
        return None
    given = _copied(f, constraint) if affordable else _in_memory(f, constraint)
    if given is None:
        return None
    samples, even, E = given
    kernel = partial(_core.multinomial_path if affordable else _core.class_path, *samples)
    solve = likelihood_path if affordable else light_class_path
    found = solve(kernel, even, f.ridge, f.width - 1, constraint, f.floor, 1e-9 * f.null.value, f.fit_intercept, plan)
    if found is None:
        return None
    points = [
        at._replace(support=f.coordinates(at.support), coef=(at.coef @ E.T).ravel(), free=np.asarray(at.free) @ E.T)
        for at in found.points
    ]
    return replace(found, points=points)


def _copied(f: "GLM", constraint: AtMost) -> "KernelInputs | None":
    """What the kernels take, on a dense copy; None where the data are not of that kind."""
    if not _has_kernel(f, constraint):
        return None
    A, rows = f.data.copied()
    return _inputs(f, ScaledColumns.dense(A, rows.c, f.fit_intercept), rows)


def _in_memory(f: "GLM", constraint: AtMost) -> "KernelInputs | None":
    """The same on what X stores; on a copy of small data that are elsewhere."""
    if not _has_kernel(f, constraint) or constraint.k * (f.width - 1) > MAX_LIGHT_COEFFICIENTS:
        return None
    columns = stored_columns(f, f.fit_intercept and f.data.full)
    if columns is None:
        return _copied(f, constraint) if np.prod(f.data.shape) <= MAX_SMALL_ENTRIES else None
    stored = f.data.nbytes / f.data.dtype.itemsize
    return _inputs(f, columns, f.data.raw.rows) if stored <= MAX_COPIED_ENTRIES else None


def _has_kernel(f: "GLM", constraint: AtMost) -> bool:
    plain = constraint.units == f.data.shape[1] and not f.loss.quadratic
    return plain and f.data.near and not f.data.products_only


def _inputs(f: "GLM", columns: ScaledColumns | None, rows: Rows) -> "KernelInputs | None":
    labels = one_hot(f.loss, rows.y)
    if labels is None or columns is None:
        return None
    E = np.ascontiguousarray(f.loss.basis(f.width))
    return (labels, rows.c, rows.offset, E), columns, E
