"""Many models at once, on the same few columns: what they lose on the rows, and how that changes with one number each.

Model i has coefficients B[i], columns x outputs, and intercepts b[i]. Answers have one entry per model; those of
disjoint rows add up. Rows without a weight are left out, and linear predictors, rows x models x outputs, stay here.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from .._utils.types import Columns, Flags, Matrix, Vector
from ..losses import Loss

if TYPE_CHECKING:
    from .row_store import RowStore
    from .rows import Data

PREDICTORS_AT_A_TIME = 1 << 16  # that are computed at a time: losses need several numbers for each
# entries of columns that are gathered at a time where rows cannot be picked out cheaply
GATHERED_ENTRIES_AT_A_TIME = 1 << 24
PICKED_ENTRIES_AT_A_TIME = 1 << 18  # entries of X in rows of a dense matrix that are picked out at a time
MIN_CACHED_PREDICTORS = 1 << 17  # predictors that are kept, since a search for a root asks for them again and again
CACHE_DIVISOR = 16  # of the entries of X may be kept for that by each of the folds


#: Targets, weights and offset (rows x 1 x outputs; 0: none) of some rows, and predictors without either.
Piece: TypeAlias = tuple[Vector, Vector, float | Vector, Vector]


class Batch:
    """Models with coefficients B on the same few columns of data; intercepts come with the questions."""

    def __init__(self, data: "Data", cols: Columns, B: Vector) -> None:
        self.data, self.cols, self.B = data, cols, B
        self.kept: list[Piece] | None = None

    def losses(self, b: Matrix) -> Vector:
        """sum_i c_i phi(y_i, eta_i) of every model."""
        lost = np.zeros(len(self.B))
        for y, c, offset, eta in self._pieces():
            lost += c @ losses(self.data.loss, y, eta + b + offset)
        return lost

    def levels(self, b: Matrix) -> tuple[Matrix, Matrix]:
        """The first and second derivative of that in every intercept, models x outputs."""
        if self.data.loss.quadratic and self.data.shape[0] * len(self.cols) > PICKED_ENTRIES_AT_A_TIME:
            return self._levels_by_means(b)
        first, second, loss = np.zeros(b.shape), np.zeros(b.shape), self.data.loss
        for y, c, offset, eta in self._again():
            Y, flat = _flat(loss, y, eta + b + offset)
            d2 = loss.row_hessian(Y, flat, np.ones(len(flat))).diagonal()
            first += np.tensordot(c, np.reshape(loss.d1(Y, flat), eta.shape), 1)
            second += np.tensordot(c, np.reshape(d2, eta.shape), 1)
        return first, second

    def _levels_by_means(self, b: Matrix) -> tuple[Matrix, Matrix]:
        """The same where phi'' is 1: the means of columns are known, and X is not read."""
        loss, rows, empty = self.data.loss, self.data.rows, np.zeros(b.shape[1])
        y, c, offset = rows.y, rows.c, rows.offset
        for low in range(0, len(y), PREDICTORS_AT_A_TIME):
            some = slice(low, low + PREDICTORS_AT_A_TIME)
            eta = np.zeros((len(y[some]), 1, b.shape[1]))
            eta += 0.0 if offset is None else offset[some].reshape(eta.shape)
            empty += c[some] @ np.reshape(loss.d1(*_flat(loss, y[some], eta)), (len(eta), -1))
        mean = np.tensordot(self.B, self.data.moments().mean[self.cols], (1, 0))
        return empty + self.data.weight * (mean + b), np.full(b.shape, self.data.weight)

    def shrinks(self, b: Matrix, null: Vector, s: Vector) -> tuple[Vector, Vector]:
        """The first and second derivative in s of the loss at null + s (model - null), ``null`` being intercepts."""
        first, second = np.zeros(len(self.B)), np.zeros(len(self.B))
        for y, c, offset, eta in self._again():
            toward = eta + (b - null)
            d1, d2 = along(self.data.loss, y, null + offset + s[:, None] * toward, toward)
            first += c @ d1
            second += c @ d2
        return first, second

    def _again(self) -> Iterable[Piece]:
        """Intermediate results that the next calls need again: cached where they are small."""
        if self.kept is None:
            most = max(MIN_CACHED_PREDICTORS, self.data.nbytes // (8 * CACHE_DIVISOR))
            if np.count_nonzero(self.data.rows.c) * self.B.shape[0] * self.B.shape[2] > most:
                return self._pieces()
            self.kept = list(self._pieces())
        return self.kept

    def _pieces(self) -> Iterator[Piece]:
        """Rows that count, as many at a time as fit."""
        y, c, offset, B = self.data.rows.y, self.data.rows.c, self.data.rows.offset, self.B
        size = max(1, PREDICTORS_AT_A_TIME // max(1, B.shape[0] * B.shape[2]))
        for some, A in picked(self.data, self.cols):
            for low in range(0, len(some), size):
                rows = some[low : low + size]
                eta = np.einsum("ij,mjq->imq", A[low : low + size], B, optimize=True)
                yield y[rows], c[rows], 0.0 if offset is None else offset[rows].reshape(len(rows), 1, -1), eta


def is_dense(data: "RowStore") -> bool:
    """Whether X is stored entry by entry, so that rows are picked out at their own cost."""
    return data.nbytes >= data.shape[0] * data.shape[1] * data.dtype.itemsize


def picked(data: "Data", cols: Columns) -> Iterator[tuple[Columns, Matrix]]:
    """Rows with a weight, and some columns in them: all where these are few entries, else some rows at a time."""
    (n, p), dense, c = data.shape, is_dense(data), data.rows.c
    if n * len(cols) <= (PICKED_ENTRIES_AT_A_TIME if dense else GATHERED_ENTRIES_AT_A_TIME):
        A, used = data.design.block(cols).dense(), np.flatnonzero(c)
        yield used, A if len(used) == n else A[used]
        return
    size = max(1, PICKED_ENTRIES_AT_A_TIME // p if dense else GATHERED_ENTRIES_AT_A_TIME // len(cols))
    for rows in row_chunks(n, int(np.count_nonzero(c)), size, lambda some: c[some] != 0):
        yield rows, data.design.take(rows).block(cols).dense()


def row_chunks(n: int, count: int, size: int, chosen: Callable[[slice], Flags]) -> Iterator[Columns]:
    """The rows that are chosen, about ``count`` of n, at most ``size`` at a time: all indices are 8 bytes a row."""
    step = max(1, size * n // max(count, 1))
    for low in range(0, n, step):
        rows = low + np.flatnonzero(chosen(slice(low, low + step)))
        yield from (rows[start : start + size] for start in range(0, len(rows), size))


def losses(loss: Loss, y: Vector, eta: Vector) -> Vector:
    """phi of every row and model."""
    Y, flat = _flat(loss, y, eta)
    return np.asarray(loss.value(Y, flat)).reshape(eta.shape[:2])


def along(loss: Loss, y: Vector, eta: Vector, toward: Vector) -> tuple[Vector, Vector]:
    """The first and second derivative of phi in t at eta + t toward, of every row and model."""
    Y, flat = _flat(loss, y, eta)
    T = np.broadcast_to(toward, eta.shape).reshape(flat.shape)
    d1, d2 = loss.d1(Y, flat) * T, loss.row_hessian(Y, flat, np.ones(len(flat))).times(T) * T
    if flat.ndim == 2:
        d1, d2 = d1.sum(axis=1), d2.sum(axis=1)
    return d1.reshape(eta.shape[:2]), d2.reshape(eta.shape[:2])


def _flat(loss: Loss, y: Vector, eta: Vector) -> tuple[Vector, Vector]:
    """Rows and models in one axis, as losses take them."""
    if not loss.separable:
        raise ValueError(
            f"loss {loss.name or type(loss).__name__!r} couples rows, so that held-out rows have no loss each of their "
            "own: choose k by a criterion"
        )
    n, m, q = eta.shape
    return np.repeat(y, m, axis=0), eta.reshape(n * m, q) if y.ndim == 2 else eta.reshape(n * m)
