"""The ridge of a logistic classifier that was given none: it keeps separable data finite and hardly shrinks."""

from typing import Any

import numpy as np

from .._errors import check_weights
from ..designs import as_design
from ..losses import Loss
from ..losses.vector import VectorLoss
from ..objectives import GLM, MultiGLM

RIDGE_SHARE = 1e-3  # of the curvature of the loss at the model without features
LEAST = 1e-10  # curvature where all weight is on one class, so that there is a ridge even then


def default_ridge(
    X: Any, y: Any, loss: Any, *, sample_weight: Any, offset: Any, fit_intercept: bool, standardize: bool
) -> float:
    """``RIDGE_SHARE`` of a column's mean curvature at the null model; columns have variance 1 if standardised."""
    h = max(_null_curvature(y, loss, sample_weight, offset, fit_intercept), LEAST)
    if not standardize:
        with np.errstate(all="ignore"):
            mean, var = as_design(X).stats(check_weights(sample_weight, len(y)))
            h *= float(np.mean(var if fit_intercept else var + mean**2))
    return RIDGE_SHARE * h if np.isfinite(h) else 0.0  # X is not finite: the objective will say where


def _null_curvature(y: Any, loss: Loss | VectorLoss, sample_weight: Any, offset: Any, fit_intercept: bool) -> float:
    """The weighted mean of phi'' at the null model; with several outputs, the mean of its diagonal."""
    if offset is None:
        even = 0.5 if y.ndim == 1 else 1.0 / y.shape[1]
        share = check_weights(sample_weight, len(y)) @ y if fit_intercept else even
        return float(np.mean(share * (1 - share)))
    make: Any = GLM if y.ndim == 1 else MultiGLM
    f = make(np.zeros((len(y), 1)), y, loss, sample_weight=sample_weight, offset=offset, fit_intercept=fit_intercept)
    nothing = np.empty(0, np.int64)  # X does not matter
    if y.ndim == 1:
        return f.data.model(nothing, np.empty(0), f.null.free).weight
    return float(np.mean(np.diag(f.data.model(nothing, np.empty((0, f.width)), f.null.free).level())))
