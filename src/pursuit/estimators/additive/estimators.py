"""``SparseAdditiveRegressor`` and ``SparseAdditiveClassifier``."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..._utils.types import Array, ArrayLike, MatrixLike
from ...losses.base import LossLike
from ..classifier import _has_probabilities
from .base import ATTRIBUTES, PARAMETERS, SparseAdditive
from .inner import AdditiveClassifier, AdditiveClassifierCV, AdditiveRegressor, AdditiveRegressorCV

if TYPE_CHECKING:
    from sklearn.utils import Tags


@dataclass(eq=False, repr=False)  # for an __init__ that errors call by this class
class SparseAdditiveRegressor(RegressorMixin, SparseAdditive):
    __doc__ = f"""Additive regression on at most k features, each with a smooth effect.

    The prediction is an intercept and one curve per chosen feature. The features are those of the best additive model
    with at most k of them that was found; :func:`pursuit.certify` proves it where k is a number.

    Parameters
    ----------
    {PARAMETERS}
    Attributes
    ----------
    {ATTRIBUTES}
    See Also
    --------
    SparseAdditiveClassifier : the same for classes.
    SmoothEffects : the columns of the curves as a transformer.
    SparseRegressorCV : linear effects.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from pursuit import SparseAdditiveRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = SparseAdditiveRegressor(k=3).fit(X, y)
    >>> model.get_feature_names_out().tolist()
    ['bmi', 'bp', 's5']
    >>> bmi = model.effects_["bmi"]
    >>> bool(bmi(0.1) > bmi(-0.05))
    True
    >>> total = model.intercept_ + model.contributions(X).sum(axis=1)
    >>> bool(abs(total - model.predict(X)).max() < 1e-9)
    True
    """

    chosen_model = AdditiveRegressorCV
    fixed_model = AdditiveRegressor
    score = SparseAdditive.score  # which takes rows on a disk too

    def predict(self, X: MatrixLike, offset: ArrayLike | None = None) -> Array:
        """The mean response (for Poisson, exp of the linear predictor).

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features), Dask collection, data in parts or a path to data
            Any rows. Beyond the values of the training rows every curve goes on as a line.
        offset : array of shape (n_samples,), optional
            It is added to the linear predictor.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_responses)
            The predictions.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from pursuit import SparseAdditiveRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> model = SparseAdditiveRegressor(k=2).fit(X, y)
        >>> model.predict(X).shape
        (442,)
        """
        check_is_fitted(self)
        return self.model_.predict(X, offset)

    def __sklearn_tags__(self) -> "Tags":
        tags = super().__sklearn_tags__()
        name = self.loss.casefold() if isinstance(self.loss, str) else getattr(self.loss, "name", "")
        tags.target_tags.multi_output = name == "squared"
        return tags


@dataclass(eq=False, repr=False, kw_only=True)
class SparseAdditiveClassifier(ClassifierMixin, SparseAdditive):
    __doc__ = f"""Additive classification on at most k features, each with a smooth effect on the log-odds.

    Labels are of any kind; more than two classes have one multinomial model, in which a feature counts once.

    Parameters
    ----------
    {PARAMETERS}
    class_weight : dict, "balanced" or None, default None
        Multiplies the weights of each class.

    Attributes
    ----------
    {ATTRIBUTES}
    classes_ : ndarray
        The labels, sorted.

    See Also
    --------
    SparseAdditiveRegressor : the same for numbers.
    SmoothEffects : the columns of the curves as a transformer.
    SparseClassifierCV : linear effects.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from pursuit import SparseAdditiveClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = SparseAdditiveClassifier(k=2).fit(X, y)
    >>> len(model.get_feature_names_out())
    2
    >>> model.predict_proba(X).shape
    (569, 2)
    """

    chosen_model = AdditiveClassifierCV
    fixed_model = AdditiveClassifier
    score = SparseAdditive.score  # which takes rows on a disk too
    _own_parameters: ClassVar[tuple[str, ...]] = ("class_weight",)

    k: int | str = "cv"
    loss: LossLike = "logistic"
    class_weight: str | Mapping[Hashable, float] | None = None

    def decision_function(self, X: MatrixLike, offset: ArrayLike | None = None) -> Array:
        """The linear predictor; positive means ``classes_[1]``. With more classes, one column each.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Any rows.
        offset : array of shape (n_samples,), optional
            It is added to the linear predictor.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Log-odds, for the logistic loss.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from pursuit import SparseAdditiveClassifier
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> model = SparseAdditiveClassifier(k=1).fit(X, y)
        >>> bool(((model.decision_function(X) > 0) == model.predict(X)).all())
        True
        """
        check_is_fitted(self)
        return self.model_.decision_function(X, offset)

    def predict(self, X: MatrixLike, offset: ArrayLike | None = None) -> Array:
        """The more likely class.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Any rows.
        offset : array of shape (n_samples,), optional
            It is added to the linear predictor.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from pursuit import SparseAdditiveClassifier
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> model = SparseAdditiveClassifier(k=1).fit(X, y)
        >>> bool((model.predict(X) == y).mean() > 0.9)
        True
        """
        check_is_fitted(self)
        return self.model_.predict(X, offset)

    @available_if(_has_probabilities)
    def predict_proba(self, X: MatrixLike, offset: ArrayLike | None = None) -> Array:
        """Predict the probabilities of the classes (logistic loss).

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Any rows.
        offset : array of shape (n_samples,), optional
            It is added to the linear predictor.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from pursuit import SparseAdditiveClassifier
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> model = SparseAdditiveClassifier(k=1).fit(X, y)
        >>> model.predict_proba(X).shape
        (569, 2)
        """
        check_is_fitted(self)
        return self.model_.predict_proba(X, offset)

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: MatrixLike, offset: ArrayLike | None = None) -> Array:
        """Predict the logarithms of the probabilities, accurate where they are tiny.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Any rows.
        offset : array of shape (n_samples,), optional
            It is added to the linear predictor.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from pursuit import SparseAdditiveClassifier
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> model = SparseAdditiveClassifier(k=1).fit(X, y)
        >>> bool(model.predict_log_proba(X).max() < 0)
        True
        """
        check_is_fitted(self)
        return self.model_.predict_log_proba(X, offset)

    def __sklearn_tags__(self) -> "Tags":
        tags = super().__sklearn_tags__()
        name = self.loss.casefold() if isinstance(self.loss, str) else getattr(self.loss, "name", "")
        tags.classifier_tags.multi_class = name == "logistic"
        return tags
