"""Rows that are here: X, y, weights, offset and loss, and what is kept for them."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._utils.column_names import Names
from .._utils.lazy import lazy
from .._utils.types import Columns, Intercept, Matrix, Vector
from ..designs import Design, MemoryBudget, Rows
from ..losses import Loss
from .answers import Moments
from .distinct import row_keys, sampled
from .folds import TrainFold
from .gathered import Gathered

if TYPE_CHECKING:
    from .rows import Data

# points at which something is kept for the rows; where memory is short
MAX_CACHED_POINTS, MAX_CACHED_POINTS_LOW_MEMORY = 8, 2

#: Means and scales of columns, which of them are constant, and whether a mean is far larger than its scale.
View = tuple[Vector, Vector, NDArray[np.bool_], bool]


class RowStore(ABC):
    """A design, its targets, weights and offset, and the loss; other rows and weights of the same kind.

    ``whole``: all rows are here, in one piece; ``near``: some may be copied here; ``facts``: what is reported
    of data that stay elsewhere.
    """

    whole: ClassVar[bool] = True
    near: ClassVar[bool] = True
    facts: ClassVar[tuple[str, ...]] = (
        "shape",
        "dtype",
        "nbytes",
        "weight",
        "products_only",
        "room",
        "loss",
        "outputs",
    )
    shared: TrainFold | None = None  # moments and Gram columns that a training fold has in common with others
    view: View | None = None  # the argument of ``standardised``, of a view

    def __init__(self, design: Design, rows: Rows, loss: Loss, gathered: Gathered | None = None) -> None:
        self.design, self.rows, self.loss = design, rows, loss
        self._begin()
        if gathered is not None:
            self.__dict__["gathered"] = gathered

    def _begin(self) -> None:
        self.shape, self.dtype, self.nbytes = self.design.shape, self.design.dtype, self.design.nbytes
        y = self.rows.y
        self.outputs = 1 if y.ndim == 1 else y.shape[1]
        self._kept: dict[Any, Any] = {}
        self._raw: Data | None = None
        self._moments: Moments | None = None
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, object]:
        return {"design": self.design, "rows": self.rows, "loss": self.loss}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self._begin()

    @lazy
    def gathered(self) -> Gathered:
        """The columns that were gathered last."""
        return Gathered(self.design)

    @lazy
    def weight(self) -> float:
        """The sum of the weights: 1, but for parts."""
        return float(self.rows.c.sum())

    @lazy
    def counted(self) -> float:
        """How many rows there are, for statistics: those here, or those of which only sums are here."""
        return self.shape[0]

    def distinct_rows(self, limit: int) -> int:
        """How many different rows have a weight, counted up to ``limit``."""
        p = self.shape[1]
        for cols in (sampled(p), np.arange(p)):
            count = len(self.row_keys(cols, limit))
            if count >= limit or len(cols) == p:
                break
        return min(count, limit)

    def row_keys(self, cols: Columns, limit: int) -> NDArray[np.uint64]:
        """What tells rows with a weight apart in some columns, up to ``limit`` of them."""
        return row_keys(self.design, self.rows.c, cols, limit)

    def rounding_scale(self, cols: Columns) -> tuple[Vector, float]:
        """How many times coarser than their own rounding sums of squares of columns and of y are: 1, but for sums."""
        return np.ones(len(cols)), 1.0

    @property
    def raw(self) -> "Data":
        """The same rows with the user's columns: before any view."""
        return cast("Data", self) if self._raw is None else self._raw

    @property
    def names(self) -> Names | None:
        return self.design.names

    @property
    def products_only(self) -> bool:
        return self.design.products_only

    @property
    def room(self) -> MemoryBudget:
        """What may be kept of X in memory."""
        return self.design.room

    @property
    def full(self) -> bool:
        """Whether columns are dense."""
        return self.design.full

    @property
    def local(self) -> "Data":
        """The rows themselves, for what must look at them one by one; a sentence where they are not here."""
        return cast("Data", self)

    def recall(self, key: Any, compute: Callable[[], Any]) -> Any:
        """What was computed for the rows at one of the last few points: solvers ask about one again and again."""
        with self._lock:
            known = self._kept.pop(key, None)
        known = compute() if known is None else known
        with self._lock:
            self._kept[key] = known  # last in, last to go
            while len(self._kept) > (MAX_CACHED_POINTS if self.room.gram is None else MAX_CACHED_POINTS_LOW_MEMORY):
                del self._kept[next(iter(self._kept))]
        return known

    def forget(self) -> None:
        """Let go of what is one number a row and can be computed again; of wide data also of one number a column."""
        with self._lock:
            self._kept.clear()
        self.rows.forget()
        if self.shape[1] > self.shape[0]:
            self._moments = self.raw._moments = None

    def copied(self, cols: Columns | None = None) -> tuple[Matrix, Rows]:
        """Columns (None: all) in a dense copy that is the caller's, and what belongs to the rows: for small data.

        Rows without a weight are left out.
        """
        A, rows = self.design.block(np.arange(self.shape[1]) if cols is None else cols).dense(), self.rows
        used = rows.c > 0
        if used.all():
            return A, rows
        offset = None if rows.offset is None else rows.offset[used]
        return np.asfortranarray(A[used]), Rows(rows.y[used], rows.c[used], offset)

    def in_memory(self) -> tuple[_core.Matrix, Vector | float, Vector | float] | None:
        """The matrix of the user's columns, and what a view subtracts and divides by; None where X is not in memory."""
        if not self.whole or self.products_only or self.room.gram is not None:
            return None
        matrix = getattr(self.raw.design, "core", None)
        if not isinstance(matrix, _core.Matrix):
            return None
        if self.view is None:
            return matrix, 0.0, 1.0
        return matrix, self.view[0], self.view[1]

    def take(self, rows: Columns, scale: float) -> "Data":
        """Some rows, with ``scale`` times their weight."""
        offset = None if self.rows.offset is None else self.rows.offset[rows]
        return self._like(self.design.take(rows), Rows(self.rows.y[rows], scale * self.rows.c[rows], offset))

    def pieces(self, many: int) -> list[Callable[[], "Data"]]:
        """All rows in up to so many pieces, one after the other, each made when it is column_label for."""
        cuts = np.linspace(0, self.shape[0], min(many, self.shape[0]) + 1).astype(np.int64)
        return [partial(self.take, np.arange(low, high), 1.0) for low, high in pairwise(cuts)]

    def weighted(self, c: Any) -> "Data":
        """The same rows with other weights (or a function that computes them), which sum to one; never a copy of X."""
        twin = self._like(self.design, self.rows.weighted(c), self.gathered)
        twin._raw = None if self._raw is None else self._raw.weighted(c)
        return twin

    def scaled(self, factor: float) -> "Data":
        """The same rows with all weights times a factor."""
        return self.weighted(factor * self.rows.c)

    @abstractmethod
    def _like(self, design: Design, rows: Rows, gathered: Gathered | None = None) -> "Data":
        """Data of the same kind."""

    @property
    def no_coefficients(self) -> Vector:
        """The coefficients of the model without columns."""
        return np.empty(0) if self.outputs == 1 else np.empty((0, self.outputs))

    def _eta(self, cols: Columns, coef: Vector, b: Intercept) -> Vector:
        return self.rows.shift(self._times(cols, coef), b)

    def _times(self, cols: Columns, v: Vector) -> Vector:
        """X[:, cols] v; of a sparse X by columns that are at hand, where all of X would have to be looked through."""
        if v.ndim == 2:
            return self.design.matmat(cols, v)
        block = None if self.design.full else self.gathered.cached(cols)
        return self.design.matmat(cols, v[:, None])[:, 0] if block is None else block.matvec(v)
