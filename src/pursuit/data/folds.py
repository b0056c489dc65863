"""Everything but one part, from what is kept of each part: moments and Gram columns, about one common shift s.

    sum over the rest of c_i (x_ij - s_j)(x_il - s_l)  =  sum over the other parts of theirs

Raw moments (s = 0) would lose all digits where means are large, and what is centred by a part's own means does not
add up. What is left is centred afterwards: with d = mean of the rest - s, the Gram matrix is the sum less d d'. So s
must be near the rest's mean whatever part is left out, outliers and all: for each column it is the mean of the part
in which it varies least. The other parts are added up, not the one subtracted, for the same reason.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .._errors import check_count
from .._lazy import lazy
from .._types import Columns, Flags, Matrix, Vector
from ..engines import Ask, Map
from .answers import Spread, merged


class Piece(Protocol):
    """Rows that can be asked for their share of sums."""

    def moments(self) -> Spread: ...
    def gram_about(self, cols: Columns, shift: Vector) -> Matrix: ...


class ByPart:
    """Moments and Gram columns of each part, computed once and kept, since every fold asks for them."""

    def __init__(self, each: Map, parts: Sequence[Piece]) -> None:
        self.each, self.parts, self.lock = each, parts, threading.Lock()
        self.moments: list[Spread] = each(Ask("moments"), parts)
        varied = np.array([np.where(m.weight > 0, m.square / max(m.weight, 1e-300), np.inf) for m in self.moments])
        means = np.array([m.mean for m in self.moments])
        self.shift: Vector = means[varied.argmin(axis=0), np.arange(means.shape[1])]
        self.slot = np.full(len(self.shift), -1, np.int64)
        self.kept, self.rows = 0, np.empty((0, len(parts), len(self.shift)))  # the first so many are in use

    def has(self, cols: Columns) -> Flags:
        """Which of these are kept."""
        return np.asarray(self.slot[cols] >= 0)

    def columns(self, cols: Columns) -> Matrix:
        """Gram columns about the shift, shape (columns asked for, parts, all columns)."""
        with self.lock:
            missing = cols[self.slot[cols] < 0]
            if len(missing):
                fresh = self.each(Ask("gram_about", missing, self.shift), self.parts)
                self._keep(missing, fresh)
            rows, slots = self.rows, self.slot[cols]
        return rows[slots]

    def _keep(self, cols: Columns, fresh: Sequence[Matrix]) -> None:
        """More columns of every part; room is doubled whenever it ends, so that each is copied a few times at most."""
        end = self.kept + len(cols)
        if end > len(self.rows):
            more = np.empty((min(max(end, 2 * len(self.rows)), len(self.shift)), *self.rows.shape[1:]))
            more[: self.kept] = self.rows[: self.kept]
            self.rows = more
        for i, own in enumerate(fresh):
            self.rows[self.kept : end, i] = own
        self.slot[cols] = np.arange(self.kept, end)
        self.kept = end

    def without(self, j: int) -> "Rest":
        """Everything but part j."""
        j = check_count(j, "j")
        if len(self.parts) == 1:
            raise ValueError("there is one part only, and without it nothing is left")
        if j >= len(self.parts):
            raise ValueError(f"there is no part {j}: the parts are 0 to {len(self.parts) - 1}")
        if not any(moments.weight > 0 for i, moments in enumerate(self.moments) if i != j):
            raise ValueError(f"without part {j} no row has a weight")
        return Rest(self, j, np.zeros(len(self.shift)), np.ones(len(self.shift)), np.zeros(len(self.shift), bool))


@dataclass(frozen=True)
class Rest:
    """All parts but j, its columns seen as (x - m) / s or, where ``constant``, as zero."""

    by_part: ByPart
    j: int
    m: Vector
    s: Vector
    constant: NDArray[np.bool_]

    @lazy
    def raw(self) -> Spread:
        return merged([moments for i, moments in enumerate(self.by_part.moments) if i != self.j])

    @property
    def weight(self) -> float:
        """The share of the rows that are left."""
        return self.raw.weight

    def moments(self) -> Spread:
        mean, square = (self.raw.mean - self.m) / self.s, self.raw.square / self.raw.weight / self.s**2
        return Spread(1.0, np.where(self.constant, 0.0, mean), np.where(self.constant, 0.0, square))

    def gram(self, cols: Columns) -> tuple[Matrix, Vector]:
        """Centred Gram columns, and the means that were taken off."""
        G = self.by_part.columns(cols)
        d = self.raw.mean - self.by_part.shift
        H = (G[:, : self.j].sum(axis=1) + G[:, self.j + 1 :].sum(axis=1)) / self.raw.weight - np.outer(d[cols], d)
        H /= np.outer(self.s[cols], self.s)
        flat = self.constant | (self.raw.square == 0)
        H[flat[cols]] = 0.0
        H[:, flat] = 0.0
        return H, self.moments().mean[cols]

    def seen(self, m: Vector, s: Vector, constant: NDArray[np.bool_]) -> "Rest":
        return replace(self, m=self.m + self.s * m, s=self.s * s, constant=self.constant | constant)
