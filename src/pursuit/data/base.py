"""What may be asked of data: everything that depends on rows is a sum over rows.

| question | answer |
|---|---|
| ``at(cols, coef, b)`` | the loss, its gradient over all columns, its derivative in b: one pass over X |
| ``few(cols, ...)`` | the loss as a function of the coefficients of a few columns |
| ``model(cols, coef, b)`` | the Hessian at a point: c phi'' stays with the rows |
| ``moments()`` | weighted means and sums of squares of all columns, computed once |
| ``gram(cols)`` | rows of X'CX, and the means that were taken off |
| ``take``, ``weighted`` | some rows; the same rows with other weights, never a copy of X |

Weights of all rows sum to one. The ridge, the intercept and what is kept of the Gram matrix are the objective's.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .._names import Names, called
from ..designs.base import SMALLEST, Columns, Matrix, Rows, Vector
from ..losses import Loss
from ..refits import LossOnColumns

DOUBTFUL = 1e-20  # share of the mean square below which a variance may be rounding: the column itself decides
FAR = 1e3  # means beyond so many scales are taken off before columns are multiplied, not after


class Answer(NamedTuple):
    """The weighted loss, its gradient over all columns, its derivative in the intercept."""

    value: float
    gradient: Vector
    slope: float


class Spread(NamedTuple):
    """Of weighted numbers (one column each, or one in all): their weight, mean, and sum of squares about it."""

    weight: float
    mean: Any
    square: Any

    def about(self, origin: Any) -> Any:
        """The sum of squares about another number."""
        return self.square + self.weight * (self.mean - origin) ** 2

    def moment(self, centred: bool) -> Any:
        """The sum of squares about the mean, or about zero."""
        return self.square if centred else self.about(0.0)

    def without(self, part: "Spread", origin: Any) -> "Spread":
        """What is left when some of the numbers go; ``origin`` is near all means, so that no digits are lost."""
        weight = self.weight - part.weight
        mean = origin + (self.weight * (self.mean - origin) - part.weight * (part.mean - origin)) / weight
        square = self.about(origin) - part.about(origin) - weight * (mean - origin) ** 2
        size = np.maximum(self.about(origin), 1e-300)
        return Spread(weight, mean, np.where(square > ROUNDING * size, square, 0.0))


ROUNDING = 1e-14  # share of a sum of squares that a difference may leave of a constant column


class Form(NamedTuple):
    """Weighted sums of products of columns, of columns and targets, and of each with 1."""

    gram: Matrix
    pull: Vector
    edge: Vector
    target: float

    def centred(self) -> "Form":
        """About the means, which are next to nothing before: rounding is all that is taken off."""
        gram = self.gram - np.outer(self.edge, self.edge)
        return Form(gram, self.pull - self.edge * self.target, np.zeros_like(self.edge), 0.0)


def merged(spreads: Sequence[Spread]) -> Spread:
    """That of all numbers: sums of squares are about one common number before they are added."""
    weight = sum(s.weight for s in spreads)
    if not weight > 0:
        return Spread(0.0, spreads[0].mean, spreads[0].square)
    mean = sum((s.weight / weight) * s.mean for s in spreads)
    return Spread(weight, mean, sum(s.about(mean) for s in spreads))


class Model(Protocol):
    """The Hessian of the loss at one point, the intercept minimised out where ``centred``."""

    weight: float  # the sum of c phi''

    def bounding(self) -> "Model":
        """The model that no Hessian exceeds, for a loss whose phi'' is bounded."""

    def along(self, cols: Columns, v: Vector) -> Spread:
        """Of X[:, cols] v under c phi''."""

    def diagonal(self, cols: Columns) -> Spread:
        """Of the columns."""

    def rows(self, cols: Columns, others: Columns | None, centred: bool) -> Matrix:
        """H[cols][:, others] (others: all columns)."""

    def rough(self, cols: Columns, centred: bool) -> tuple[NDArray[np.float32], Spread] | None:
        """H[cols] in single precision and all columns' spread, or None where that saves nothing."""


class Data:
    """The questions; see the module. Subclasses: rows in this process, and parts of any kind."""

    shape: tuple[int, int]
    dtype: np.dtype
    nbytes: int
    loss: Loss
    names: Names | None
    lean: bool  # whether a column costs as much as a product with all of them
    weight: float  # the sum of the weights

    def at(self, cols: Columns, coef: Vector, b: float) -> Answer:
        raise NotImplementedError

    def value(self, cols: Columns, coef: Vector, b: float) -> float:
        """The loss alone, added up in twice the digits where that is affordable."""
        raise NotImplementedError

    def pull(self, a: Vector) -> Vector:
        """X'(c a) for numbers a, one per row: the gradient at a kink."""
        raise NotImplementedError

    def few(self, cols: Columns, ridge: Any, intercept: bool, lower: float) -> LossOnColumns:
        raise NotImplementedError

    def held(self, cols: Columns, coef: Vector) -> LossOnColumns:
        """The loss as a function of the intercept alone, coefficients held."""
        raise NotImplementedError

    def start(self) -> float:
        """An intercept to begin with."""
        raise NotImplementedError

    def infimum(self) -> float:
        """The weighted sum of every row's own infimum; -inf where that is not known."""
        raise NotImplementedError

    def ends(self) -> tuple[float, float]:
        """The least and the largest target."""
        raise NotImplementedError

    def model(self, cols: Columns, coef: Vector, b: float) -> Model:
        raise NotImplementedError

    def moments(self) -> Spread:
        raise NotImplementedError

    def gram(self, cols: Columns, centred: bool) -> tuple[Matrix, Vector]:
        """Rows of the weighted Gram matrix, the means of ``cols`` taken off where ``centred``, and these means."""
        raise NotImplementedError

    def form(self, m: Vector, s: Vector, level: float) -> "Form":
        """The squared loss of columns (x - m) / s (s inf: zero) and targets y - o - level, as a quadratic form."""
        raise NotImplementedError

    def largest(self, cols: Columns) -> Vector:
        """The largest absolute number of columns as they are stored."""
        raise NotImplementedError

    def closely(self, cols: Columns, origin: Vector | None) -> tuple[Vector, Spread]:
        """An origin (by default the first numbers), and about it the exact spread of columns that hardly vary."""
        raise NotImplementedError

    def origin(self) -> Vector | None:
        """Numbers near the columns' means where these are far larger than their spread, else 0; None: none is."""
        raise NotImplementedError

    def seen(self, m: Vector, s: Vector, constant: NDArray[np.bool_], far: bool) -> "Data":
        """The same rows with columns (X - m) / s, those that are ``constant`` zero."""
        raise NotImplementedError

    def take(self, rows: Columns, scale: float) -> "Data":
        """Some rows, with ``scale`` times their weight."""
        raise NotImplementedError

    def weighted(self, c: Vector) -> "Data":
        """The same rows with other weights (which sum to one)."""
        raise NotImplementedError

    def labelled(self, labels: Columns) -> Any:
        """The same rows told apart by a label each (-1: none), with ``leave_out``; never a copy of X."""
        raise NotImplementedError

    def bound(self, loss: Loss) -> "Data":
        """Data are made for one loss."""
        if loss != self.loss and type(loss) is not type(self.loss):
            raise ValueError(f"these data were made for loss {self.loss.name!r}, not for {loss.name!r}")
        return self

    def copied(self) -> tuple[Matrix, Rows]:
        """All columns in a dense copy, and what belongs to the rows: for data that are small."""
        raise NotImplementedError

    @property
    def local(self) -> Any:
        """The rows themselves, where they are in this process and in one piece; a sentence elsewhere."""
        raise NotImplementedError

    def in_units(self, cols: Columns, coef: Vector, b: float) -> tuple[Vector, float]:
        """Coefficients and intercept in the units of the user's X."""
        raise NotImplementedError

    def from_units(self, cols: Columns, coef: Vector, b: float) -> tuple[Vector, float]:
        """The reverse of ``in_units``."""
        raise NotImplementedError

    def shifted(self) -> "Data":
        """X less its ``origin`` where columns have one: an intercept takes up what is taken off."""
        origin = self.origin()
        if origin is None:
            return self
        return self.seen(origin, np.ones(len(origin)), np.zeros(len(origin), bool), True)

    def standardized(self, centre: bool) -> "Data":
        """Columns of mean 0 and variance 1; not ``centre``: of mean square 1."""
        m, s, constant = self.scales(centre)
        return self.seen(m, s, constant, bool((np.abs(m) > FAR * s).any()))

    def scales(self, centre: bool) -> tuple[Vector, Vector, NDArray[np.bool_]]:
        """Means (not ``centre``: 0), spreads about them (1 where there is none), and which columns have none."""
        _, mean, var = self.moments()
        var = var / self.weight
        if not (np.isfinite(mean).all() and np.isfinite(var).all()):
            where = called(np.flatnonzero(~(np.isfinite(mean) & np.isfinite(var))), self.names)
            raise ValueError(f"X contains NaN or infinity (or values too large to square) in {where}")
        square = var + mean**2
        self.check_small(np.flatnonzero(square < SMALLEST**2))
        doubtful = np.flatnonzero((var > 0) & (var <= DOUBTFUL * square)) if centre else np.empty(0, np.int64)
        if len(doubtful):
            mean, var = mean.copy(), var.copy()
            weight, mean[doubtful], exact = self.closely(doubtful, None)[1]
            var[doubtful] = exact / weight
        spread = var if centre else square
        m, s = mean if centre else np.zeros_like(mean), np.where(spread > 0, np.sqrt(spread), 1.0)
        return m, s, spread <= 0

    def check_small(self, cols: Columns) -> None:
        """Raise where one of the columns has numbers so small that their squares vanish."""
        most = self.largest(cols)
        small = cols[(most > 0) & (most < SMALLEST)]
        if len(small):
            it = "it" if len(small) == 1 else "them"
            raise ValueError(f"X has values in {called(small, self.names)} that are too small to square; rescale {it}")
