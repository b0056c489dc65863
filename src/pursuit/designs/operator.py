from collections.abc import Callable

import numpy as np
from scipy.sparse.linalg import LinearOperator

from .._utils.types import Array, Columns, Matrix
from ..engines import check_time
from .base import OPERATOR_COLUMNS_AT_A_TIME, Design
from .blocks import DenseBlock


class Operator(Design):
    """A SciPy LinearOperator: only its products are used, it is never materialised.

    Products with several vectors are products with one vector of shape (p,) at a time, unless the operator defines its
    own: SciPy's default calls ``matvec`` with shape (p, 1), for which functions such as an FFT give wrong numbers.
    """

    products_only = True

    def __init__(self, op: LinearOperator) -> None:
        self.op = op
        self.shape = (int(op.shape[0]), int(op.shape[1]))
        self.dtype = np.dtype(np.float64)
        self.nbytes = 8 * sum(self.shape)
        self.batches, self.adjoint_batches = _defines(op, "matmat"), _defines(op, "rmatmat")

    def matmat(self, cols: Columns, coef: Matrix) -> Matrix:
        x = np.zeros((self.shape[1], coef.shape[1]))
        x[cols] = coef
        if self.batches and coef.shape[1] > 1:
            return np.asarray(self.op.matmat(x), dtype=np.float64)
        return _each(self.op.matvec, x, self.shape[0])

    def rmatmat(self, d: Matrix) -> Matrix:
        if self.adjoint_batches and d.shape[1] > 1:
            return np.ascontiguousarray(self.op.rmatmat(d), dtype=np.float64)
        return _each(self.op.rmatvec, d, self.shape[1])

    def block(self, cols: Columns) -> DenseBlock:
        A = np.empty((self.shape[0], len(cols)), order="F")
        for low in range(0, len(cols), OPERATOR_COLUMNS_AT_A_TIME):
            check_time()
            chunk = cols[low : low + OPERATOR_COLUMNS_AT_A_TIME]
            A[:, low : low + OPERATOR_COLUMNS_AT_A_TIME] = self.matmat(chunk, np.eye(len(chunk)))
        return DenseBlock(A)


def _each(product: Callable[[Array], Array], V: Matrix, length: int) -> Matrix:
    """A product with every column of V, one vector at a time."""
    out = np.empty((length, V.shape[1]))
    for j in range(V.shape[1]):
        out[:, j] = np.asarray(product(np.ascontiguousarray(V[:, j]))).ravel()
    return out


def _defines(op: LinearOperator, name: str) -> bool:
    """Whether an operator has its own product with several vectors, not SciPy's loop."""
    if hasattr(op, f"_CustomLinearOperator__{name}_impl"):
        return getattr(op, f"_CustomLinearOperator__{name}_impl") is not None
    return getattr(type(op), f"_{name}", None) is not getattr(LinearOperator, f"_{name}", None)
