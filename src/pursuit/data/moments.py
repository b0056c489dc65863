"""Moments of the columns of rows that are here: means, sums of squares, Gram matrices, and the scales they give."""

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._utils.column_names import column_label
from .._utils.types import Columns, Intercept, Matrix, Vector
from ..designs import DenseBlock, centre
from ..designs.base import LOOKED_AT, SMALLEST, InMemory
from ..engines import total
from .answers import Moments, QuadraticForm
from .batch import PICKED, is_dense
from .row_store import RowStore

COPIED = 5e7  # entries of X of which a copy is made for a whole Gram matrix
DOUBTFUL = 1e-20  # share of the mean square below which a variance may be rounding: the column itself decides


class ColumnMoments(RowStore):
    """Sums over rows that do not depend on the loss: each is computed once, or shared by the folds of some rows."""

    def moments(self) -> Moments:
        """Weighted means of all columns, and sums of squares about them."""
        if self._moments is None:
            self._moments = self._own_moments() if self.shared is None else self.shared.moments()
        return self._moments

    def _own_moments(self) -> Moments:
        return self._spread(self.rows.c)

    def know(self, moments: Moments) -> None:
        """Take the moments from whoever knows them."""
        self._moments = moments

    def _spread(self, w: Vector) -> Moments:
        """Of all columns, in one pass over X."""
        total = float(w.sum())
        if not total > 0:  # a loss of straight pieces
            return Moments(0.0, np.zeros(self.shape[1]), np.zeros(self.shape[1]))
        mean, var = self.design.stats(w if total == 1.0 else w / total)
        return Moments(total, mean, total * var)

    def gram(self, cols: Columns, centred: bool) -> tuple[Matrix, Vector]:
        """Rows of the weighted Gram matrix, the means of ``cols`` taken off where ``centred``, and these means."""
        shared = centred and self.shared is not None
        return self.shared.known_or_own(cols, self._own_gram) if shared else self._own_gram(cols, centred)  # type: ignore[union-attr]

    def _own_gram(self, cols: Columns, centred: bool) -> tuple[Matrix, Vector]:
        if self.room.gram is not None or self._tall(cols):
            return self._gram_in_one_pass(cols, centred)
        if len(cols) == self.shape[1] and np.array_equal(cols, np.arange(len(cols))):
            return self._whole_gram(centred)
        many = 2 * len(cols) > self.shape[1]  # not worth keeping
        A = self.design.block(cols).dense() if many else self.gathered(cols).dense().copy(order="F")
        means = centre(A, self.rows.c) if centred else np.zeros(len(cols))
        A *= self.rows.c[:, None]
        return self.design.cross(A), means

    def _whole_gram(self, centred: bool) -> tuple[Matrix, Vector]:
        """``gram`` of all columns, from a copy of them."""
        design, p = self.design, self.shape[1]
        stored = design.core if isinstance(design, InMemory) else _core.Matrix(design.block(np.arange(p)).dense())
        return stored.centred_gram(self.rows.c) if centred else (stored.gram(self.rows.c), np.zeros(p))

    def _gram_in_one_pass(self, cols: Columns, centred: bool) -> tuple[Matrix, Vector]:
        """``gram`` of rows that are read, or so many that no copy is made: the means are known before."""
        _, mean, square = self.moments()
        H = self.gram_about(cols, mean if centred else np.zeros_like(mean))
        if centred:
            H[square[cols] <= 0] = 0.0
            H[:, square <= 0] = 0.0
        return H, mean[cols] if centred else np.zeros(len(cols))

    def gram_about(self, cols: Columns, shift: Vector) -> Matrix:
        """sum_i c_i (x_ij - shift_j)(x_il - shift_l), for j in ``cols`` and all l: adds up, and may be subtracted."""
        if self.room.gram is not None and len(cols) == self.shape[1]:  # rows that are read, in one go
            G = self.design.gram(self.rows.c, shift)
            return G if np.array_equal(cols, np.arange(len(cols))) else G[cols]
        if self._tall(cols):
            pieces = self.pieces(-(-self.shape[0] * self.shape[1] // PICKED))
            return total(piece().gram_about(cols, shift) for piece in pieces)
        A = self.gathered(cols).dense() - shift[cols]
        A = np.asfortranarray(A * self.rows.c[:, None])
        return self.design.cross(A, shift)

    def _tall(self, cols: Columns) -> bool:
        """Whether columns are so long that products with them are better had from some rows at a time."""
        return self.whole and is_dense(self) and self.shape[0] * len(cols) > PICKED and self.shape[0] > self.shape[1]

    def form(self, m: Vector, s: Vector, level: Intercept) -> QuadraticForm:
        """The squared loss of columns (x - m) / s (s inf: zero) and targets y - o - level, as a quadratic form."""
        y = self.rows.y - level if self.rows.offset is None else self.rows.y - self.rows.offset - level
        c, (n, p) = self.rows.c, self.shape
        weighted = (c * y.T).T
        if n * p <= COPIED or not self.design.full:
            A = self.design.block(np.arange(self.shape[1])).dense()
            A -= m
            A /= s
            return QuadraticForm(DenseBlock(A).gram(c), A.T @ weighted, A.T @ c, c @ y)
        H, linear, edge = np.empty((p, p)), np.empty((p, *y.shape[1:])), np.empty(p)
        for low in range(0, p, LOOKED_AT):  # twice the flops, and no copy of X
            cols = np.arange(low, min(p, low + LOOKED_AT))
            A = np.asfortranarray((self.design.block(cols).dense() - m[cols]) / s[cols] * c[:, None])
            H[cols], linear[cols], edge[cols] = self.design.cross(A, m) / s, A.T @ y, A.sum(axis=0)
        return QuadraticForm(0.5 * (H + H.T), linear, edge, c @ y)

    def largest(self, cols: Columns) -> Vector:
        """The largest absolute number of columns as they are stored."""
        return self.design.largest(cols)

    def exact_moments(self, cols: Columns, origin: Vector | None) -> tuple[Vector, Moments]:
        """An origin (by default the first numbers), and about it the exact spread of columns that hardly vary."""
        used, first, moved, square = self.rows.c > 0, [], [], []
        c = self.rows.c[used]
        for low in range(0, len(cols), LOOKED_AT):
            A = self.design.stored(cols[low : low + LOOKED_AT])[0][used]
            first.append(A[0] if origin is None else origin[low : low + LOOKED_AT])
            rest = A - first[-1]  # exact, for numbers so close to each other
            moved.append(c @ rest / self.weight)
            square.append(c @ (rest - moved[-1]) ** 2)
        near = np.concatenate(first)
        return near, Moments(self.weight, near + np.concatenate(moved), np.concatenate(square))

    def origin(self) -> Vector | None:
        """Numbers near the columns' means where these are far larger than their spread, else 0; None: none is."""
        return self.design.origin()

    def scales(self, centre: bool) -> tuple[Vector, Vector, NDArray[np.bool_]]:
        """Means (not ``centre``: 0), spreads about them (1 where there is none), and which columns have none."""
        _, mean, var = self.moments()
        var = var / self.weight
        if not (np.isfinite(mean).all() and np.isfinite(var).all()):
            where = column_label(np.flatnonzero(~(np.isfinite(mean) & np.isfinite(var))), self.names)
            raise ValueError(f"X contains NaN or infinity (or values too large to square) in {where}")
        square = var + mean**2
        self.check_small(np.flatnonzero(square < SMALLEST**2))
        doubtful = np.flatnonzero((var > 0) & (var <= DOUBTFUL * square)) if centre else np.empty(0, np.int64)
        if len(doubtful):
            mean, var = mean.copy(), var.copy()
            weight, mean[doubtful], exact = self.exact_moments(doubtful, None)[1]
            var[doubtful] = exact / weight
        spread = var if centre else square
        m, s = mean if centre else np.zeros_like(mean), np.where(spread > 0, np.sqrt(spread), 1.0)
        return m, s, spread <= 0

    def check_small(self, cols: Columns) -> None:
        """Raise where one of the columns has numbers so small that their squares vanish."""
        if len(cols) == 0:
            return
        most = self.largest(cols)
        small = cols[(most > 0) & (most < SMALLEST)]
        if len(small):
            it = "it" if len(small) == 1 else "them"
            raise ValueError(
                f"X has values in {column_label(small, self.names)} that are too small to square; rescale {it}"
            )
