"""A complex n x p matrix or operator as a real 2n x 2p design.

Row i becomes rows i (real part) and n + i (imaginary part); column j becomes columns 2j and 2j + 1, the real and the
imaginary part of its coefficient. Products with A and its adjoint are all that is used; A is never expanded. All rows
are multiplied by sqrt(2), so that the mean of squares over 2n real rows is that of the n squared moduli.
"""

from collections.abc import Callable

import numpy as np
from scipy.sparse.linalg import LinearOperator

from .._utils.types import Array, Columns, Matrix
from ..engines import check_time
from .base import Design
from .blocks import DenseBlock

ROW_SCALE = np.sqrt(2.0)


class Complexified(Design):
    """The real view of a complex array or linear operator."""

    def __init__(self, A: Array | LinearOperator) -> None:
        self.A = A
        self.products_only = not isinstance(A, np.ndarray)
        self.shape = (2 * int(A.shape[0]), 2 * int(A.shape[1]))
        self.dtype = np.dtype(np.float64)
        self.nbytes = getattr(A, "nbytes", 0) or 16 * sum(self.shape)

    def matmat(self, cols: Columns, coef: Matrix) -> Matrix:
        z = np.zeros((self.shape[1], coef.shape[1]))
        z[cols] = coef
        return _stack(self._forward(z[0::2] + 1j * z[1::2]))

    def real_rows(self, y: Array) -> Matrix:
        """Complex numbers, one or several per row of A, as targets of the real rows."""
        return _stack(np.asarray(y, dtype=complex))

    def rmatmat(self, d: Matrix) -> Matrix:
        n = self.shape[0] // 2
        back = ROW_SCALE * self._adjoint(d[:n] + 1j * d[n:])
        out = np.empty((self.shape[1], d.shape[1]))
        out[0::2], out[1::2] = back.real, back.imag
        return out

    def block(self, cols: Columns) -> DenseBlock:
        features = np.unique(cols // 2)
        columns = self._columns(features)
        place = np.searchsorted(features, cols // 2)
        rotated = columns[:, place] * np.where(cols % 2, 1j, 1.0)
        return DenseBlock(np.asfortranarray(_stack(rotated)))

    def _forward(self, X: Array) -> Array:
        return self.A @ X if isinstance(self.A, np.ndarray) else _each(self.A.matvec, X)

    def _adjoint(self, D: Array) -> Array:
        return self.A.conj().T @ D if isinstance(self.A, np.ndarray) else _each(self.A.rmatvec, D)

    def _columns(self, features: Columns) -> Array:
        if isinstance(self.A, np.ndarray):
            return self.A[:, features]
        out = np.empty((self.shape[0] // 2, len(features)), dtype=complex)
        for i, j in enumerate(features):
            check_time()
            unit = np.zeros(self.shape[1] // 2, dtype=complex)
            unit[j] = 1.0
            out[:, i] = self.A.matvec(unit)
        return out


def _each(product: Callable[[Array], Array], V: Array) -> Array:
    """A product with vectors, column by column: all that an operator must offer."""
    return np.column_stack([np.asarray(product(v)).ravel() for v in V.T]) if V.shape[1] else np.empty((0, 0))


def _stack(Z: Array) -> Matrix:
    return ROW_SCALE * np.concatenate([Z.real, Z.imag]).astype(np.float64, copy=False)
