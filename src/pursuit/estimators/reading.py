"""What a user hands over, checked by scikit-learn's rules and with the names of columns that are no numbers."""

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from .._errors import check_mask
from .._names import names_of, refuse_kinds, refuse_missing, refuse_text

FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


def read(estimator: Any, X: Any, *y: Any, **kwargs: Any) -> Any:
    """scikit-learn's validation (``validate_data``), with the names of columns that hold text or dates."""
    reset = kwargs.get("reset", True)
    least = kwargs.get("ensure_min_samples", 1), kwargs.get("ensure_min_features", 1)
    if _needs_no_conversion(X, y, least) and (reset or _has_columns(estimator, X.shape[1])):
        if reset:
            estimator.n_features_in_ = X.shape[1]
            vars(estimator).pop("feature_names_in_", None)
        return (X, *y) if y else X
    check_mask(X, "X")
    names_of(X)  # of which no two may be the same
    refuse_kinds(X)
    try:
        return validate_data(estimator, X, *y, dtype=(np.float64, np.float32), **kwargs)
    except OverflowError:
        raise ValueError("X contains NaN or infinity (or numbers that are too large)") from None
    except (TypeError, ValueError) as error:
        refuse_text(X)
        if "inhomogeneous" in str(error):
            raise ValueError("X must have rows of the same length, one entry per column") from None
        raise


def _needs_no_conversion(X: Any, y: tuple[Any, ...], least: tuple[int, int]) -> bool:
    """Whether validation would return its arguments: NumPy arrays of numbers, one finite target per row.

    For small data scikit-learn's own way to that answer takes as long as a fit. ``least``: rows and columns.
    """
    if type(X) is not np.ndarray or X.ndim != 2 or X.dtype not in FLOATS:
        return False
    if X.shape[0] < least[0] or X.shape[1] < least[1]:
        return False
    for own in y:
        if type(own) is not np.ndarray or own.shape != X.shape[:1] or own.dtype.kind not in "iubf":
            return False
        if own.dtype.kind == "f" and not np.isfinite(own).all():
            return False
    return True


def _has_columns(estimator: Any, count: int) -> bool:
    """Whether an estimator was fitted on so many columns without names."""
    return getattr(estimator, "n_features_in_", None) == count and not hasattr(estimator, "feature_names_in_")


def read_dense(estimator: Any, X: Any, *y: Any, **kwargs: Any) -> Any:
    """A dense array of finite numbers in double precision, with y where one is given."""
    found = read(estimator, X, *y, ensure_all_finite=False, **kwargs)
    X, *rest = found if y else (found,)
    refuse_missing(X, getattr(estimator, "feature_names_in_", None))
    X = np.ascontiguousarray(X, dtype=np.float64)
    return (X, *rest) if y else X
