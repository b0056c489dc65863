"""A model as scikit-learn's linear model with the same predictions; an additive model as a pipeline with one."""

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

from pursuit._utils.types import Array
from pursuit.effects import AdditiveBasis, ColumnBasis
from pursuit.effects.splines import NO_MATRIX
from pursuit.losses import Loss

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from pursuit.io.model import Model

MARGINS = ("hinge", "squared_hinge", "smoothed_hinge")


def sklearn_model(model: "Model") -> "BaseEstimator":
    """A LinearRegression, PoissonRegressor, LogisticRegression or LinearSVC that predicts like a model.

    An additive model becomes a Pipeline of :class:`pursuit.SmoothEffects` and one of these.
    """
    if model.offset is not None:
        raise ValueError(
            f"scikit-learn's models have no offset, and this one adds the column {model.offset!r} to its predictor"
        )
    if model.preparation is not None and not model.preparation.is_plain:
        raise ValueError(
            "scikit-learn's linear models take numbers, and this model prepares raw columns: to_sklearn() of the "
            "pipeline's last step takes what the steps before it make"
        )
    if model.effects is not None:
        return _pipeline(model, model.effects)
    x = np.zeros((model.n_features, *np.shape(model.coef)[1:]))
    x[model.support] = model.coef
    made = _linear_model(model, x, np.asarray(model.intercept, dtype=np.float64))
    if model.feature_names is not None:
        made.feature_names_in_ = np.asarray(model.feature_names, dtype=object)
    return made


def _pipeline(model: "Model", effects: Sequence[ColumnBasis]) -> "BaseEstimator":
    """Knots and curves' columns, then the linear model on them; features that were not chosen stay as they are."""
    from pursuit.estimators import SmoothEffects

    unused = ColumnBasis("linear", 1, 0.0, 1.0, np.empty(0), NO_MATRIX, NO_MATRIX, 0.0, 0.0)
    columns = [unused] * model.n_features
    for j, column in zip(model.support.tolist(), effects, strict=True):
        columns[j] = column
    smooth = SmoothEffects()
    smooth.basis_ = basis = AdditiveBasis(tuple(columns))
    smooth.groups_, smooth.n_features_in_ = basis.feature_of, model.n_features
    if model.feature_names is not None:
        smooth.feature_names_in_ = np.asarray(model.feature_names, dtype=object)
    x = np.zeros((basis.width, *np.shape(model.coef)[1:]))
    x[np.isin(basis.feature_of, model.support)] = model.coef
    intercept = np.asarray(model.intercept, dtype=np.float64)
    pipeline = import_module("sklearn.pipeline").Pipeline
    return pipeline([("effects", smooth), ("model", _linear_model(model, x, intercept))])


def _linear_model(model: "Model", x: Array, intercept: Array) -> "BaseEstimator":
    """Scikit-learn's linear model with these coefficients, by the loss."""
    linear = import_module("sklearn.linear_model")
    several, p = np.ndim(intercept) > 0, len(x)
    coef, intercept = np.atleast_2d(x.T), np.atleast_1d(intercept)
    made: BaseEstimator | None
    if model.classes is not None:
        made = linear.LogisticRegression() if model.loss.name == "logistic" else None
        if model.loss.name in MARGINS:
            made = import_module("sklearn.svm").LinearSVC()
        labels = np.asarray(model.classes)
    else:
        made = linear.PoissonRegressor() if model.loss.name == "poisson" and not several else None
        if type(model.loss).predict is Loss.predict:
            made = linear.LinearRegression()
        labels = np.ones((2, len(intercept))) if several else np.ones(2)
        coef, intercept = (coef, intercept) if several else (coef[0], intercept[0])
    if made is None:
        what = "several responses as" if several else "as"
        raise ValueError(f"scikit-learn has no linear model that predicts {what} the {model.loss.name} loss does")
    made.fit(np.zeros((len(labels), p)), labels)  # rows without information: what fit sets beside the coefficients
    made.coef_, made.intercept_ = coef, intercept
    return made
