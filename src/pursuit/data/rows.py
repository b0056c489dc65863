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

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import _core
from .._utils.lazy import lazy
from .._utils.types import Columns, Intercept, Matrix, Ridge, Vector
from ..designs import DenseBlock, Design, Rows, cross
from ..losses import DiagonalHessian, RowHessian
from ..refits import LossOnColumns, Stored
from ..refits.columns import MAX_DENSE_COPY, MAX_SPARSE_COPY
from .answers import Answer, Moments
from .batch import PICKED_ENTRIES_AT_A_TIME, Batch, is_dense, picked
from .folds import LabelSums
from .gathered import Gathered
from .hessian import Model
from .sketch import row_sketch
from .views import ColumnViews

EQUAL_CORRELATION_GAP = 1e-13  # share by which a squared correlation may be below 1
MIN_ONE_PASS_BYTES = 1 << 22  # bytes of X from which on a second pass costs time


class Data(ColumnViews):
    """The loss of rows in one piece at sparse coefficients, its Hessian, and refit problems."""

    def at(self, cols: Columns, coef: Vector, b: Intercept) -> Answer:
        """The loss, its gradient over all columns (p, or p x q), its derivative in b: one pass over X."""
        if self.outputs == 1:
            return Answer(*self.design.value_gradient(self.loss, self.rows, cols, coef, b))
        value, d1 = self.loss.first_order(self.rows.y, self._eta(cols, coef, b), self.rows.c)
        return Answer(value, self.design.rmatmat(d1), d1.sum(axis=0))

    def value(self, cols: Columns, coef: Vector, b: Intercept) -> float:
        """The loss alone, added up in twice the digits where that is affordable."""
        if self.outputs > 1:
            eta = self._eta(cols, coef, b)
        elif (
            self.shape[0] * len(cols) <= (MAX_DENSE_COPY if self.design.full else MAX_SPARSE_COPY)
            and not self.products_only
        ):
            A, m, s = self.design.stored(cols)
            raw = coef / s
            eta = _core.exact_eta(np.asfortranarray(A), raw, float(b) - float(m @ raw), self.rows.offset)
        else:
            eta = self._eta(cols, coef, b)
        return self.loss.first_order(self.rows.y, eta, self.rows.c)[0]

    def weighted_transpose(self, a: Vector) -> Vector:
        """X'(c a) for numbers a, one per row: the gradient at a kink."""
        return self.design.rmatmat((self.rows.c * a)[:, None])[:, 0]

    def column_problem(self, cols: Columns, ridge: Ridge, intercept: bool, lower: float = 0.0) -> LossOnColumns:
        """The loss as a function of the coefficients of these columns, with a ridge and perhaps an intercept."""
        block = self.gathered.for_refit(cols) if self.outputs == 1 else DenseBlock(self.gathered(cols).dense())
        return LossOnColumns(
            self.loss,
            ridge,
            intercept,
            lower,
            self.ends(),
            block,
            self.rows,
            lambda: Stored(*self.design.stored(cols)),
            outputs=self.outputs,
            room=self.room.columns,
        )

    def intercept_problem(self, cols: Columns, coef: Vector) -> LossOnColumns:
        """The loss as a function of the intercept alone, coefficients held."""
        rows = Rows(self.rows.y, self.rows.c, self._eta(cols, coef, 0.0))
        nothing = DenseBlock(np.empty((self.shape[0], 0), order="F"))
        ends, q = self.ends(), self.outputs
        return LossOnColumns(self.loss, 0.0, True, self.infimum(), ends, nothing, rows, outputs=q)

    def start(self) -> Intercept:
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

    def model(self, cols: Columns, coef: Vector, b: Intercept) -> "Model":
        """The Hessian at a point."""
        if self.loss.quadratic:
            return self.metric()

        def row_hessian() -> RowHessian:
            return self.loss.terms(self.rows.y, self._eta(cols, coef, b), self.rows.c)[2]

        key = "row_hessian", cols.tobytes(), coef.tobytes(), b if self.outputs == 1 else np.asarray(b).tobytes()
        return Model(self, self.recall(key, row_hessian))

    def first_pass(self, b: Intercept) -> Answer:
        """``at`` of the model without columns; where X is dense and in memory its moments come from the same pass."""
        nothing = np.empty(0, np.int64)
        known = (
            not self.whole or self.outputs > 1 or self._moments is not None
        )  # rows in parts have no moments of their own
        small = self.loss.quadratic and self.nbytes < MIN_ONE_PASS_BYTES  # whose Gram matrix has the moments
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

    def batch(self, cols: Columns, B: Vector) -> Batch:
        """Many models on a few columns, coefficients B models x columns x outputs: what they lose on these rows."""
        return Batch(self, cols, B)

    def products(self, cols: Columns, centred: bool) -> Matrix:
        """Weighted sums of products of a few columns, about their means where ``centred``; tall data block by block."""
        if centred and self.shared is not None and self.shared.cache.has(cols).all():
            return self.shared.gram(cols)[0][:, cols]
        if not self.whole or self.shape[0] * len(cols) <= PICKED_ENTRIES_AT_A_TIME or not is_dense(self):
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
        return bool(0 < (1 - EQUAL_CORRELATION_GAP) * H[0, 0] * H[1, 1] <= H[0, 1] ** 2)

    def metric(self) -> "Model":
        """The Hessian of the squared loss of one output, whatever the loss is."""
        return Model(self, DiagonalHessian(self.rows.c), 1)

    def slopes(self, points: Sequence[tuple[Columns, Vector, float]]) -> tuple[Matrix, Vector]:
        """The loss's gradient at several points (support, coefficients, intercept), a row each, in one pass over X.

        And the sum of c phi'' at each of them.
        """
        first, second = np.empty((self.shape[0], len(points)), order="F"), np.empty(len(points))
        for i, point in enumerate(points):
            _, first[:, i], W = self.loss.terms(self.rows.y, self._eta(*point), self.rows.c)
            second[i] = W.total()
        return cross(self.design, first), second

    def _like(self, design: Design, rows: Rows, gathered: Gathered | None = None) -> "Data":
        """Data of the same kind."""
        return Data(design, rows, self.loss, gathered)

    def label_sums(self, labels: Columns, count: int) -> Any:
        """Sums over the rows of each of ``count`` labels."""
        return LabelSums(self, labels, count)
