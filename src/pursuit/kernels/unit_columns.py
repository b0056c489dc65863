"""Columns of length 1 of a least squares problem, for kernels and sweeps that need every digit of them."""

from typing import NamedTuple

import numpy as np

from .._utils.rounding import COLUMN_ROUNDING
from .._utils.types import Columns, Matrix, Vector

MIN_SQUARED_LENGTH = 1e-20  # of what others leave of a column of length 1, with which the kernel goes on
EXACT_COMBINATION = 1e-11  # what rounding leaves of a column of length 1 that is a combination of others


class UnitColumns(NamedTuple):
    """Columns of length 1 (n x p) and targets (a row for each response), centred where there is an intercept.

    f = |target - columns (sqrt(square) x)|^2 / 2 + sum_j ridge_j x_j^2 / 2, summed over responses. Rows are multiplied
    by the roots of their weights. ``square`` is the squared length of each column before it was divided by its length,
    without the ``ridge``; ``raw_share`` is that of the column as it is stored, not centred, over its own.
    """

    columns: Matrix
    target: Matrix
    square: Vector
    ridge: Vector
    raw_share: Vector

    @property
    def least(self) -> Vector:
        """The squared length up to which what others leave of a column may be the rounding of its numbers."""
        rounding = COLUMN_ROUNDING**2 * self.raw_share * self.square / self.lengths**2
        rounding = np.where(rounding < 1.0, rounding, 0.0)  # one that varies no more than that is taken at its word
        return np.maximum(rounding, MIN_SQUARED_LENGTH)

    @property
    def lengths(self) -> Vector:
        """Lengths with the ridge, which counts as a further row of each column; constant ones: 1."""
        return np.sqrt(np.where(self.square > 0, self.square + self.ridge, 1.0))

    def triangle(self) -> tuple[Matrix, Matrix]:
        """Columns and targets (transposed) of a triangular factor, which has at most p + q rows.

        Products of columns are those of all rows, and almost no digit is lost.
        """
        p, length = self.columns.shape[1], self.lengths
        extended = np.hstack([self.columns * (np.sqrt(self.square) / length), self.target.T])
        if np.any(self.ridge):
            of_ridge = np.zeros((p, extended.shape[1]))
            np.fill_diagonal(of_ridge, np.where(self.square > 0, np.sqrt(self.ridge) / length, 0.0))
            extended = np.vstack([extended, of_ridge])
        R = np.asarray(np.linalg.qr(extended, mode="r"))
        return np.ascontiguousarray(R[:, :p]), np.ascontiguousarray(R[:, p:].T)

    def near_combination(self, support: Columns, cols: Columns) -> bool:
        """Whether one of some columns is nearly a combination of a support's, and not exactly but for rounding."""
        if len(cols) == 0:
            return False
        Q = np.linalg.qr(self.columns[:, support])[0]
        E = self.columns[:, cols]
        for _ in range(2):  # once more for the rounding that the first leaves behind
            E = E - Q @ (Q.T @ E)
        return bool((np.linalg.norm(E, axis=0) > EXACT_COMBINATION).any())
