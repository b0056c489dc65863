"""Blocks: the few columns of a refit, gathered once, or read by products with the design."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np

from .. import _core
from .._utils.lazy import lazy
from .._utils.types import Columns, Matrix, Vector
from ..losses import DiagonalHessian, Loss
from .rows import Compiled, Rows

if TYPE_CHECKING:
    from .base import Design

MIN_VARIATION_SHARE = 1e-14  # share of its size by which a column must vary, or that is rounding

NewtonSystem = tuple[float, Vector, Matrix | None]
Limits = tuple[float, float, float, float, float]  # floor, lower, converged, singular, seconds of ``_core.Matrix.fit``
Quick = tuple[Vector, float, bool]  # z, value, whether it is the minimiser


class Block(Protocol):
    """A few columns, in float64: gathered, or where they are ``products_only`` by products with the design only."""

    @property
    def width(self) -> int: ...
    @property
    def products_only(self) -> bool: ...
    def matvec(self, v: Vector) -> Vector: ...
    def rmatvec(self, d: Vector) -> Vector: ...
    def gram(self, w: Vector) -> Matrix: ...
    def hessian_product(self, w: Vector, v: Vector, a: float) -> tuple[Vector, float]:
        """A' d and the sum of d = w (A v + a): a product with a Hessian."""

    def curvatures(self, w: Vector, centred: bool) -> Vector:
        """Weighted sums of squares of the columns, of their deviations from the weighted mean if ``centred``."""

    def dense(self) -> Matrix: ...
    def newton(self, loss: Loss, rows: Rows, coef: Vector, b: float, hessian: bool) -> "NewtonSystem":
        """Value, gradient (columns, then b) and Hessian of the weighted mean loss on these columns."""

    def fit(self, loss: Loss, rows: Rows, l2: Vector, intercept: bool, z: Vector, limits: "Limits") -> "Quick | None":
        """A whole refit by the kernel from z = (v, b), as far as it goes; None where there is no such kernel."""


def hessian_product(block: Block, w: Vector, v: Vector, a: float) -> tuple[Vector, float]:
    """The same from the block's two products."""
    d = w * (block.matvec(v) + a)
    return block.rmatvec(d), float(d.sum())


def newton_by_parts(block: Block, loss: Loss, rows: Rows, coef: Vector, b: float, hessian: bool) -> NewtonSystem:
    """The Newton system from a loss without a kernel: NumPy derivatives, the block's own products."""
    eta = rows.shift(block.matvec(coef), b)
    value, d1 = loss.first_order(rows.y, eta, rows.c)
    gradient = np.append(block.rmatvec(d1), d1.sum())
    if not hessian:
        return value, gradient, None
    m, W = block.width, loss.row_hessian(rows.y, eta, rows.c)
    H = np.empty((m + 1, m + 1))
    if isinstance(W, DiagonalHessian):
        H[:m, :m], edge = block.gram(W.w), W.w
    else:
        A, edge = block.dense(), W.times(np.ones(len(eta)))
        H[:m, :m] = A.T @ W.times(A)
    H[m, :m] = H[:m, m] = block.rmatvec(edge)
    H[m, m] = edge.sum()
    return value, gradient, H


class StoredBlock(Compiled):
    """Gathered columns, which the kernels read by their ``core``."""

    core: _core.Matrix
    products_only: ClassVar[bool] = False

    def gram(self, w: Vector) -> Matrix:
        return self.core.gram(w)

    def hessian_product(self, w: Vector, v: Vector, a: float) -> tuple[Vector, float]:
        return hessian_product(self, w, v, a)  # type: ignore[arg-type]

    def newton(self, loss: Loss, rows: Rows, coef: Vector, b: float, hessian: bool) -> NewtonSystem:
        if loss.code is None:
            return newton_by_parts(self, loss, rows, coef, b, hessian)  # type: ignore[arg-type]
        return self.core.newton(rows.samples(loss), coef, float(b), hessian)

    def fit(self, loss: Loss, rows: Rows, l2: Vector, intercept: bool, z: Vector, limits: Limits) -> Quick | None:
        return None if loss.code is None else self.core.fit(rows.samples(loss), l2, intercept, z, *limits)


@dataclass(frozen=True)
class DenseBlock(StoredBlock):
    """Gathered columns as an F-order array."""

    A: Matrix

    @lazy
    def core(self) -> _core.Matrix:
        return _core.Matrix(self.A)

    @property
    def width(self) -> int:
        return self.A.shape[1]

    def matvec(self, v: Vector) -> Vector:
        return self.A @ v

    def rmatvec(self, d: Vector) -> Vector:
        return self.A.T @ d

    def curvatures(self, w: Vector, centred: bool) -> Vector:
        total = float(w.sum())
        A = self.A - w @ self.A / total if centred and total > 0 else self.A
        return np.asarray(np.einsum("i,ij,ij->j", w, A, A))

    def dense(self) -> Matrix:
        return self.A


@dataclass(frozen=True)
class ProductBlock:
    """Columns that stay where they are: one product with the design for each with them; what needs numbers gathers."""

    design: "Design"
    cols: Columns
    products_only: ClassVar[bool] = True

    @property
    def width(self) -> int:
        return len(self.cols)

    def matvec(self, v: Vector) -> Vector:
        return self.design.matmat(self.cols, v[:, None])[:, 0]

    def rmatvec(self, d: Vector) -> Vector:
        return self.weighted_transpose(d)[self.cols]

    def weighted_transpose(self, d: Vector) -> Vector:
        """The product with all columns, which costs the same."""
        return self.design.rmatmat(d[:, None])[:, 0]

    def hessian_product(self, w: Vector, v: Vector, a: float) -> tuple[Vector, float]:
        return hessian_product(self, w, v, a)

    def gram(self, w: Vector) -> Matrix:
        return self.design.block(self.cols).gram(w)

    def curvatures(self, w: Vector, centred: bool) -> Vector:
        return self.design.block(self.cols).curvatures(w, centred)

    def dense(self) -> Matrix:
        return self.design.block(self.cols).dense()

    def newton(self, loss: Loss, rows: Rows, coef: Vector, b: float, hessian: bool) -> NewtonSystem:
        return newton_by_parts(self, loss, rows, coef, b, hessian)

    def fit(self, loss: Loss, rows: Rows, l2: Vector, intercept: bool, z: Vector, limits: Limits) -> Quick | None:
        return None


def centre(A: Matrix, w: Vector) -> Vector:
    """Take their weighted means off columns, in place; returns the means. Constant columns become exactly zero.

    Twice, since the first mean is rounded at its own size.
    """
    total, size = max(float(w.sum()), 1e-300), np.abs(A).max(axis=0, initial=0.0)
    mean = w @ A / total
    A -= mean
    rest = w @ A / total
    A -= rest
    A[:, np.abs(A).max(axis=0, initial=0.0) <= MIN_VARIATION_SHARE * size] = 0.0
    return np.asarray(mean + rest)
