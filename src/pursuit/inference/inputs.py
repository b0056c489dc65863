"""Checks of estimators and targets, and names of features."""

from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import check_consistent_length, check_random_state

from .._utils.column_names import Names, get_column_names
from .._utils.labels import as_labels
from .._utils.row_order import warn_row_order
from .._utils.types import Array, ArrayLike, Columns, MatrixLike, Seed, Vector
from .._utils.validation import check_number, check_offset, check_shape, check_weights

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

MAX_WEIGHT_SUM = 1e300  # of a sum of weights that are handed on as they are


def check_targets(
    estimator: "BaseEstimator",
    X: MatrixLike,
    y: ArrayLike | None,
    sample_weight: ArrayLike | None = None,
    offset: ArrayLike | None = None,
) -> tuple[Array, Array | None]:
    """One target per row, and the two classes of a classifier's."""
    if not hasattr(estimator, "fit") or isinstance(estimator, type):
        raise TypeError(f"estimator must be an estimator such as SparseRegressor(k=5), got {estimator!r}")
    warn_row_order(X, y=y, sample_weight=sample_weight, offset=offset)
    get_column_names(X)  # of which no two may be the same
    check_shape(y, "y")
    assert y is not None  # check_shape raises
    y = as_labels(y) if is_classifier(estimator) else np.asarray(y)
    check_consistent_length(X, y)
    if y.ndim != 1:
        raise ValueError(f"y must hold one response per row, shape (n,), got shape {y.shape}")
    if not is_classifier(estimator):
        return y, None
    classes = np.unique(y)
    if len(classes) != 2:
        raise ValueError(f"y must hold two classes, got {len(classes)}: intervals of several classes are not available")
    return y, classes


def offset_option(estimator: "BaseEstimator", offset: ArrayLike | None, n: int) -> dict[str, Vector]:
    """The keyword of ``fit`` for an offset, which is checked; none where there is no offset."""
    if offset is None:
        return {}
    if "offset" not in signature(estimator.fit).parameters:
        kind = type(estimator).__name__
        raise TypeError(f"offset needs an estimator whose fit takes it, such as SparseRegressor, got {kind}")
    shift = check_offset(offset, n, 0)
    return {} if shift is None else {"offset": shift}


def weights_to_fit(sample_weight: ArrayLike | None, n: int) -> Vector:
    """The user's own weights, checked: whole numbers are counts to estimators that choose k, and stay what they are."""
    relative = check_weights(sample_weight, n)
    weights = np.broadcast_to(np.asarray(sample_weight, dtype=np.float64), n)
    return weights if weights.max() < MAX_WEIGHT_SUM / n else relative * n  # a row may be drawn n times


def check_open_unit_interval(value: object, name: str) -> float:
    """A number between 0 and 1."""
    number = check_number(value, name, strict=True)
    if number >= 1:
        raise ValueError(f"{name} must be between 0 and 1, got {value!r}")
    return number


def random_generator(random_state: Seed) -> Any:
    """scikit-learn's, with an error that names the argument."""
    try:
        return check_random_state(random_state)
    except (TypeError, ValueError):
        raise ValueError(f"random_state must be a seed, a NumPy generator or None, got {random_state!r}") from None


def input_names(model: "BaseEstimator", X: MatrixLike) -> Names | None:
    names = getattr(model, "feature_names_in_", None)
    return get_column_names(X) if names is None else tuple(map(str, names))


def coefficient_names(names: Names | None, cols: Columns, intercept: bool) -> Names:
    labels = [f"x{j}" if names is None else names[j] for j in cols.tolist()]
    return (*labels, "(intercept)") if intercept else tuple(labels)


def direction_note(classes: Array | None) -> tuple[str, ...]:
    return () if classes is None else (f"Positive coefficients speak for class {classes[1]}.",)
