from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin

from .base import PARAMETERS, AtMostK, SparseModel


class Regression(RegressorMixin, SparseModel):
    """Targets are numbers."""

    targets: ClassVar[tuple[str, ...]] = ("real", "nonnegative")

    def _targets(self, X: Any, y: Any) -> tuple[Any, Any]:
        return self._validate(X, y, y_numeric=True, multi_output=self._several())

    def _show(self, x: Any, intercept: Any) -> None:
        """``coef_`` and ``intercept_`` from coefficients of all columns."""
        self.coef_ = x.T.astype(self._dtype, copy=False)
        self.intercept_ = np.asarray(intercept, self._dtype)[()]  # a number, or one per response

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self._several()
        return tags

    def _several(self) -> bool:
        """Whether the loss takes several responses."""
        return self._loss_name() == "squared"

    def predict(self, X: Any, offset: Any = None) -> np.ndarray:
        """The mean response (for Poisson, exp of the linear predictor).

        ``offset``, one number per row, is added to the linear predictor as at ``fit``; without it nothing is, so that a
        Poisson model with the logarithm of an exposure as offset predicts the rate of one unit of exposure.
        """
        return self._loss().predict(self._eta(X, offset))


class SparseRegressor(Regression, AtMostK):
    __doc__ = f"""Regression on at most k features; with several responses they share the features.

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

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        offset: Any = None,
        callback: Any = None,
        checkpoint: Any = None,
    ) -> Any:
        """Select and fit. ``offset`` is added to the linear predictor; ``callback`` gets each iteration's Record.

        ``checkpoint`` is a file from which a fit that was killed goes on, see :func:`pursuit.solve`.
        """
        X, y = self._targets(X, y)
        self._fit(X, y, sample_weight, offset, callback, checkpoint)
        self._show(self.result_.x, self.result_.intercept)
        return self
