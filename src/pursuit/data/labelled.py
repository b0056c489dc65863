"""Folds of scattered rows: a label per row, one pass over X for the moments and Gram columns of all labels."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._lazy import lazy
from .._types import Columns, Matrix, Vector
from ..designs import Design, Rows, Standardized
from ..engines import in_turn, total
from ..losses import Loss
from .answers import Spread, merged
from .folds import ByPart, Rest
from .gathered import Gathered
from .outputs import OutputData
from .rows import Data

PICKED = 1 << 24  # bytes of X copied at a time where rows are picked out


class Labelled(Data):
    """Rows in one piece, told apart by a label each; those labelled -1 do not count. No copy of X is kept.

    A fold has weight 0 where its label is: a pass over X costs what it costs for the whole. Moments and Gram columns of
    all folds come from one pass together.
    """

    def __init__(self, base: Data, labels: Columns) -> None:
        labels = np.asarray(labels)
        if labels.shape != (base.shape[0],):
            raise ValueError(f"labels must have one entry per row, shape ({base.shape[0]},), got shape {labels.shape}")
        if labels.dtype.kind not in "iu" or not (labels >= 0).any():
            raise ValueError(
                "labels must be whole numbers, at least one of them 0 or more (-1: the row does not count)"
            )
        unused = np.setdiff1d(np.arange(min(labels.max(), len(labels)) + 1), labels)
        if len(unused):
            raise ValueError(f"labels must use every number from 0 to {labels.max()}, and no row has {unused[0]}")
        c = np.where(labels >= 0, base.rows.c, 0.0)
        super().__init__(base.design, replace(base.rows, c=c / c.sum()), base.loss, base.gathered)
        self.labels = labels

    @lazy
    def by_part(self) -> ByPart:
        labels, rows = range(int(self.labels.max()) + 1), self._like(self.design, self.rows)  # which do not refer back
        return ByPart(in_turn, [_Chunks(rows, np.flatnonzero(self.labels == j)) for j in labels])

    def __reduce__(self) -> Any:
        return type(self), (self._like(self.design, self.rows), self.labels)

    def leave_out(self, j: int) -> "Less":
        """Everything but the rows labelled j, weights again summing to one."""
        rest = self.by_part.without(j)
        c = np.where(self.labels == j, 0.0, self.rows.c)
        return self.less(self.design, replace(self.rows, c=c / c.sum()), self.loss, rest, self.gathered)

    @property
    def less(self) -> type["Less"]:
        return Less


class _Chunks:
    """Some rows of a design, a few at a time: each time they are asked they are copied, and let go."""

    def __init__(self, data: Data, rows: Columns) -> None:
        self.data, self.rows = data, rows
        self.size = max(1, int(PICKED * data.shape[0] / max(data.nbytes, 1)))

    def __iter__(self) -> Iterator[Data]:
        for low in range(0, len(self.rows), self.size):
            yield self.data.take(self.rows[low : low + self.size], 1.0)

    def moments(self) -> Spread:
        return merged([chunk.moments() for chunk in self])

    def gram_about(self, cols: Columns, shift: Vector) -> Matrix:
        return total(chunk.gram_about(cols, shift) for chunk in self)


class Less(Data):
    """All rows but those of one label, which have weight 0."""

    def __init__(self, design: Design, rows: Rows, loss: Loss, rest: Rest, gathered: Gathered | None = None) -> None:
        super().__init__(design, rows, loss, gathered)
        self.rest, self._moments = rest, rest.moments()

    def __reduce__(self) -> Any:
        return type(self._like(self.design, self.rows)), (self.design, self.rows, self.loss)

    def prepare(self, cols: Columns) -> None:
        self.rest.by_part.columns(cols)

    def gram(self, cols: Columns, centred: bool) -> tuple[Matrix, Vector]:
        """Columns that were prepared for all folds come from there; what this fold alone needs is a pass of its own."""
        known = self.rest.by_part.has(cols)
        if not centred or not known.any():
            return super().gram(cols, centred)
        if known.all():
            return self.rest.gram(cols)
        H, mean = np.empty((len(cols), self.shape[1])), np.empty(len(cols))
        H[known], mean[known] = self.rest.gram(cols[known])
        H[~known], mean[~known] = super().gram(cols[~known], True)
        return H, mean

    def seen(self, m: Vector, s: Vector, constant: NDArray[np.bool_], far: bool) -> "Less":
        view = Standardized(self.design, m, s, constant, far)
        twin = type(self)(view, self.rows, self.loss, self.rest.seen(m, s, constant))
        twin._raw = self.raw
        return twin


class OutputLabelled(Labelled, OutputData):
    """The same of rows with several targets."""

    @property
    def less(self) -> type[Less]:
        return OutputLess


class OutputLess(Less, OutputData):
    """The same of rows with several targets."""
