"""The training rows that the columns of effects are fitted to: in memory, or elsewhere with a sample of them here."""

from collections.abc import Sequence

import numpy as np

from ..._utils.column_names import Names, column_label, refuse_missing
from ..._utils.types import Array, Columns, Matrix, Vector
from ...data import Data
from ...designs.spline import MAX_STORED_ENTRIES
from ...effects import (
    AdditiveBasis,
    basis_changes,
    choose_sample,
    correct_basis,
    count_values,
    fit_basis,
)

MAX_CORRECTIONS = 3  # passes for means and scales, where the sample was far from what the rows are


class TrainingColumns:
    """The columns of the training rows, and the bases that are fitted to them.

    Where the rows are not in memory, or in parts, ``X`` holds those with a weight, or a random sample of them if they
    are many (``effects.sampled``). Knots then come from the sample; ends, the number of distinct values, means and
    scales from all rows.

    Parameters
    ----------
    data : Data
        The rows with the user's columns.
    weights : array or None
        Of the rows, with sum one; None: all the same.
    names : tuple of str or None
        Of the columns.
    """

    def __init__(self, data: Data, weights: Vector | None, names: Names | None) -> None:
        self.data = data
        self.rows: Columns | None = None
        self.ranges: Matrix | None = None
        self.in_memory = data.whole and hasattr(data.design, "X") and isinstance(data.design.X, np.ndarray)
        if data.products_only:
            raise TypeError("additive models need the entries of X, and a LinearOperator has products only")
        if self.in_memory:
            self.X: Array = data.design.X  # type: ignore[attr-defined]
            refuse_missing(self.X, names)
            return
        counted = np.ones(data.shape[0], bool) if weights is None else weights > 0
        self.rows = rows = choose_sample(counted, data.shape[1], data.room.columns * data.shape[0])
        self.X = data.sampled(rows)
        refuse_missing(self.X, names)
        if len(rows) < np.count_nonzero(counted):
            self.ranges = data.column_ranges()
            wrong = np.flatnonzero(~np.isfinite(self.ranges[:, :2]).all(axis=1))
            if len(wrong):
                raise ValueError(f"X contains NaN or infinity in {column_label(wrong, names)}")

    def column(self, j: int) -> Vector:
        """The values of a feature on the rows that are here, in double precision."""
        return self.X[:, j].astype(np.float64)

    def count_values(self, j: int, limit: int) -> int:
        """How many distinct values a feature has on the rows that count, up to a limit of nine."""
        if self.ranges is not None:
            return min(limit, int(np.count_nonzero(~np.isnan(self.ranges[j, 2:]))))
        weights = self.data.rows.c if self.in_memory else None  # a sample has rows that count only
        return count_values(self.column, weights)(j, limit)

    def _here(self, weights: Vector | None) -> Vector | None:
        """The weights of the rows that are here."""
        return weights if weights is None or self.rows is None else weights[self.rows]

    def fit(
        self, weights: Vector | None, kinds: Sequence[str], n_knots: int, like: AdditiveBasis | None = None
    ) -> AdditiveBasis:
        """The columns of every feature on the rows with a weight; ``like`` gives the number of columns of each."""
        basis = fit_basis(self.column, self._here(weights), kinds, n_knots, like)
        if self.ranges is None:
            return basis
        data = self.data if weights is None else self.data.weighted(weights)
        for _ in range(MAX_CORRECTIONS):
            basis, far = correct_basis(basis, data.basis_sums(basis), self.ranges)
            if not far:
                break
        return basis

    def on_basis(self, basis: AdditiveBasis, names: Names | None = None) -> Data:
        """The rows with the columns of a basis: stored where these are few, else computed when they are needed."""
        return self.data.in_basis(basis, names, self.data.shape[0] * basis.width <= MAX_STORED_ENTRIES)

    def changes(self, old: AdditiveBasis, new: AdditiveBasis, weights: Vector) -> list[Matrix]:
        """For every feature the matrix that takes coefficients of the old columns to those of the new ones."""
        c = weights if self.rows is None else weights[self.rows] / weights[self.rows].sum()
        return basis_changes(old, new, self.column, c)
