"""Searches and paths of the multinomial loss in one kernel call, on data that are small enough for a dense copy."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from .._utils.types import Columns, Vector
from ..constraints import AtMost
from ..kernels.path import PathPlan, PathSolution, light_class_path, likelihood_path
from ..kernels.search import (
    MAX_SMALL_ENTRIES,
    ScaledColumns,
    SearchPlan,
    SearchSolution,
    is_affordable,
    search_likelihood,
)
from ..refits.columns import one_hot

if TYPE_CHECKING:
    from .glm import GLM

TINY = 1.5e5  # entries of X times squared outputs times k^3 up to which the path that a search starts from has searches
MAX_LIGHT_COEFFICIENTS = 1000  # columns times outputs up to which a light path on a working set takes Newton steps
FIRST_BEAM = 2  # supports that are extended at once, before all starts, where there are more columns than rows
BEYOND = 2  # sizes that it goes on then, since smaller sizes are improved from larger ones


def search(f: "GLM", constraint: AtMost, start: Columns, plan: SearchPlan) -> "SearchSolution | None":
    """The best features; None where the data are too large for that."""
    small = _copied(f, constraint)
    if small is None:
        return None
    given, even, E = small
    begin, at_floor = constraint.units_of(start), False
    if constraint.k > 1 and not len(begin):
        begin, at_floor = _path_support(f, constraint, plan)

    def run(begin: Columns, plan: SearchPlan, beam: int = 0) -> SearchSolution | None:
        kernel = partial(_core.multinomial_search, *given)
        outputs, scale = f.width - 1, 1e-9 * f.null.value
        return search_likelihood(
            kernel, even, f.ridge, outputs, constraint, begin, f.floor, scale, f.fit_intercept, plan, beam
        )

    n, p = f.data.shape
    found = None
    if constraint.k > 2 and p > n and not at_floor and plan.all_columns:
        found = run(begin, plan._replace(restarts=0, prove=0), FIRST_BEAM)
        begin = begin if found is None else found.points[-1][0]
    if found is None or (found.trouble is None and found.points[-1][-1] > f.floor):
        found = run(begin, plan) or found  # which finds nothing where time is up
    if found is None:
        return None
    points = [(f.coordinates(S), (Z @ E.T).ravel(), b @ E.T, value) for S, Z, b, value in found.points]
    at_floor = points[-1][-1] <= f.floor  # there is nothing below: no other support needs a fit
    return replace(found, points=points, doubtful=[] if at_floor else [f.coordinates(S) for S in found.doubtful])


def _path_support(f: "GLM", constraint: AtMost, plan: SearchPlan) -> tuple[Columns, bool]:
    """The features of this size on the path, with a search at every size where the data are tiny.

    Last, whether the path ends at the floor of f.
    """
    thorough = float(np.prod(f.data.shape)) * (f.width - 1) ** 2 * constraint.k**3 <= TINY
    longer = constraint.with_budget(min(constraint.k + BEYOND * thorough, len(constraint.allowed)))
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
    light = not plan.thorough and not is_affordable(float(np.prod(f.data.shape)), f.width - 1, constraint)
    light = light and bool(np.all(f.ridge > 0)) and constraint.k * (f.width - 1) <= MAX_LIGHT_COEFFICIENTS
    small = None if constraint.k < 1 else _copied(f, constraint, light)
    if small is None:
        return None
    given, even, E = small
    kernel = partial(_core.class_path if light else _core.multinomial_path, *given)
    solve = light_class_path if light else likelihood_path
    found = solve(kernel, even, f.ridge, f.width - 1, constraint, f.floor, 1e-9 * f.null.value, f.fit_intercept, plan)
    if found is None:
        return None
    points = [
        at._replace(support=f.coordinates(at.support), coef=(at.coef @ E.T).ravel(), free=np.asarray(at.free) @ E.T)
        for at in found.points
    ]
    return replace(found, points=points)


def _copied(f: "GLM", constraint: AtMost, light: bool = False) -> tuple[tuple[Any, ...], ScaledColumns, Vector] | None:
    """Arguments of the kernels, and the basis of the coefficients; None where the data are too large.

    ``light``: for a path on a working set of columns.
    """
    data, q = f.data, f.width
    if constraint.units != data.shape[1] or f.loss.quadratic or data.products_only or not data.near:
        return None
    entries = float(np.prod(data.shape))
    if not (entries <= MAX_SMALL_ENTRIES if light else is_affordable(entries, q - 1, constraint)):
        return None
    A, rows = data.copied()
    labels, even = one_hot(f.loss, rows.y), ScaledColumns.dense(A, rows.c, f.fit_intercept)
    if labels is None or even is None:
        return None
    E = np.ascontiguousarray(f.loss.basis(q))
    return (labels, rows.c, rows.offset, E), even, E
