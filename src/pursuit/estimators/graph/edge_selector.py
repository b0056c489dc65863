"""Edges as what half-samples select (``pursuit.stability``); the units are pairs of columns."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._utils.types import ArrayLike, Columns, Flags, Matrix, MatrixLike, Vector
from ..._utils.validation import check_count, check_sizes
from ...objectives.logdet import LogDet
from ...objectives.pairs import Pairs
from ...paths import path
from .covariance import estimate_covariance, flat_columns, replace_constant_columns
from .edges import allowed_edges, resolve_edges

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

DEFAULT_SIZES = 10  # of the path, unless ks names them


@dataclass
class EdgeSelector:
    """A :class:`pursuit.resampling.Selector`: the path of graphs of some of the rows."""

    model: "BaseEstimator"
    shrinkage: float
    X: Matrix
    weights: Vector
    ks: tuple[int, ...]
    include: Columns
    forbidden: Flags
    pairs: Pairs

    labels = classes = unit_of = None  # rows have no classes, and every pair is a unit of its own
    what = "edges"

    @property
    def rows(self) -> Columns:
        return np.flatnonzero(self.weights > 0)

    @property
    def names(self) -> Sequence[str]:
        return PairNames(self.pairs)

    @property
    def units(self) -> int:
        return self.pairs.count

    @property
    def forced(self) -> Columns:
        return self.pairs.numbers(self.include)

    @property
    def free(self) -> int:
        """Pairs that compete."""
        return allowed_edges(self.forbidden) - len(self.include)

    def __call__(self, rows: Columns) -> list[Columns]:
        model, X, weights = self.model, self.X[rows], self.weights[rows]
        S = estimate_covariance(X, weights / weights.sum(), centred=not model.assume_centered).covariance
        S = replace_constant_columns(S, flat_columns(X, S), np.ones(len(S)))  # they have no edge in these rows
        f = LogDet(S, n_samples=len(rows), eigenvalues=model.eigenvalues, shrinkage=self.shrinkage)
        if f.rank < 2:  # all columns are copies of one in these rows
            return [self.forced] * (len(self.ks) + 1)
        sizes = (*self.ks, min(self.ks[-1] + 1, len(self.forced) + self.free))
        found = path(
            f,
            sizes,
            solver=model.solver,
            include=self.include,
            exclude=self.forbidden,
            max_iter=model.max_iter,
            tol=model.tol,
            random_state=model.random_state,
        )
        return [f.pairs.numbers(found.at(min(k, found.sizes[-1])).support) for k in sizes]


def largest_stability_size(first: int, free: int) -> int:
    """The largest size of a stability path where none is given: ``first`` units are forced in, ``free`` compete.

    Beyond half of them a path selects most of them whatever the data are.
    """
    return first + max(free // 2, min(free, 1))


def edge_selector(
    model: "BaseEstimator",
    X: MatrixLike,
    n_edges: int,
    shrinkage: float,
    ks: Iterable[int] | int | None,
    sample_weight: ArrayLike | None,
) -> EdgeSelector:
    """Of a model that is a clone and may be changed; without ``ks``, sizes up to ``n_edges``."""
    rows, weights, found = model._samples(X, sample_weight)
    f = model._objective(found.covariance, len(rows), shrinkage)
    include, forbidden = resolve_edges(f, model.include, model.exclude)
    first, most = len(include), allowed_edges(forbidden)
    end = max(1, min(check_count(n_edges, "n_edges", 1), largest_stability_size(first, most - first)))
    sizes = check_sizes(_size_grid(end) if ks is None else ks, 1)
    if ks is not None and sizes[0] < first:
        raise ValueError(f"ks holds {sizes[0]}, but include names {first} edges")
    sizes = [k for k in sizes if k >= first] or [first]
    capped = tuple(dict.fromkeys(min(k, most) for k in sizes))
    return EdgeSelector(model, shrinkage, rows, weights, capped, include, forbidden, f.pairs)


def _size_grid(most: int) -> list[int]:
    """All sizes where they are few, else some, closer to each other where they are small."""
    if most <= DEFAULT_SIZES:
        return [*range(1, most + 1)]
    return sorted({round(size) for size in np.geomspace(1, most, DEFAULT_SIZES)})


class PairNames(Sequence[str]):
    """``a - b`` for every pair of columns, by its number; made on demand."""

    def __init__(self, pairs: Pairs) -> None:
        self.pairs = pairs

    def __len__(self) -> int:
        return self.pairs.count

    def __getitem__(self, unit: Any) -> Any:
        if not 0 <= unit < len(self):
            raise IndexError(unit)
        return self.pairs.name(int(unit))
