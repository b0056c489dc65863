from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._utils.lazy import lazy
from .._utils.types import Columns, Vector
from .base import DenseBlock, InMemory

SAMPLED = 16  # rows that tell whether a column is far from zero
FAR_OFF = 300.0  # times their spread that their middle must be away from it


class Dense(InMemory):
    """A NumPy array, C- or F-like, float32 or float64; never copied."""

    def __init__(self, X: np.ndarray[Any, Any]) -> None:
        self.X = X
        self.shape = (X.shape[0], X.shape[1])
        self.dtype = X.dtype
        self.nbytes = X.nbytes

    @lazy
    def core(self) -> _core.Matrix:  # type: ignore[override]
        return _core.Matrix(self.X)

    def block(self, cols: Columns) -> DenseBlock:
        return DenseBlock(self.core.gather(cols))

    def narrow(self, cols: Columns, out: NDArray[np.floating]) -> None:
        if out.dtype == np.float32:
            self.core.narrow(cols, out)
        else:
            super().narrow(cols, out)

    def origin(self) -> Vector | None:
        """Told from a few rows: their middle, where it is far larger than they differ."""
        last, count = self.shape[0] - 1, min(self.shape[0], SAMPLED)
        few = (np.arange(count) * (last / max(count - 1, 1))).astype(np.int64)
        few[-1] = last
        rows = self.X[few]
        with np.errstate(all="ignore"):
            low, high = np.minimum.reduce(rows).astype(np.float64), np.maximum.reduce(rows).astype(np.float64)
            middle, spread = 0.5 * (low + high), high - low
            far = (np.abs(middle) > FAR_OFF * spread) & (spread > 0)  # a constant column has nothing to lose
            return np.where(far & np.isfinite(middle), middle, 0.0) if far.any() else None

    def take(self, rows: Columns) -> "Dense":
        return Dense(self.X[rows])
