"""A view of X with columns (X_j - m_j) / s_j: nothing is stored but m and s.

    eta = X (v/s) + b - m.(v/s)      gradient in v = (X'd - m sum d) / s

With an intercept the columns have weighted mean 0 and variance 1; without one they keep their means and get mean
square 1. A constant column has nothing to standardise: it keeps its scale and, centred, becomes exactly zero.

Means far larger than the spread (timestamps, prices, identifiers) would take the digits of every product: there m is
taken off X before it is multiplied, not after (``far``).
"""

import copy
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from .._utils.types import Columns, Intercept, Matrix, Vector
from ..losses.base import Loss
from .base import Design
from .blocks import Block, DenseBlock, Limits, NewtonSystem, Quick
from .rows import Rows
from .sparse import SparseBlock

MIN_SINGLE_SCALE = 1e-15  # scales down to this one, and up to its inverse, are left to single precision
MAX_MEAN_TO_SCALE = 1e3  # means beyond so many scales are taken off before columns are multiplied, not after
COLUMNS_AT_A_TIME = 1 << 13  # columns that are standardised at a time, so that they stay in the processor's cache


@dataclass(frozen=True)
class StandardizedBlock:
    """The view over a sparse block: centring by algebra, so that it stays sparse."""

    base: Block
    m: Vector
    s: Vector
    products_only: ClassVar[bool] = False

    @property
    def width(self) -> int:
        return self.base.width

    def matvec(self, v: Vector) -> Vector:
        u = v / self.s
        return self.base.matvec(u) - self.m @ u

    def rmatvec(self, d: Vector) -> Vector:
        return (self.base.rmatvec(d) - self.m * d.sum()) / self.s

    def hessian_product(self, w: Vector, v: Vector, a: float) -> tuple[Vector, float]:
        u = v / self.s
        product, total = self.base.hessian_product(w, u, a - float(self.m @ u))
        return (product - self.m * total) / self.s, total

    def gram(self, w: Vector) -> Matrix:
        return self._centre(self.base.gram(w), self.base.rmatvec(w), float(w.sum()))

    def curvatures(self, w: Vector, centred: bool) -> Vector:
        total = float(w.sum())
        own = self.base.curvatures(w, total > 0)
        if not centred and total > 0:  # about the view's own centre
            own = own + total * (self.base.rmatvec(w) / total - self.m) ** 2
        return own / self.s**2

    def dense(self) -> Matrix:
        return np.asfortranarray((self.base.dense() - self.m) / self.s)

    def newton(self, loss: Loss, rows: Rows, coef: Vector, b: float, hessian: bool) -> NewtonSystem:
        u = coef / self.s
        value, g, H = self.base.newton(loss, rows, u, b - float(self.m @ u), hessian)
        g[:-1] = (g[:-1] - self.m * g[-1]) / self.s
        if H is not None:
            edge, total = H[-1, :-1].copy(), float(H[-1, -1])
            H[:-1, :-1] = self._centre(H[:-1, :-1], edge, total)
            H[-1, :-1] = H[:-1, -1] = (edge - self.m * total) / self.s
        return value, g, H

    def fit(self, loss: Loss, rows: Rows, l2: Vector, intercept: bool, z: Vector, limits: Limits) -> Quick | None:
        """On the columns as they are stored: what is taken off them goes into the intercept, s into the ridge."""
        if np.isinf(self.s).any() or (self.m.any() and not intercept):
            return None
        u = z[:-1] / self.s
        found = self.base.fit(loss, rows, l2 * self.s**2, intercept, np.append(u, z[-1] - self.m @ u), limits)
        if found is None:
            return None
        u, b = found[0][:-1], found[0][-1]
        return np.append(self.s * u, b + self.m @ u), found[1], found[2]

    def _centre(self, G: Matrix, edge: Vector, total: float) -> Matrix:
        cross = np.outer(self.m, edge)
        return np.asarray((G - cross - cross.T + total * np.outer(self.m, self.m)) / np.outer(self.s, self.s))


def between(A: Block, w: Vector, C: Block) -> Matrix:
    """A' diag(w) C for the columns of two blocks, those of sparse ones never made dense."""
    if isinstance(A, StandardizedBlock) and isinstance(C, StandardizedBlock):
        H, total = between(A.base, w, C.base), float(w.sum())
        H -= np.outer(A.m, C.base.rmatvec(w) - total * C.m)
        H -= np.outer(A.base.rmatvec(w), C.m)
        H /= A.s[:, None]
        H /= C.s
        return np.asarray(H)
    if isinstance(A, SparseBlock) and isinstance(C, SparseBlock):
        return A.between(w, C)
    out, one = np.empty((A.width, C.width)), np.zeros(C.width)
    for j in range(C.width):
        one[j - 1], one[j] = 0.0, 1.0
        out[:, j] = A.rmatvec(w * C.matvec(one))
    return out


class Standardized(Design):
    """A lazy standardised view over any design."""

    def __init__(self, base: Design, m: Vector, s: Vector, constant: NDArray[np.bool_], far: bool) -> None:
        self.base, self.m, self.s, self.constant, self.far = base, m, s, constant, far and base.full
        self.shape, self.dtype, self.nbytes, self.full = base.shape, base.dtype, base.nbytes, base.full
        self.products_only, self.names, self.room = base.products_only, base.names, base.room

    def matmat(self, cols: Columns, coef: Matrix) -> Matrix:
        if self.far:
            return np.asarray(self.block(cols).dense() @ coef)
        u = self._shrink(cols, coef)
        return np.asarray(self.base.matmat(cols, u) - self.m[cols] @ u)

    def rmatmat(self, d: Matrix) -> Matrix:
        if self.far:
            return np.ascontiguousarray(self.cross(np.asfortranarray(d)).T)
        out = (self.base.rmatmat(d) - np.outer(self.m, d.sum(axis=0))) / self.s[:, None]
        out[self.constant] = 0.0
        return np.asarray(out)

    def block(self, cols: Columns) -> Block:
        base, m, s = self.base.block(cols), self.m[cols], self.s[cols]
        if isinstance(base, DenseBlock):  # its array is a fresh copy
            self._standardise(base.A, cols)
            return base
        return StandardizedBlock(base, m, np.where(self.constant[cols], np.inf, s))

    def narrow(self, cols: Columns, out: NDArray[np.floating]) -> None:
        m, s = np.abs(self.m[cols]), self.s[cols]
        if out.dtype == np.float64 or (
            not self.far and ((m <= MAX_MEAN_TO_SCALE * s) & (s > MIN_SINGLE_SCALE) & (s < 1 / MIN_SINGLE_SCALE)).all()
        ):
            self.base.narrow(cols, out)
            self._standardise(out, cols)
        else:  # what single precision cannot hold, it can once it is standardised
            super().narrow(cols, out)

    def _standardise(self, A: NDArray[np.floating], cols: Columns) -> None:
        """The columns' view of their raw numbers, in place and in their precision."""
        if self.m.any():
            A -= self.m[cols].astype(A.dtype)
        A /= self.s[cols].astype(A.dtype)
        A[:, self.constant[cols]] = 0.0

    def stored(self, cols: Columns) -> tuple[Matrix, Vector, Vector]:
        A, m, s = self.base.stored(cols)
        return A, m + s * self.m[cols], np.where(self.constant[cols], np.inf, s * self.s[cols])

    def largest(self, cols: Columns) -> Vector:
        return self.base.largest(cols)

    def cross(self, w: Matrix, shift: Vector | None = None) -> Matrix:
        early = self.far or shift is not None
        m = self.m if shift is None else self.m + self.s * shift
        out, total = self.base.cross(w, m if early else None), w.sum(axis=0)
        for low in range(0, out.shape[1], COLUMNS_AT_A_TIME):
            some = slice(low, low + COLUMNS_AT_A_TIME)
            if not early:
                out[:, some] -= np.outer(total, m[some])
            out[:, some] /= self.s[some]
            out[:, some][:, self.constant[some]] = 0.0
        return out

    def gram(self, c: Vector, shift: Vector) -> Matrix:
        out = self.base.gram(c, self.m + self.s * shift)
        out /= np.outer(self.s, self.s)
        out[self.constant] = 0.0
        out[:, self.constant] = 0.0
        return out

    def _moments(self, mean: Vector, var: Vector) -> tuple[Vector, Vector]:
        return np.where(self.constant, 0.0, (mean - self.m) / self.s), np.where(self.constant, 0.0, var / self.s**2)

    def stats(self, c: Vector) -> tuple[Vector, Vector]:
        return self._moments(*self.base.stats(c))

    def take(self, rows: Columns) -> "Standardized":
        few = copy.copy(self)
        few.base, few.shape = self.base.take(rows), (len(rows), self.shape[1])
        return few

    @property
    def sweeps(self) -> bool:
        return self.base.sweeps

    @property
    def scale(self) -> Vector:
        return np.where(self.constant, 0.0, 1.0 / self.s)

    def sweep(
        self,
        loss: Loss,
        rows: Rows,
        order: Columns,
        gain: Vector,
        cols: Columns,
        pairs: bool,
        damp: float,
        a: Vector,
        v: Vector,
    ) -> None:
        self.base.sweep(loss, rows, order, gain, cols, pairs, damp, a, v)

    def value_gradient(
        self, loss: Loss, rows: Rows, cols: Columns, coef: Vector, b: Intercept
    ) -> tuple[float, Vector, Intercept]:
        if self.far:
            value, d1 = loss.first_order(rows.y, rows.shift(self.block(cols).matvec(coef), b), rows.c)
            return value, self.cross(d1[:, None])[0], float(d1.sum())
        u = self._shrink(cols, coef)
        value, g, gb = self.base.value_gradient(loss, rows, cols, u, b - float(self.m[cols] @ u))
        g -= self.m * gb
        g /= self.s
        g[self.constant] = 0.0
        return value, g, gb

    def in_units(self, cols: Columns, coef: Vector, b: Intercept) -> tuple[Vector, Intercept]:
        u = self._shrink(cols, coef)
        shift = self.m[cols] @ u
        return u, b - (float(shift) if coef.ndim == 1 else shift)

    def from_units(self, cols: Columns, coef: Vector, b: Intercept) -> tuple[Vector, Intercept]:
        shift, s = self.m[cols] @ coef, self.s[cols]
        return (coef * s, b + float(shift)) if coef.ndim == 1 else (coef * s[:, None], b + shift)

    def _shrink(self, cols: Columns, coef: Matrix) -> Matrix:
        scale = np.where(self.constant[cols], np.inf, self.s[cols])
        return coef / (scale if coef.ndim == 1 else scale[:, None])
