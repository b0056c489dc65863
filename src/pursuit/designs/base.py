"""The design protocol: two products, a gather, a cross product; everything else follows from them.

| symbol | here | shape |
|---|---|---|
| X | the design | n x p |
| X_S | a :class:`Block`: the few columns of a refit, gathered once | n x m |
| y, c, o | :class:`Rows`: targets, weights that sum to one, offset | n |

Vectors of length n stay with the design; k-sparse points go in, vectors of length p and m x m matrices come out.
"""

import weakref
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._utils.column_names import Names
from .._utils.types import Columns, Intercept, Matrix, Vector
from ..losses import Loss
from .blocks import Block, DenseBlock
from .rows import Compiled, Rows

OPERATOR_COLUMNS_AT_A_TIME = 16  # columns of one product with an operator
GRAM_COPY_BYTES = 1 << 25  # bytes of rows copied at a time for a Gram matrix
CHECKED_COLUMNS_AT_A_TIME = 256  # columns looked at together where something may be wrong with them
MIN_SQUARABLE = 1e-150  # numbers below which squares have no digits


T = TypeVar("T")


class CacheOwner:
    """Who keeps columns of a design: one at a time, since views and folds of it share what there is of room."""

    def __init__(self) -> None:
        self.now: Callable[[], object] | None = None  # a weak reference

    def __reduce__(self) -> tuple[object, ...]:
        return CacheOwner, ()

    def take_over(self, one: object) -> Any:
        """The object that cached columns before, if that is another one."""
        before, self.now = None if self.now is None else self.now(), weakref.ref(one)
        return None if before is one else before


class MemoryBudget(NamedTuple):
    """What may be cached of a design: so many columns, so many bytes of its Gram matrix (None: no limit)."""

    columns: float = np.inf
    gram: float | None = None
    owner: CacheOwner | None = None


class Design:
    """X, by its products. Subclasses give ``matmat``, ``rmatmat``, ``block``; the rest has a default."""

    shape: tuple[int, int]
    dtype: np.dtype
    nbytes: int
    full: bool = True  # whether gathered columns are always dense
    names: Names | None = None  # of the columns, where X is a data frame
    products_only: bool = False  # whether a column costs as much as a product with all of them
    room: MemoryBudget = MemoryBudget()

    def expect_many_passes(self) -> None:
        """Announce that many passes will follow the first one: a copy may pay."""

    def matmat(self, cols: Columns, coef: Matrix) -> Matrix:
        """X[:, cols] @ coef, coef of shape (m, q)."""
        raise NotImplementedError

    def rmatmat(self, d: Matrix) -> Matrix:
        """X.T @ d, d of shape (n, q): one pass over X."""
        raise NotImplementedError

    def block(self, cols: Columns) -> Block:
        """The columns, gathered."""
        raise NotImplementedError

    def narrow(self, cols: Columns, out: NDArray[np.floating]) -> None:
        """The columns into ``out``, row after row, in its precision."""
        for low in range(0, len(cols), OPERATOR_COLUMNS_AT_A_TIME):
            out[:, low : low + OPERATOR_COLUMNS_AT_A_TIME] = self.block(
                cols[low : low + OPERATOR_COLUMNS_AT_A_TIME]
            ).dense()

    def stored(self, cols: Columns) -> tuple[Matrix, Vector, Vector]:
        """The columns as they are stored, A, and m, s with (A - m) / s the columns of this design (s inf: zero)."""
        return self.block(cols).dense(), np.zeros(len(cols)), np.ones(len(cols))

    def largest(self, cols: Columns) -> Vector:
        """The largest absolute number of columns as they are stored."""
        chunks = [cols[low : low + CHECKED_COLUMNS_AT_A_TIME] for low in range(0, len(cols), CHECKED_COLUMNS_AT_A_TIME)]
        most = [np.abs(self.stored(some)[0]).max(axis=0, initial=0.0) for some in chunks]
        return np.concatenate([np.empty(0), *most])

    def cross(self, w: Matrix, shift: Vector | None = None) -> Matrix:
        """w.T @ (X - shift), w of shape (n, m): a block of Gram columns in one pass.

        ``shift``, one number per column of X, is taken off before X is multiplied, so that large means do not take
        the digits.
        """
        out = np.ascontiguousarray(self.rmatmat(np.ascontiguousarray(w)).T)
        return out if shift is None else out - np.outer(w.sum(axis=0), shift)

    def gram(self, c: Vector, shift: Vector) -> Matrix:
        """sum_i c_i (x_i - shift)(x_i - shift)', all columns; some rows at a time are copied."""
        n, p = self.shape
        out, everything, step = np.zeros((p, p)), np.arange(p), max(1, GRAM_COPY_BYTES // (8 * p))
        for low in range(0, n, step):
            rows = np.arange(low, min(n, low + step))
            A = self.take(rows).block(everything).dense()
            A -= shift
            out += DenseBlock(A).gram(c[rows])
        return out

    def scan(self, look: Callable[..., T], *args: object) -> T:
        """``look(design, *args)``, called once with this design while its rows are in memory."""
        return look(self, *args)

    def row_hashes(self) -> NDArray[np.uint64]:
        """A 64-bit hash of every row, see ``_core.Matrix.row_hashes``; by default a few gathered columns at a time."""
        n, p = self.shape
        total = np.zeros(n, np.uint64)
        for low in range(0, p, OPERATOR_COLUMNS_AT_A_TIME):
            cols = np.arange(low, min(p, low + OPERATOR_COLUMNS_AT_A_TIME))
            total += _core.Matrix(self.block(cols).dense()).row_hashes(low)
        return total

    def origin(self) -> Vector | None:
        """Numbers near the columns' means where these are far larger than their spread, else 0; None: none is."""
        return None

    def stats(self, c: Vector) -> tuple[Vector, Vector]:
        """Weighted column means and variances; by default a few gathered columns at a time."""
        p = self.shape[1]
        mean, var = np.empty(p), np.empty(p)
        for low in range(0, p, OPERATOR_COLUMNS_AT_A_TIME):
            cols = np.arange(low, min(p, low + OPERATOR_COLUMNS_AT_A_TIME))
            A = self.block(cols).dense()
            mean[cols] = c @ A
            var[cols] = c @ (A - mean[cols]) ** 2
        return mean, var

    def value_gradient(
        self, loss: Loss, rows: Rows, cols: Columns, coef: Vector, b: Intercept
    ) -> tuple[float, Vector, Intercept]:
        """Weighted mean loss at a k-sparse point, its gradient over all columns, its derivative in b."""
        eta = rows.shift(self.matmat(cols, coef[:, None])[:, 0], b)
        value, d1 = loss.first_order(rows.y, eta, rows.c)
        return value, self.rmatmat(d1[:, None])[:, 0], float(d1.sum())

    def take(self, rows: Columns) -> "Design":
        """The design of these rows; by default whole products, of which the rows are taken."""
        return Taken(self, rows)

    @property
    def sweeps(self) -> bool:
        """Whether ``sweep`` is there: whether rows can be read one by one."""
        return False

    @property
    def scale(self) -> float | Vector:
        """What a column of the user's X is multiplied with: one number, or one each (0: the column is constant)."""
        return 1.0

    def sweep(
        self, loss: Loss, rows: Rows, order: Columns, gain: Vector, cols: Columns, pairs: bool, damp: float,
        a: Vector, v: Vector,
    ) -> None:  # fmt: skip
        """Coordinate ascent on the dual over the samples ``order``, the support held; a and v are changed in place.

        See ``_core.Matrix.dual_sweep``. With ``pairs`` centring cancels, so that it is the user's X that is read.
        """
        raise NotImplementedError

    def in_units(self, cols: Columns, coef: Vector, b: Intercept) -> tuple[Vector, Intercept]:
        """Coefficients and intercept in the units of the user's X."""
        return coef, b

    def from_units(self, cols: Columns, coef: Vector, b: Intercept) -> tuple[Vector, Intercept]:
        """The reverse of ``in_units``."""
        return coef, b


class InMemory(Design, Compiled):
    """A design over arrays, which the kernels read by its ``core``."""

    core: _core.Matrix

    @property
    def core_rows(self) -> _core.Matrix:
        """The same, so that rows can be read one by one."""
        return self.core

    def matmat(self, cols: Columns, coef: Matrix) -> Matrix:
        return self.core.matmat(cols, coef)

    def rmatmat(self, d: Matrix) -> Matrix:
        return self.core.rmatmat(d)

    def cross(self, w: Matrix, shift: Vector | None = None) -> Matrix:
        return self.core.cross(w, shift)

    def stats(self, c: Vector) -> tuple[Vector, Vector]:
        return self.core.stats(c)

    def row_hashes(self) -> NDArray[np.uint64]:
        return self.core.row_hashes(0)

    @property
    def sweeps(self) -> bool:
        return True

    def sweep(
        self, loss: Loss, rows: Rows, order: Columns, gain: Vector, cols: Columns, pairs: bool, damp: float,
        a: Vector, v: Vector,
    ) -> None:  # fmt: skip
        self.core_rows.dual_sweep(rows.samples(loss), order, gain, cols, pairs, damp, a, v)

    def value_gradient(
        self, loss: Loss, rows: Rows, cols: Columns, coef: Vector, b: Intercept
    ) -> tuple[float, Vector, Intercept]:
        if loss.code is None:
            return super().value_gradient(loss, rows, cols, coef, b)
        return self.core.value_gradient(rows.samples(loss), cols, coef, float(b))


class Taken(Design):
    """Some rows of a design that has only whole products."""

    def __init__(self, base: Design, rows: Columns) -> None:
        self.base, self.rows = base, rows
        self.shape, self.dtype, self.nbytes = (len(rows), base.shape[1]), base.dtype, base.nbytes

    @property
    def products_only(self) -> bool:  # type: ignore[override]
        return self.base.products_only

    def matmat(self, cols: Columns, coef: Matrix) -> Matrix:
        return self.base.matmat(cols, coef)[self.rows]

    def rmatmat(self, d: Matrix) -> Matrix:
        whole = np.zeros((self.base.shape[0], d.shape[1]))
        np.add.at(whole, self.rows, d)
        return self.base.rmatmat(whole)

    def block(self, cols: Columns) -> DenseBlock:
        return DenseBlock(np.asfortranarray(self.base.block(cols).dense()[self.rows]))


def cross(design: Design, w: Matrix, cols: Columns | None = None) -> Matrix:
    """w.T @ X[:, cols] (cols: all): many columns by one pass over X, few by a gather."""
    if cols is None:
        return design.cross(w)
    if 4 * len(cols) > design.shape[1]:
        return design.cross(w)[:, cols]
    return _core.Matrix(design.block(cols).dense()).cross(w)
