import numpy as np
from scipy.sparse.linalg import LinearOperator

from .._utils.types import Columns, Matrix
from ..engines import check_time
from .base import OPERATOR_COLUMNS_AT_A_TIME, DenseBlock, Design


class Operator(Design):
    """A SciPy LinearOperator: only its products are used, it is never materialised."""

    products_only = True

    def __init__(self, op: LinearOperator) -> None:
        self.op = op
        self.shape = (int(op.shape[0]), int(op.shape[1]))
        self.dtype = np.dtype(np.float64)
        self.nbytes = 8 * sum(self.shape)

    def matmat(self, cols: Columns, coef: Matrix) -> Matrix:
        x = np.zeros((self.shape[1], coef.shape[1]))
        x[cols] = coef
        if coef.shape[1] == 1:
            return np.asarray(self.op.matvec(x[:, 0]), dtype=np.float64)[:, None]
        return np.asarray(self.op.matmat(x), dtype=np.float64)

    def rmatmat(self, d: Matrix) -> Matrix:
        if d.shape[1] == 1:
            return np.asarray(self.op.rmatvec(d[:, 0]), dtype=np.float64)[:, None]
        return np.ascontiguousarray(self.op.rmatmat(d), dtype=np.float64)

    def block(self, cols: Columns) -> DenseBlock:
        A = np.empty((self.shape[0], len(cols)), order="F")
        for low in range(0, len(cols), OPERATOR_COLUMNS_AT_A_TIME):
            check_time()
            chunk = cols[low : low + OPERATOR_COLUMNS_AT_A_TIME]
            A[:, low : low + OPERATOR_COLUMNS_AT_A_TIME] = self.matmat(chunk, np.eye(len(chunk)))
        return DenseBlock(A)
