"""The default ridge of a logistic classifier: coefficients of separable data stay finite, and hardly shrink."""

import numpy as np

from .._utils.validation import check_flag
from ..data import Data
from ..refits import intercept_of

RIDGE_FRACTION = 1e-3  # of the curvature of the loss at the model without features
MIN_CURVATURE = 1e-10  # curvature where all weight is on one class, so that there is a ridge even then


def default_ridge(data: Data, fit_intercept: bool, standardize: bool) -> float:
    """``RIDGE_SHARE`` of a column's mean curvature at the null model; columns have variance 1 if standardised."""
    fit_intercept, standardize = check_flag(fit_intercept, "fit_intercept"), check_flag(standardize, "standardize")
    with np.errstate(all="ignore"):
        h = max(_null_curvature(data, fit_intercept), MIN_CURVATURE)
        if not standardize:
            h *= float(np.mean(data.moments().moment(fit_intercept)))
    return RIDGE_FRACTION * h if np.isfinite(h) else 0.0  # X is not finite: the objective will say where


def _null_curvature(data: Data, fit_intercept: bool) -> float:
    """The weighted mean of phi'' at the null model; with several outputs, the mean of its diagonal."""
    nothing = np.empty(0, np.int64)
    none, no_intercept = data.no_coefficients, 0.0 if data.outputs == 1 else np.zeros(data.outputs)
    b = intercept_of(data.intercept_problem(nothing, none), data.start()) if fit_intercept else no_intercept
    return data.model(nothing, none, b).weight / data.outputs
