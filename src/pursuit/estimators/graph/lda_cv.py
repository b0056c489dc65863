"""How many edges, and how much shrinkage and l1, for classes that share a precision matrix."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..._utils.types import Array, ArrayLike, Columns, Folds, Matrix, Vector
from ...objectives.logdet import LogDet
from ...selection.graphs import L1S, SHRINKAGES, GraphChoice, Parted, choose_graph, edge_counts
from ...selection.splits import splits
from .covariance import CovarianceEstimate, estimate_covariance, flat_columns, replace_constant_columns, second_moment
from .edges import allowed_edges, resolve_edges, well_posed

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

RequestedGraph = tuple[int | None, float | None, float | None]  # n_edges, shrinkage and l1; None: to be chosen
RULES = ("min", "1se")


class Choice(NamedTuple):
    """What is used, how it came about (None where all was given), and sentences."""

    n_edges: int
    shrinkage: float
    l1: float
    table: dict[str, Array] | None
    notes: list[str]


@dataclass(frozen=True)
class FeasibleSet:
    """Rows with classes, weights (which sum to one) and how often they count, and the covariance within classes."""

    X: Matrix
    codes: Columns
    weights: Vector
    counts: Vector
    found: CovarianceEstimate
    standardize: bool
    names: Sequence[str] | None

    @property
    def pairs(self) -> int:
        return self.X.shape[1] * (self.X.shape[1] - 1) // 2

    def shrunk(self, t: float) -> Matrix:
        """What SparsePrecision is given: where columns are standardised, that shrinks."""
        return self.found.covariance if self.standardize else _to_sphere(self.found.covariance, t)

    def parted(self, train: Columns, test: Columns, number: int) -> Parted:
        """A fold: covariance of the rows that train within their classes, and of the others about these means."""
        codes, weights, classes = self.codes, self.weights, len(self.found.means)
        rows = train[weights[train] > 0]
        found = estimate_covariance(self.X[rows], weights[rows] / weights[rows].sum(), codes[rows], classes)
        train_on = replace_constant_columns(
            found.covariance, flat_columns(self.X[rows], found.covariance), self.found.covariance.diagonal()
        )
        met = np.bincount(codes[rows], minlength=classes) > 0
        test = test[met[codes[test]] & (weights[test] > 0)]
        if not len(test):
            raise ValueError(f"fold {number} of cv has no row to test on whose class it trains on")
        apart = second_moment(self.X[test], weights[test] / weights[test].sum(), codes[test], found.means)
        return Parted(train_on, found.rank, apart, float(self.counts[test].sum()))


def chosen(
    within: FeasibleSet, model: "BaseEstimator", requested: RequestedGraph, cv_groups: ArrayLike | None
) -> Choice:
    """Numbers as they are; None by the Gaussian likelihood of held-out rows about the means of their classes."""
    n_edges, shrinkage, l1 = requested
    if n_edges is not None and shrinkage is not None and l1 is not None:
        return Choice(n_edges, shrinkage, l1, None, [])
    pairs, note = splits(
        model.cv, within.X, _strata(within, model.cv), cv_groups, True, model.random_state, within.weights
    )
    folds = [within.parted(train, test, number) for number, (train, test) in enumerate(pairs)]
    p = within.X.shape[1]
    ts = SHRINKAGES if shrinkage is None else (shrinkage,)
    most = within.pairs if min(ts) > 0 else min(within.pairs, well_posed(min(fold.rank for fold in folds)))
    f = LogDet(within.found.covariance, names=within.names)
    include, forbidden = resolve_edges(f, model.include, model.exclude)
    most = max(len(include), min(most, allowed_edges(forbidden)))
    grid = {
        "sizes": ([max(k, len(include)) for k in edge_counts(p, most)] if n_edges is None else [min(n_edges, most)]),
        "l1s": L1S if l1 is None else (l1,),
        "rule": model.rule,
        "include": include,
        "forbidden": forbidden,
        "most": most if n_edges is None else 0,
    }
    best = choose_graph(folds, shrinkages=ts, **grid) if within.standardize else _on_covariances(folds, ts, grid)
    values = {"n_edges": best.k, "shrinkage": best.shrinkage, "l1": best.l1}
    open_ones = [
        f"{name}={value:g}" for (name, value), given in zip(values.items(), requested, strict=True) if given is None
    ]
    words = f"{' and '.join(open_ones)} by the best held-out likelihood"
    if model.rule == "1se":
        words = f"n_edges={best.k} are the fewest within one standard error of the best held-out likelihood"
    return Choice(best.k, best.shrinkage, best.l1, best.table, [words, best.reason, note])


def _on_covariances(folds: list[Parted], ts: Sequence[float], grid: dict[str, Any]) -> GraphChoice:
    """``choose_graph`` where shrinkage is not that of correlations: a choice for every t, and the best of these."""
    found = []
    for t in ts:
        shrunk = [fold._replace(train=_to_sphere(fold.train, t)) for fold in folds]
        choice = choose_graph(shrunk, shrinkages=(0.0,), **grid)
        table = {**choice.table, "shrinkage": np.full(len(choice.table["n_edges"]), t)}
        found.append(choice._replace(shrinkage=t, shrinkages=tuple(ts), table=table))
    best = max(found, key=lambda choice: float(np.max(choice.table["mean_test_score"])))
    joined = {name: np.concatenate([choice.table[name] for choice in found]) for name in best.table}
    return best._replace(table=joined)


def _to_sphere(S: Matrix, t: float) -> Matrix:
    """(1 - t) S + t times its mean variance times the identity."""
    return np.asarray((1 - t) * S + t * np.trace(S) / len(S) * np.eye(len(S)))


def _strata(within: FeasibleSet, cv: Folds) -> Columns:
    """Classes whose shares folds keep; those with fewer rows than folds count to the largest one's."""
    if not isinstance(cv, int | np.integer):
        return within.codes
    counts = np.bincount(within.codes[within.weights > 0], minlength=len(within.found.means))
    return np.where(counts[within.codes] < cv, np.argmax(counts), within.codes)
