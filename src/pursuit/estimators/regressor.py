from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from .base import PARAMETERS, SparseModel


class SparseRegressor(RegressorMixin, SparseModel):
    __doc__ = f"""Regression on at most k features.

    Parameters
    ----------
    {PARAMETERS}
    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from pursuit import SparseRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> SparseRegressor(k=3).fit(X, y).get_feature_names_out().tolist()
    ['bmi', 'bp', 's5']
    """

    targets = ("real", "nonnegative")

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None, callback: Any = None) -> Any:
        """Select and fit. ``offset`` is added to the linear predictor; ``callback`` gets each iteration's Record."""
        X, y = self._validate(X, y, y_numeric=True)
        self._fit(X, y, sample_weight, offset, callback)
        self.coef_ = self.result_.x.astype(self._dtype, copy=False)
        self.intercept_ = self._dtype.type(self.result_.intercept)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The mean response (for Poisson, exp of the linear predictor)."""
        eta = self._eta(X)
        return self._loss().predict(eta)
