"""The Hessian X'WX of a loss at one point: W stays with the rows, answers are small or over the columns.

With q outputs the coordinates are the entries of the p x q matrix of coefficients, row by row: j q + r is column j,
output r. What is ``centred`` has the intercepts minimised out. The methods whose answers add up over parts of the rows
are ``squares_about_means`` (one spread for each output), ``products``, ``intercepts``, ``coupled`` and ``entries``.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from .._utils.types import Columns, Matrix, Vector
from ..designs import between, centre, cross
from ..designs.base import OPERATOR_COLUMNS_AT_A_TIME
from ..designs.blocks import MIN_VARIATION_SHARE
from ..engines import Ask, Map, check_time, over_parts, total
from ..losses import DiagonalHessian, RowHessian
from ..refits.columns import MAX_SPARSE_COPY
from .answers import Moments, merge_moments

if TYPE_CHECKING:
    from .rows import Data

FEW_COLUMNS = 64  # up to which second derivatives of several outputs are products of gathered columns


class Model:
    """X'WX at one point."""

    facts: ClassVar[tuple[str, ...]] = ("weight", "outputs")

    def __init__(self, data: "Data", W: RowHessian, outputs: int | None = None) -> None:
        self.data, self.W, self.outputs = data, W, data.outputs if outputs is None else outputs
        weight = W.total()
        self.weight: float = weight if isinstance(weight, float) else float(np.trace(weight))

    @property
    def w(self) -> Vector:
        """The diagonal of W."""
        return self.W.diagonal()

    def bounding(self) -> "Model":
        """The model that no Hessian exceeds."""
        c = self.data.rows.c
        w = self.data.loss.smoothness * (c if self.outputs == 1 else np.repeat(c[:, None], self.outputs, axis=1))
        return Model(self.data, DiagonalHessian(w), self.outputs)

    def curvature(self, cols: Columns, V: Vector, centred: bool) -> float:
        """V'HV for coefficients V of some columns."""
        if self.outputs == 1:
            return float(self.along(cols, V).moment(centred))
        bent, edge = self.products(cols, V)
        return max(bent - (float(edge @ _inverse(self.intercepts()) @ edge) if centred else 0.0), 0.0)

    def squares(self, cols: Columns, centred: bool) -> Vector:
        """H_jj of coordinates; with several outputs each output's own intercept is minimised out."""
        if self.outputs == 1:
            if len(cols) * 8 > self.data.shape[1] or not isinstance(self.W, DiagonalHessian):
                return self.diagonal(cols).moment(centred)
            return self.data.gathered(cols).curvatures(self.w, centred)
        return self._by_output(cols, centred)

    def _by_output(self, cols: Columns, centred: bool) -> Vector:
        out = np.empty(len(cols))
        for r, mine in enumerate(by_output(cols, self.outputs)):
            check_time()
            if len(mine):
                out[mine] = self.squares_about_means(r, cols[mine] // self.outputs).moment(centred)
        return out

    def rows(self, cols: Columns, others: Columns | None, centred: bool) -> Matrix:
        """H[cols][:, others] of coordinates (others: all)."""
        return self._rows_of_one(cols, others, centred) if self.outputs == 1 else self._rows(cols, others, centred)

    def _rows(self, cols: Columns, others: Columns | None, centred: bool) -> Matrix:
        others = np.arange(self.data.shape[1] * self.outputs) if others is None else others
        H = self.entries(cols, others)
        if centred:
            H -= self.coupled(cols) @ _inverse(self.intercepts()) @ self.coupled(others).T
        return H

    # one output

    def along(self, cols: Columns, v: Vector) -> Moments:
        """The spread of X v under W."""
        Xv = self.data._times(cols, v)
        if not isinstance(self.W, DiagonalHessian):
            return Moments(0.0, 0.0, float(Xv @ self.W.times(Xv)))
        mean = float(self.w @ Xv) / self.weight if self.weight > 0 else 0.0
        return Moments(self.weight, mean, float(self.w @ (Xv - mean) ** 2))

    def diagonal(self, cols: Columns) -> Moments:
        """The columns' spread under W."""
        if not isinstance(self.W, DiagonalHessian):
            squares = np.empty(len(cols))
            for low in range(0, len(cols), OPERATOR_COLUMNS_AT_A_TIME):
                A = self.data.design.block(cols[low : low + OPERATOR_COLUMNS_AT_A_TIME]).dense()
                squares[low : low + OPERATOR_COLUMNS_AT_A_TIME] = (A * self.W.times(A)).sum(axis=0)
            return Moments(0.0, np.zeros(len(cols)), squares)
        if len(cols) * 8 > self.data.shape[1]:  # one pass over X is cheaper than a gather of so many columns
            weight, mean, square = self.data.moments() if self.data.loss.quadratic else self.data._spread(self.w)
            return Moments(weight, mean[cols], square[cols])
        return self._spread(cols, self.w)

    def _spread(self, cols: Columns, w: Vector) -> Moments:
        weight, block = float(w.sum()), self.data.gathered(cols)
        mean = block.rmatvec(w) / (weight if weight > 0 else 1.0)
        return Moments(weight, mean, block.curvatures(w, True))

    def _rows_of_one(self, cols: Columns, others: Columns | None, centred: bool) -> Matrix:
        if others is not None and not self.data.design.full and isinstance(self.W, DiagonalHessian):
            large = self.data.shape[0] * max(len(cols), len(others)) > MAX_SPARSE_COPY
            if large or not self.data.loss.quadratic:  # whose model is exact, down to what centring leaves of a column
                return self._between(cols, others, centred)
        budget = self.data.room
        if budget.gram is not None and len(cols) > budget.columns and isinstance(self.W, DiagonalHessian):
            return self._rows_by_pieces(cols, others, centred)
        A = self._block(cols)
        if centred and isinstance(self.W, DiagonalHessian):
            centre(A, self.w)
        return self._cross(A, others)

    def _rows_by_pieces(self, cols: Columns, others: Columns | None, centred: bool) -> Matrix:
        """H[cols][:, others] where the budget does not allow a copy of ``cols``: some rows at a time are copied."""
        design, w = self.data.design, self.w
        (n, p), one = design.shape, np.zeros(design.shape[1])
        mean = design.rmatmat(w[:, None])[:, 0] / self.weight if centred and self.weight > 0 else one
        columns = np.arange(p) if others is None else others
        step = max(1, int(MAX_SPARSE_COPY) // (len(cols) + len(columns)))
        H = np.zeros((len(cols), len(columns)))
        for low in range(0, n, step):
            check_time()
            rows = np.arange(low, min(n, low + step))
            piece = design.take(rows)
            A = piece.block(cols).dense() - mean[cols]
            C = A if others is None and len(cols) == p else piece.block(columns).dense() - mean[columns]
            H += (A * w[rows, None]).T @ C
        return H

    def _between(self, cols: Columns, others: Columns, centred: bool) -> Matrix:
        """H[cols][:, others] for sparse columns, without a dense copy of either."""
        A, C = self.data.gathered(cols), self.data.gathered(others)
        H = between(A, self.w, C)
        return H - np.outer(A.rmatvec(self.w), C.rmatvec(self.w) / self.weight) if centred and self.weight > 0 else H

    def means(self, cols: Columns, origin: Vector) -> tuple[Vector, Vector]:
        """Weighted sums of columns less an origin, and the largest of these numbers."""
        A = self.data.gathered(cols).dense() - origin
        return self.w @ A, np.abs(A).max(axis=0, initial=0.0)

    def rows_about(self, cols: Columns, others: Columns | None, mean: Vector, size: Vector) -> Matrix:
        """``rows`` about means that are not these rows' own."""
        A = self._block(cols)
        A -= mean
        A[:, np.abs(A).max(axis=0, initial=0.0) <= MIN_VARIATION_SHARE * size] = 0.0
        return self._cross(A, others)

    def _block(self, cols: Columns) -> Matrix:
        return self.data.gathered(cols).dense().copy(order="F")

    def _cross(self, A: Matrix, others: Columns | None) -> Matrix:
        if isinstance(self.W, DiagonalHessian):
            A *= self.W.w[:, None]
        else:
            A = np.asfortranarray(self.W.times(A))
        return cross(self.data.design, A, others)

    # several outputs

    def products(self, cols: Columns, V: Matrix) -> tuple[float, Vector]:
        """V'HV, and its mixed derivative with the intercepts."""
        T = self.data.design.matmat(cols, V)
        bent = self.W.times(T)
        return float((T * bent).sum()), bent.sum(axis=0)

    def intercepts(self) -> Matrix:
        """Second derivatives in the intercepts."""
        return np.asarray(self.W.total())

    def squares_about_means(self, r: int, cols: Columns) -> Moments:
        """The spread of columns under the weights of output r."""
        w = self.W.entry(r, r)
        assert w is not None
        if len(cols) * 8 > self.data.shape[1]:
            weight, mean, square = self.data._spread(w)
            return Moments(weight, mean[cols], square[cols])
        return self._spread(cols, w)

    def entries(self, cols: Columns, others: Columns) -> Matrix:
        """H[cols][:, others], the intercepts held: (W X_cols)' X one output of ``others`` after the other."""
        q, H = self.outputs, np.zeros((len(cols), len(others)))
        features, place = np.unique(cols // q, return_inverse=True)
        A, mine, columns = self.data.gathered(features).dense(), by_output(cols, q), others // q
        few, at = np.unique(columns, return_inverse=True)
        B = self.data.gathered(few).dense() if 4 * len(few) <= self.data.shape[1] or len(few) <= FEW_COLUMNS else None
        for s, there in enumerate(by_output(others, q)):
            check_time()
            weights = [(here, self.W.entry(r, s)) for r, here in enumerate(mine) if len(here)]
            coupled = [(here, w) for here, w in weights if w is not None]
            if len(there) == 0 or not coupled:
                continue
            weighted = np.concatenate([A[:, place[here]] * w[:, None] for here, w in coupled], axis=1)
            if B is None:
                block = cross(self.data.design, np.asfortranarray(weighted), columns[there])
            else:
                block = weighted.T @ B[:, at[there]]
            H[np.ix_(np.concatenate([here for here, _ in coupled]), there)] = block
        return H

    def coupled(self, cols: Columns) -> Matrix:
        """Mixed second derivatives of coordinates and the q intercepts."""
        q, E = self.outputs, np.zeros((len(cols), self.outputs))
        features, place = np.unique(cols // q, return_inverse=True)
        few = len(features) <= max(q, self.data.shape[1] // 8)
        A = self.data.gathered(features).dense() if few else None
        for r, mine in enumerate(by_output(cols, q)):
            check_time()
            coupled = [(s, self.W.entry(r, s)) for s in range(q)] if len(mine) else []
            known = np.array([s for s, w in coupled if w is not None], dtype=np.int64)
            if len(known):
                w = np.column_stack([w for _, w in coupled if w is not None])
                times = self.data.design.rmatmat(np.ascontiguousarray(w))[features] if A is None else A.T @ w
                E[np.ix_(mine, known)] = times[place[mine]]
        return E


class PartsModel(Model):
    """X'WX at one point, from each part's own."""

    def __init__(self, parts: Sequence[Model], each: Map, moments: Callable[[], Moments] | None, columns: int) -> None:
        self.parts, self.each, self.moments, self.columns = parts, each, moments, columns
        self.weight, self.outputs = sum(part.weight for part in parts), parts[0].outputs

    def bounding(self) -> "PartsModel":
        return PartsModel(self.each(Ask("bounding"), self.parts), self.each, None, self.columns)

    rows_about, products, intercepts, entries, coupled = map(
        over_parts, ("rows_about", "products", "intercepts", "entries", "coupled")
    )

    def along(self, cols: Columns, v: Vector) -> Moments:
        return merge_moments(self.each(Ask("along", cols, v), self.parts))

    def squares(self, cols: Columns, centred: bool) -> Vector:
        return self.diagonal(cols).moment(centred) if self.outputs == 1 else self._by_output(cols, centred)

    def diagonal(self, cols: Columns) -> Moments:
        if self.moments is not None:  # which are those of the Hessian, and known
            weight, mean, square = self.moments()
            return Moments(weight, mean[cols], square[cols])
        return merge_moments(self.each(Ask("diagonal", cols), self.parts))

    def centres(self, cols: Columns) -> tuple[Vector, Vector]:
        """The columns' weighted means, twice since the first is rounded at its own size, and their largest numbers."""
        mean, size = np.zeros(len(cols)), np.zeros(len(cols))
        for _ in range(2):
            sums, most = self.means(cols, mean)
            size = np.maximum(size, most)
            mean = mean + sums / (self.weight if self.weight > 0 else 1.0)
        return mean, size

    def means(self, cols: Columns, origin: Vector) -> tuple[Vector, Vector]:
        answers = self.each(Ask("means", cols, origin), self.parts)
        return total(sums for sums, _ in answers), np.max([most for _, most in answers], axis=0)

    def _rows_of_one(self, cols: Columns, others: Columns | None, centred: bool) -> Matrix:
        mean, size = self.centres(cols) if centred else (np.zeros(len(cols)), np.zeros(len(cols)))
        return self.rows_about(cols, others, mean, size)

    def _rows(self, cols: Columns, others: Columns | None, centred: bool) -> Matrix:
        return super()._rows(cols, np.arange(self.columns * self.outputs) if others is None else others, centred)

    def squares_about_means(self, r: int, cols: Columns) -> Moments:
        return merge_moments(self.each(Ask("squares_about_means", r, cols), self.parts))


def _inverse(level: Matrix) -> Matrix:
    """Of second derivatives in the intercepts: zero where a common constant changes nothing."""
    return np.asarray(np.linalg.pinv(level, rcond=1e-10, hermitian=True), dtype=np.float64)


def by_output(cols: Columns, width: int) -> list[Columns]:
    """Positions of the coordinates of each output, in the order they are given in."""
    output = cols % width
    order = np.argsort(output, kind="stable")
    return np.split(order, np.searchsorted(output[order], np.arange(1, width)))
