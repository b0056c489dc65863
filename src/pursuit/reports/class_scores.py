"""How well a classifier tells classes apart: what accuracy alone hides where classes are rare."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, softmax

from .._utils.text import format_table
from .._utils.types import Array, Columns, Vector

N_CALIBRATION_BINS = 10
MIN_PROBABILITY = 1e-15  # below it a logarithm would be infinite


@dataclass(frozen=True, eq=False, repr=False)
class ClassScores:
    """Scores of a classifier on some rows; ``print`` it, or take the numbers.

    Attributes
    ----------
    classes : tuple
        The labels, sorted.
    base_rate : float
        The share of rows of the second class; of several classes, of the most frequent one: what always predicting the
        most frequent class would get right, or (two classes) wrong.
    accuracy, balanced_accuracy : float
        The share of rows whose class is predicted, and its mean over classes: 1/2 for a constant prediction.
    auc : float or None
        Area under the ROC curve; of several classes the mean over one class against the others.
    log_loss : float or None
        Mean negative log-likelihood; None for losses without probabilities.
    confusion : ndarray
        Weights of rows by true class (rows) and predicted class (columns); without weights, counts.
    threshold : float
        Probability from which on the second class is predicted.
    calibration : tuple of (float, float, int)
        Mean predicted probability, share of the second class and rows, by tenths of the rows; empty without
        probabilities.
    """

    classes: tuple[Any, ...]
    base_rate: float
    accuracy: float
    balanced_accuracy: float
    auc: float | None
    log_loss: float | None
    confusion: Array
    threshold: float
    calibration: tuple[tuple[float, float, int], ...] = ()

    def facts(self) -> dict[str, str]:
        """Names and values of the scores, for people."""
        which = self.classes[1] if len(self.classes) == 2 else "the most frequent class"
        found = {"base rate": f"{self.base_rate:.4g} ({which})"}
        found |= {} if self.auc is None else {"AUC": f"{self.auc:.4g}"}
        found |= {} if self.log_loss is None else {"log loss": f"{self.log_loss:.4g}"}
        found["balanced accuracy"] = f"{self.balanced_accuracy:.4g}"
        if len(self.classes) == 2:
            (tn, fp), (fn, tp) = self.confusion
            names = ("true positives", "false negatives", "false positives", "true negatives")
            counts = ", ".join(f"{count:.6g} {name}" for count, name in zip((tp, fn, fp, tn), names, strict=True))
            found[f"threshold {self.threshold:.3g}"] = counts
        return found

    def __str__(self) -> str:
        facts = "\n".join(f"{name:<24}{fact}" for name, fact in self.facts().items())
        if not self.calibration:
            return facts
        rows = [(f"{p:.3f}", f"{share:.3f}", str(count)) for p, share, count in self.calibration]
        return f"{facts}\n\n{format_table(['predicted', 'observed', 'rows'], rows, ())}"

    __repr__ = __str__


def class_scores(
    codes: Columns,
    eta: Array,
    classes: Array,
    *,
    weights: Vector | None = None,
    threshold: float = 0.5,
    probabilities: bool = True,
) -> ClassScores:
    """Scores from the places of true classes and linear predictors (several classes: a column each)."""
    weights = np.ones(len(codes)) if weights is None else np.asarray(weights, dtype=np.float64)
    rows = weights > 0
    codes, eta, weights = codes[rows], np.asarray(eta, dtype=np.float64)[rows], weights[rows]
    count = len(classes)
    two = eta.ndim == 1
    if two:
        p = expit(eta)
        predicted = (p > threshold).astype(np.int64) if probabilities and threshold != 0.5 else (eta > 0).astype(int)
        shares = np.column_stack([1 - p, p])
        found = [_auc(codes == 1, eta, weights)]
    else:
        shares = softmax(eta, axis=1)
        predicted = shares.argmax(axis=1)
        found = [_auc(codes == j, shares[:, j], weights) for j in range(count)]
    known = [auc for auc in found if auc is not None]
    confusion = np.bincount(count * codes + predicted, weights, count * count).reshape(count, count)
    totals = confusion.sum(axis=1)
    recalls = np.diag(confusion)[totals > 0] / totals[totals > 0]
    share = totals / totals.sum()
    loss = None
    if probabilities:
        likely = np.maximum(shares[np.arange(len(codes)), codes], MIN_PROBABILITY)
        loss = float(-(weights @ np.log(likely)) / weights.sum())
    calibration = _calibration(codes == 1, shares[:, 1], weights) if two and probabilities else ()
    return ClassScores(
        tuple(np.asarray(classes).tolist()),
        float(share[1] if two else share.max()),
        float(np.trace(confusion) / confusion.sum()),
        float(recalls.mean()),
        float(np.mean(known)) if known else None,
        loss,
        confusion,
        float(threshold),
        calibration,
    )


def _auc(hit: Array, score: Vector, weights: Vector) -> float | None:
    """How often a row of the class has a higher score than another one, ties for a half; None for one class."""
    order = np.argsort(score, kind="stable")
    hit, score, weights = hit[order], score[order], weights[order]
    first = np.flatnonzero(np.r_[True, score[1:] != score[:-1]])
    ones, others = (np.add.reduceat(np.where(mask, weights, 0.0), first) for mask in (hit, ~hit))
    if not ones.sum() or not others.sum():
        return None
    below = np.cumsum(others) - others
    return float(ones @ (below + 0.5 * others) / (ones.sum() * others.sum()))


def _calibration(hit: Array, p: Vector, weights: Vector) -> tuple[tuple[float, float, int], ...]:
    """Mean probability, share of the class and number of rows, by tenths of the rows."""
    order = np.argsort(p, kind="stable")
    parts = [part for part in np.array_split(order, min(N_CALIBRATION_BINS, len(order))) if weights[part].sum() > 0]
    return tuple(
        (
            float(np.average(p[part], weights=weights[part])),
            float(np.average(hit[part], weights=weights[part])),
            len(part),
        )
        for part in parts
    )
