"""Rows that are here, in one piece: X, y, weights, offset and loss behind one object that answers questions.

| question | answer |
|---|---|
| ``at(cols, coef, b)`` | the loss, its gradient over all columns, its derivative in b: one pass over X |
| ``few(cols, ...)`` | the loss as a function of the coefficients of a few columns |
| ``model(cols, coef, b)`` | the Hessian at a point: c phi'' stays with the rows |
| ``moments()`` | weighted means and sums of squares of all columns, computed once |
| ``gram(cols)``, ``form(...)`` | rows of X'CX and the means that were taken off; all of it on even columns |
| ``seen``, ``take``, ``weighted``, ``labelled`` | the same rows: other units, some of them, other weights, folds |

Weights of all rows sum to one. The ridge, the intercept and what is kept of the Gram matrix are the objective's.
"""

import threading
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._utils.column_names import Names, column_label
from .._utils.lazy import lazy
from .._utils.types import Columns, Matrix, Vector
from ..designs import DenseBlock, Design, MemoryBudget, Rows, Standardized, centre, cross
from ..designs.base import LOOKED_AT, SMALLEST, InMemory
from ..designs.standardized import FAR
from ..engines import total
from ..losses import DiagonalHessian, Loss, RowHessian
from ..refits import LossOnColumns, Stored
from ..refits.columns import GATHERED, SPREAD_OUT
from .answers import Answer, Moments, QuadraticForm
from .batch import PICKED, Batch, is_dense, picked
from .distinct import row_keys, sampled
from .folds import FoldCache, LabelSums, TrainFold
from .gathered import Gathered
from .hessian import Model
from .sketch import row_sketch

COPIED = 5e7  # entries of X of which a copy is made for a whole Gram matrix
DOUBTFUL = 1e-20  # share of the mean square below which a variance may be rounding: the column itself decides
SAME_COLUMN = 1e-13  # share by which a squared correlation may be below 1
ONE_PASS = 1 << 22  # bytes of X from which on a second pass costs time
PREPARED = 1 << 27  # bytes that Gram columns of all folds may have together; more where X has more
KEPT, KEPT_APART = 8, 2  # points at which something is kept for the rows; where memory is short


#: Means and scales of columns, which of them are constant, and whether a mean is far larger than its scale.
View = tuple[Vector, Vector, NDArray[np.bool_], bool]


class Data:
    """A design, its targets, weights and offset, and the loss.

    ``whole``: all rows are here, in one piece; ``near``: some may be copied to whoever asks; ``facts``: what is told
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
    view: View | None = None  # what ``seen`` was told, of a view

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

    def __getstate__(self) -> dict[str, Any]:
        return {"design": self.design, "rows": self.rows, "loss": self.loss}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._begin()

    @lazy
    def gathered(self) -> Gathered:
        """The few columns that were asked for last."""
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
        return self if self._raw is None else self._raw

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
        return self

    def at(self, cols: Columns, coef: Vector, b: Any) -> Answer:
        """The loss, its gradient over all columns (p, or p x q), its derivative in b: one pass over X."""
        if self.outputs == 1:
            return Answer(*self.design.value_gradient(self.loss, self.rows, cols, coef, b))
        value, d1 = self.loss.first_order(self.rows.y, self._eta(cols, coef, b), self.rows.c)
        return Answer(value, self.design.rmatmat(d1), d1.sum(axis=0))

    def value(self, cols: Columns, coef: Vector, b: Any) -> float:
        """The loss alone, added up in twice the digits where that is affordable."""
        if self.outputs > 1:
            eta = self._eta(cols, coef, b)
        elif self.shape[0] * len(cols) <= (GATHERED if self.design.full else SPREAD_OUT) and not self.products_only:
            A, m, s = self.design.stored(cols)
            raw = coef / s
            eta = _core.exact_eta(np.asfortranarray(A), raw, b - float(m @ raw), self.rows.offset)
        else:
            eta = self._eta(cols, coef, b)
        return self.loss.first_order(self.rows.y, eta, self.rows.c)[0]

    def weighted_transpose(self, a: Vector) -> Vector:
        """X'(c a) for numbers a, one per row: the gradient at a kink."""
        return self.design.rmatmat((self.rows.c * a)[:, None])[:, 0]

    def column_problem(self, cols: Columns, ridge: Any, intercept: bool, lower: float = 0.0) -> LossOnColumns:
        """The loss as a function of the coefficients of these columns, with a ridge and perhaps an intercept."""
        block = self.gathered.for_refit(cols) if self.outputs == 1 else DenseBlock(self.gathered(cols).dense())
        return LossOnColumns(
            self.loss, ridge, intercept, lower, self.ends(), block, self.rows,
            lambda: Stored(*self.design.stored(cols)), outputs=self.outputs, room=self.room.columns,
        )  # fmt: skip

    def intercept_problem(self, cols: Columns, coef: Vector) -> LossOnColumns:
        """The loss as a function of the intercept alone, coefficients held."""
        rows = Rows(self.rows.y, self.rows.c, self._eta(cols, coef, 0.0))
        nothing = DenseBlock(np.empty((self.shape[0], 0), order="F"))
        ends, q = self.ends(), self.outputs
        return LossOnColumns(self.loss, 0.0, True, self.infimum(), ends, nothing, rows, outputs=q)

    def start(self) -> Any:
        """An intercept to begin with, one per output."""
        y, c, offset = self.rows.y, self.rows.c, self.rows.offset
        known = None if offset is None else self.loss.intercept(y, c, offset)
        return self.loss.start(y, c / self.weight) if known is None else known

    def constant_fit(self, b: float, intercept: bool) -> tuple[float, float]:
        """The best constant for the squared loss, from b on (not ``intercept``: b itself), and its value."""
        level = np.zeros(self.shape[0]) if self.rows.offset is None else self.rows.offset
        rest = self.rows.y - (level + b)
        if intercept:  # once more: the first mean is rounded at its own size
            b += float(self.rows.c @ rest) / self.weight
            rest = self.rows.y - (level + b)
        return b, 0.5 * float((self.rows.c * rest) @ rest)

    def infimum(self) -> float:
        """The weighted sum of every row's own infimum; -inf where that is not known."""
        return self._infimum

    @lazy
    def _infimum(self) -> float:
        return self.loss.infimum(self.rows.y, self.rows.c)

    def ends(self) -> tuple[float, float]:
        """The least and the largest target, where that matters: an infimum may lie at infinity."""
        return (-np.inf, np.inf) if self.loss.attained else self._ends

    @lazy
    def _ends(self) -> tuple[float, float]:
        return float(self.rows.y.min()), float(self.rows.y.max())

    def model(self, cols: Columns, coef: Vector, b: Any) -> "Model":
        """The Hessian at a point."""
        if self.loss.quadratic:
            return self.metric()

        def row_hessian() -> RowHessian:
            return self.loss.terms(self.rows.y, self._eta(cols, coef, b), self.rows.c)[2]

        key = "row_hessian", cols.tobytes(), coef.tobytes(), b if self.outputs == 1 else np.asarray(b).tobytes()
        return Model(self, self.recall(key, row_hessian))

    def recall(self, key: Any, compute: Callable[[], Any]) -> Any:
        """What was computed for the rows at one of the last few points: solvers ask about one again and again."""
        with self._lock:
            known = self._kept.pop(key, None)
        known = compute() if known is None else known
        with self._lock:
            self._kept[key] = known  # last in, last to go
            while len(self._kept) > (KEPT if self.room.gram is None else KEPT_APART):
                del self._kept[next(iter(self._kept))]
        return known

    def forget(self) -> None:
        """Let go of what is one number a row and can be computed again; of wide data also of one number a column."""
        with self._lock:
            self._kept.clear()
        self.rows.forget()
        if self.shape[1] > self.shape[0]:
            self._moments = self.raw._moments = None

    def moments(self) -> Moments:
        """Weighted means of all columns, and sums of squares about them."""
        if self._moments is None:
            self._moments = self._own_moments() if self.shared is None else self.shared.moments()
        return self._moments

    def _own_moments(self) -> Moments:
        return self._spread(self.rows.c)

    def first_pass(self, b: float) -> Answer:
        """``at`` of the model without columns; where X is dense and in memory its moments come from the same pass."""
        nothing = np.empty(0, np.int64)
        known = (
            not self.whole or self.outputs > 1 or self._moments is not None
        )  # rows in parts have no moments of their own
        small = self.loss.quadratic and self.nbytes < ONE_PASS  # whose Gram matrix has the moments
        stored = None if known or small or not self.full or self._raw is not None else self.in_memory()
        if stored is None:
            return self.at(nothing, self.no_coefficients, b)
        value, d = self.loss.first_order(self.rows.y, self.rows.shift(np.zeros(self.shape[0]), b), self.rows.c)
        mean, var, product = stored[0].first_pass(self.rows.c, d)
        self._moments = Moments(self.weight, mean, self.weight * var)
        slope = float(d.sum())
        return Answer(value, product + mean * slope, slope)

    def sketch(self) -> Matrix:
        """The fingerprint of the rows (:mod:`.sketch`): numbers, and how far each may be off by rounding."""
        return row_sketch(self.design, self.rows)

    def know(self, moments: Moments) -> None:
        """Take the moments from whoever knows them."""
        self._moments = moments

    def _spread(self, w: Vector) -> Moments:
        """Of all columns, in one pass over X."""
        total = float(w.sum())
        if not total > 0:  # a loss of straight pieces
            return Moments(0.0, np.zeros(self.shape[1]), np.zeros(self.shape[1]))
        mean, var = self.design.stats(w if total == 1.0 else w / total)
        return Moments(total, mean, total * var)

    def gram(self, cols: Columns, centred: bool) -> tuple[Matrix, Vector]:
        """Rows of the weighted Gram matrix, the means of ``cols`` taken off where ``centred``, and these means."""
        shared = centred and self.shared is not None
        return self.shared.known_or_own(cols, self._own_gram) if shared else self._own_gram(cols, centred)  # type: ignore[union-attr]

    def _own_gram(self, cols: Columns, centred: bool) -> tuple[Matrix, Vector]:
        if self.room.gram is not None or self._tall(cols):
            return self._gram_in_one_pass(cols, centred)
        if len(cols) == self.shape[1] and np.array_equal(cols, np.arange(len(cols))):
            return self._whole_gram(centred)
        many = 2 * len(cols) > self.shape[1]  # not worth keeping
        A = self.design.block(cols).dense() if many else self.gathered(cols).dense().copy(order="F")
        means = centre(A, self.rows.c) if centred else np.zeros(len(cols))
        A *= self.rows.c[:, None]
        return self.design.cross(A), means

    def _whole_gram(self, centred: bool) -> tuple[Matrix, Vector]:
        """``gram`` of all columns, from a copy of them."""
        design, p = self.design, self.shape[1]
        stored = design.core if isinstance(design, InMemory) else _core.Matrix(design.block(np.arange(p)).dense())
        return stored.centred_gram(self.rows.c) if centred else (stored.gram(self.rows.c), np.zeros(p))

    def _gram_in_one_pass(self, cols: Columns, centred: bool) -> tuple[Matrix, Vector]:
        """``gram`` of rows that are read, or so many that no copy is made: the means are known before."""
        _, mean, square = self.moments()
        H = self.gram_about(cols, mean if centred else np.zeros_like(mean))
        if centred:
            H[square[cols] <= 0] = 0.0
            H[:, square <= 0] = 0.0
        return H, mean[cols] if centred else np.zeros(len(cols))

    def gram_about(self, cols: Columns, shift: Vector) -> Matrix:
        """sum_i c_i (x_ij - shift_j)(x_il - shift_l), for j in ``cols`` and all l: adds up, and may be subtracted."""
        if self.room.gram is not None and len(cols) == self.shape[1]:  # rows that are read, in one go
            G = self.design.gram(self.rows.c, shift)
            return G if np.array_equal(cols, np.arange(len(cols))) else G[cols]
        if self._tall(cols):
            pieces = self.pieces(-(-self.shape[0] * self.shape[1] // PICKED))
            return total(piece().gram_about(cols, shift) for piece in pieces)
        A = self.gathered(cols).dense() - shift[cols]
        A = np.asfortranarray(A * self.rows.c[:, None])
        return self.design.cross(A, shift)

    def _tall(self, cols: Columns) -> bool:
        """Whether columns are so long that products with them are better had from some rows at a time."""
        return self.whole and is_dense(self) and self.shape[0] * len(cols) > PICKED and self.shape[0] > self.shape[1]

    def batch(self, cols: Columns, B: Vector) -> Batch:
        """Many models on a few columns, coefficients B models x columns x outputs: what they lose on these rows."""
        return Batch(self, cols, B)

    def products(self, cols: Columns, centred: bool) -> Matrix:
        """Weighted sums of products of a few columns, about their means where ``centred``; tall data block by block."""
        if centred and self.shared is not None and self.shared.cache.has(cols).all():
            return self.shared.gram(cols)[0][:, cols]
        if not self.whole or self.shape[0] * len(cols) <= PICKED or not is_dense(self):
            return self.metric().rows(cols, cols, centred)
        shift = self.moments().mean[cols] if centred else np.zeros(len(cols))
        G, left, c = np.zeros((len(cols), len(cols))), np.zeros(len(cols)), self.rows.c
        for rows, A in picked(self, cols):
            A = A - shift
            left += c[rows] @ A
            G += (A * c[rows][:, None]).T @ A
        return G - np.outer(left, left / self.weight) if centred else G

    def copies(self, one: int, other: int, centred: bool) -> bool:
        """Whether two columns are the same but for scale (and shift, where ``centred``), to all digits but the last."""
        H = self.products(np.array([one, other]), centred)
        return bool(0 < (1 - SAME_COLUMN) * H[0, 0] * H[1, 1] <= H[0, 1] ** 2)

    def metric(self) -> "Model":
        """The Hessian of the squared loss of one output, whatever the loss is."""
        return Model(self, DiagonalHessian(self.rows.c), 1)

    def form(self, m: Vector, s: Vector, level: Any) -> QuadraticForm:
        """The squared loss of columns (x - m) / s (s inf: zero) and targets y - o - level, as a quadratic form."""
        y = self.rows.y - level if self.rows.offset is None else self.rows.y - self.rows.offset - level
        c, (n, p) = self.rows.c, self.shape
        weighted = (c * y.T).T
        if n * p <= COPIED or not self.design.full:
            A = self.design.block(np.arange(self.shape[1])).dense()
            A -= m
            A /= s
            return QuadraticForm(DenseBlock(A).gram(c), A.T @ weighted, A.T @ c, c @ y)
        H, linear, edge = np.empty((p, p)), np.empty((p, *y.shape[1:])), np.empty(p)
        for low in range(0, p, LOOKED_AT):  # twice the flops, and no copy of X
            cols = np.arange(low, min(p, low + LOOKED_AT))
            A = np.asfortranarray((self.design.block(cols).dense() - m[cols]) / s[cols] * c[:, None])
            H[cols], linear[cols], edge[cols] = self.design.cross(A, m) / s, A.T @ y, A.sum(axis=0)
        return QuadraticForm(0.5 * (H + H.T), linear, edge, c @ y)

    def largest(self, cols: Columns) -> Vector:
        """The largest absolute number of columns as they are stored."""
        return self.design.largest(cols)

    def exact_moments(self, cols: Columns, origin: Vector | None) -> tuple[Vector, Moments]:
        """An origin (by default the first numbers), and about it the exact spread of columns that hardly vary."""
        used, first, moved, square = self.rows.c > 0, [], [], []
        c = self.rows.c[used]
        for low in range(0, len(cols), LOOKED_AT):
            A = self.design.stored(cols[low : low + LOOKED_AT])[0][used]
            first.append(A[0] if origin is None else origin[low : low + LOOKED_AT])
            rest = A - first[-1]  # exact, for numbers so close to each other
            moved.append(c @ rest / self.weight)
            square.append(c @ (rest - moved[-1]) ** 2)
        near = np.concatenate(first)
        return near, Moments(self.weight, near + np.concatenate(moved), np.concatenate(square))

    def origin(self) -> Vector | None:
        """Numbers near the columns' means where these are far larger than their spread, else 0; None: none is."""
        return self.design.origin()

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

    def prepare(self, cols: Columns) -> None:
        """Gram columns that several folds will need: where folds share rows, computed for all of them together."""
        if self.shared is not None:
            cache, room = self.shared.cache, self.room.gram
            room = max(PREPARED, self.nbytes) if room is None else room
            cache.columns(cols[: int(room // (8 * cache.count * self.shape[1]))])

    def slopes(self, points: Sequence[tuple[Columns, Vector, float]]) -> tuple[Matrix, Vector]:
        """The loss's gradient at several points (support, coefficients, intercept), a row each, in one pass over X.

        And the sum of c phi'' at each of them.
        """
        first, second = np.empty((self.shape[0], len(points)), order="F"), np.empty(len(points))
        for i, point in enumerate(points):
            _, first[:, i], W = self.loss.terms(self.rows.y, self._eta(*point), self.rows.c)
            second[i] = W.total()
        return cross(self.design, first), second

    def standardised(self, m: Vector, s: Vector, constant: NDArray[np.bool_], far: bool) -> "Data":
        """The same rows with columns (X - m) / s, those that are ``constant`` zero."""
        view = self._like(Standardized(self.design, m, s, constant, far), self.rows)
        view._raw = self.raw
        if self._moments is not None:  # which need not be looked for again
            view._moments = self._moments.standardised(m, s, constant)
        if self.shared is not None:
            view.shared = self.shared.standardised(m, s, constant)
        return view

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

    def _like(self, design: Design, rows: Rows, gathered: Gathered | None = None) -> "Data":
        """Data of the same kind."""
        return Data(design, rows, self.loss, gathered)

    def folds(self, labels: Columns) -> FoldCache:
        """Folds of these rows by a label each (-1: none), with ``train`` and ``held_out``; never a copy of X."""
        return FoldCache(self.raw, labels)

    def label_sums(self, labels: Columns, count: int) -> Any:
        """Sums over the rows of each of ``count`` labels."""
        return LabelSums(self, labels, count)

    def bound(self, loss: Loss) -> "Data":
        """The data for an objective, which takes its own view of them; they are made for one loss."""
        if type(loss) is not type(self.loss) or vars(loss) != vars(self.loss):
            raise ValueError(f"these data were made for loss {self.loss.name!r}, not for {loss.name!r}")
        return self.raw

    def shifted(self) -> "Data":
        """X less its ``origin`` where columns have one: an intercept takes up what is taken off."""
        origin = self.origin()
        if origin is None:
            return self
        return self.in_view((origin, np.ones(len(origin)), np.zeros(len(origin), bool), True))

    def standardized(self, centre: bool) -> "Data":
        """Columns of mean 0 and variance 1; not ``centre``: of mean square 1."""
        m, s, constant = self.scales(centre)
        return self.in_view((m, s, constant, bool((np.abs(m) > FAR * s).any())))

    def in_view(self, view: View | None) -> "Data":
        """The same rows in a view of columns, such as that of other rows (``view``); None: as they are."""
        if view is None:
            return self
        twin = self.standardised(*view)
        twin.view = view
        return twin

    @property
    def scale(self) -> Vector:
        """What a column of the user's X is multiplied with in this view; 0 where it is constant."""
        if self.view is None:
            return np.ones(self.shape[1])
        _, s, constant, _ = self.view
        return np.where(constant, 0.0, 1.0 / s)

    def scales(self, centre: bool) -> tuple[Vector, Vector, NDArray[np.bool_]]:
        """Means (not ``centre``: 0), spreads about them (1 where there is none), and which columns have none."""
        _, mean, var = self.moments()
        var = var / self.weight
        if not (np.isfinite(mean).all() and np.isfinite(var).all()):
            where = column_label(np.flatnonzero(~(np.isfinite(mean) & np.isfinite(var))), self.names)
            raise ValueError(f"X contains NaN or infinity (or values too large to square) in {where}")
        square = var + mean**2
        self.check_small(np.flatnonzero(square < SMALLEST**2))
        doubtful = np.flatnonzero((var > 0) & (var <= DOUBTFUL * square)) if centre else np.empty(0, np.int64)
        if len(doubtful):
            mean, var = mean.copy(), var.copy()
            weight, mean[doubtful], exact = self.exact_moments(doubtful, None)[1]
            var[doubtful] = exact / weight
        spread = var if centre else square
        m, s = mean if centre else np.zeros_like(mean), np.where(spread > 0, np.sqrt(spread), 1.0)
        return m, s, spread <= 0

    def check_small(self, cols: Columns) -> None:
        """Raise where one of the columns has numbers so small that their squares vanish."""
        if len(cols) == 0:
            return
        most = self.largest(cols)
        small = cols[(most > 0) & (most < SMALLEST)]
        if len(small):
            it = "it" if len(small) == 1 else "them"
            raise ValueError(
                f"X has values in {column_label(small, self.names)} that are too small to square; rescale {it}"
            )

    def in_units(self, cols: Columns, coef: Vector, b: Any) -> tuple[Vector, Any]:
        """Coefficients and intercept in the units of the user's X; ``from_units`` is the reverse."""
        return self.design.in_units(cols, coef, b)

    def from_units(self, cols: Columns, coef: Vector, b: Any) -> tuple[Vector, Any]:
        return self.design.from_units(cols, coef, b)

    @property
    def no_coefficients(self) -> Vector:
        """The coefficients of the model without columns."""
        return np.empty(0) if self.outputs == 1 else np.empty((0, self.outputs))

    def _eta(self, cols: Columns, coef: Vector, b: Any) -> Vector:
        return self.rows.shift(self._times(cols, coef), b)

    def _times(self, cols: Columns, v: Vector) -> Vector:
        """X[:, cols] v; of a sparse X by columns that are at hand, where all of X would have to be looked through."""
        if v.ndim == 2:
            return self.design.matmat(cols, v)
        block = None if self.design.full else self.gathered.cached(cols)
        return self.design.matmat(cols, v[:, None])[:, 0] if block is None else block.matvec(v)
