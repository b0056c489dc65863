"""``certify``: a valid lower bound for any solution of a GLM and, given time, a proof.

| problem | bound | exact method |
|---|---|---|
| squared loss, any number of responses, p <= 4000 | ridge and curvature of X'X/n, fixing | leaps, branch and bound |
| any loss with a conjugate and l2 > 0 | perspective relaxation on a working set of columns | branch and bound |
| no ridge | the minimum over all columns (weak, said so) | branch and bound, for small p |
"""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import NotFittedError

from .._utils.rounding import EPS
from .._utils.types import BoundsLike, ColumnsLike, GroupsLike
from .._utils.validation import check_number
from .._utils.wrong_calls import takes_objective
from ..constraints import AtMost
from ..engines import threads
from ..objectives.base import Point
from ..objectives.bounded import Bounded, check_bounds, check_sum
from ..objectives.glm import GLM
from ..objectives.sparse_set import UNRESTRICTED, SparseSet
from ..solving.result import Result
from .bounds import cheap_bound, has_dual, search_between, strong_bound
from .box_bound import box_bound
from .certificate import Certificate
from .lemma21 import lemma21
from .tree import Progress, Tree, node_bar
from .warm_start import WarmStart

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

OPTIMAL = "the solution is optimal within the requested gap"
COEFFICIENT_ROUNDING = 16 * EPS  # of a linear predictor's largest term
VALUE_TOLERANCE = 1e-6  # relative difference of a result's value from that of its coefficients: rounding


@takes_objective("(GLM(X, y), result)")
def certify(
    objective: GLM,
    result: "Result | None" = None,
    *,
    k: int | None = None,
    include: ColumnsLike = (),
    exclude: ColumnsLike = (),
    groups: GroupsLike = None,
    bounds: BoundsLike = None,
    sum_to: float | None = None,
    time_limit: float | None = None,
    gap: float = 1e-6,
    progress: Callable[[Progress], None] | bool | None = None,
) -> Certificate:
    """Bound the optimum from below, starting from a solution of any solver or from coefficients from elsewhere.

    Parameters
    ----------
    objective : GLM or estimator
        What was minimised; or, without a ``result``, a fitted estimator, whose ``objective_`` and ``result_`` are taken
        (of an additive model: at most k features, each with its columns).
    result : Result, array of shape (p,) or None, default None
        A Result of that objective, or a vector of coefficients in the units of X (then ``k`` is needed).
    k : int or None, default None
        Budget of the sparse set, where ``result`` does not bring it.
    include, exclude : sequence of int or str, or mask
        As in ``solve``, where ``result`` does not bring them.
    groups : sequence, dict, "prefix" or None, default None
        As in ``solve``.
    bounds : tuple (low, high), dict, list or None, default None
        As in ``solve``. Bounds only raise the optimum, so the bound without them stays valid; the dual bound with the
        box is added, and what lies between may be left open.
    sum_to : float or None, default None
        As in ``solve``.
    time_limit : float or None, default None
        Seconds. None bounds without branching, a positive number goes on to a proof, 0 gives the cheap bound.
    gap : float, default 1e-6
        Relative gap at which a solution counts as proved.
    progress : callable, bool or None, default None
        Called with (lower, upper, open nodes, nodes, seconds) while branching; True shows the nodes and the gap.

    Returns
    -------
    Certificate
        A lower bound, the gap, and whether that is a proof.

    Raises
    ------
    TypeError
        Where the objective is no GLM, or ``k`` is missing for a vector of coefficients.
    ValueError
        Where the estimator is not fitted, where ``result`` is not one of this objective, or where an argument
        contradicts the one it was solved with.

    See Also
    --------
    best_subsets : Proved subsets of every size.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 20))
    >>> f = pursuit.GLM(X, X[:, 3] - 2 * X[:, 7] + rng.standard_normal(100))
    >>> pursuit.certify(f, pursuit.solve(f, 2), time_limit=10).status
    'proved'
    """
    estimator = objective if result is None else None
    if result is None:
        objective, result = _of_estimator(objective)
    found = certify_from(
        WarmStart(),
        objective,
        result,
        SparseSet(include, exclude, groups, bounds, sum_to),
        k=k,
        time_limit=time_limit,
        gap=gap,
        progress=node_bar() if progress is True else None if progress is False else progress,
    )
    in_features: Any = getattr(estimator, "_in_features", None)  # of an additive model, which has columns of its own
    return found if in_features is None else in_features(found)


def _of_estimator(estimator: "BaseEstimator") -> tuple[Any, Any]:
    """The objective and the result of a fitted estimator."""
    if isinstance(estimator, type):
        raise TypeError(f"certify needs a fitted estimator, got the class {estimator.__name__}")
    if not hasattr(estimator, "fit"):
        raise TypeError("certify needs the result of the objective: certify(objective, solve(objective, k))")
    if not hasattr(estimator, "result_"):
        raise NotFittedError(f"this {type(estimator).__name__} is not fitted; call fit(X, y) first")
    if getattr(estimator, "objective_", None) is None:
        raise ValueError("certify needs the training data, which a pickled estimator has not; fit it again")
    return estimator.objective_, estimator.result_


def certify_from(
    hand: WarmStart,
    objective: GLM,
    result: "Result",
    allowed: SparseSet = UNRESTRICTED,
    *,
    k: int | None = None,
    time_limit: float | None = None,
    gap: float = 1e-6,
    progress: Callable[[Progress], None] | None = None,
) -> Certificate:
    """``certify``, beginning with what the proof of another size has left, and leaving its own."""
    began = time.perf_counter()
    if "proof" not in getattr(objective, "offers", ()):  # it may be anything that a user hands over
        raise TypeError(
            f"certify needs a GLM, whose dual is known; got {type(objective).__name__}{_estimator_hint(objective)}"
        )
    _check_result(result)
    gap = check_number(gap, "gap", strict=True)
    if progress is not None and not callable(progress):
        raise TypeError(f"progress must be a function of (lower, upper, ...), got {type(progress).__name__}")
    if isinstance(result, Result):
        _check_same_bounds(result, allowed, objective)
        allowed = allowed._replace(bounds=result.bounds, sum_to=result.sum_to)
    if allowed.is_bounded:
        return _within_bounds(objective, result, allowed, gap, hand, k=k, time_limit=time_limit, progress=progress)
    limit = None if time_limit is None else check_number(time_limit, "time_limit")
    with threads(), np.errstate(all="ignore"):
        known, constraint = _refit_known(objective, result, k, allowed)
        tree = Tree(0.9 * gap, objective.scale, deadline=None if limit is None else began + limit, progress=progress)
        tree.offer(tuple(int(u) for u in constraint.units_of(known.support)), known.value, known.lower_bound)
        tree.search = partial(search_between, objective, constraint)
        lower, why = max(cheap_bound(objective, constraint, known), hand.bound(objective, constraint)), ""
        if known.value <= objective.nothing:
            lower, limit = objective.lower, 0.0
        if limit != 0 and lower < known.value - gap * objective.scale(known.value):
            better, why = strong_bound(objective, constraint, known, tree, lower, limit is not None, hand)
            lower = max(lower, better)
        best = known
        units = min(tree.found, key=tree.found.__getitem__)
        if tree.found[units] < known.value:
            best = objective.refit_on_data(constraint.columns_of(np.array(units, dtype=np.int64)))
        lower = min(lower, best.value)
        result = _result(objective, constraint, best, result)
        scale = objective.scale(best.value)
        proved = best.value - lower <= gap * scale or best.value <= objective.nothing
    status, reason = ("proved", OPTIMAL) if proved else ("bounded", f"bounded only: {why or _why_open(tree, limit)}")
    # what is proved optimal is not refuted: no pass over X for that
    refutation = "" if proved and best is known else lemma21(objective, constraint, known)
    if refutation and best is known:
        reason = f"{reason}; {refutation}"
    always, never = (np.array(sorted(fixed), dtype=np.int64) for fixed in (tree.always, tree.never))
    result, seconds = replace(result, certificate=status), time.perf_counter() - began
    margin = _margin(objective, best)
    return Certificate(
        float(lower), best.value, status, reason, always, never, margin, result, tree.nodes, seconds, scale, refutation
    )


def _estimator_hint(given: Any) -> str:
    """What to hand over where an estimator was given."""
    return ": hand over its objective_ and its result_" if hasattr(given, "result_") else ""


def _check_result(result: "Result") -> None:
    if isinstance(result, Result):
        return
    try:
        np.asarray(result, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(
            "result must be a Result of the objective or a vector of coefficients, got "
            f"{type(result).__name__}{_estimator_hint(result)}"
        ) from None


def _within_bounds(
    f: GLM, result: "Result", allowed: SparseSet, gap: float, hand: WarmStart, **options: Any
) -> Certificate:
    """The certificate of a solution that keeps to bounds: what holds without them, and the dual bound with the box."""
    bounds, sum_to = allowed.bounds, allowed.sum_to
    inner = Bounded(f, bounds, sum_to)
    free = replace(result, bounds=None, sum_to=None) if isinstance(result, Result) else result
    outer = certify_from(hand, f, free, allowed._replace(bounds=None, sum_to=None), gap=gap, **options)
    constraint = outer.result.constraint
    with threads(), np.errstate(all="ignore"):
        support = result.point.support if isinstance(result, Result) else np.flatnonzero(result)
        point = inner.refit(constraint.columns_of(constraint.units_of(support)))
        if not inner.holds(point):
            raise ValueError("the coefficients do not keep to bounds and sum_to")
        lower = outer.lower
        if sum_to is None and np.all(f.ridge > 0) and has_dual(f):
            dual = inner.dual()
            lower = max(lower, dual.value(dual.from_point(point), constraint))
        lower = min(max(lower, box_bound(inner, constraint)), point.value)
        best = _result(f, constraint, point, result)
        scale = f.scale(point.value)
    weak = "bounded only: the bound does not know all of bounds and sum_to"
    status, reason = ("proved", OPTIMAL) if point.value - lower <= gap * scale else ("bounded", weak)
    best, none = replace(best, certificate=status, bounds=bounds, sum_to=sum_to), outer.always[:0]
    return replace(
        outer,
        lower=lower,
        upper=point.value,
        status=status,
        reason=reason,
        result=best,
        always=none,
        never=none,
        scale=scale,
    )


def _refit_known(f: GLM, result: "Result", k: int | None, allowed: SparseSet) -> tuple[Point, AtMost]:
    """The refitted solution and its sparse set, checked against the objective."""
    if isinstance(result, Result):
        if result.point.dim != f.dim:
            has, wants = (
                f"{dim} {'columns' if f.outputs == 1 else 'coefficients'}" for dim in (result.point.dim, f.dim)
            )
            raise ValueError(f"result has {has}, but the objective has {wants}: not its solution")
        constraint = result.constraint
        given = allowed.with_budget(f, constraint.k or 1 if k is None else k)
        _check_same(constraint, given, k is not None, allowed.groups is not None)
        point = result.point
        value = f.value(point.support, point.coef, point.free)
        room = VALUE_TOLERANCE * f.scale(result.value) + max(0.0, f.nothing - f.lower) + _rounded_intercept(f, point)
        if abs(value - result.value) > room:
            raise ValueError(
                f"result has value {result.value:.8g}, but its coefficients give {value:.8g} in this objective: "
                "certify with the objective that was solved"
            )
    else:
        if k is None:
            raise TypeError("k is needed to certify a vector of coefficients")
        constraint = allowed.with_budget(f, k)
        point = f.from_units(result)
    if not constraint.allows(point.support):
        raise ValueError(
            f"the coefficients use {constraint.count(point.support)} units and must keep to k={constraint.k}, include "
            "and exclude"
        )
    whole = constraint.columns_of(constraint.units_of(point.support))
    return f.refit_on_data(whole, start=point if len(point.support) else None), constraint


def _rounded_intercept(f: GLM, point: Point) -> float:
    """What the last digits of an intercept (and of an offset) make of a value: much, where y is all but constant."""
    if not (f.fit_intercept and np.isfinite(f.loss.smoothness)):
        return 0.0
    size = float(max(np.abs(f.null.free).max(), np.abs(point.free).max()))
    if f.data.whole and f.data.local.rows.offset is not None:
        size += float(np.abs(f.data.local.rows.offset[f.data.local.rows.c > 0]).max(initial=0.0))
    off = COEFFICIENT_ROUNDING * size * np.sqrt(f.outputs)  # the norm over the outputs
    slope = np.sqrt(2 * float(f.loss.smoothness) * max(point.value - f.lower, 0.0))
    return float(slope * off + 0.5 * f.loss.smoothness * off**2)  # |f'| is at most this slope: f is smooth


def _check_same(own: AtMost, given: AtMost, sized: bool, grouped: bool) -> None:
    """A result brings its sparse set: another one is an error."""
    pairs = {"include": (own.include, given.include), "exclude": (own.exclude, given.exclude)}
    wrong = [name for name, (has, wants) in pairs.items() if wants.size and not np.array_equal(has, wants)]
    wrong += ["k"] if sized and own.k != given.k else []
    if (
        grouped
        and given.unit_of is not None
        and (own.unit_of is None or not np.array_equal(own.unit_of, given.unit_of))
    ):
        wrong.append("groups")
    if wrong:
        raise ValueError(f"{wrong[0]} is not that of the result, which was solved with its own: leave it out")


def _check_same_bounds(result: Result, allowed: SparseSet, f: "GLM") -> None:
    """The same of bounds and sum_to."""
    own, given = (check_bounds(bounds, f.dim // f.width, f.names) for bounds in (result.bounds, allowed.bounds))
    sides = allowed.bounds is not None and not np.array_equal(own, given)
    if sides or (allowed.sum_to is not None and check_sum(allowed.sum_to) != result.sum_to):
        name = "bounds" if sides else "sum_to"
        raise ValueError(f"{name} is not that of the result, which was solved with its own: leave it out")


def _why_open(tree: Tree, limit: float | None) -> str:
    """Why a gap was left."""
    if limit is None or limit == 0:
        return "no branching was requested (give a time_limit)"
    if tree.late():
        return "the time limit came first"
    return "what is left of the gap is rounding, or a refit that is not exact"


def _margin(f: GLM, point: Point) -> float:
    """Theorem 1 of DIHT: how far the zero-gap condition holds (or fails, below zero); nan without a ridge."""
    if not np.all(f.ridge > 0) or len(point.support) == 0:
        return float("nan")
    cols, coef = f._matrix(point.support, point.coef)
    outside = np.linalg.norm(point.gradient.reshape(-1, f.outputs), axis=1) / f.ridge
    outside[cols] = 0.0
    return float(np.linalg.norm(coef.reshape(len(cols), -1), axis=1).min() - outside.max())


def _result(f: GLM, constraint: AtMost, best: Point, given: Any) -> Result:
    known: dict[str, Any] = {"n_iter": 0, "seconds": 0.0, "trace": (), "optimality": "none", "solver": "certify"}
    if isinstance(given, Result):
        known = {name: getattr(given, name) for name in known}
    return Result(
        *f.present(best),
        value=best.value,
        status="converged",
        reason="certified",
        k=constraint.k,
        point=best.detached(),
        constraint=constraint,
        **known,
    )
