from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..losses.base import Loss
from .base import Columns, DenseBlock, Design, Matrix, Rows, Vector

LOOKED_AT = 16  # rows that tell whether a column is far from zero
FAR = 300.0  # times their spread that their middle must be away from it


class Dense(Design):
    """A NumPy array, C- or F-like, float32 or float64; never copied."""

    def __init__(self, X: np.ndarray[Any, Any]) -> None:
        self.X = X
        self.shape = (X.shape[0], X.shape[1])
        self.dtype = X.dtype
        self.nbytes = X.nbytes

    def matmat(self, cols: Columns, coef: Matrix) -> Matrix:
        return _core.dense_matmat(self.X, cols, coef)

    def rmatmat(self, d: Matrix) -> Matrix:
        return _core.dense_rmatmat(self.X, d)

    def block(self, cols: Columns) -> DenseBlock:
        return DenseBlock(_core.dense_gather(self.X, cols))

    def narrow(self, cols: Columns, out: NDArray[np.floating]) -> None:
        if out.dtype == np.float32:
            _core.dense_narrow(self.X, cols, out)
        else:
            super().narrow(cols, out)

    def cross(self, w: Matrix, shift: Vector | None = None) -> Matrix:
        return _core.dense_cross(w, self.X, shift)

    def origin(self) -> Vector | None:
        """Told from a few rows: their middle, where it is far larger than they differ."""
        few = np.linspace(0, self.shape[0] - 1, min(self.shape[0], LOOKED_AT)).astype(np.int64)
        rows = self.X[few]
        with np.errstate(all="ignore"):
            low, high = rows.min(axis=0).astype(np.float64), rows.max(axis=0).astype(np.float64)
            middle, spread = 0.5 * (low + high), high - low
            far = (np.abs(middle) > FAR * spread) & (spread > 0)  # a constant column has nothing to lose
        return np.where(far & np.isfinite(middle), middle, 0.0) if far.any() else None

    def rough_cross(self, w: Matrix, c: Vector) -> tuple[NDArray[np.float32], Vector, Vector] | None:
        return _core.dense_rough_cross(w, c, self.X)

    def stats(self, c: Vector) -> tuple[Vector, Vector]:
        return _core.dense_stats(self.X, c)

    def take(self, rows: Columns) -> "Dense":
        return Dense(self.X[rows])

    @property
    def sweeps(self) -> bool:
        return True

    def sweep(
        self, loss: Loss, rows: Rows, order: Columns, gain: Vector, cols: Columns, pairs: bool, damp: float,
        a: Vector, v: Vector,
    ) -> None:  # fmt: skip
        assert loss.code is not None
        _core.dense_dual_sweep(
            self.X, rows.y, rows.c, rows.offset, loss.code, loss.param, order, gain, cols, pairs, damp, a, v
        )

    def value_gradient(
        self, loss: Loss, rows: Rows, cols: Columns, coef: Vector, b: float
    ) -> tuple[float, Vector, float]:
        if loss.code is None:
            return super().value_gradient(loss, rows, cols, coef, b)
        return _core.dense_value_gradient(
            self.X, rows.y, rows.c, rows.offset, loss.code, loss.param, cols, coef, float(b)
        )
