"""Searches and paths of the multinomial loss in one kernel call, on data that are small enough for a dense copy."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from .._utils.types import Columns, Vector
from ..constraints import AtMost
from ..kernels.path import PathPlan, PathSolution, likelihood_path
from ..kernels.search import ScaledColumns, SearchPlan, SearchSolution, is_affordable, search_likelihood
from ..refits.columns import one_hot

if TYPE_CHECKING:
    from .glm import GLM

TINY = 1.5e5  # entries of X times squared outputs times k^3 up to which the path that a search starts from has searches
BEYOND = 2  # sizes that it goes on then, since smaller sizes are improved from larger ones


def search(f: "GLM", constraint: AtMost, start: Columns, plan: SearchPlan) -> "SearchSolution | None":
    """The best features; None where the data are too large for that."""
    small = _copied(f, constraint)
    if small is None:
        return None
    given, even, E = small
    begin = constraint.units_of(start)
    if constraint.k > 1 and not len(begin):
        begin = _path_support(f, constraint, plan)
    found = search_likelihood(
        partial(_core.multinomial_search, *given), even, f.ridge, f.width - 1, constraint, begin,
        f.floor, 1e-9 * f.null.value, f.fit_intercept, plan,
    )  # fmt: skip
    if found is None:
        return None
    points = [(f.coordinates(S), (Z @ E.T).ravel(), b @ E.T, value) for S, Z, b, value in found.points]
    at_floor = points[-1][-1] <= f.floor  # there is nothing below: no other support needs a fit
    return replace(found, points=points, doubtful=[] if at_floor else [f.coordinates(S) for S in found.doubtful])


def _path_support(f: "GLM", constraint: AtMost, plan: SearchPlan) -> Columns:
    """The features of this size on the path, with a search at every size where the data are tiny."""
    thorough = float(np.prod(f.data.shape)) * (f.width - 1) ** 2 * constraint.k**3 <= TINY
    longer = constraint.with_budget(min(constraint.k + BEYOND * thorough, len(constraint.allowed)))
    found = path(f, longer, PathPlan(thorough, plan.seed, plan.should_stop, None, (constraint.k,)))
    if found is not None and found.trouble is not None:
        raise found.trouble
    known = {} if found is None else found.by_size()
    sizes = [size for size in known if size <= constraint.k]
    return constraint.units_of(known[max(sizes)].support if sizes else np.empty(0, np.int64))


def path(f: "GLM", constraint: AtMost, plan: PathPlan) -> "PathSolution | None":
    """The best features of every size; None where the data are too large for that."""
    small = None if constraint.k < 1 else _copied(f, constraint)
    if small is None:
        return None
    given, even, E = small
    found = likelihood_path(
        partial(_core.multinomial_path, *given), even, f.ridge, f.width - 1, constraint, f.floor, 1e-9 * f.null.value,
        f.fit_intercept, plan,
    )  # fmt: skip
    if found is None:
        return None
    points = [
        at._replace(support=f.coordinates(at.support), coef=(at.coef @ E.T).ravel(), free=at.free @ E.T)
        for at in found.points
    ]
    return replace(found, points=points)


def _copied(f: "GLM", constraint: AtMost) -> tuple[tuple[Any, ...], ScaledColumns, Vector] | None:
    """Arguments of the kernels, and the basis of the coefficients; None where the data are too large."""
    data, q = f.data, f.width
    if constraint.units != data.shape[1] or f.loss.quadratic or data.products_only or not data.near:
        return None
    if not is_affordable(float(np.prod(data.shape)), q - 1, constraint):
        return None
    A, rows = data.copied()
    labels, even = one_hot(f.loss, rows.y), ScaledColumns.dense(A, rows.c, f.fit_intercept)
    if labels is None or even is None:
        return None
    E = np.ascontiguousarray(f.loss.basis(q))
    return (labels, rows.c, rows.offset, E), even, E
