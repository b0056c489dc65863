"""The design protocol: two products, a gather, a cross product; everything else follows from them.

| symbol | here | shape |
|---|---|---|
| X | the design | n x p |
| X_S | a :class:`Block`: the few columns of a refit, gathered once | n x m |
| y, c, o | :class:`Rows`: targets, weights that sum to one, offset | n |

Vectors of length n stay with the design; k-sparse points go in, vectors of length p and m x m matrices come out.
"""

import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._utils.arrays import ensure_aligned
from .._utils.column_names import Names
from .._utils.lazy import lazy
from .._utils.types import Columns, Intercept, Matrix, Vector
from ..losses import DiagonalHessian, Loss

OPERATOR_COLUMNS_AT_A_TIME = 16  # columns of one product with an operator
GRAM_COPY_BYTES = 1 << 25  # bytes of rows copied at a time for a Gram matrix
CHECKED_COLUMNS_AT_A_TIME = 256  # columns looked at together where something may be wrong with them
MIN_VARIATION_SHARE = 1e-14  # share of its size by which a column must vary, or that is rounding
MIN_SQUARABLE = 1e-150  # numbers below which squares have no digits


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


class Compiled:
    """Keeps what the kernels make of its arrays in attributes named ``core...``; copies and pickles make it anew."""

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if not name.startswith("core")}

    def __setstate__(self, state: dict[str, object]) -> None:
        """Workers receive these: inside a message an array may begin anywhere."""
        self.__dict__.update({name: ensure_aligned(value) for name, value in state.items()})


@dataclass(frozen=True)
class Rows(Compiled):
    """What belongs to the rows of X: targets, weights that sum to one, an offset or None."""

    travels: ClassVar[bool] = True  # where rows must be in one place

    y: Vector
    c: Vector
    offset: Vector | None = None

    @lazy
    def core(self) -> dict[tuple[int, float], _core.Samples]:
        return {}

    def samples(self, loss: Loss) -> _core.Samples:
        """The same with a compiled loss, for the kernels."""
        assert loss.code is not None
        key = loss.code, loss.param
        if key not in self.core:
            self.core[key] = _core.Samples(self.y, self.c, self.offset, *key)
        return self.core[key]

    def forget(self) -> None:
        """Let go of what can be computed again."""

    def weighted(self, c: Vector | Callable[[], Vector]) -> "Rows":
        """The same rows with other weights: an array, or a function that computes it when it is needed."""
        return LazyRows.of(self, c) if callable(c) else Rows(self.y, c, self.offset)

    def shift(self, eta: Vector, b: Intercept) -> Vector:
        """Eta with intercept and offset."""
        return eta + b if self.offset is None else eta + b + self.offset


class LazyRows(Rows):
    """Rows whose weights are computed when they are needed, and after ``forget`` again: ten folds keep none."""

    make: Callable[[], Vector] | None = None  # None: weights are its own, as in a copy with another offset

    @classmethod
    def of(cls, rows: Rows, make: Callable[[], Vector]) -> "LazyRows":
        lazy_rows = cls.__new__(cls)
        lazy_rows.__dict__.update(y=rows.y, offset=rows.offset, make=make)
        return lazy_rows

    @lazy
    def c(self) -> Vector:
        assert self.make is not None
        return self.make()

    def forget(self) -> None:
        for name in ("c", "core") if self.make is not None else ():
            self.__dict__.pop(name, None)


def joined(rows: Sequence[Rows]) -> Rows:
    """Rows after rows."""
    offsets = [np.zeros_like(some.y) if some.offset is None else some.offset for some in rows]
    offset = None if all(some.offset is None for some in rows) else np.concatenate(offsets)
    return Rows(np.concatenate([some.y for some in rows]), np.concatenate([some.c for some in rows]), offset)


class Block(Protocol):
    """A few columns, in float64: gathered, or where they are ``products_only`` by products with the design only."""

    @property
    def width(self) -> int: ...
    @property
    def products_only(self) -> bool: ...
    def matvec(self, v: Vector) -> Vector: ...
    def rmatvec(self, d: Vector) -> Vector: ...
    def gram(self, w: Vector) -> Matrix: ...
    def hessian_product(self, w: Vector, v: Vector, a: float) -> tuple[Vector, float]:
        """A' d and the sum of d = w (A v + a): a product with a Hessian."""

    def curvatures(self, w: Vector, centred: bool) -> Vector:
        """Weighted sums of squares of the columns, of their deviations from the weighted mean if ``centred``."""

    def dense(self) -> Matrix: ...
    def newton(self, loss: Loss, rows: Rows, coef: Vector, b: float, hessian: bool) -> "NewtonSystem":
        """Value, gradient (columns, then b) and Hessian of the weighted mean loss on these columns."""

    def fit(self, loss: Loss, rows: Rows, l2: Vector, intercept: bool, z: Vector, limits: "Limits") -> "Quick | None":
        """A whole refit by the kernel from z = (v, b), as far as it goes; None where there is no such kernel."""


NewtonSystem = tuple[float, Vector, Matrix | None]
Limits = tuple[float, float, float, float, float]  # floor, lower, converged, singular, seconds of ``_core.Matrix.fit``
Quick = tuple[Vector, float, bool]  # z, value, whether it is the minimiser


def hessian_product(block: Block, w: Vector, v: Vector, a: float) -> tuple[Vector, float]:
    """The same from the block's two products."""
    d = w * (block.matvec(v) + a)
    return block.rmatvec(d), float(d.sum())


def newton_by_parts(block: Block, loss: Loss, rows: Rows, coef: Vector, b: float, hessian: bool) -> NewtonSystem:
    """The Newton system from a loss without a kernel: NumPy derivatives, the block's own products."""
    eta = rows.shift(block.matvec(coef), b)
    value, d1 = loss.first_order(rows.y, eta, rows.c)
    gradient = np.append(block.rmatvec(d1), d1.sum())
    if not hessian:
        return value, gradient, None
    m, W = block.width, loss.row_hessian(rows.y, eta, rows.c)
    H = np.empty((m + 1, m + 1))
    if isinstance(W, DiagonalHessian):
        H[:m, :m], edge = block.gram(W.w), W.w
    else:
        A, edge = block.dense(), W.times(np.ones(len(eta)))
        H[:m, :m] = A.T @ W.times(A)
    H[m, :m] = H[:m, m] = block.rmatvec(edge)
    H[m, m] = edge.sum()
    return value, gradient, H


class StoredBlock(Compiled):
    """Gathered columns, which the kernels read by their ``core``."""

    core: _core.Matrix
    products_only: ClassVar[bool] = False

    def gram(self, w: Vector) -> Matrix:
        return self.core.gram(w)

    def hessian_product(self, w: Vector, v: Vector, a: float) -> tuple[Vector, float]:
        return hessian_product(self, w, v, a)  # type: ignore[arg-type]

    def newton(self, loss: Loss, rows: Rows, coef: Vector, b: float, hessian: bool) -> NewtonSystem:
        if loss.code is None:
            return newton_by_parts(self, loss, rows, coef, b, hessian)  # type: ignore[arg-type]
        return self.core.newton(rows.samples(loss), coef, float(b), hessian)

    def fit(self, loss: Loss, rows: Rows, l2: Vector, intercept: bool, z: Vector, limits: Limits) -> Quick | None:
        return None if loss.code is None else self.core.fit(rows.samples(loss), l2, intercept, z, *limits)


@dataclass(frozen=True)
class DenseBlock(StoredBlock):
    """Gathered columns as an F-order array."""

    A: Matrix

    @lazy
    def core(self) -> _core.Matrix:
        return _core.Matrix(self.A)

    @property
    def width(self) -> int:
        return self.A.shape[1]

    def matvec(self, v: Vector) -> Vector:
        return self.A @ v

    def rmatvec(self, d: Vector) -> Vector:
        return self.A.T @ d

    def curvatures(self, w: Vector, centred: bool) -> Vector:
        total = float(w.sum())
        A = self.A - w @ self.A / total if centred and total > 0 else self.A
        return np.asarray(np.einsum("i,ij,ij->j", w, A, A))

    def dense(self) -> Matrix:
        return self.A


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


@dataclass(frozen=True)
class ProductBlock:
    """Columns that stay where they are: one product with the design for each with them; what needs numbers gathers."""

    design: Design
    cols: Columns
    products_only: ClassVar[bool] = True

    @property
    def width(self) -> int:
        return len(self.cols)

    def matvec(self, v: Vector) -> Vector:
        return self.design.matmat(self.cols, v[:, None])[:, 0]

    def rmatvec(self, d: Vector) -> Vector:
        return self.weighted_transpose(d)[self.cols]

    def weighted_transpose(self, d: Vector) -> Vector:
        """The product with all columns, which costs the same."""
        return self.design.rmatmat(d[:, None])[:, 0]

    def hessian_product(self, w: Vector, v: Vector, a: float) -> tuple[Vector, float]:
        return hessian_product(self, w, v, a)

    def gram(self, w: Vector) -> Matrix:
        return self.design.block(self.cols).gram(w)

    def curvatures(self, w: Vector, centred: bool) -> Vector:
        return self.design.block(self.cols).curvatures(w, centred)

    def dense(self) -> Matrix:
        return self.design.block(self.cols).dense()

    def newton(self, loss: Loss, rows: Rows, coef: Vector, b: float, hessian: bool) -> NewtonSystem:
        return newton_by_parts(self, loss, rows, coef, b, hessian)

    def fit(self, loss: Loss, rows: Rows, l2: Vector, intercept: bool, z: Vector, limits: Limits) -> Quick | None:
        return None


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


def centre(A: Matrix, w: Vector) -> Vector:
    """Take their weighted means off columns, in place; returns the means. Constant columns become exactly zero.

    Twice, since the first mean is rounded at its own size.
    """
    total, size = max(float(w.sum()), 1e-300), np.abs(A).max(axis=0, initial=0.0)
    mean = w @ A / total
    A -= mean
    rest = w @ A / total
    A -= rest
    A[:, np.abs(A).max(axis=0, initial=0.0) <= MIN_VARIATION_SHARE * size] = 0.0
    return np.asarray(mean + rest)


def cross(design: Design, w: Matrix, cols: Columns | None = None) -> Matrix:
    """w.T @ X[:, cols] (cols: all): many columns by one pass over X, few by a gather."""
    if cols is None:
        return design.cross(w)
    if 4 * len(cols) > design.shape[1]:
        return design.cross(w)[:, cols]
    return _core.Matrix(design.block(cols).dense()).cross(w)
