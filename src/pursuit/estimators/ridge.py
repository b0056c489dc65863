"""The ridge of a logistic classifier that was given none: it keeps separable data finite and hardly shrinks."""

import numpy as np

from .._errors import check_flag
from ..data import Data
from ..losses.vector import VectorLoss
from ..refits import intercept_of

RIDGE_SHARE = 1e-3  # of the curvature of the loss at the model without features
LEAST = 1e-10  # curvature where all weight is on one class, so that there is a ridge even then


def default_ridge(data: Data, fit_intercept: bool, standardize: bool) -> float:
    """``RIDGE_SHARE`` of a column's mean curvature at the null model; columns have variance 1 if standardised."""
    fit_intercept, standardize = check_flag(fit_intercept, "fit_intercept"), check_flag(standardize, "standardize")
    with np.errstate(all="ignore"):
        h = max(_null_curvature(data, fit_intercept), LEAST)
        if not standardize:
            h *= float(np.mean(data.moments().moment(fit_intercept)))
    return RIDGE_SHARE * h if np.isfinite(h) else 0.0  # X is not finite: the objective will say where


def _null_curvature(data: Data, fit_intercept: bool) -> float:
    """The weighted mean of phi'' at the null model; with several outputs, the mean of its diagonal."""
    nothing = np.empty(0, np.int64)
    if isinstance(data.loss, VectorLoss):
        none = np.empty((0, data.outputs))
        b = data.held(nothing, none).best_intercept(data.start()) if fit_intercept else np.zeros(data.outputs)
        return float(np.mean(np.diag(data.model(nothing, none, b).level())))
    b = intercept_of(data.held(nothing, np.empty(0)), data.start()) if fit_intercept else 0.0
    return float(data.model(nothing, np.empty(0), b).weight)
