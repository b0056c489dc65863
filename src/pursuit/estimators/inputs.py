"""Validation of what ``fit`` and ``predict`` are given: arrays, data frames, data in parts."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, Unpack

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from .._utils.column_names import get_column_names, refuse_kinds, refuse_missing, refuse_text
from .._utils.types import Array, ArrayLike, Columns, MatrixLike, StoredMatrix, Vector
from .._utils.validation import check_mask, check_weights
from ..data import Data, Source, placed
from ..losses import Loss

if TYPE_CHECKING:
    from pandas import DataFrame
    from sklearn.base import BaseEstimator

    from ..engines.dask import Dask as Engine

T = TypeVar("T")

FLOAT_DTYPES = (np.dtype(np.float64), np.dtype(np.float32))


class InputChecks(TypedDict, total=False):
    """Options of scikit-learn's ``validate_data``."""

    ensure_min_samples: int
    ensure_min_features: int
    multi_output: bool
    reset: bool
    y_numeric: bool


@dataclass(frozen=True)
class ValidatedInput:
    """What ``fit`` was given, as a source of rows. Targets and weights, one number a row, are computed when called.

    ``multi_output``: whether a target has several outputs. ``classes``: where targets are labels, all of them, sorted;
    ``factors`` multiply the weights of their rows. ``convert`` makes of the source's data those that are fitted.
    """

    source: Source
    multi_output: bool
    classes: Array | None = None
    factors: Vector | None = None
    convert: Callable[[Data], Data] | None = None

    def data(self, loss: Loss) -> Data:
        """The data under a loss."""
        data = self.source.bound(loss, self.classes, self.factors)
        return data if self.convert is None else self.convert(data)

    def y(self) -> Array:
        """The targets (labels) of all rows."""
        return self.source.targets()

    def weights(self) -> Vector | None:
        """The weights of all rows, those of classes included."""
        if self.factors is None or self.classes is None:
            return self.source.weights()
        own = check_weights(self.source.weights(), self.source.shape[0])  # no longer counts of repeated rows
        return own * self.factors[np.searchsorted(self.classes, self.source.targets())]

    def to_engine(self, engine: "Engine") -> "ValidatedInput":
        """The same with the data's rows on the workers of an engine."""
        return replace(self, convert=lambda data: placed(data, engine))


def refuse_beside_source(*others: object) -> None:
    """Raise where y, weights or an offset come beside data in parts, which have their own."""
    if any(other is not None for other in others):
        raise TypeError("data in parts bring their own: leave y, sample_weight and offset out")


def check_source_columns(estimator: "BaseEstimator", source: Source, reset: bool) -> None:
    """Take the columns' number and names from data in parts, or compare them with those of ``fit``."""
    names, known = source.names, getattr(estimator, "feature_names_in_", None)
    if reset:
        estimator.n_features_in_ = source.shape[1]
        if names is not None:
            estimator.feature_names_in_ = np.asarray(names, dtype=object)
        elif known is not None:
            del estimator.feature_names_in_
    elif source.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"X has {source.shape[1]} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input"
        )
    elif names is not None and known is not None and tuple(names) != tuple(map(str, known)):
        raise ValueError("the parts have other column names than those seen at fit, or another order of them")


def validate(
    estimator: "BaseEstimator",
    X: MatrixLike,
    *y: ArrayLike | None,
    accept_sparse: bool | tuple[str, ...] = False,
    ensure_all_finite: bool = True,
    **checks: Unpack[InputChecks],
) -> Any:
    """scikit-learn's validation (``validate_data``), with the names of columns that hold text or dates."""
    reset = checks.get("reset", True)
    least = checks.get("ensure_min_samples", 1), checks.get("ensure_min_features", 1)
    if (
        isinstance(X, np.ndarray)
        and _needs_no_conversion(X, y, least)
        and (reset or _has_columns(estimator, X.shape[1]))
    ):
        if reset:
            estimator.n_features_in_ = X.shape[1]
            vars(estimator).pop("feature_names_in_", None)
        return (X, *y) if y else X
    check_mask(X, "X")
    get_column_names(X)  # of which no two may be the same
    refuse_kinds(X)
    dtypes, kept = (np.float64, np.float32), {"accept_sparse": accept_sparse, "ensure_all_finite": ensure_all_finite}
    return _convert(X, partial(validate_data, estimator, X, *y, dtype=dtypes, **kept, **checks))


def read_chosen(estimator: "BaseEstimator", X: MatrixLike, columns: Columns) -> tuple[StoredMatrix, Columns]:
    """Validate the rows to predict, of which only some ``columns`` matter; their places in what is returned.

    The other columns of a data frame are not read: they may hold text and missing values, and may be absent. Arrays,
    whose columns have no names, are checked whole, as scikit-learn's estimators do.
    """
    known, names = getattr(estimator, "feature_names_in_", None), get_column_names(X)
    if known is None or names is None:
        found = estimator._read(X, reset=False, ensure_all_finite=False)
        refuse_missing(found, known)
        return found, columns
    chosen = [str(known[j]) for j in columns.tolist()]
    only_chosen = len(chosen) > 0 and set(chosen) <= set(names) < set(known)
    if not only_chosen:
        validate_data(estimator, X, reset=False, skip_check_array=True)  # names, their order and their number
    frame: DataFrame = X
    if not chosen:
        return np.zeros((len(frame), 1)), columns
    kept = frame[chosen]
    refuse_kinds(kept)
    dtypes = (np.float64, np.float32)
    found = _convert(kept, partial(check_array, kept, dtype=dtypes, accept_sparse=("csr",), ensure_all_finite=False))
    return found, np.arange(len(chosen))


def _convert(X: MatrixLike, convert: Callable[[], T]) -> T:
    """What a conversion to numbers returns; its errors name the columns."""
    try:
        return convert()
    except OverflowError:
        raise ValueError("X contains NaN or infinity (or numbers that are too large)") from None
    except (TypeError, ValueError) as error:
        refuse_text(X)
        if "inhomogeneous" in str(error):
            raise ValueError("X must have rows of the same length, one entry per column") from None
        raise


def _needs_no_conversion(X: MatrixLike, y: tuple[object, ...], least: tuple[int, int]) -> bool:
    """Whether validation would return its arguments: NumPy arrays of numbers, one finite target per row.

    For small data scikit-learn's own way to that answer takes as long as a fit. ``least``: rows and columns.
    """
    if type(X) is not np.ndarray or X.ndim != 2 or X.dtype not in FLOAT_DTYPES:
        return False
    if X.shape[0] < least[0] or X.shape[1] < least[1]:
        return False
    for own in y:
        if type(own) is not np.ndarray or own.shape != X.shape[:1] or own.dtype.kind not in "iubf":
            return False
        if own.dtype.kind == "f" and not np.isfinite(own).all():
            return False
    return True


def _has_columns(estimator: "BaseEstimator", count: int) -> bool:
    """Whether an estimator was fitted on so many columns without names."""
    return getattr(estimator, "n_features_in_", None) == count and not hasattr(estimator, "feature_names_in_")


def validate_dense(
    estimator: "BaseEstimator", X: MatrixLike, *y: ArrayLike | None, **checks: Unpack[InputChecks]
) -> Any:
    """A dense array of finite numbers in double precision, with y where one is given."""
    found = validate(estimator, X, *y, ensure_all_finite=False, **checks)
    X, *rest = found if y else (found,)
    refuse_missing(X, getattr(estimator, "feature_names_in_", None))
    X = np.ascontiguousarray(X, dtype=np.float64)
    return (X, *rest) if y else X
