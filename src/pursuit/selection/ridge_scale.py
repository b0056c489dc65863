"""The unit h in which ridges are chosen, and the default ridge of a logistic classifier.

h is the curvature of the objective in one column at the null model: (weighted mean of phi'') * (mean square of the
columns as the objective sees them). For several outputs phi'' is the mean of its diagonal; the squared loss and margin
losses have phi'' = 1.
"""

import numpy as np

from .._utils.types import Vector
from .._utils.validation import check_flag
from ..data import Data
from ..refits import intercept_of

RIDGE_FRACTION = 1e-3  # of h: coefficients of separable classes stay finite, and hardly shrink
MIN_CURVATURE = 1e-10  # where all weight is on one class, so that there is a ridge even then


def ridge_scale(data: Data, intercept: float | Vector, mean_square: float) -> float:
    """h, given the intercept of the null model."""
    loss = data.loss
    if loss.quadratic or (loss.targets == "binary" and not loss.likelihood):
        return mean_square
    null = data.model(np.empty(0, np.int64), data.no_coefficients, intercept)
    return max(null.weight / data.outputs, MIN_CURVATURE) * mean_square


def mean_column_square(data: Data, fit_intercept: bool, standardize: bool) -> float:
    """1 where columns are standardised, or where all of them are constant."""
    return 1.0 if standardize else float(np.mean(data.moments().moment(fit_intercept))) or 1.0


def default_ridge(data: Data, fit_intercept: bool, standardize: bool) -> float:
    """``RIDGE_FRACTION`` of h, before there is an objective."""
    fit_intercept, standardize = check_flag(fit_intercept, "fit_intercept"), check_flag(standardize, "standardize")
    intercept: float | Vector = 0.0 if data.outputs == 1 else np.zeros(data.outputs)
    with np.errstate(all="ignore"):
        if fit_intercept:
            intercept = intercept_of(data.intercept_problem(np.empty(0, np.int64), data.no_coefficients), data.start())
        h = ridge_scale(data, intercept, mean_column_square(data, fit_intercept, standardize))
    return RIDGE_FRACTION * h if np.isfinite(h) else 0.0  # X is not finite: the objective will say where
