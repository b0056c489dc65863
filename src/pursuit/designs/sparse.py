from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from .. import _core
from .._utils.lazy import lazy
from .._utils.types import Array, Columns, Matrix, Vector
from .base import InMemory
from .blocks import Block, DenseBlock, StoredBlock

MIN_DENSE_SHARE = 0.2  # a gathered block at least this full is handled by BLAS
MAX_DENSE_ENTRIES = 5e6  # if it has no more numbers than that
MAX_CSC_COPY_BYTES = 1 << 26  # bytes of a CSR matrix up to which a CSC copy is kept where it serves better


@dataclass(frozen=True)
class SparseBlock(StoredBlock):
    """Gathered columns: row by row (``rows``: CSR) where X is, else CSC."""

    n: int
    width: int
    data: Vector
    indices: Array
    indptr: Array
    rows: bool

    @lazy
    def core(self) -> _core.Matrix:
        return _core.Matrix(self.data, self.indices, self.indptr, self.n, self.width, self.rows)

    def matvec(self, v: Vector) -> Vector:
        return self.core.matmat(np.arange(self.width), v[:, None])[:, 0]

    def rmatvec(self, d: Vector) -> Vector:
        return self.core.rmatmat(d[:, None])[:, 0]

    def hessian_product(self, w: Vector, v: Vector, a: float) -> tuple[Vector, float]:
        return self.core.turn(w, v, a)

    def curvatures(self, w: Vector, centred: bool) -> Vector:
        total, second = float(w.sum()), replace(self, data=self.data**2).rmatvec(w)
        return np.maximum(0.0, second - self.rmatvec(w) ** 2 / total) if centred and total > 0 else second

    def between(self, w: Vector, other: "SparseBlock") -> Matrix:
        """A' diag(w) C for the columns C of another block."""
        return self.core.between(w, other.core)

    def dense(self) -> Matrix:
        return self.core.gather(np.arange(self.width))


class Sparse(InMemory):
    """A SciPy CSR or CSC matrix, float32 or float64, 32- or 64-bit indices; never densified.

    Of a small CSR matrix with more columns than rows that is read ``often`` a CSC copy is kept: it gathers columns
    without reading the others, and a gradient by dot products with a vector over the rows, which is the shorter one.
    """

    full = False
    copied_to_csc = False  # whether X is read by a CSC copy

    def __init__(self, X: csr_array) -> None:
        self.X = X
        self.shape = (int(X.shape[0]), int(X.shape[1]))
        self.dtype = X.dtype
        self.nbytes = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes

    @lazy
    def core(self) -> _core.Matrix:
        return _compiled(self.X.tocsc() if self.copied_to_csc else self.X)

    @lazy
    def core_rows(self) -> _core.Matrix:
        """Of a CSC matrix, a copy."""
        return _compiled(self.X.tocsr())

    def expect_many_passes(self) -> None:
        n, p = self.shape
        self.copied_to_csc = self.X.format == "csr" and p > n and self.nbytes <= MAX_CSC_COPY_BYTES

    def block(self, cols: Columns) -> Block:
        rows, size = self.X.format == "csr" and not self.copied_to_csc, self.shape[0] * max(1, len(cols))
        data, indices, indptr = self.core.gather_rows(cols) if rows else self.core.gather_csc(cols)
        block = SparseBlock(self.shape[0], len(cols), data, indices, indptr, rows)
        return DenseBlock(block.dense()) if len(data) > MIN_DENSE_SHARE * size and size <= MAX_DENSE_ENTRIES else block

    def largest(self, cols: Columns) -> Vector:
        data, _, indptr = self.core.gather_csc(cols)
        most = np.zeros(len(cols))
        np.maximum.at(most, np.repeat(np.arange(len(cols)), np.diff(indptr)), np.abs(data))
        return most

    def take(self, rows: Columns) -> "Sparse":
        return Sparse(self.X[rows])


def _compiled(X: csr_array) -> _core.Matrix:
    n, p = X.shape
    return _core.Matrix(X.data, X.indices, X.indptr, n, p, X.format == "csr")
