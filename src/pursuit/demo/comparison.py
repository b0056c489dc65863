"""Held-out comparison of models in the demo: one split, and the mean over all of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator, clone

from pursuit._utils.types import Array, Columns, Folds, Vector
from pursuit.demo.data import Split
from pursuit.demo.l1_models import Fit
from pursuit.paths import every_size

OURS, SUBSETS, RELAXED = "pursuit, k chosen", "best subset, refitted", "relaxed lasso"


@dataclass(frozen=True)
class Contenders:
    """The models that are compared on a data set."""

    cv_estimator: BaseEstimator  # pursuit's estimator that chooses k
    fixed_k: BaseEstimator  # the one of a given k
    peer: str  # what l1 is called here
    l1: Callable[..., dict[int, Fit]]
    l1_by_cv: Callable[..., Fit]
    folds: Folds
    score: Callable[[Array, Vector], float]  # of y and linear predictors
    ks: Sequence[int]

    @property
    def by_cv(self) -> str:
        return f"{self.peer}, penalty by cross-validation"

    @property
    def same_size(self) -> str:
        return f"{self.peer} with as few features as pursuit"


@dataclass(frozen=True)
class SplitScores:
    """Of one split: scores by size of those that have every size; (features, score) of those that choose."""

    by_size: dict[str, list[float]]
    chosen: dict[str, tuple[int, float]]


def compare_on_split(contenders: Contenders, data: Split) -> SplitScores:
    """Everything is chosen and fitted on the training rows, and scored on the others."""

    def scored(fit: Fit) -> float:
        return contenders.score(data.y_test, fit.eta(data.X_test))

    def refitted(columns: Columns) -> Fit:
        model = clone(contenders.fixed_k).set_params(k=len(columns), solver="omp")
        again = model.fit(data.X[:, columns], data.y).result_
        return Fit(columns[again.support], again.coef, again.intercept)

    ours = clone(contenders.cv_estimator).fit(data.X, data.y)
    mine = Fit(ours.support_, np.ravel(ours.coef_)[ours.support_], float(np.ravel(ours.intercept_)[0]))
    f = contenders.fixed_k.objective(data.X, data.y)
    best = every_size(f, f.sparse_set(max(contenders.ks)))  # the light path that folds use
    subsets = [Fit(found.support, found.coef, found.intercept) for found in (f.present(best[k]) for k in contenders.ks)]
    few = sorted({*contenders.ks, max(1, ours.k_)})
    tuned = contenders.l1(data.X, data.y, few)
    theirs = contenders.l1_by_cv(data.X, data.y, contenders.folds)
    along = [tuned[k] for k in contenders.ks]
    return SplitScores(
        {
            SUBSETS: [scored(fit) for fit in subsets],
            contenders.peer: [scored(fit) for fit in along],
            RELAXED: [scored(refitted(fit.columns)) for fit in along],
        },
        {
            OURS: (ours.k_, scored(mine)),
            contenders.by_cv: (len(theirs.columns), scored(theirs)),
            contenders.same_size: (len(tuned[max(1, ours.k_)].columns), scored(tuned[max(1, ours.k_)])),
        },
    )


@dataclass(frozen=True)
class MeanScore:
    """A contender in the mean of all splits: features, score, and how much more that is than pursuit's."""

    features: float
    score: float
    more: float
    error: float


def summarise_splits(split_scores: Sequence[SplitScores]) -> dict[str, MeanScore]:
    """Differences are taken split by split, since splits differ far more than contenders do."""
    own = np.array([split.chosen[OURS][1] for split in split_scores])
    out = {}
    for who in split_scores[0].chosen:
        sizes, scores = np.array([split.chosen[who] for split in split_scores]).T
        apart = scores - own
        error = apart.std(ddof=1) / np.sqrt(len(apart))
        out[who] = MeanScore(float(sizes.mean()), float(scores.mean()), float(apart.mean()), float(error))
    return out


def by_size(scores: Sequence[SplitScores]) -> dict[str, list[float]]:
    """Mean scores of every size."""
    return {who: np.mean([split.by_size[who] for split in scores], axis=0).tolist() for who in scores[0].by_size}
