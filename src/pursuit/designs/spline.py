"""Spline columns of a design, computed when they are needed."""

from typing import Any

import numpy as np

from .._utils.column_names import Names
from .._utils.types import Columns, Matrix
from ..effects import AdditiveBasis
from ..engines import check_time
from .base import CacheOwner, Design, MemoryBudget
from .blocks import DenseBlock
from .make import as_design
from .paged import Paged, Place

MAX_STORED_ENTRIES = 1 << 24  # of the spline columns (128 MB): beyond it they are computed when they are needed
GATHERED_ENTRIES = 1 << 24  # of columns that are kept at a time: 128 MB
GRAM_BYTES = 1 << 28  # of Gram columns


class Spline(Design):
    """The columns of an :class:`AdditiveBasis` on the rows of a design: products evaluate them feature by feature.

    Beside the design itself a product holds the columns of one feature. A Gram matrix holds some rows of all columns
    (``Design.gram``), a refit those that it needs.
    """

    def __init__(self, base: Design, basis: AdditiveBasis, names: Names | None = None) -> None:
        self.base, self.basis, self.names = base, basis, names
        self.shape = base.shape[0], basis.width
        self.dtype, self.nbytes = np.dtype(np.float64), base.nbytes
        self.room = MemoryBudget(max(1, GATHERED_ENTRIES // max(base.shape[0], 1)), GRAM_BYTES, CacheOwner())

    def _features(self, cols: Columns) -> Any:
        """For every feature that these columns belong to: their places in ``cols``, and their numbers."""
        owner = self.basis.feature_of[cols]
        order = np.argsort(owner, kind="stable")
        for places in np.split(order, np.flatnonzero(np.diff(owner[order])) + 1) if len(cols) else []:
            check_time()
            j = int(owner[places[0]])
            columns = self.basis.columns[j].evaluate(read_feature(self.base, j))
            yield places, columns[:, cols[places] - self.basis.starts[j]]

    def matmat(self, cols: Columns, coef: Matrix) -> Matrix:
        out = np.zeros((self.shape[0], coef.shape[1]))
        for places, columns in self._features(np.asarray(cols)):
            out += columns @ coef[places]
        return out

    def rmatmat(self, d: Matrix) -> Matrix:
        out = np.empty((self.shape[1], d.shape[1]))
        for places, columns in self._features(np.arange(self.shape[1])):
            out[places] = columns.T @ d
        return out

    def block(self, cols: Columns) -> DenseBlock:
        A = np.empty((self.shape[0], len(cols)), order="F")
        for places, columns in self._features(np.asarray(cols)):
            A[:, places] = columns
        return DenseBlock(A)

    def take(self, rows: Columns) -> "Spline":
        return Spline(self.base.take(rows), self.basis, self.names)


def read_feature(design: Design, j: int) -> Matrix:
    """The values of a feature, in double precision."""
    return design.block(np.array([j])).dense()[:, 0].astype(np.float64, copy=False)


class SplinePlace:
    """Rows elsewhere (``Place``) whose spline columns are read: the rows are read, and the columns computed."""

    full = True

    def __init__(self, place: Place, basis: AdditiveBasis) -> None:
        self.place, self.basis = place, basis
        self.shape, self.dtype = (place.shape[0], basis.width), np.dtype(np.float64)
        self.nbytes, self.sampleable = place.nbytes, False

    def read(self, few: bool = False) -> Design:
        return Spline(self.place.read(few), self.basis)

    def drop(self) -> None:
        self.place.drop()


def spline_columns(design: Design, basis: AdditiveBasis, names: Names | None, stored: bool) -> Design:
    """The columns of a basis on the rows of a design; ``stored``: as an array, where the design is in memory."""
    if isinstance(design, Paged):
        return Paged(SplinePlace(design.source, basis), names, design.room)
    if stored:
        return as_design(basis.evaluate(lambda j: read_feature(design, j), design.shape[0]), names)
    return Spline(design, basis, names)
