from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from .. import _core
from .._lazy import lazy
from ..losses.base import Loss
from .base import (
    Block,
    Columns,
    DenseBlock,
    Design,
    Limits,
    Matrix,
    NewtonSystem,
    Quick,
    Rows,
    Vector,
    newton_by_parts,
)

DENSE_ABOVE = 0.2  # a gathered block at least this full is handled by BLAS


@dataclass(frozen=True)
class SparseBlock:
    """Gathered columns in CSC form."""

    n: int
    data: Vector
    indices: Columns
    indptr: Columns
    lean: ClassVar[bool] = False

    @property
    def width(self) -> int:
        return len(self.indptr) - 1

    def matvec(self, v: Vector) -> Vector:
        every = np.arange(self.width)
        return _core.sparse_matmat(self.data, self.indices, self.indptr, self.n, self.width, False, every, v[:, None])[
            :, 0
        ]

    def rmatvec(self, d: Vector) -> Vector:
        return _core.sparse_rmatmat(self.data, self.indices, self.indptr, self.width, False, d[:, None])[:, 0]

    def gram(self, w: Vector) -> Matrix:
        return _core.csc_gram(self.data, self.indices, self.indptr, self.n, w)

    def curvatures(self, w: Vector, centred: bool) -> Vector:
        total, second = float(w.sum()), replace(self, data=self.data**2).rmatvec(w)
        return np.maximum(0.0, second - self.rmatvec(w) ** 2 / total) if centred and total > 0 else second

    def dense(self) -> Matrix:
        every = np.arange(self.width)
        return _core.sparse_gather(self.data, self.indices, self.indptr, self.n, self.width, False, every)

    def newton(self, loss: Loss, rows: Rows, coef: Vector, b: float, hessian: bool) -> NewtonSystem:
        if loss.code is None:
            return newton_by_parts(self, loss, rows, coef, b, hessian)
        return _core.csc_newton(
            self.data, self.indices, self.indptr,
            rows.y, rows.c, rows.offset, loss.code, loss.param, coef, float(b), hessian,
        )  # fmt: skip

    def fit(self, loss: Loss, rows: Rows, l2: Vector, intercept: bool, z: Vector, limits: Limits) -> Quick | None:
        if loss.code is None:
            return None
        return _core.csc_fit(
            self.data, self.indices, self.indptr,
            rows.y, rows.c, rows.offset, loss.code, loss.param, l2, intercept, z, *limits,
        )  # fmt: skip


class Sparse(Design):
    """A SciPy CSR or CSC matrix, float32 or float64, 32- or 64-bit indices; never densified, never copied."""

    full = False

    def __init__(self, X: Any) -> None:
        self.X = X
        self.shape = (int(X.shape[0]), int(X.shape[1]))
        self.dtype = X.dtype
        self.rows = X.format == "csr"
        self.parts = (X.data, X.indices, X.indptr)
        self.nbytes = sum(part.nbytes for part in self.parts)

    def matmat(self, cols: Columns, coef: Matrix) -> Matrix:
        return _core.sparse_matmat(*self.parts, *self.shape, self.rows, cols, coef)

    def rmatmat(self, d: Matrix) -> Matrix:
        return _core.sparse_rmatmat(*self.parts, self.shape[1], self.rows, d)

    def block(self, cols: Columns) -> Block:
        n, p = self.shape
        data, indices, indptr = _core.sparse_gather_csc(*self.parts, n, p, self.rows, cols)
        block = SparseBlock(n, data, indices, indptr)
        return DenseBlock(block.dense()) if len(data) > DENSE_ABOVE * n * max(1, len(cols)) else block

    def cross(self, w: Matrix, shift: Vector | None = None) -> Matrix:
        out = _core.sparse_cross(w, *self.parts, self.shape[1], self.rows)
        return out if shift is None else out - np.outer(w.sum(axis=0), shift)

    def stats(self, c: Vector) -> tuple[Vector, Vector]:
        return _core.sparse_stats(*self.parts, *self.shape, self.rows, c)

    def take(self, rows: Columns) -> "Sparse":
        return Sparse(self.X[rows])

    @property
    def sweeps(self) -> bool:
        return True

    @lazy
    def _by_rows(self) -> tuple[Any, Any, Any]:
        """The data, indices and indptr of CSR; of a CSC matrix, a copy."""
        X = self.X if self.rows else self.X.tocsr()
        return X.data, X.indices, X.indptr

    def sweep(
        self, loss: Loss, rows: Rows, order: Columns, gain: Vector, cols: Columns, pairs: bool, damp: float,
        a: Vector, v: Vector,
    ) -> None:  # fmt: skip
        assert loss.code is not None
        _core.csr_dual_sweep(
            *self._by_rows, self.shape[1], rows.y, rows.c, rows.offset, loss.code, loss.param,
            order, gain, cols, pairs, damp, a, v,
        )  # fmt: skip

    def value_gradient(
        self, loss: Loss, rows: Rows, cols: Columns, coef: Vector, b: float
    ) -> tuple[float, Vector, float]:
        if loss.code is None:
            return super().value_gradient(loss, rows, cols, coef, b)
        return _core.sparse_value_gradient(
            *self.parts, self.shape[1], self.rows,
            rows.y, rows.c, rows.offset, loss.code, loss.param, cols, coef, float(b),
        )  # fmt: skip
