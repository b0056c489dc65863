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

from .. import _core
from .._utils.arrays import without
from .._utils.lazy import lazy
from .._utils.types import Columns, Vector
from ..designs import centre
from .rows import Data

COLUMNS_AT_A_TIME = 16  # columns computed at a time, more where many are held, up to MAX_COLUMNS_AT_A_TIME
MAX_COLUMNS_AT_A_TIME = 32
MAX_BLOCK_BYTES = 1 << 22  # bytes of a block beyond which it does not grow
MAX_MISSING_COLUMNS = 2  # columns that may be missing before a pass over X is the better buy
MAX_WHOLE_GRAM_WORK = 2e7  # multiplications up to which the whole Gram matrix is formed at once
CACHE_SHARE = 0.2  # of the bytes of X
ZERO_MEAN_TOLERANCE = 1e-14  # mean of a column of mean square 1 that counts as none
MAX_COPIED_ROWS = 400  # rows up to which products with a copy of X are as cheap as kept ones
MAX_COPIED_ENTRIES = 1 << 20  # entries of X up to which they are
MIN_CACHE_BYTES = 1 << 24  # bytes that are always granted
NO_COLUMNS = np.empty(0, np.int64)


class GramColumns:
    """The kept columns of the data's weighted Gram matrix, centred where there is an intercept."""

    def __init__(self, data: Data, centred: bool) -> None:
        self.data, self.centred = data, centred
        n, p = data.shape
        room = data.room.gram
        granted = max(MIN_CACHE_BYTES, CACHE_SHARE * data.nbytes) if room is None else room
        self.capacity = min(p, max(COLUMNS_AT_A_TIME, int(granted // (8 * p))))
        self.granted = 8 * p * self.capacity <= granted  # else a block is cached only where it is required
        self.largest = min(max(MAX_BLOCK_BYTES // (8 * p), COLUMNS_AT_A_TIME), MAX_COLUMNS_AT_A_TIME)
        self.cached = self.last_used = NO_COLUMNS  # the column in each slot, and when it was last used
        self.clock = 0
        self.rows = np.empty((0, p))
        self.in_order = False  # whether slot j holds column j, for all of them
        self.small = (n * p * p <= MAX_WHOLE_GRAM_WORK or p <= COLUMNS_AT_A_TIME) and p <= self.capacity
        self.read = room is not None and p <= self.capacity  # rows do not lie in memory, and all of it may
        self.whole = self.small or self.read  # of which a path forms all
        self.lock = threading.RLock()  # one objective may serve several Python threads

    @lazy
    def slot(self) -> Columns:
        """Where each column is held, or -1."""
        return np.full(self.data.shape[1], -1, np.int64)

    @lazy
    def means(self) -> Vector:
        """Of the held columns."""
        return np.zeros(self.data.shape[1])

    def forget(self) -> None:
        """Drop all cached columns."""
        with self.lock:
            self.cached = self.last_used = NO_COLUMNS
            self.rows = np.empty((0, self.data.shape[1]))
            for name in ("slot", "means", "products"):
                self.__dict__.pop(name, None)

    @lazy
    def products(self) -> _core.Products | None:
        """Rows of the Gram matrix from a copy of X, weighted and centred, where X is so small that this is cheapest."""
        n, p = self.data.shape
        if (
            self.whole
            or n > MAX_COPIED_ROWS
            or n * p > MAX_COPIED_ENTRIES
            or self.data.products_only
            or not self.data.near
        ):
            return None
        A, rows = self.data.copied()
        if (
            self.centred and np.abs(rows.c @ A).max(initial=0.0) > ZERO_MEAN_TOLERANCE
        ):  # a standardised view has no means left
            centre(A, rows.c)
        A *= np.sqrt(rows.c)[:, None]
        return _core.Products(A)

    def cheap(self, support: Columns) -> bool:
        """Whether the columns of a support are here, or can be had for less than the passes they save."""
        return self.granted and len(support) <= self.capacity and self.missing(support) <= MAX_MISSING_COLUMNS

    @property
    def complete(self) -> bool:
        """Whether all columns are held."""
        return len(self.cached) == self.data.shape[1]

    def missing(self, support: Columns) -> int:
        """How many columns of a support are not held."""
        return int(np.count_nonzero(self.slot[support] < 0))

    def columns(self, support: Columns, hint: Vector | None = None) -> Vector:
        """Rows H_j, j in support, as an array of shape (m, p); what is missing is computed, with likely ones."""
        with self.lock:
            self.keep(support, hint)
            return self.rows[self.slot[support]]

    def matrix(self) -> Vector:
        """All of H, to be read only."""
        with self.lock:
            if not self.complete:
                everything = np.arange(self.data.shape[1])
                self._compute(everything, everything)
            return self.rows if self.in_order else self.rows[self.slot]

    def entries(self, support: Columns, others: Columns, hint: Vector | None = None) -> Vector:
        """H[support][:, others]."""
        with self.lock:
            self.keep(support, hint)
            return self.rows[self.slot[support][:, None], others]

    def combined(self, support: Columns, coef: Vector) -> Vector:
        """sum_j coef_j H_j."""
        with self.lock:
            self.keep(support)
            return np.asarray(coef @ self.rows[self.slot[support]])

    def diagonal(self, cols: Columns) -> Vector | None:
        """H_jj of held columns, or None if one is missing."""
        with self.lock:
            if len(cols) > len(self.cached):
                return None
            slots = self.slot[cols]
            return None if (slots < 0).any() else self.rows[slots, cols]

    def keep(self, support: Columns, hint: Vector | None = None) -> None:
        """See to it that these columns are held."""
        missing = support[self.slot[support] < 0]
        if len(missing):
            kept = len(support) - len(missing)
            block = min(self.largest, max(COLUMNS_AT_A_TIME, 2 * len(self.cached)))
            room = min(block, self.capacity - kept, int(np.count_nonzero(self.slot < 0))) - len(missing)
            if self.small:
                missing = np.flatnonzero(self.slot < 0)
            elif self.read and 2 * len(missing) > len(self.slot):
                missing = np.arange(len(self.slot))  # all of them in one pass
            elif hint is not None and room > 0:
                likely = _core.top_k(np.where(self.slot < 0, hint, 0.0), room + len(missing))
                likely = without(likely[self.slot[likely] < 0], missing)[:room]
                missing = np.concatenate([missing, likely])
            self._compute(missing, support)
        self.clock += 1
        self.last_used[self.slot[support]] = self.clock

    def _compute(self, cols: Columns, needed: Columns) -> None:
        rows, means = self.data.gram(cols, self.centred)
        if len(cols) == self.data.shape[1]:  # all of them
            self.rows, self.slot, self.cached = rows, np.argsort(cols), cols
            self.means = means[self.slot]
            self.last_used = np.zeros(len(cols), np.int64)
            self.in_order = bool((self.slot == cols).all())
            return
        self.in_order = False
        slots = self._room(len(cols), needed)
        self.rows[slots], self.means[cols] = rows, means
        self.slot[cols], self.cached[slots], self.last_used[slots] = slots, cols, self.clock

    def _room(self, many: int, needed: Columns) -> Columns:
        """Slots for new columns: unused ones, then those of the least recently used columns."""
        used = len(self.cached)
        fresh = min(many, self.capacity - used)
        if len(self.rows) == 0:  # memory that is not written to is not taken
            self.rows = np.empty((self.capacity, len(self.slot)))
        self.cached = np.concatenate([self.cached, np.full(fresh, -1)])
        self.last_used = np.concatenate([self.last_used, np.zeros(fresh, np.int64)])
        spare = np.arange(used, used + fresh)
        if fresh == many:
            return spare
        age = self.last_used[:used].copy()
        age[self.slot[needed[self.slot[needed] >= 0]]] = np.iinfo(np.int64).max
        oldest = np.argsort(age, kind="stable")[: many - fresh]
        self.slot[self.cached[oldest]] = -1
        return np.concatenate([spare, oldest])
