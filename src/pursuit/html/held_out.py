"""Held-out rows: the model with its number of features fixed, the l1 model, and the model without features."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.linear_model import LassoCV
from sklearn.metrics import log_loss, roc_auc_score, roc_curve
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import l1_min_c

from .._utils.l1_logistic import l1_logistic_regression
from .._utils.types import Array, Columns, Vector
from .training import TrainingRows, chooses_k, fixed_size

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

FOLDS = 5
MAX_L1_ENTRIES = {True: 1e6, False: 1e7}  # entries of X up to which the l1 model is fitted: classifiers, regressors
MAX_NESTED_L1_ENTRIES = 1e6  # entries of X up to which the lasso chooses its penalty anew in every fold
L1_PENALTIES = 8
MAX_NESTED_SECONDS = 20.0  # that fits of all folds may take for a model that chooses its k
MIN_PROBABILITY = 1e-15


@dataclass(frozen=True)
class Contender:
    """A model's mean loss on held-out rows, fold by fold, and its number of features."""

    name: str
    features: float
    losses: Vector

    @property
    def mean(self) -> float:
        return float(self.losses.mean())

    def difference(self, other: "Contender") -> tuple[float, float]:
        """The mean difference to another one over folds, and its standard error."""
        d = self.losses - other.losses
        return float(d.mean()), float(d.std(ddof=1) / np.sqrt(len(d)))


@dataclass(frozen=True)
class HeldOutRows:
    """Predictions of rows by models that did not see them.

    ``prediction``: what ``predict`` gives; ``probability``: of the second class, where there are two and the loss has
    probabilities; ``unit``: what the contenders' losses are.
    """

    y: Array
    prediction: Array
    probability: Vector | None
    contenders: tuple[Contender, ...]
    unit: str
    folds: int


def held_out_rows(
    model: "BaseEstimator", rows: TrainingRows, baseline: bool, random_state: int
) -> tuple[HeldOutRows, list[str]]:
    """Predictions of rows by models that did not see them, and what was left out of the comparison.

    The model is fitted anew in every fold, with its choice of k; where that would take long, k stays as it is.
    """
    notes: list[str] = []
    classes = is_classifier(model)
    rarest = min(np.unique(rows.y, return_counts=True)[1]) if classes else len(rows.y)
    folds = int(min(FOLDS, rarest))
    if folds < 2:
        raise ValueError("a class with one row leaves nothing to hold out")
    splitter = (StratifiedKFold if classes else KFold)(folds, shuffle=True, random_state=random_state)
    pairs = list(splitter.split(np.zeros(len(rows.y)), rows.y))
    whole = not chooses_k(model) or folds * getattr(model, "model_", model).path_.seconds <= MAX_NESTED_SECONDS
    estimator, proba = clone(model) if whole else fixed_size(model), hasattr(model, "predict_proba")
    prediction = np.empty(rows.y.shape, dtype=rows.y.dtype if classes else np.float64)
    probability = np.empty((len(rows.y), len(model.classes_))) if classes and proba else None
    ours, null, sizes = np.empty(folds), np.empty(folds), np.empty(folds)
    for i, (train, test) in enumerate(pairs):
        part, rest = rows.take(train), rows.take(test)
        fold = clone(estimator).fit(part.X, part.y, **part.fit_options)
        shift = {} if rest.offset is None else {"offset": rest.offset}
        prediction[test] = fold.predict(rest.X, **shift)
        if probability is not None:
            probability[test] = fold.predict_proba(rest.X, **shift)
        seen = None if probability is None else probability[test]
        (ours[i], null[i]), sizes[i] = _losses(model, part, rest, prediction[test], seen), len(fold.support_)
    name = "pursuit" if whole else f"pursuit, plain fit of {model.k_} features"
    contenders = [Contender(name, float(sizes.mean()), ours)]
    if baseline:
        try:
            contenders.append(_l1(model, rows, pairs))
        except _LeftOutError as why:
            notes.append(f"The l1 model (lasso) was left out of the comparison: {why}.")
    contenders.append(Contender("no features", 0.0, null))
    unit = "log loss" if probability is not None else "error rate" if classes else "mean squared error"
    two = probability[:, 1] if probability is not None and probability.shape[1] == 2 else None
    return HeldOutRows(rows.y, prediction, two, tuple(contenders), unit, folds), notes


def _losses(
    model: "BaseEstimator", part: TrainingRows, rest: TrainingRows, prediction: Array, probability: Array | None
) -> tuple[float, float]:
    """The mean loss of a fold's model and of the model without features on the rows held out."""
    w = rest.weights
    if probability is not None:
        share = np.array([np.average(part.y == label, weights=part.weights) for label in model.classes_])
        ours, null = (
            log_loss(rest.y, np.clip(P, MIN_PROBABILITY, 1), labels=model.classes_, sample_weight=w)
            for P in (probability, np.tile(share, (len(rest.y), 1)))
        )
        return float(ours), float(null)
    if is_classifier(model):
        labels, counts = np.unique(part.y, return_counts=True)
        guess = labels[counts.argmax()]
        return float(np.average(prediction != rest.y, weights=w)), float(np.average(rest.y != guess, weights=w))
    mean = np.average(part.y, axis=0, weights=part.weights) if model.fit_intercept else 0.0
    ours, null = (np.square(rest.y - at).reshape(len(rest.y), -1).mean(axis=1) for at in (prediction, mean))
    return float(np.average(ours, weights=w)), float(np.average(null, weights=w))


class _LeftOutError(ValueError):
    """Why there is no l1 model to compare with."""


def _l1(model: "BaseEstimator", rows: TrainingRows, pairs: list[tuple[Columns, Columns]]) -> Contender:
    """The lasso, or l1 logistic regression, with its penalty chosen on the same folds."""
    classes, loss = is_classifier(model), model.objective_.loss.name if hasattr(model, "objective_") else ""
    n, p = rows.X.shape
    if rows.y.ndim > 1 or (classes and len(model.classes_) > 2) or loss not in ("squared", "logistic", ""):
        raise _LeftOutError("it is compared for one response with the squared loss, and for two classes")
    if n * p > MAX_L1_ENTRIES[classes]:
        raise _LeftOutError(f"on {n} x {p} entries it takes long")
    if rows.weights is not None or rows.offset is not None:
        raise _LeftOutError("the rows have weights or an offset")
    scale = StandardScaler(with_mean=not hasattr(rows.X, "tocsr"))
    if not classes and n * p > MAX_NESTED_L1_ENTRIES:  # its penalty is chosen on the folds that judge it
        fit = LassoCV(cv=pairs).fit(scale.fit_transform(rows.X), rows.y)
        best = int(np.argmin(fit.mse_path_.mean(axis=1)))
        return Contender(
            "lasso, penalty chosen on these folds", float(np.count_nonzero(fit.coef_)), fit.mse_path_[best]
        )
    losses, sizes = np.empty(len(pairs)), np.empty(len(pairs))
    for i, (train, test) in enumerate(pairs):
        part, rest = rows.take(train), rows.take(test)
        Z, Z_test = scale.fit_transform(part.X), scale.transform(rest.X)
        if classes:
            grid = l1_min_c(Z, part.y, loss="log") * np.geomspace(1.5, 200, L1_PENALTIES)
            fit = GridSearchCV(l1_logistic_regression(), {"C": grid}, scoring="neg_log_loss", cv=3).fit(Z, part.y)
            P = np.clip(fit.predict_proba(Z_test), MIN_PROBABILITY, 1)
            losses[i], coef = log_loss(rest.y, P, labels=model.classes_), fit.best_estimator_.coef_
        else:
            fit = LassoCV(cv=FOLDS).fit(Z, part.y)
            losses[i], coef = np.mean((rest.y - fit.predict(Z_test)) ** 2), fit.coef_
        sizes[i] = np.count_nonzero(coef)
    return Contender("l1 logistic" if classes else "lasso", float(sizes.mean()), losses)


@dataclass(frozen=True)
class BinaryCurves:
    """ROC curve, area under it, and calibration by tenths of the predicted probability, on held-out rows."""

    false_positive: Vector
    true_positive: Vector
    area: float
    predicted: Vector
    observed: Vector
    counts: Vector


def binary_curves(y: Array, positive: object, probability: Vector) -> BinaryCurves:
    """Curves of a classifier of two classes."""
    hit = y == positive
    fpr, tpr, _ = roc_curve(hit, probability)
    keep = np.unique(np.linspace(0, len(fpr) - 1, min(len(fpr), 200)).astype(int))
    order = np.argsort(probability, kind="stable")
    bins = [part for part in np.array_split(order, min(10, max(1, len(order) // 5))) if len(part)]
    predicted = np.array([probability[part].mean() for part in bins])
    observed = np.array([hit[part].mean() for part in bins])
    counts = np.array([len(part) for part in bins], dtype=float)
    return BinaryCurves(fpr[keep], tpr[keep], float(roc_auc_score(hit, probability)), predicted, observed, counts)
