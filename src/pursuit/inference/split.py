"""Select on one part of the rows, estimate on the other."""

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtr, ndtri, stdtr, stdtrit
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from .._utils.column_names import refuse_missing
from .._utils.types import Array, ArrayLike, Columns, MatrixLike, Seed, Vector
from .._utils.validation import check_flag, check_weights
from ..data import Source
from ..designs import as_design
from ..losses import Loss, as_loss
from ..objectives import GLM
from ..reports.intervals import Intervals
from .inputs import (
    check_open_unit_interval,
    check_targets,
    coefficient_names,
    direction_note,
    input_names,
    offset_option,
    random_generator,
    weights_to_fit,
)

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

COLLINEAR_RATIO = 1e-12  # ratio of eigenvalues (columns of length 1) below which coefficients are not distinguished


def split_intervals(
    estimator: "BaseEstimator",
    X: MatrixLike,
    y: ArrayLike | None = None,
    *,
    level: float = 0.95,
    share: float = 0.5,
    robust: bool | None = None,
    random_state: Seed = None,
    sample_weight: ArrayLike | None = None,
    offset: ArrayLike | None = None,
) -> Intervals:
    """Select on a random part of the rows, and give classical intervals on the others: valid given the selection.

    They are intervals for the coefficients of the (unpenalised) regression on the selected columns.

    Parameters
    ----------
    estimator : estimator
        Of one response or two classes, that selects: ``SparseRegressor(k=5)``, or any selector.
    X : array, data frame or sparse matrix
        As in ``fit``.
    y : array of shape (n,)
        As in ``fit``.
    level : float, default 0.95
        Coverage of the intervals.
    share : float, default 0.5
        Share of the rows that select; the others estimate.
    robust : bool or None, default None
        Sandwich standard errors. None: where the loss is no likelihood, or where there are weights.
    random_state : int, Generator or None, default None
        Which rows go where.
    sample_weight : array of shape (n,) or None, default None
        As in ``fit``.
    offset : array of shape (n,) or None, default None
        As in ``fit`` of pursuit's estimators; both parts of the rows use it.

    Returns
    -------
    Intervals
        An interval and a p-value per selected feature.

    Raises
    ------
    ValueError, TypeError
        Where an argument is wrong, or where the rows that are left cannot estimate the selected coefficients; the
        message says what would be right.

    See Also
    --------
    bootstrap_intervals : How the selection varies.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 5))
    >>> y = X[:, 3] + 0.1 * rng.standard_normal(60)
    >>> pursuit.split_intervals(pursuit.SparseRegressor(k=1), X, y, random_state=0).names
    ('x3', '(intercept)')
    """
    if isinstance(X, Source | str):
        raise TypeError("split_intervals needs X and y as arrays, not data in parts; bootstrap_intervals takes them")
    level, share = check_open_unit_interval(level, "level"), check_open_unit_interval(share, "share")
    y, classes = check_targets(estimator, X, y, sample_weight, offset)
    shift = offset_option(estimator, offset, len(y)).get("offset")
    weights = None if sample_weight is None else check_weights(sample_weight, len(y))
    first = _split(random_generator(random_state), y, classes, share)
    rest = np.setdiff1d(np.arange(len(y)), first)
    weight_option = {} if weights is None else {"sample_weight": weights_to_fit(sample_weight, len(y))[first]}
    offset_of_first = {} if shift is None else {"offset": shift[first]}
    model = clone(estimator).fit(_safe_indexing(X, first), y[first], **weight_option, **offset_of_first)
    support, names = _selected(model), input_names(model, X)
    held = as_design(_safe_indexing(X, rest))
    left = _effective_rows(weights, rest)
    if left <= len(support) + 1:
        raise ValueError(
            f"share={share:g} leaves {left} rows for {len(support)} coefficients: lower it, or k of the estimator"
        )
    A = np.asarray(held.block(support).dense(), dtype=np.float64)
    refuse_missing(A, None if names is None else [names[j] for j in support])
    loss, codes = _loss(model, classes), y[rest] if classes is None else (y[rest] == classes[1]).astype(float)
    intercept = bool(getattr(model, "fit_intercept", True))
    if not (len(support) or intercept):
        raise ValueError("estimator selected nothing and has no intercept: all coefficients are zero")
    c = None if weights is None else weights[rest]
    robust = (not loss.likelihood or weights is not None) if robust is None else check_flag(robust, "robust")
    if not robust and not loss.likelihood:
        raise ValueError(f"robust=False needs a likelihood, and loss {loss.name!r} has none")
    held_offset = None if shift is None else shift[rest]
    beta, error, free = _estimates(A, codes, loss, intercept, c, robust, held_offset)
    df = free if loss.quadratic else None
    half = error * (stdtrit(df, 0.5 + level / 2) if df else ndtri(0.5 + level / 2))
    t = np.abs(beta) / np.where(error > 0, error, 1e-300)
    p_value = 2 * (stdtr(df, -t) if df else ndtr(-t))
    return Intervals(
        "split",
        coefficient_names(names, support, intercept),
        _with_intercept(support, intercept),
        beta,
        beta - half,
        beta + half,
        level,
        error,
        p_value,
        None,
        (*direction_note(classes), *_describe(_effective_rows(weights, first), left, level, robust, loss)),
    )


def _estimates(
    A: Array,
    y: Vector,
    loss: Loss,
    intercept: bool,
    weights: Vector | None,
    robust: bool,
    offset: Vector | None = None,
) -> tuple[Vector, Vector, int]:
    """Coefficients (the intercept last), their standard errors, and degrees of freedom that are left.

    Rows without a weight have no part in it: weights of the others have mean 1.
    """
    shift = np.zeros(len(A)) if offset is None else offset
    if weights is not None:
        counts = weights > 0
        A, y, shift, weights = A[counts], y[counts], shift[counts], weights[counts]
    f = GLM(
        A if A.shape[1] else np.zeros((len(A), 1)),
        y,
        loss,
        fit_intercept=intercept,
        sample_weight=weights,
        offset=None if offset is None else shift,
    )
    with np.errstate(all="ignore"):
        point = f.refit(np.arange(A.shape[1]))
        coef, b = f.in_units(point)
    if not point.minimiser:
        raise ValueError(f"on the rows left to estimate there is no best fit ({point.note}): lower share or k")
    D = np.column_stack([A, np.ones(len(A))]) if intercept else A
    beta = np.append(coef, b) if intercept else coef
    c = np.ones(len(A)) if weights is None else weights / weights.mean()
    n, target, eta = len(A), loss.encode(y), D @ beta + shift
    size = np.sqrt(np.maximum((D**2).sum(axis=0), 1e-300))
    D = D / size
    H = D.T @ ((c * loss.d2(target, eta))[:, None] * D)
    values, vectors = np.linalg.eigh(H)
    if not values[0] > COLLINEAR_RATIO * values[-1]:
        raise ValueError(
            "the rows left to estimate do not tell the selected columns apart: change share or random_state"
        )
    inverse, left = (vectors / values) @ vectors.T, max(n - len(beta), 1)
    if robust:
        each = D * (c * loss.d1(target, eta))[:, None]
        inverse = inverse @ (each.T @ each) @ inverse * (n / left)
    elif loss.quadratic:
        inverse = inverse * float(c @ (eta - target) ** 2) / left
    return beta, np.sqrt(np.maximum(inverse.diagonal(), 0.0)) / size, left


def _effective_rows(weights: Vector | None, rows: Columns) -> int:
    """How many of these rows have a weight."""
    return len(rows) if weights is None else int(np.count_nonzero(weights[rows]))


def _split(random: Any, y: Array, classes: Array | None, share: float) -> Columns:
    """The rows that select: of every class the same share."""
    parts = [np.arange(len(y))] if classes is None else [np.flatnonzero(y == label) for label in classes]
    taken = [random.permutation(part)[: round(share * len(part))] for part in parts]
    if any(len(some) == 0 or len(some) == len(part) for some, part in zip(taken, parts, strict=True)):
        raise ValueError(f"share={share:g} leaves no rows (of some class) on one side of the split")
    return np.sort(np.concatenate(taken))


def _selected(model: "BaseEstimator") -> Columns:
    if not hasattr(model, "get_support"):
        raise TypeError(f"estimator must select columns (have get_support), got {type(model).__name__}")
    return np.asarray(model.get_support(indices=True), dtype=np.int64)


def _loss(model: "BaseEstimator", classes: Array | None) -> Loss:
    loss = getattr(getattr(model, "objective_", None), "loss", None) or as_loss(
        "squared" if classes is None else "logistic"
    )
    if not loss.smooth:
        raise ValueError(f"loss {loss.name!r} is not differentiable, so it has no standard errors; use 'logistic'")
    return loss


def _with_intercept(cols: Columns, intercept: bool) -> Columns:
    return np.append(cols, -1) if intercept else cols


def _describe(first: int, rest: int, level: float, robust: bool, loss: Loss) -> tuple[str, ...]:
    usual = "sandwich standard errors" if robust else "equal variances" if loss.quadratic else "the model's likelihood"
    return (
        f"Selected on {first} rows, estimated on the {rest} others ({usual}).",
        "Given the selection, each interval covers the coefficient of the regression on these features with "
        f"probability {level:g}, and p-values are valid: the rows that estimate had no part in the choice.",
    )
