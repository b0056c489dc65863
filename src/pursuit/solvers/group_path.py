"""Light paths of groups of columns: the best point of every number of groups, for whoever needs many such paths.

A quadratic objective is one kernel call. Other losses go from size to size on quadratic models: at the best point of a
size the model with its gradient and Hessian says which groups the next size has, a refit on the loss says what they are
worth, and the model at the new point whether an exchange of one group would help, and what it promises one size below.
"""

from collections.abc import Sequence

import numpy as np

from .._utils.types import Matrix, Vector
from ..constraints import AtMost
from ..engines import check_time, late
from ..kernels.groups import group_supports
from ..objectives import GLM
from ..objectives.base import Objective
from ..objectives.point import Point

MAX_COLUMNS = 1000  # of which the kernel keeps a square matrix
MAX_HESSIAN_WORK = 4e9  # multiplications for one Hessian
MIN_GAIN = 1e-9  # share of what there is to explain by which an exchange must help
MAX_REMODELS = 2  # exchanges at one size that are judged by a new model
DEFAULT_SIZES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 75, 100)  # where no sizes are wanted


def group_path(f: Objective, constraint: AtMost, sizes: Sequence[int] = ()) -> dict[int, Point] | None:
    """The best points found, by size; None where there are no groups, or where they need more care.

    Exchanges are made at ``sizes`` (and at ``constraint.k``); without them every size is returned, and exchanges are
    made at some.
    """
    if not _applies(f, constraint):
        return None
    assert isinstance(f, GLM)
    first = len(constraint.include)
    wanted = sorted({size for size in (sizes or DEFAULT_SIZES) if first < size < constraint.k} | {constraint.k})
    if f.quadratic:
        return _quadratic(f, constraint, wanted, bool(sizes))
    return _in_monotone_order(_by_models(f, constraint, wanted, bool(sizes)))


def _applies(f: Objective, constraint: AtMost) -> bool:
    if constraint.unit_of is None or type(f) is not GLM or f.width > 1 or not f.smooth or constraint.k < 1:
        return False
    n, p = f.data.shape
    ridge = bool(np.all(f.ridge > 0))  # without it a group may be dependent on others
    near = f.data.whole and f.data.near and not f.data.products_only
    return near and ridge and f.loss.separable and p <= MAX_COLUMNS and n * p * p <= MAX_HESSIAN_WORK


def _quadratic(f: GLM, constraint: AtMost, wanted: Sequence[int], only: bool) -> dict[int, Point]:
    H, g = _model(f, f.null)
    found = group_supports(H, g, constraint, constraint.include, wanted, MIN_GAIN * f.height, late)
    check_time()
    kept = {size: cols for size, cols in found.items() if not only or size in wanted or len(cols) == 0}
    kept |= {size: found[size] for size in sorted(found)[:1]}
    supports = [cols for cols in kept.values() if len(cols)]
    refits = iter(f.refits(supports))
    return _in_monotone_order({size: next(refits) if len(cols) else f.null for size, cols in kept.items()})


def _by_models(f: GLM, constraint: AtMost, wanted: Sequence[int], only: bool) -> dict[int, Point]:
    size, tolerance = len(constraint.include), MIN_GAIN * f.height
    point = f.refit(constraint.forced) if size else f.null
    best, model = {size: point}, _model(f, point)
    for target in wanted:
        check_time()
        if point.value <= f.floor:
            best[target] = point
            continue
        budget = constraint.with_budget(target)
        found = group_supports(*model, budget, constraint.units_of(point.support), (target,), tolerance, late)
        for between in sorted(found):
            if between > size and (between == target or not only):
                best[between] = point = f.refit(found[between], start=point)
        size = target
        model = _model(f, point)
        for _ in range(MAX_REMODELS):
            check_time()
            found = group_supports(*model, budget, constraint.units_of(point.support), (target,), tolerance, late)
            cols = found[max(found)]
            if np.array_equal(cols, point.support):
                break
            trial = f.refit(cols, start=point)
            if not trial.value < point.value - tolerance:
                break
            best[max(found)] = point = trial
            model = _model(f, point)
        _improve_below(f, constraint, best, model, target, tolerance)
    return best


def _improve_below(
    f: GLM, constraint: AtMost, best: dict[int, Point], model: tuple[Matrix, Vector], target: int, tolerance: float
) -> None:
    """What the model at the best point of a size says of the next smaller one, as far as a refit confirms it."""
    below = max((size for size in best if size < target), default=0)
    if below <= len(constraint.include):
        return
    start, budget = constraint.units_of(best[target].support), constraint.with_budget(below)
    found = group_supports(*model, budget, start, (below,), tolerance, late)
    cols = found[max(found)]
    if not np.array_equal(cols, best[below].support):
        trial = f.refit(cols, start=best[target])
        if trial.value < best[below].value - tolerance:
            best[below] = trial


def _model(f: GLM, point: Point) -> tuple[Matrix, Vector]:
    """H and g of the quadratic x'Hx/2 - g'x that agrees with f at a point to second order, but for a constant."""
    everything = np.arange(f.dim)
    H = f.hessian_rows(point, everything)
    g = np.asarray(-point.gradient, dtype=np.float64)
    if len(point.support):
        g = g + H[:, point.support] @ point.coef
    return H, g


def _in_monotone_order(points: dict[int, Point]) -> dict[int, Point]:
    """No size worse than the one below."""
    best: Point | None = None
    out = {}
    for size in sorted(points):
        if best is None or points[size].value < best.value:
            best = points[size]
        out[size] = best
    return out
