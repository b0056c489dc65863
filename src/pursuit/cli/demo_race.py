"""Who predicts rows that nobody saw: one split of the demo's comparison, and all of them in numbers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from pursuit.cli.demo_data import Split
from pursuit.cli.demo_lasso import Fit
from pursuit.paths import every_size

OURS, SUBSETS, RELAXED = "pursuit, k chosen", "best subset, refitted", "relaxed lasso"


@dataclass(frozen=True)
class Entered:
    """A data set's contenders."""

    chooses: Any  # pursuit's estimator that chooses k
    plain: Any  # the one of a given k
    peer: str  # what l1 is called here
    l1: Callable[..., dict[int, Fit]]
    l1_by_cv: Callable[..., Fit]
    folds: Any
    score: Callable[[Any, Any], float]  # of y and linear predictors
    ks: Sequence[int]

    @property
    def by_cv(self) -> str:
        return f"{self.peer}, penalty by cross-validation"

    @property
    def as_few(self) -> str:
        return f"{self.peer} with as few features as pursuit"


@dataclass(frozen=True)
class Seen:
    """Of one split: scores by size of those that have every size; (features, score) of those that choose."""

    by_size: dict[str, list[float]]
    chosen: dict[str, tuple[int, float]]


def race(enter: Entered, data: Split) -> Seen:
    """Everything is chosen and fitted on the training rows, and scored on the others."""

    def scored(fit: Fit) -> float:
        return enter.score(data.y_test, fit.eta(data.X_test))

    def refitted(columns: Any) -> Fit:
        again = clone(enter.plain).set_params(k=len(columns), solver="omp").fit(data.X[:, columns], data.y).result_
        return Fit(columns[again.support], again.coef, again.intercept)

    ours = clone(enter.chooses).fit(data.X, data.y)
    mine = Fit(ours.support_, np.ravel(ours.coef_)[ours.support_], float(np.ravel(ours.intercept_)[0]))
    start = clone(enter.plain).set_params(k=1, solver="omp").fit(data.X, data.y)
    f = start.objective_
    best = every_size(f, f.sparse_set(max(enter.ks)))  # the quick walk that folds use
    subsets = [Fit(found.support, found.coef, found.intercept) for found in (f.present(best[k]) for k in enter.ks)]
    few = sorted({*enter.ks, max(1, ours.k_)})
    tuned = enter.l1(data.X, data.y, few)
    theirs = enter.l1_by_cv(data.X, data.y, enter.folds)
    along = [tuned[k] for k in enter.ks]
    return Seen(
        {SUBSETS: [scored(fit) for fit in subsets], enter.peer: [scored(fit) for fit in along],
         RELAXED: [scored(refitted(fit.columns)) for fit in along]},
        {OURS: (ours.k_, scored(mine)), enter.by_cv: (len(theirs.columns), scored(theirs)),
         enter.as_few: (len(tuned[max(1, ours.k_)].columns), scored(tuned[max(1, ours.k_)]))},
    )  # fmt: skip


@dataclass(frozen=True)
class Told:
    """A contender in the mean of all splits: features, score, and how much more that is than pursuit's."""

    features: float
    score: float
    more: float
    error: float


def compared(seen: Sequence[Seen]) -> dict[str, Told]:
    """Differences are taken split by split, since splits differ far more than contenders do."""
    own = np.array([split.chosen[OURS][1] for split in seen])
    out = {}
    for who in seen[0].chosen:
        sizes, scores = np.array([split.chosen[who] for split in seen]).T
        apart = scores - own
        error = apart.std(ddof=1) / np.sqrt(len(apart))
        out[who] = Told(float(sizes.mean()), float(scores.mean()), float(apart.mean()), float(error))
    return out


def by_size(seen: Sequence[Seen]) -> dict[str, list[float]]:
    """Mean scores of every size."""
    return {who: np.mean([split.by_size[who] for split in seen], axis=0).tolist() for who in seen[0].by_size}
