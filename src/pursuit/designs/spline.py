"""Spline columns of an array, computed when they are needed."""

from typing import Any

import numpy as np

from .._utils.column_names import Names
from .._utils.types import Array, Columns, Matrix
from ..effects import AdditiveBasis
from ..engines import check_time
from .base import CacheOwner, Design, MemoryBudget
from .blocks import DenseBlock

GATHERED_ENTRIES = 1 << 24  # of columns that are kept at a time: 128 MB
GRAM_BYTES = 1 << 28  # of Gram columns


class Spline(Design):
    """The columns of an :class:`AdditiveBasis` on the rows of X: products evaluate them feature by feature.

    Beside X itself a product holds the columns of one feature. A Gram matrix holds some rows of all columns
    (``Design.gram``), a refit those that it needs.
    """

    def __init__(self, X: Array, basis: AdditiveBasis, names: Names | None = None) -> None:
        self.X, self.basis, self.names = X, basis, names
        self.shape = len(X), basis.width
        self.dtype, self.nbytes = np.dtype(np.float64), X.nbytes
        self.room = MemoryBudget(max(1, GATHERED_ENTRIES // max(len(X), 1)), GRAM_BYTES, CacheOwner())

    def _features(self, cols: Columns) -> Any:
        """For every feature that these columns belong to: their places in ``cols``, and their numbers."""
        owner = self.basis.feature_of[cols]
        order = np.argsort(owner, kind="stable")
        for places in np.split(order, np.flatnonzero(np.diff(owner[order])) + 1) if len(cols) else []:
            check_time()
            j = int(owner[places[0]])
            columns = self.basis.columns[j].evaluate(self.X[:, j])
            yield places, columns[:, cols[places] - self.basis.starts[j]]

    def matmat(self, cols: Columns, coef: Matrix) -> Matrix:
        out = np.zeros((self.shape[0], coef.shape[1]))
        for places, columns in self._features(np.asarray(cols)):
            out += columns @ coef[places]
        return out

    def rmatmat(self, d: Matrix) -> Matrix:
        out = np.empty((self.shape[1], d.shape[1]))
        for places, columns in self._features(np.arange(self.shape[1])):
            out[places] = columns.T @ d
        return out

    def block(self, cols: Columns) -> DenseBlock:
        A = np.empty((self.shape[0], len(cols)), order="F")
        for places, columns in self._features(np.asarray(cols)):
            A[:, places] = columns
        return DenseBlock(A)

    def take(self, rows: Columns) -> "Spline":
        return Spline(self.X[rows], self.basis, self.names)
