"""A model as scikit-learn's linear model with the same predictions."""

from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

from pursuit.losses import Loss

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from pursuit.io.model import Model

MARGINS = ("hinge", "squared_hinge", "smoothed_hinge")


def sklearn_model(model: "Model") -> "BaseEstimator":
    """A LinearRegression, PoissonRegressor, LogisticRegression or LinearSVC that predicts like a model."""
    if model.effects is not None:
        raise ValueError("scikit-learn's linear models have no curves: an additive model stays with pursuit")
    if model.offset is not None:
        raise ValueError(
            f"scikit-learn's models have no offset, and this one adds the column {model.offset!r} to its predictor"
        )
    if model.preparation is not None and not model.preparation.is_plain:
        raise ValueError(
            "scikit-learn's linear models take numbers, and this model prepares raw columns: to_sklearn() of the "
            "pipeline's last step takes what the steps before it make"
        )
    linear = import_module("sklearn.linear_model")
    several, p = np.ndim(model.intercept) > 0, model.n_features
    x = np.zeros((p, *np.shape(model.coef)[1:]))
    x[model.support] = model.coef
    coef, intercept = np.atleast_2d(x.T), np.atleast_1d(np.asarray(model.intercept, dtype=np.float64))
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
    if model.feature_names is not None:
        made.feature_names_in_ = np.asarray(model.feature_names, dtype=object)
    return made
