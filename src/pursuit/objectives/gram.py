"""Columns of X'CX, computed in blocks and kept: for the squared loss they serve every later gradient and refit.

    gradient at x      g(x) = g(0) + sum_{j in S} x_j H_j      k p flops from k kept columns H_j, X is not read
    refit on S         H_SS x = -g(0)_S                        k^3/3 flops
    value              f(x) = f(0) + g(0)_S.x / 2              safe while f(x) is not tiny beside f(0)

A block of 16 columns costs as much as two to six passes over X, and each of them can replace a pass later: worth it
where supports change by a unit or two (OMP, exchanges), not for the leaps of GraHTP. A block is filled up with the
columns of largest gradient, the likely next ones. Columns are centred when there is an intercept.
"""

import threading

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._sorted import without
from ..designs import centre
from .gathered import Gathered

Vector = NDArray[np.float64]
Columns = NDArray[np.int64]

BLOCK = 16  # columns computed at a time
FEW = 2  # columns that may be missing before a pass over X is the better buy
SMALL = 2e7  # multiplications up to which the whole Gram matrix is formed at once
SHARE = 0.2  # of the bytes of X
SMALLEST = 1 << 24  # bytes that are always granted


class GramColumns:
    """The kept columns of a design's weighted Gram matrix, centred where there is an intercept."""

    def __init__(self, gathered: Gathered, c: Vector, centred: bool) -> None:
        self.gathered, self.c, self.centred = gathered, c, centred
        self.design = gathered.design
        n, p = self.design.shape
        self.capacity = max(BLOCK, int(max(SMALLEST, SHARE * self.design.nbytes) // (8 * p)))
        self.slot = np.full(p, -1, np.int64)
        self.held = np.empty(0, np.int64)
        self.rows = np.empty((0, p))
        self.means = np.zeros(p)  # of the held columns
        self.small = n * p * p <= SMALL and p <= self.capacity
        self.lock = threading.RLock()  # one objective may serve several Python threads

    def cheap(self, support: Columns) -> bool:
        """Whether the columns of a support are here, or can be had for less than the passes they save."""
        return len(support) <= self.capacity and self.missing(support) <= FEW

    def missing(self, support: Columns) -> int:
        """How many columns of a support are not held."""
        return int(np.count_nonzero(self.slot[support] < 0))

    def columns(self, support: Columns, hint: Vector | None = None) -> Vector:
        """Rows H_j, j in support, as an array of shape (m, p); what is missing is computed, with likely ones."""
        with self.lock:
            self.keep(support, hint)
            return self.rows[self.slot[support]]

    def diagonal(self, cols: Columns) -> Vector | None:
        """H_jj of held columns, or None if one is missing."""
        with self.lock:
            slots = self.slot[cols]
            return None if (slots < 0).any() else self.rows[slots, cols]

    def keep(self, support: Columns, hint: Vector | None = None) -> None:
        """See to it that these columns are held."""
        missing = support[self.slot[support] < 0]
        if len(missing) == 0:
            return
        if len(self.held) + len(missing) > self.capacity:
            self._forget(support)
        room = min(BLOCK, self.capacity - len(self.held), len(self.slot) - len(self.held)) - len(missing)
        if self.small:
            missing = np.flatnonzero(self.slot < 0)
        elif hint is not None and room > 0:
            likely = _core.top_k(np.where(self.slot < 0, hint, 0.0), room + len(missing))
            likely = without(likely[self.slot[likely] < 0], missing)[:room]
            missing = np.concatenate([missing, likely])
        self._compute(missing)

    def _compute(self, cols: Columns) -> None:
        first = len(self.held)
        if first + len(cols) > len(self.rows):  # grow by doubling: the budget is a limit, not a price
            grown = np.empty((min(self.capacity, max(2 * len(self.rows), first + len(cols))), len(self.slot)))
            grown[:first] = self.rows[:first]
            self.rows = grown
        A = self.gathered(cols).dense().copy(order="F")
        if self.centred:
            self.means[cols] = centre(A, self.c)
        A *= self.c[:, None]
        self.rows[first : first + len(cols)] = self.design.cross(A)
        self.slot[cols] = np.arange(first, first + len(cols))
        self.held = np.concatenate([self.held, cols])

    def _forget(self, but: Columns) -> None:
        """Make room: keep what this support needs."""
        kept = but[self.slot[but] >= 0]
        self.rows[: len(kept)] = self.rows[self.slot[kept]]
        self.slot[self.held] = -1
        self.slot[kept] = np.arange(len(kept))
        self.held = kept
