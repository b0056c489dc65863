"""Folds of scattered rows: a label per row, one pass over X for the moments and Gram columns of all labels."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._lazy import lazy
from .._types import Columns, Matrix, Vector
from ..designs import Design, Rows, Standardized
from ..engines import Ask, in_turn, total
from ..losses import Loss
from .answers import Spread, merged
from .folds import ByPart, Rest
from .gathered import Gathered
from .many import row_chunks
from .outputs import OutputData, OutputFold, OutputParts
from .parts import Fold, Parts
from .rows import Data

Gram = Callable[[Columns, bool], tuple[Matrix, Vector]]
PICKED = 1 << 24  # bytes of X copied at a time where rows are picked out
PREPARED = 1 << 27  # bytes that Gram columns of all folds may have together; more where X has more


class Labelled(Data):
    """Rows in one piece, told apart by a label each; those labelled -1 do not count. No copy of X is kept.

    A fold has weight 0 where its label is: a pass over X costs what it costs for the whole. Moments and Gram columns of
    all folds come from one pass together.
    """

    def __init__(self, base: Data, labels: Columns) -> None:
        labels, rows = check_labels(labels, base.shape[0]), base.rows
        if labels.min() < 0:
            c = np.where(labels >= 0, rows.c, 0.0)
            rows = Rows(rows.y, c / c.sum(), rows.offset)
        super().__init__(base.design, rows, base.loss, base.gathered)
        self.labels = labels

    @lazy
    def by_part(self) -> ByPart:
        labels, rows = range(int(self.labels.max()) + 1), self._like(self.design, self.rows)  # which do not refer back
        return ByPart(in_turn, [_Chunks(rows, self.labels, j) for j in labels])

    def __reduce__(self) -> Any:
        return type(self), (self._like(self.design, self.rows), self.labels)

    def leave_out(self, j: int) -> "Less":
        """Everything but the rows labelled j, weights again summing to one."""
        rest = self.by_part.without(j)
        return self.less(self.design, FoldRows.of(self.rows, self.labels, j, False), self.loss, rest, self.gathered)

    def only(self, j: int) -> Data:
        """The rows labelled j alone: the others have weight 0."""
        return self._like(self.design, FoldRows.of(self.rows, self.labels, j, True), self.gathered)

    @property
    def less(self) -> type["Less"]:
        return Less


class FoldRows(Rows):
    """Rows of which those with a label have a weight (``held``), or the others, summing to one.

    Weights are computed when they are needed, and after ``forget`` again: ten folds would keep twenty numbers a row.
    """

    base: Rows | None = None  # None: weights are its own, as in a copy with another offset
    labels: Columns
    j: int
    held: bool

    @classmethod
    def of(cls, rows: Rows, labels: Columns, j: int, held: bool) -> "FoldRows":
        """Of the rows of all folds, those of one."""
        fold = cls.__new__(cls)
        fold.__dict__.update(y=rows.y, offset=rows.offset, base=rows, labels=labels, j=j, held=held)
        return fold

    @lazy
    def c(self) -> Vector:  # type: ignore[override]
        assert self.base is not None
        mine = self.labels == self.j
        if self.held:
            return np.where(mine, self.base.c, 0.0)
        c = np.where(mine, 0.0, self.base.c)
        c /= c.sum()
        return c

    def forget(self) -> None:
        for name in ("c", "core") if self.base is not None else ():
            self.__dict__.pop(name, None)


class _Chunks:
    """The rows of one label, a few at a time: each time they are asked they are copied, and let go."""

    def __init__(self, data: Data, labels: Columns, j: int) -> None:
        self.data, self.labels, self.j = data, labels, j
        self.size = max(1, int(PICKED * data.shape[0] / max(data.nbytes, 1)))

    def __iter__(self) -> Iterator[Data]:
        labels, j = self.labels, self.j
        count = int(np.count_nonzero(labels == j))
        for rows in row_chunks(len(labels), count, self.size, lambda some: labels[some] == j):
            yield self.data.take(rows, 1.0)

    def moments(self) -> Spread:
        none = np.zeros(self.data.shape[1])
        return merged([chunk.moments() for chunk in self] or [Spread(0.0, none, none)])

    def gram_about(self, cols: Columns, shift: Vector) -> Matrix:
        if not (self.labels == self.j).any():
            return np.zeros((len(cols), self.data.shape[1]))
        return total(chunk.gram_about(cols, shift) for chunk in self)


class Apart:
    """The rows of one part, told apart by labels, of which it may lack some; weights are those of the whole."""

    def __init__(self, data: Data, labels: Columns, count: int) -> None:
        self.data, self.labels, self.count = data, labels, count

    def share(self) -> float:
        """The weight of the rows that have a label."""
        return float(self.data.rows.c[self.labels >= 0].sum())

    def by_label(self, ask: Ask) -> list[Any]:
        """The answers of the rows of each label."""
        return [ask(_Chunks(self.data, self.labels, j)) for j in range(self.count)]

    def without(self, j: int, factor: float) -> Data:
        """The rows that have a label other than j, with ``factor`` times their weight."""
        return self.data.weighted(np.where((self.labels >= 0) & (self.labels != j), factor * self.data.rows.c, 0.0))

    def only(self, j: int, factor: float) -> Data:
        return self.data.weighted(np.where(self.labels == j, factor * self.data.rows.c, 0.0))


class ApartInParts:
    """The same of rows that lie in parts themselves: each part is asked once, for all labels."""

    def __init__(self, data: Parts, labels: Columns, count: int) -> None:
        self.like, self.each = data._like, data.each
        self.parts = self.each(Ask("apart", count), data.parts, data._split(labels))

    def share(self) -> float:
        return sum(self.each(Ask("share"), self.parts))

    def by_label(self, ask: Ask) -> list[Any]:
        in_order = self.each is in_turn  # then each answer is added as it comes, and no two matrices are held
        answers = (
            (part.by_label(ask) for part in self.parts) if in_order else self.each(Ask("by_label", ask), self.parts)
        )
        first, *rest = answers if ask.name == "moments" else [reduce(_added, answers)]
        return [merged(same) for same in zip(first, *rest, strict=True)] if rest else first

    def without(self, j: int, factor: float) -> Parts:
        return self.like(_used(self.each(Ask("without", j, factor), self.parts)))

    def only(self, j: int, factor: float) -> Parts:
        return self.like(_used(self.each(Ask("only", j, factor), self.parts)))


def _added(one: list[Any], other: list[Any]) -> list[Any]:
    """Answers of other rows, label by label."""
    return [total(pair) for pair in zip(one, other, strict=True)]


def _used(parts: Sequence[Data]) -> list[Data]:
    """Parts without those that have no weight, as long as one has."""
    return [part for part in parts if part.weight > 0] or list(parts[:1])


class LabelledParts(Parts):
    """Rows in parts, told apart by a label each; those labelled -1 do not count."""

    def __init__(self, base: Any, labels: Columns) -> None:
        labels = check_labels(labels, base.shape[0])
        self.count = int(labels.max()) + 1
        self.told: ApartInParts = base.apart(labels, self.count)
        self.factor = 1.0 / self.told.share()
        super().__init__(self.told.without(-1, self.factor).parts, base.each)

    def __reduce__(self) -> Any:
        return type(self._like(self.parts)), (self.parts, self.each)

    @lazy
    def by_part(self) -> ByPart:
        told, labels = self.told, list[Any](range(self.count))  # which do not refer back
        return ByPart(lambda ask, _, /, *own: told.by_label(ask), labels)

    def leave_out(self, j: int) -> "LessParts":
        """Everything but the rows labelled j, weights again summing to one."""
        rest = self.by_part.without(j)
        return self.less(self.told.without(j, 1 / rest.weight).parts, self.each, rest)

    def only(self, j: int) -> Parts:
        """The rows labelled j alone."""
        return self.told.only(j, self.factor)

    @property
    def less(self) -> type["LessParts"]:
        return LessParts


class LessParts(Fold):
    """All rows but those of one label."""

    def prepare(self, cols: Columns) -> None:
        by_part, room = self.rest.by_part, self.room.gram
        many = len(cols) if room is None else int(room // (8 * len(by_part.parts) * self.shape[1]))
        by_part.columns(cols[:many])

    def gram(self, cols: Columns, centred: bool) -> tuple[Matrix, Vector]:
        return known_or_own(self.rest, cols, centred, partial(Parts.gram, self))

    def _fold(self, parts: Sequence[Data], rest: Rest) -> "LessParts":
        return type(self)(parts, self.each, rest)


class Less(Data):
    """All rows but those of one label, which have weight 0."""

    def __init__(self, design: Design, rows: Rows, loss: Loss, rest: Rest, gathered: Gathered | None = None) -> None:
        super().__init__(design, rows, loss, gathered)
        self.rest = rest

    def moments(self) -> Spread:
        if self._moments is None:
            self._moments = self.rest.moments()
        return self._moments

    def __reduce__(self) -> Any:
        return type(self._like(self.design, self.rows)), (self.design, self.rows, self.loss)

    def prepare(self, cols: Columns) -> None:
        room = max(PREPARED, self.nbytes) // (8 * len(self.rest.by_part.parts) * self.shape[1])
        self.rest.by_part.columns(cols[:room])

    def gram(self, cols: Columns, centred: bool) -> tuple[Matrix, Vector]:
        return known_or_own(self.rest, cols, centred, super().gram)

    def products(self, cols: Columns, centred: bool) -> Matrix:
        if centred and self.rest.by_part.has(cols).all():
            return self.rest.gram(cols)[0][:, cols]
        return super().products(cols, centred)

    def seen(self, m: Vector, s: Vector, constant: NDArray[np.bool_], far: bool) -> "Less":
        view = Standardized(self.design, m, s, constant, far)
        twin = type(self)(view, self.rows, self.loss, self.rest.seen(m, s, constant))
        twin._raw = self.raw
        return twin


def known_or_own(rest: Rest, cols: Columns, centred: bool, own: Gram) -> tuple[Matrix, Vector]:
    """Columns that were prepared for all folds come from there; what this fold alone needs is a pass of its own."""
    known = rest.by_part.has(cols)
    if not centred or not known.any():
        return own(cols, centred)
    if known.all():
        return rest.gram(cols)
    H, mean = np.empty((len(cols), len(rest.m))), np.empty(len(cols))
    H[known], mean[known] = rest.gram(cols[known])
    H[~known], mean[~known] = own(cols[~known], True)
    return H, mean


def check_labels(labels: Columns, n: int) -> Columns:
    """Whole numbers from 0 up without a gap, or -1; one per row."""
    labels = np.asarray(labels)
    if labels.shape != (n,):
        raise ValueError(f"labels must have one entry per row, shape ({n},), got shape {labels.shape}")
    if labels.dtype.kind not in "iu" or not (labels >= 0).any():
        raise ValueError("labels must be whole numbers, at least one of them 0 or more (-1: the row does not count)")
    unused = np.setdiff1d(np.arange(min(labels.max(), len(labels)) + 1), labels)
    if len(unused):
        raise ValueError(f"labels must use every number from 0 to {labels.max()}, and no row has {unused[0]}")
    return labels


class OutputLabelled(Labelled, OutputData):
    """The same of rows with several targets."""

    @property
    def less(self) -> type[Less]:
        return OutputLess


class OutputLess(Less, OutputData):
    """The same of rows with several targets."""


class OutputLabelledParts(LabelledParts, OutputParts):
    """The same of rows with several targets."""

    @property
    def less(self) -> type[LessParts]:
        return OutputLessParts


class OutputLessParts(LessParts, OutputFold):
    """The same of rows with several targets."""
