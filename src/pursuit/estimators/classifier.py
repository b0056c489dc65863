from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy.special import expit, log_softmax, softmax
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets

from .._utils.labels import as_labels, distinct_labels
from .._utils.types import Array, ArrayLike, Intercept, MatrixLike, StoredMatrix
from .._utils.validation import check_number, format_list
from ..data import Data
from ..data.sources import predictors
from ..losses import Loss, as_loss
from ..reports.class_scores import ClassScores, class_scores
from ..selection.ridge_scale import default_ridge
from .base import AtMostK, SparseModel
from .inputs import ValidatedInput
from .parameter_docs import ATTRIBUTES, CLASS_PARAMETERS, PARAMETERS, describe

if TYPE_CHECKING:
    from sklearn.utils import Tags


def _has_probabilities(estimator: "Classification") -> bool:
    if as_loss(estimator.loss).name == "logistic":
        return True
    raise AttributeError(f"predict_proba needs loss='logistic'; this classifier has loss={estimator.loss!r}")


def class_codes(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The labels, sorted, at least two, and of every row the place of its own."""
    check_labels(y)
    classes, codes = distinct_labels(y)
    check_classes(classes, len(y))
    return classes, codes


def check_labels(y: np.ndarray) -> None:
    """Raise where the labels of all rows are no labels of classes; scikit-learn warns where they are many."""
    if y.dtype.kind in "UO":
        refuse_identifiers(len(set(y.tolist())), len(y))
    check_classification_targets(y)


def check_classes(classes: np.ndarray, n: int) -> None:
    """Raise where the labels of n rows are no two classes or more."""
    if classes.dtype.kind in "UO":
        refuse_identifiers(len(classes), n)
    if len(classes) == 1:
        raise ValueError(f"y holds only one class ({classes[0]}); a classifier needs two classes")


def refuse_identifiers(labels: int, n: int) -> None:
    if labels == n > 2:
        raise ValueError(f"y holds {n} different labels in {n} rows: an identifier, not a class to be learnt")


@dataclass(eq=False, repr=False, kw_only=True)
class Classification(ClassifierMixin, SparseModel):
    """Targets are labels of any kind; more than two have one multinomial model with a shared support."""

    targets: ClassVar[tuple[str, ...]] = ("binary",)

    loss: str | Loss = "logistic"
    class_weight: str | Mapping[Hashable, float] | None = None

    def _validate_fit_input(
        self, X: MatrixLike, y: ArrayLike | None, sample_weight: ArrayLike | None, offset: ArrayLike | None
    ) -> ValidatedInput:
        """Codes of the classes are the targets (more than two: a column each)."""
        source = self._as_source(X, y, sample_weight, offset)
        self.classes_, share = source.classes()
        if not source.in_memory:  # labels of arrays have been checked
            check_classification_targets(np.repeat(self.classes_, 2))  # of which a half is no class for itself
        check_classes(self.classes_, source.shape[0])
        factors = None if self.class_weight is None else self._class_weights(share)
        return ValidatedInput(source, self._is_multiclass(), self.classes_, factors)

    def _validate_arrays(self, X: MatrixLike, y: ArrayLike | None) -> tuple[StoredMatrix, Array]:
        found, labels = self._validate(X, y if y is None else as_labels(y))
        check_labels(labels)
        return found, labels

    def _is_multiclass(self) -> bool:
        """Whether there are more than two classes."""
        many = len(self.classes_) > 2
        if many and self._loss().name != "logistic":
            raise ValueError(
                f"Only binary classification is supported. The type of the target is multiclass: y holds "
                f"{len(self.classes_)} classes, which need loss='logistic'"
            )
        return many

    def _set_coefficients(self, x: Array, intercept: Intercept) -> None:
        """``coef_`` and ``intercept_`` from coefficients of all columns."""
        self.coef_ = np.atleast_2d(x.T).astype(self._dtype, copy=False)
        self.intercept_ = np.atleast_1d(intercept).astype(self._dtype)

    def _default_l2(self, data: Data) -> float:
        logistic = self._loss().name == "logistic"
        return default_ridge(data, self.fit_intercept, self.standardize) if logistic else super()._default_l2(data)

    def _class_weights(self, share: np.ndarray) -> np.ndarray:
        """One factor per class; "balanced" counts weights, so that weight 2 and a repeated row are the same."""
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            return 1.0 / np.maximum(share, 1e-300)
        return self._class_factors()

    def _class_factors(self) -> np.ndarray:
        """The factors that a dict gives; 1 for classes that it does not name, where it names nothing else."""
        if not isinstance(self.class_weight, dict):
            raise ValueError(f"class_weight must be a dict, 'balanced' or None, got {self.class_weight!r}")
        factors = {
            label: check_number(factor, f"class_weight of class {label!r}")
            for label, factor in self.class_weight.items()
        }
        known = self.classes_.tolist()
        strange = [label for label in factors if label not in known]
        if strange and not set(known) <= set(factors):
            words = f"class_weight names class {strange[0]!r}, which y does not have"
            raise ValueError(f"{words}; its classes are {format_list(map(repr, known))}")
        return np.array([factors.get(label, 1.0) for label in known])

    @describe
    def score(
        self,
        X: MatrixLike,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        offset: ArrayLike | None = None,
    ) -> float:
        """Score the predictions of X by the share of rows whose class is predicted.

        Parameters
        ----------
        {scored_rows}
        y : array of shape (n,) or None, default None
            The labels.
        {score_weights}

        Returns
        -------
        float
            The accuracy of ``predict(X)``.

        {class_example}
        >>> bool(model.score(X, y) > 0.95)
        True
        """
        targets, predictions, weights = self._scored(X, y, sample_weight, offset)
        return float(accuracy_score(targets, predictions, sample_weight=weights))

    @describe
    def decision_function(self, X: MatrixLike, offset: ArrayLike | None = None) -> np.ndarray:
        """Compute the linear predictor.

        {class_rows}

        Returns
        -------
        array of shape (n,) or (n, classes)
            Positive means ``classes_[1]``; with more than two classes, one column each.

        {class_example}
        >>> bool(((model.decision_function(X) > 0) == model.predict(X)).all())
        True
        """
        return self._eta(X, offset)

    @describe
    def predict(self, X: MatrixLike, offset: ArrayLike | None = None) -> np.ndarray:
        """Predict the most likely class.

        {class_rows}

        {labels}

        {class_example}
        >>> model.predict(X[:3]).tolist()
        [0, 0, 0]
        """
        eta = self._eta(X, offset)
        return self.classes_[(eta > 0).astype(int) if eta.ndim == 1 else eta.argmax(axis=1)]

    @available_if(_has_probabilities)
    @describe
    def predict_proba(self, X: MatrixLike, offset: ArrayLike | None = None) -> np.ndarray:
        """Predict the probabilities of the classes (logistic loss).

        {class_rows}

        {probabilities}

        {class_example}
        >>> model.predict_proba(X).shape
        (569, 2)
        """
        eta = self._eta(X, offset)
        if eta.ndim == 2:
            return softmax(eta, axis=1)
        return np.column_stack([expit(-eta), expit(eta)])

    @available_if(_has_probabilities)
    @describe
    def predict_log_proba(self, X: MatrixLike, offset: ArrayLike | None = None) -> np.ndarray:
        """Predict the logarithms of the probabilities, accurate where they are tiny.

        {class_rows}

        {probabilities}

        {class_example}
        >>> bool(model.predict_log_proba(X).max() <= 0)
        True
        """
        eta = self._eta(X, offset)
        if eta.ndim == 2:
            return log_softmax(eta, axis=1)
        margin = np.column_stack([-eta, eta])  # where it is positive, the logarithm of what predict_proba gives
        return np.where(margin > 0, np.log(np.maximum(expit(margin), 0.5)), -np.logaddexp(0, -margin))

    def _class_scores(self, threshold: float = 0.5) -> ClassScores | None:
        f = getattr(self, "objective_", None)
        if f is None or not f.data.whole or not hasattr(f.data.raw, "rows"):
            return None
        data = f.data.raw
        coef, intercept = self._on_support()
        if data.design.shape[1] != self.n_features_in_:  # those of a basis
            return None
        eta = predictors(data.design, self.support_, np.asarray(coef), intercept, data.rows.offset)
        codes = data.rows.y.argmax(axis=1) if self._is_multiclass() else (data.rows.y > 0).astype(np.int64)
        c = data.rows.c
        plain = self.class_weight is not None or np.ptp(c[c > 0]) <= 1e-12 * c.max()  # counts say more than shares
        return class_scores(
            codes,
            eta,
            self.classes_,
            weights=(c > 0).astype(np.float64) if plain else c,
            threshold=threshold,
            probabilities=self._loss().name == "logistic",
        )

    def _outputs(self, outputs: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(map(str, self.classes_)) if outputs else ()

    def _notes(self) -> tuple[str, ...]:
        positive = f"Positive coefficients speak for class {self.classes_[1]}."
        return (*([positive] if len(self.classes_) == 2 else []), *super()._notes())

    def __sklearn_tags__(self) -> "Tags":
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self._loss_name() == "logistic"
        return tags


@dataclass(eq=False, repr=False, kw_only=True)
class SparseClassifier(Classification, AtMostK):
    __doc__ = f"""Classification on at most k features; labels of any kind.

    More than two classes have one multinomial model with a shared support: a feature counts once.

    Parameters
    ----------
    {PARAMETERS}
    {CLASS_PARAMETERS}

    Attributes
    ----------
    {ATTRIBUTES}
    classes_ : array
        The labels, sorted.

    See Also
    --------
    SparseClassifierCV : Chooses k.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from pursuit import SparseClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = SparseClassifier(k=4).fit(X, y)
    >>> bool(model.score(X, y) > 0.95), len(model.support_)
    (True, 4)
    """
