"""Folds of scattered rows: a label per row, and the moments and Gram columns of all labels about one common shift s.

    sum over a training fold of c_i (x_ij - s_j)(x_il - s_l)  =  sum over the other labels of theirs

Raw moments (s = 0) would lose all digits where means are large, and what is centred by a label's own means does not
add up. What is left is centred afterwards: with d = mean of the training fold - s, the Gram matrix is the sum less
d d'. So s must be near that mean whatever label is left out, outliers and all: for each column it is the mean of the
label in which it varies least. The other labels are added up, not the one subtracted, for the same reason.

A training fold and a held-out fold are the same rows with other weights (``Data.weighted``): no copy of X is made.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._utils.lazy import lazy
from .._utils.types import Columns, Flags, Matrix, Vector
from .._utils.validation import check_count
from ..engines import Ask, SumOfParts, total
from .answers import Moments, merge_moments
from .batch import row_chunks

if TYPE_CHECKING:
    from .parts import Parts
    from .rows import Data

COPIED_BYTES = 1 << 24  # of X that are copied at a time where the rows of a label are picked out


def fold_weights(c: Vector, labels: Columns, j: int, held_out: bool, factor: float) -> Vector:
    """The weights of the rows labelled j (``held_out``), or of those with another label, times a factor."""
    return np.where(labels == j if held_out else (labels >= 0) & (labels != j), factor * c, 0.0)


class LabelSums:
    """Rows in one piece, divided by labels (-1: none), of which they may lack some; weights are those of the whole.

    The rows of a label are copied a few at a time whenever they are needed.
    """

    facts: ClassVar[tuple[str, ...]] = ()

    def __init__(self, data: "Data", labels: Columns, count: int) -> None:
        self.data, self.labels, self.count = data, labels, count

    def share(self) -> float:
        """The weight of the rows that have a label."""
        return float(self.data.rows.c[self.labels >= 0].sum())

    def moments(self) -> list[Moments]:
        """Those of each label."""
        none = np.zeros(self.data.shape[1])
        each = ([chunk.moments() for chunk in self._chunks(j)] for j in range(self.count))
        return [merge_moments(found or [Moments(0.0, none, none)]) for found in each]

    def gram_about(self, cols: Columns, shift: Vector) -> tuple[Any, ...]:
        """Gram columns of each label about a shift; the number 0 for a label that no row has."""
        each = ((chunk.gram_about(cols, shift) for chunk in self._chunks(j)) for j in range(self.count))
        return tuple(total([0.0, *own]) for own in each)

    def weighted(self, j: int, held_out: bool, factor: float) -> "Data":
        """The rows with the weights of a fold, which are computed when they are needed."""
        return self.data.weighted(partial(fold_weights, self.data.rows.c, self.labels, j, held_out, factor))

    def _chunks(self, j: int) -> Iterator["Data"]:
        mine = self.labels == j
        count, n = int(np.count_nonzero(mine)), len(self.labels)
        if count == n:
            yield self.data
            return
        size = max(1, int(COPIED_BYTES * n / max(self.data.nbytes, 1)))
        for rows in row_chunks(n, count, size, lambda some: mine[some]) if count else ():
            yield self.data.take(rows, 1.0)


class LabelSumsInParts(SumOfParts):
    """The same of rows in parts: each part answers once, for all labels."""

    def __init__(self, data: "Parts", labels: Columns, count: int) -> None:
        parts = data.each(Ask("label_sums", count), data.parts, data._split(labels))
        super().__init__(parts, data.each, ("gram_about", "share"))
        self.like = data._like

    def moments(self) -> list[Moments]:
        return [merge_moments(same) for same in zip(*self.each(Ask("moments"), self.parts), strict=True)]

    def weighted(self, j: int, held_out: bool, factor: float) -> "Parts":
        parts = self.each(Ask("weighted", j, held_out, factor), self.parts)
        return self.like([part for part in parts if part.weight > 0] or list(parts[:1]))


class FoldCache:
    """Moments and Gram columns of every label, computed once and kept, since every training fold needs them.

    ``train(j)`` are all rows with a label other than j, whose weights sum to one, and ``held_out(j)`` those labelled j.
    """

    def __init__(self, data: "Data", labels: Columns) -> None:
        self.labels = check_labels(labels, data.shape[0])
        self.count = int(self.labels.max()) + 1
        self.sums: Any = data.label_sums(self.labels, self.count)
        self.lock, self.kept = threading.Lock(), 0
        self.rows = np.empty((0, self.count, data.shape[1]))  # the first ``kept`` are in use
        self.slot = np.full(data.shape[1], -1, np.int64)

    @lazy
    def moments(self) -> list[Moments]:
        """Those of each label."""
        return self.sums.moments()

    @lazy
    def shift(self) -> Vector:
        """What all sums are about."""
        varied = np.array([np.where(m.weight > 0, m.square / max(m.weight, 1e-300), np.inf) for m in self.moments])
        means = np.array([m.mean for m in self.moments])
        return means[varied.argmin(axis=0), np.arange(means.shape[1])]

    def train(self, j: int) -> "Data":
        """Everything but the rows labelled j."""
        shared = self._without(j)
        data = self.sums.weighted(j, False, 1 / shared.weight)
        data.shared = shared
        return data

    def held_out(self, j: int) -> "Data":
        """The rows labelled j alone: the others have weight 0, or are left out."""
        return self.sums.weighted(j, True, 1 / self.share)

    @lazy
    def share(self) -> float:
        """The weight of the rows that have a label."""
        return self.sums.share()

    def _without(self, j: int) -> "TrainFold":
        j, p = check_count(j, "j"), len(self.slot)
        if self.count == 1:
            raise ValueError("there is one part only, and without it nothing is left")
        if j >= self.count:
            raise ValueError(f"there is no part {j}: the parts are 0 to {self.count - 1}")
        if not any(moments.weight > 0 for i, moments in enumerate(self.moments) if i != j):
            raise ValueError(f"without part {j} no row has a weight")
        return TrainFold(self, j, np.zeros(p), np.ones(p), np.zeros(p, bool))

    def has(self, cols: Columns) -> Flags:
        """Which of these columns are kept."""
        return np.asarray(self.slot[cols] >= 0)

    def columns(self, cols: Columns) -> Matrix:
        """Gram columns about the shift, shape (columns, labels, all columns)."""
        with self.lock:
            missing = cols[self.slot[cols] < 0]
            if len(missing):
                self._keep(missing, self.sums.gram_about(missing, self.shift))
            rows, slots = self.rows, self.slot[cols]
        return rows[slots]

    def _keep(self, cols: Columns, fresh: Sequence[Any]) -> None:
        """More columns of every label; room is doubled whenever it ends, so that each is copied a few times at most."""
        end = self.kept + len(cols)
        if end > len(self.rows):
            more = np.empty((min(max(end, 2 * len(self.rows)), len(self.slot)), *self.rows.shape[1:]))
            more[: self.kept] = self.rows[: self.kept]
            self.rows = more
        for i, own in enumerate(fresh):
            self.rows[self.kept : end, i] = own
        self.slot[cols] = np.arange(self.kept, end)
        self.kept = end


@dataclass(frozen=True)
class TrainFold:
    """Sums of a training fold: all labels but j, its columns seen as (x - m) / s or, where ``constant``, as zero."""

    cache: FoldCache
    j: int
    m: Vector
    s: Vector
    constant: NDArray[np.bool_]

    @lazy
    def raw(self) -> Moments:
        return merge_moments([moments for i, moments in enumerate(self.cache.moments) if i != self.j])

    @property
    def weight(self) -> float:
        """The share of the rows that are left."""
        return self.raw.weight

    def moments(self) -> Moments:
        mean, square = (self.raw.mean - self.m) / self.s, self.raw.square / self.raw.weight / self.s**2
        return Moments(1.0, np.where(self.constant, 0.0, mean), np.where(self.constant, 0.0, square))

    def gram(self, cols: Columns) -> tuple[Matrix, Vector]:
        """Centred Gram columns, and the means that were subtracted."""
        G = self.cache.columns(cols)
        d = self.raw.mean - self.cache.shift
        H = (G[:, : self.j].sum(axis=1) + G[:, self.j + 1 :].sum(axis=1)) / self.raw.weight - np.outer(d[cols], d)
        H /= np.outer(self.s[cols], self.s)
        flat = self.constant | (self.raw.square == 0)
        H[flat[cols]] = 0.0
        H[:, flat] = 0.0
        return H, self.moments().mean[cols]

    def known_or_own(
        self, cols: Columns, own: Callable[[Columns, bool], tuple[Matrix, Vector]]
    ) -> tuple[Matrix, Vector]:
        """Columns that were prepared for all folds from the cache; what this fold alone needs by a pass of its own."""
        known = self.cache.has(cols)
        if not known.any():
            return own(cols, True)
        if known.all():
            return self.gram(cols)
        H, mean = np.empty((len(cols), len(self.m))), np.empty(len(cols))
        H[known], mean[known] = self.gram(cols[known])
        H[~known], mean[~known] = own(cols[~known], True)
        return H, mean

    def standardised(self, m: Vector, s: Vector, constant: NDArray[np.bool_]) -> "TrainFold":
        return replace(self, m=self.m + self.s * m, s=self.s * s, constant=self.constant | constant)


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
