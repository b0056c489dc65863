from typing import Any

import numpy as np

from .base import CHUNK, Columns, DenseBlock, Design, Matrix


class Operator(Design):
    """A SciPy LinearOperator: only its products are used, it is never materialised."""

    gathers = False

    def __init__(self, op: Any) -> None:
        self.op = op
        self.shape = (int(op.shape[0]), int(op.shape[1]))
        self.dtype = np.dtype(np.float64)
        self.nbytes = 8 * sum(self.shape)

    def matmat(self, cols: Columns, coef: Matrix) -> Matrix:
        x = np.zeros((self.shape[1], coef.shape[1]))
        x[cols] = coef
        return np.asarray(self.op.matmat(x), dtype=np.float64)

    def rmatmat(self, d: Matrix) -> Matrix:
        return np.ascontiguousarray(self.op.rmatmat(d), dtype=np.float64)

    def block(self, cols: Columns) -> DenseBlock:
        A = np.empty((self.shape[0], len(cols)), order="F")
        for low in range(0, len(cols), CHUNK):
            chunk = cols[low : low + CHUNK]
            A[:, low : low + CHUNK] = self.matmat(chunk, np.eye(len(chunk)))
        return DenseBlock(A)
