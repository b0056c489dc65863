"""The rows behind a fitted model, and the same model with a fixed number of features."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import clone, is_classifier

from .._utils.column_names import get_column_names
from .._utils.types import Array, ArrayLike, Columns, Keywords, StoredMatrix, Vector
from .._utils.validation import require_package
from ..designs import Design, as_design
from ..estimators import SparseClassifier, SparseRegressor
from ..estimators.additive.base import CV_ONLY, SparseAdditive

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from ..data import Data

VALUE_TOLERANCE = 1e-6  # share of the null model's loss by which the loss on the same rows may differ: rounding


@dataclass(frozen=True)
class TrainingRows:
    """X, y as an estimator takes them, with weights and offset (None: none), and the names of the columns."""

    X: StoredMatrix
    y: Array
    weights: Vector | None
    offset: Vector | None
    names: tuple[str, ...]

    @property
    def fit_options(self) -> Keywords:
        """Keyword arguments for ``fit``."""
        known = {"sample_weight": self.weights, "offset": self.offset}
        return {name: value for name, value in known.items() if value is not None}

    def take(self, rows: Columns) -> "TrainingRows":
        """Some of the rows."""
        X = self.X.iloc[rows] if hasattr(self.X, "iloc") else self.X[rows]
        weights, offset = (None if v is None else v[rows] for v in (self.weights, self.offset))
        return TrainingRows(X, self.y[rows], weights, offset, self.names)


def training_rows(model: "BaseEstimator", X: StoredMatrix, y: ArrayLike | None) -> TrainingRows | None:
    """The rows that a model was fitted on: those given, or those it still refers to; None where they are elsewhere."""
    f = getattr(model, "objective_", None)
    if (X is None) != (y is None):
        raise ValueError(f"report needs X and y together, and {'X' if X is None else 'y'} is missing")
    if f is None and X is None:
        raise ValueError(
            "the model no longer refers to its data, which a report needs: call report(path, X, y) with the rows of the"
            " fit"
        )
    raw = None if f is None else f.data.raw
    own_X = None if raw is None else _features_of_fit(model, raw)
    own_rows = None if own_X is None else getattr(raw, "rows", None)
    names = column_names(model)
    weights = offset = None
    if own_rows is not None:
        weights = None if np.ptp(own_rows.c) <= 1e-12 * float(np.max(own_rows.c)) else own_rows.c * len(own_rows.c)
        offset = own_rows.offset if own_rows.offset is not None and np.any(own_rows.offset) else None
    if X is not None:
        given = TrainingRows(X, np.asarray(y), weights, offset, names)
        check_same_rows(model, given)
        return given
    if own_rows is None:
        return None
    return TrainingRows(own_X, _labels(model, own_rows.y), weights, offset, names)


def _features_of_fit(model: "BaseEstimator", raw: "Data") -> StoredMatrix:
    """X of the fit; of an additive model the user's features, not the columns of its curves."""
    if not isinstance(model, SparseAdditive):
        return getattr(getattr(raw, "design", None), "X", None)
    training, names = getattr(model.model_, "_training", None), getattr(model, "feature_names_in_", None)
    X = None if training is None else training.X
    if names is None or X is None:
        return X
    return require_package("pandas", "io", "report of columns with names").DataFrame(X, columns=names)


def column_names(model: "BaseEstimator") -> tuple[str, ...]:
    """The names of all columns, x0, x1, ... where there are none."""
    names = getattr(model, "feature_names_in_", None)
    return tuple(f"x{j}" for j in range(model.n_features_in_)) if names is None else tuple(map(str, names))


def check_same_rows(model: "BaseEstimator", rows: TrainingRows) -> None:
    """Raise where rows are not those of the fit: other columns, or another loss at the model's coefficients."""
    p, design = model.n_features_in_, as_design(rows.X)
    if design.shape[1] != p:
        raise ValueError(f"X has {design.shape[1]} columns, but the model was fitted on {p}: these are not its data")
    own, given = getattr(model, "feature_names_in_", None), get_column_names(rows.X)
    if own is not None and given is not None and list(map(str, own)) != list(map(str, given)):
        raise ValueError("X has other column names than the data of the fit: these are not the model's data")
    if len(rows.y) != design.shape[0]:
        raise ValueError(f"y has {len(rows.y)} entries, but X has {design.shape[0]} rows")
    f = getattr(model, "objective_", None)
    if f is None:
        return
    known = f.data.counted
    if rows.weights is None and design.shape[0] != known:
        raise ValueError(
            f"X has {design.shape[0]} rows, but the model was fitted on {known:g}: these are not the model's data"
        )
    if f.width > 1:
        return
    target = (rows.y == model.classes_[1]).astype(float) if is_classifier(model) else rows.y.astype(float)
    eta = _linear_predictor(model, rows.X, design)
    eta = eta if rows.offset is None else eta + rows.offset
    value = float(np.average(f.loss.value(f.loss.encode(target), eta), weights=rows.weights))
    wanted = f.without_ridge(model.result_.point)
    if abs(value - wanted) > VALUE_TOLERANCE * max(abs(wanted), abs(f.null.value)):
        raise ValueError(
            f"the model's loss on X and y is {value:.6g}, but it was {wanted:.6g} when it was fitted: "
            "these are not the model's data"
        )


def _linear_predictor(model: "BaseEstimator", X: StoredMatrix, design: Design) -> Vector:
    """Of the plain fit on some rows."""
    result = model.result_
    coef, intercept = np.ravel(result.coef), float(np.ravel(result.intercept)[0])
    if not isinstance(model, SparseAdditive):
        return np.asarray(design.matmat(result.support, coef[:, None])[:, 0] + intercept)
    values = np.asarray(X, dtype=np.float64)
    return np.asarray(
        model.model_.basis_.evaluate(lambda j: values[:, j], len(values), result.support) @ coef + intercept
    )


def chooses_k(model: "BaseEstimator") -> bool:
    """Whether the number of features was chosen by cross-validation."""
    return not hasattr(model, "k") or isinstance(model.k, str)


def fixed_size(model: "BaseEstimator") -> "BaseEstimator":
    """The estimator of a plain fit with as many features as the model has, not fitted."""
    if isinstance(model, SparseAdditive):
        return clone(model).set_params(k=model.k_ if chooses_k(model) else model.k, **dict.fromkeys(CV_ONLY))
    kind = SparseClassifier if is_classifier(model) else SparseRegressor
    own = model.get_params(deep=False)
    shared = {name: own[name] for name in kind._get_param_names() if name in own}
    return kind(**{**shared, "k": getattr(model, "k_", own.get("k"))})


def plain_fit(model: "BaseEstimator", rows: TrainingRows | None) -> "BaseEstimator | None":
    """The model itself, or, where it averages or shrinks, the plain fit with as many features; None without rows."""
    if not chooses_k(model) and (rows is None or hasattr(model, "objective_") or not isinstance(model, SparseAdditive)):
        return model
    if rows is None or not model.k_:
        return None
    return fixed_size(model).fit(rows.X, rows.y, **rows.fit_options)


def _labels(model: "BaseEstimator", y: Array) -> Array:
    """Targets as the user gave them: of classes, the labels."""
    if not is_classifier(model):
        return y
    return model.classes_[y.argmax(axis=1) if y.ndim == 2 else (y > 0).astype(np.intp)]
