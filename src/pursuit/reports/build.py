"""From an objective and its solution to a :class:`Summary`."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._utils.types import Columns, Intercept, Keywords, Vector
from .._utils.validation import format_list
from ..constraints import AtMost
from ..engines import threads
from ..objectives.base import Objective
from ..objectives.bounded import INFEASIBLE
from ..objectives.point import Point
from ..objectives.sparse_set import SparseSet
from ..refits.columns import SEPARATED_LOSS
from ..solvers.rivals import Rivals, rivals
from ..solving.driver import check_objective
from ..solving.result import Result
from .model_summary import Summary, sets_of

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from ..objectives.glm import GLM

MEAN_ROUNDING = 1e-28  # mean squares around a mean below so many times its square are rounding: y is constant
# share of the scale by which a result's value may differ from that of its coefficients: rounding
VALUE_TOLERANCE = 1e-6
OPTIMALITY_WORDS = {  # of a solution, where there is no certificate
    "swap_optimal": "No exchange of one {noun} helps; whether another set is better is not proved",
    "swap_stationary": "No exchange of one {noun} was found to help; whether another set is better is not known",
}
MAX_WRAPPERS = 5  # pipelines in searches in thresholds: so deep is looked for an estimator
NOT_PROVED = "How far this is from the best set is not known"


class DisplayedModel(NamedTuple):
    """The model on display, in the units of X: columns, coefficients on them, intercept."""

    support: Columns
    coef: Vector
    intercept: Intercept


def summary(objective: "GLM", result: Result | None = None) -> Summary:
    """Summarise a solution on one page: coefficients, what every feature is worth, how good the fit is.

    What features are worth is exact for the squared loss. For other losses, and inside bounds, the closest rivals are
    those of the quadratic model, and costs are refitted where that is affordable.

    Parameters
    ----------
    objective : GLM, MultiGLM or Objective, or a fitted estimator
        What was minimised; of an estimator its ``coef_`` are summarised, and ``result`` is left out.
    result : Result or None, default None
        What ``solve`` returned for it.

    Returns
    -------
    Summary
        To print, or as numbers.

    Raises
    ------
    TypeError
        Where the estimator is not one of pursuit, or where the result is missing.
    ValueError
        Where the estimator is not fitted, or the result is not one of this objective.

    See Also
    --------
    SparseRegressor.summary : The same of an estimator.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> X = np.random.default_rng(0).standard_normal((100, 20))
    >>> f = pursuit.GLM(X, X[:, 3] - 2 * X[:, 7])
    >>> pursuit.summary(f, pursuit.solve(f, 2)).names
    ('x3', 'x7')
    """
    if result is None:
        return _summary_of_estimator(objective)
    check_objective(objective)
    if not isinstance(result, Result):
        hint = ": an estimator has its own, estimator.summary()" if hasattr(result, "result_") else ""
        raise TypeError(f"result must be the Result of the objective, got {type(result).__name__}{hint}")
    if result.point.dim != objective.dim:
        raise ValueError(f"result has {result.point.dim} coordinates, but the objective has {objective.dim}")
    return build_summary(objective, result, check=True)


def _summary_of_estimator(estimator: "BaseEstimator") -> Summary:
    """The summary of a fitted estimator, of the last step of a pipeline, or of what a wrapper has fitted."""
    if isinstance(estimator, type):
        raise TypeError(f"summary needs a fitted estimator, got the class {estimator.__name__}")
    inner = estimator
    for _ in range(MAX_WRAPPERS):
        if hasattr(inner, "steps"):
            inner = inner.steps[-1][1]
        elif hasattr(inner, "best_estimator_"):
            inner = inner.best_estimator_
        elif hasattr(inner, "estimator_") and not hasattr(inner, "summary"):
            inner = inner.estimator_
    if isinstance(inner, Result):
        raise TypeError("summary(objective, result) needs the objective too: the one that was solved")
    if not callable(getattr(inner, "summary", None)):
        raise TypeError(
            f"summary takes a fitted estimator of pursuit, or an objective and its result; got {type(inner).__name__}"
        )
    page: Summary = inner.summary()
    threshold = getattr(estimator, "best_threshold_", None)
    if threshold is not None and page.classes is not None:
        page = replace(page, classes=inner._class_scores(float(threshold)), held_out_classes=None)
    return page


def build_summary(f: Any, result: Result, shown: DisplayedModel | None = None, check: bool = False) -> Summary:
    """The same, for a model other than the result's too; without an objective, what can be had.

    ``check``: whether the result is the objective's is looked at.
    """
    model = DisplayedModel(result.support, result.coef, result.intercept) if shown is None else shown
    constraint = result.constraint
    names = _names(f, result, model.support)
    width = result.point.dim // result.dim
    cols = model.support * width
    k = constraint.k if shown is None else constraint.count(cols)
    grouped = _own_groups(constraint, width, cols)
    held: Keywords = {
        "names": names,
        "columns": model.support,
        "coef": np.array(model.coef),
        "per_sd": None,
        "drop": None,
        "intercept": model.intercept,
        "rivals": ("",) * len(names),
        "rival_cost": None,
        "unit": "the objective",
        "how": "exact",
        "score": None,
        "held_out": None,
        "held_out_name": "",
        "rows": None,
        "loss": "",
        "dim": result.dim,
        "k": k,
        "found": _found(f, result, grouped is not None) if shown is None else "",
        "plain": shown is None,
        "notes": _notes(f, shown is not None),
        "sets": sets_of(len(constraint.allowed), len(constraint.include), k),
        "groups": grouped,
        "outputs": _outputs(model.coef),
    }
    report = Summary(**held)
    if f is None:
        return report
    with threads(), np.errstate(all="ignore"):
        scale = 1.0
        if hasattr(f, "data"):
            report = replace(report, rows=f.data.counted, loss=f.loss.name, per_sd=per_sd(f, model))
            report, scale = _scores(f, result, model, report, check)
        if len(names):
            report = _feature_values(f, result, model, report, scale)
            if report.plain and report.has_better_rival:  # which the search did not look at
                report = replace(report, found=_found(f, replace(result, optimality="none"), grouped is not None))
    return report


def _scores(f: "GLM", result: Result, model: DisplayedModel, report: Summary, check: bool) -> tuple[Summary, float]:
    """With the share of the loss that is explained, and how much loss there is to explain."""
    value = _loss(f, model)
    plain = f.without_ridge(result.point)
    if check and abs(value - plain) > VALUE_TOLERANCE * f.scale(result.value) and value > f.floor:
        raise ValueError(
            f"result has a loss of {plain:.8g}, but its coefficients give {value:.8g} in this objective: not its result"
        )
    known = explained_share(f, value)
    return (report, 1.0) if known is None else (replace(report, score=known.share, unit=known.unit), known.height)


class ExplainedShare(NamedTuple):
    """A share of the loss of the null model above its infimum, what it is called, and that height."""

    share: float
    unit: str
    height: float


def explained_share(f: "GLM", value: float) -> ExplainedShare | None:
    """What a mean loss leaves explained: R2, or D2; None where the loss's infimum is not known."""
    lower = f.lower
    height = f.null.value - lower
    rounding = MEAN_ROUNDING * float(np.sum(np.square(f.null.free))) if f.loss.attained else SEPARATED_LOSS
    if not (np.isfinite(lower) and height > rounding and np.isfinite(value)):
        return None
    return ExplainedShare(1.0 - (value - lower) / height, "R2" if f.loss.name == "squared" else "D2", height)


def _feature_values(f: "GLM", result: Result, model: DisplayedModel, report: Summary, scale: float) -> Summary:
    """With the cost of every feature, and its closest rival."""
    inner = SparseSet(bounds=result.bounds, sum_to=result.sum_to).restrict(f)
    constraint: AtMost = result.constraint
    cols = f.coordinates(model.support)
    units = constraint.units_of(cols)
    known = rivals(inner, constraint, _point(inner, constraint, result, constraint.columns_of(units)))
    place = np.searchsorted(units, _units(constraint, f, cols))
    drop, change = (np.where(cost < INFEASIBLE / 2, cost, np.inf)[place] / scale for cost in (known.drop, known.change))
    return replace(
        report,
        drop=drop,
        rival_cost=change,
        how=known.how,
        rivals=tuple(_model_name(f, constraint, known, i) for i in place),
        rival_columns=tuple(tuple(_rival_columns(f, constraint, known, i).tolist()) for i in place),
    )


def _point(f: Objective, constraint: AtMost, result: Result, support: Columns) -> Point:
    """The refit that costs are counted from."""
    if np.array_equal(support, result.point.support):
        point = result.point.as_start_for(f)
        return point if point.refitted else f.refit(support, start=point)
    return f.refit(support)


def _loss(f: "GLM", model: DisplayedModel) -> float:
    """The loss of a model, without the ridge."""
    return float(f.data.value(model.support, *f.data.from_units(model.support, model.coef, model.intercept)))


def per_sd(f: "GLM", model: DisplayedModel) -> Vector:
    """Coefficients times the standard deviations of their columns."""
    weight, _, square = f.data.moments()
    ones, _ = f.data.in_units(model.support, np.ones(len(model.support)), 0.0)  # 1 / scale of the standardised view
    sd = np.sqrt(np.maximum(square[model.support], 0.0) / weight)
    sd = np.divide(sd, ones, out=np.zeros(len(sd)), where=ones > 0)
    return np.asarray(model.coef * (sd if model.coef.ndim == 1 else sd[:, None]))


def _names(f: "GLM", result: Result, support: Columns) -> tuple[str, ...]:
    names = getattr(f, "names", None)
    if names is None and result.names is not None and np.array_equal(support, result.support):
        return tuple(result.names)
    return tuple(f"x{j}" if names is None else str(names[j]) for j in support)


def _outputs(coef: Vector) -> tuple[str, ...]:
    return tuple(str(r) for r in range(coef.shape[1])) if coef.ndim == 2 else ()


def _units(constraint: AtMost, f: "GLM", cols: Columns) -> Columns:
    """The unit of every feature."""
    firsts = cols[:: f.width]
    return firsts if constraint.unit_of is None else constraint.unit_of[firsts]


def _own_groups(constraint: AtMost, width: int, cols: Columns) -> Columns | None:
    """The group of every feature, where there are groups of them."""
    if constraint.unit_of is None or constraint.units == constraint.dim // width:
        return None
    return constraint.unit_of[cols]


def _model_name(f: "GLM", constraint: AtMost, known: Rivals, i: int) -> str:
    """The closest rival of a unit by name; a group by the names of its columns."""
    cols = _rival_columns(f, constraint, known, i)
    return format_list([f"x{j}" if f.names is None else f.names[j] for j in cols], 2) if len(cols) else ""


def _rival_columns(f: "GLM", constraint: AtMost, known: Rivals, i: int) -> Columns:
    """The columns of a unit's closest rival; none where there is no rival."""
    if known.rival[i] < 0:
        return np.empty(0, dtype=np.int64)
    return np.asarray(np.unique(constraint.columns_of(known.rival[i : i + 1]) // f.width))


def _found(f: "GLM", result: Result, grouped: bool) -> str:
    if result.certificate == "proved":
        return "No other set of this size is better: proved."
    if result.gap is not None:
        return f"The best set is better by at most {result.gap:.3g} in the objective (a bound)."
    known = OPTIMALITY_WORDS.get(result.optimality, NOT_PROVED).format(noun="group" if grouped else "feature")
    return f"{known} (pursuit.certify bounds it)." if "proof" in getattr(f, "offers", ()) else f"{known}."


def _notes(f: "GLM", other: bool) -> tuple[str, ...]:
    if other:
        return ("Costs are those of plain refits on these features, whose coefficients are not the ones above.",)
    if f is None or not hasattr(f, "data") or not np.any(f.ridge):
        return ()
    return ("Coefficients are shrunk by a ridge, which costs of features take into account.",)
