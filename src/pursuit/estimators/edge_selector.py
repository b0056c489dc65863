"""Edges as what half-samples select (``pursuit.stability``); the units are pairs of columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._errors import check_count, check_sizes
from .._types import Columns, Matrix, Vector
from ..objectives.logdet import LogDet
from ..paths import path
from .scatter import ROUNDING, scatter

SIZES = 10  # that are looked at where none are asked for


@dataclass
class EdgeSelector:
    """A :class:`pursuit.resampling.Selector`: the path of graphs of some of the rows."""

    model: Any
    shrinkage: float
    X: Matrix
    weights: Vector
    ks: tuple[int, ...]
    forced: Columns
    free: int
    names: Sequence[str]

    labels = None
    classes = None
    unit_of = None

    @property
    def rows(self) -> Columns:
        return np.flatnonzero(self.weights > 0)

    @property
    def units(self) -> int:
        return len(self.names)

    def __call__(self, rows: Columns) -> list[Columns]:
        model, X, weights = self.model, self.X[rows], self.weights[rows]
        S = scatter(X, weights / weights.sum(), centred=not model.assume_centered).covariance
        flat = np.sqrt(S.diagonal()) <= ROUNDING * np.abs(X).max(axis=0)
        S[flat], S[:, flat] = 0.0, 0.0
        S[flat, flat] = 1.0  # what is constant in these rows has no edge in them
        f = LogDet(S, n_samples=len(rows), eigenvalues=model.eigenvalues, shrinkage=self.shrinkage)
        sizes = (*self.ks, self.ks[-1] + 1)
        found = path(
            f, sizes, solver=model.solver, include=model.include or (),
            exclude=() if model.exclude is None else model.exclude, max_iter=model.max_iter, tol=model.tol,
            random_state=model.random_state,
        )  # fmt: skip
        supports = {k: result.support for k, result in zip(found.sizes, found, strict=True)}
        return [pair_numbers(supports[k], len(S)) for k in sizes]


def edge_selector(model: Any, X: Any, n_edges: int, shrinkage: float, ks: Any, sample_weight: Any) -> EdgeSelector:
    """Of a model that is a clone and may be changed; without ``ks``, sizes up to ``n_edges``."""
    X, weights, found = model._samples(X, sample_weight)
    f = model._objective(found.covariance, len(X), shrinkage)
    sizes = check_sizes(_up_to(check_count(n_edges, "n_edges", 1)) if ks is None else ks, 1)
    constraint = f.sparse_set(sizes[-1] + 1, model.include or (), () if model.exclude is None else model.exclude)
    first, most = len(constraint.include), f.dim - len(constraint.exclude)
    if ks is not None and sizes[0] < first:
        raise ValueError(f"ks holds {sizes[0]}, but include names {first} edges")
    sizes = [k for k in sizes if k >= first] or [first]
    return EdgeSelector(
        model, shrinkage, X, weights, tuple(dict.fromkeys(min(k, most) for k in sizes)), constraint.include,
        most - first, PairNames(model._nodes),
    )  # fmt: skip


def _up_to(most: int) -> list[int]:
    """All sizes where they are few, else some, closer to each other where they are small."""
    return sorted({round(size) for size in np.geomspace(1, most, SIZES)}) if most > SIZES else [*range(1, most + 1)]


class PairNames(Sequence[str]):
    """``a - b`` for every pair of columns, by its number; made when asked for."""

    def __init__(self, nodes: Sequence[Any]) -> None:
        self.nodes = nodes
        self.starts = np.concatenate([[0], np.cumsum(np.arange(len(nodes) - 1, 0, -1))])

    def __len__(self) -> int:
        return int(self.starts[-1])

    def __getitem__(self, unit: Any) -> Any:
        if not 0 <= unit < len(self):
            raise IndexError(unit)
        i = int(np.searchsorted(self.starts, unit, side="right")) - 1
        return f"{self.nodes[i]} - {self.nodes[i + 1 + int(unit - self.starts[i])]}"


def pair_numbers(edges: Columns, p: int) -> Columns:
    """Numbers of pairs i < j: (0, 1), (0, 2), .., (1, 2), ..; sorted."""
    i, j = edges.T
    return np.sort(i * (2 * p - i - 1) // 2 + j - i - 1)
