from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score

from .._utils.row_order import warn_at_caller, warn_row_order
from .._utils.validation import check_array, check_shape
from ..data import Source
from ..data.sources import opened
from .base import ATTRIBUTES, PARAMETERS, AtMostK, SparseModel
from .inputs import ValidatedInput, check_source_columns, input_from_arrays, input_from_source, refuse_beside_source


class Regression(RegressorMixin, SparseModel):
    """Targets are numbers."""

    targets: ClassVar[tuple[str, ...]] = ("real", "nonnegative")

    def _validate_fit_input(self, X: Any, y: Any, sample_weight: Any, offset: Any) -> ValidatedInput:
        X = opened(X)
        if isinstance(X, Source):
            refuse_beside_source(y, sample_weight, offset)
            check_source_columns(self, X, reset=True)
            return input_from_source(X, X.outputs > 0)
        if y is not None and check_shape(y, "y") and np.asarray(y).dtype.kind == "O":
            y = check_array(y, "y")  # scikit-learn would turn text into numbers
        X, y = self._validate(X, y, y_numeric=True, multi_output=self._takes_several_responses())
        self._warn_two_classes(y)
        return input_from_arrays(X, y, y, sample_weight, offset, getattr(self, "feature_names_in_", None))

    def _set_coefficients(self, x: Any, intercept: Any) -> None:
        """``coef_`` and ``intercept_`` from coefficients of all columns."""
        self.coef_ = x.T.astype(self._dtype, copy=False)
        self.intercept_ = np.asarray(intercept, self._dtype)[()]  # a number, or one per response

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self._takes_several_responses()
        return tags

    def _warn_two_classes(self, y: np.ndarray) -> None:
        """Warn where the target is 0 or 1 in every row, and the loss is one of residuals."""
        counts = self._loss_name() == "poisson"
        if y.ndim != 1 or counts or not len(y) or not ((y == 0) | (y == 1)).all() or y.min() == y.max():
            return
        name = type(self).__name__.replace("Regressor", "Classifier")
        classifier = "SparseAdditiveClassifier" if name.startswith("Additive") else name
        warn_at_caller(f"y holds only 0 and 1, which look like two classes: {classifier} predicts their probabilities")

    def _takes_several_responses(self) -> bool:
        """Whether the loss takes several responses."""
        return self._loss_name() == "squared"

    def predict(self, X: Any, offset: Any = None) -> np.ndarray:
        """Predict the mean response (for Poisson, exp of the linear predictor).

        Parameters
        ----------
        X : array, data frame, sparse matrix or data in parts, shape (n, p)
            The rows; only the chosen columns are read.
        offset : array of shape (n,) or None, default None
            Added to the linear predictor as at ``fit``; without it nothing is, so that a Poisson model with the
            logarithm of an exposure as offset predicts the rate of one unit of exposure. Data in parts bring their own
            offset.

        Returns
        -------
        array of shape (n,) or (n, q)
            The predictions.
        """
        return self._loss().predict(self._eta(X, offset))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None, *, offset: Any = None) -> float:
        """Score the predictions of X by R2.

        Parameters
        ----------
        X : array, data frame, sparse matrix or data in parts, shape (n, p)
            The rows; data in parts bring their own y, weights and offset.
        y : array of shape (n,) or (n, q), or None, default None
            The responses.
        sample_weight : array of shape (n,) or None, default None
            Weights of the rows.
        offset : array of shape (n,) or None, default None
            As in ``predict``.

        Returns
        -------
        float
            R2 of ``predict(X)``.
        """
        X = opened(X)
        if not isinstance(X, Source):
            warn_row_order(X, y=y, sample_weight=sample_weight)
            return float(r2_score(y, self.predict(X, offset), sample_weight=sample_weight))
        refuse_beside_source(y, sample_weight, offset)
        return float(r2_score(X.targets(), self.predict(X), sample_weight=X.weights()))


@dataclass(eq=False, repr=False)  # for an __init__ that errors call by this class
class SparseRegressor(Regression, AtMostK):
    __doc__ = f"""Regression on at most k features; with several responses they share the features.

    Parameters
    ----------
    {PARAMETERS}

    Attributes
    ----------
    {ATTRIBUTES}

    See Also
    --------
    SparseRegressorCV : Chooses k.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from pursuit import SparseRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> SparseRegressor(k=3).fit(X, y).get_feature_names_out().tolist()
    ['bmi', 'bp', 's5']
    """
