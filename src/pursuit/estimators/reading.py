"""What a user hands over, checked by scikit-learn's rules and with the names of columns that are no numbers."""

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from .._errors import check_mask
from .._names import names_of, refuse_kinds, refuse_missing, refuse_text


def read(estimator: Any, X: Any, *y: Any, **kwargs: Any) -> Any:
    """scikit-learn's validation (``validate_data``), with the names of columns that hold text or dates."""
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


def read_dense(estimator: Any, X: Any, *y: Any, **kwargs: Any) -> Any:
    """A dense array of finite numbers in double precision, with y where one is given."""
    found = read(estimator, X, *y, ensure_all_finite=False, **kwargs)
    X, *rest = found if y else (found,)
    refuse_missing(X, getattr(estimator, "feature_names_in_", None))
    X = np.ascontiguousarray(X, dtype=np.float64)
    return (X, *rest) if y else X
