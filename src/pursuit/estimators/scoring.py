"""scikit-learn scores of the models of folds."""

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from sklearn.metrics import check_scoring

from .._utils.types import Array, ArrayLike, Columns, Vector
from .._utils.validation import first_line
from ..selection import Models
from .inputs import ValidatedInput

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

MIN_WEIGHT_SCALE = 1e-100  # weights below it, and above its inverse, are rescaled


class FoldScorer:
    """A scikit-learn scorer for models of folds, whose test rows are ``pairs[v][1]``."""

    def __init__(
        self,
        estimator: "BaseEstimator",
        inputs: ValidatedInput,
        y: Array,
        sample_weight: ArrayLike | None,
        pairs: Sequence[tuple[Columns, Columns]],
    ) -> None:
        self.scorer, self.inputs, self.y = check_scoring(estimator, estimator.scoring), inputs, y
        self.columns = inputs.source.shape[1]
        self.tests = [test for _, test in pairs]
        self.weights = None if sample_weight is None else _rescale_extremes(np.broadcast_to(sample_weight, len(y)))
        self.twin = copy.copy(estimator)
        if not hasattr(inputs.source.splittable(), "columns"):
            self.twin.__dict__.pop("feature_names_in_", None)  # X has been validated, and lost its names

    def __call__(self, v: int, models: Models) -> Array:
        test = self.tests[v]
        options = {} if self.weights is None else {"sample_weight": self.weights[test]}
        rows, y = self.inputs.source.subset(test), self.y[test]
        found = np.empty(len(models.B))
        for i in range(len(found)):
            cols, coef, intercept = models.in_units(i)
            self.twin._set_model(cols, coef, intercept, self.columns, np.dtype(np.float64))
            try:
                found[i] = self.scorer(self.twin, rows, y, **options)
            except (AttributeError, TypeError, ValueError) as error:
                raise ValueError(f"scoring={self.twin.scoring!r} gave no score: {first_line(error)}") from error
            if not np.isfinite(found[i]):  # means and standard errors over folds need numbers
                name, k, value = self.twin.scoring, len(cols), "NaN" if np.isnan(found[i]) else f"{found[i]:g}"
                name = repr(name) if isinstance(name, str) else getattr(name, "__name__", repr(name))
                raise ValueError(f"scoring={name} gave {value} in fold {v}, for model {i}, which has {k} features")
        return found


def _rescale_extremes(weights: Vector) -> Vector:
    """Weights whose sums and products neither overflow nor vanish in a scorer; moderate ones stay as they are."""
    top = float(np.max(weights))
    return weights if MIN_WEIGHT_SCALE < top < 1 / MIN_WEIGHT_SCALE else weights / top
