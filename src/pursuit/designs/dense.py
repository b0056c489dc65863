import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._utils.lazy import lazy
from .._utils.types import Array, Columns, Vector
from .base import InMemory
from .blocks import DenseBlock

SAMPLED_ROWS = 16  # rows that tell whether a column is far from zero
MIN_MEAN_TO_SPREAD = 300.0  # times their spread that their middle must be away from it


class Dense(InMemory):
    """A NumPy array, C- or F-like, float32 or float64; never copied."""

    def __init__(self, X: Array) -> None:
        self.X = X
        self.shape = (X.shape[0], X.shape[1])
        self.dtype = X.dtype
        self.nbytes = X.nbytes

    @lazy
    def core(self) -> _core.Matrix:
        return _core.Matrix(self.X)

    def block(self, cols: Columns) -> DenseBlock:
        return DenseBlock(self.core.gather(cols))

    def narrow(self, cols: Columns, out: NDArray[np.floating]) -> None:
        if out.dtype == np.float32:
            self.core.narrow(cols, out)
        else:
            super().narrow(cols, out)

    def origin(self) -> Vector | None:
        """From a few rows: their middle, where it is far larger than they differ."""
        return _core.far_origin(self.core, SAMPLED_ROWS, MIN_MEAN_TO_SPREAD)

    def take(self, rows: Columns) -> "Dense":
        return Dense(self.X[rows])
