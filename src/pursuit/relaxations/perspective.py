"""Lower bounds for any GLM with a ridge: the perspective (k-support) relaxation, solved on the primal side.

    min  sum_i c_i phi(y_i, eta_i) + l2 K(x),     K = half the squared k-support norm of the units' norms

by accelerated proximal gradient with restarts (core/relaxation.hpp). At every iterate a_i = phi'(y_i, eta_i), made
exactly feasible, gives

    D(a) = - sum_i c_i phi*(a_i) + sum_i c_i a_i o_i - l2/2 (forced units + the k' largest others of ||z_g||^2),

z = -X'(c a)/l2, however far the iteration is from its end.

| cost of an iteration | flops | bytes |
|---|---|---|
| no intercept, or squared loss | 4 n p | X once |
| intercept | 4 n p | X twice, and a Newton iteration for the intercept |
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._utils.types import Array, Columns, Flags, Intercept, Vector
from ..designs import Rows
from ..losses import Loss
from ..objectives.dual import BALANCE_TOLERANCE, balanced
from ..refits import best_intercept

States = NDArray[np.uint8]

SMOOTHING_WIDTH = 0.02  # width over which a kink is rounded while minimising
FREE, IN, OUT = np.arange(3, dtype=np.uint8)  # what is known of a unit; the kernel's numbers


@dataclass(frozen=True)
class Units:
    """Unit u has the columns ends[u] .. ends[u + 1] of a block; ``k`` of the free ones may be chosen."""

    ends: Columns
    state: States
    k: int

    def squares(self, v: Vector) -> Vector:
        """The squared norm of every unit."""
        return np.asarray(np.add.reduceat(v * v, self.ends[:-1]))

    @property
    def free(self) -> Flags:
        return np.asarray(self.state == FREE)


@dataclass(frozen=True)
class Bound:
    """A valid lower bound, the z and dual variables it came from, the relaxation's x, indicators and value.

    ``part`` is the part that was minimised, with the curvature that was met: the start of the next minimisation.
    """

    lower: float
    z: Vector
    a: Vector
    x: Vector
    t: Vector
    relaxed: float
    part: "GLMPart"


@dataclass(frozen=True)
class GLMPart:
    """The smooth part: sum_i c_i phi over a block of columns (rows contiguous), the intercept minimised out."""

    A: Array
    rows: Rows
    loss: Loss
    l2: float
    intercept: bool
    unit: float  # the size of what is added up to a value
    L: float  # curvature: a guess that the minimiser corrects
    mean: Vector | None  # of the columns, for a squared loss with an intercept

    @classmethod
    def of(cls, A: Array, rows: Rows, loss: Loss, l2: float, intercept: bool, unit: float = 1.0) -> "GLMPart":
        """With the means and a first guess of the curvature from the block itself."""
        mean = np.asarray(rows.c.astype(A.dtype) @ A, dtype=np.float64) if loss.quadratic and intercept else None
        return cls(A, rows, loss, l2, intercept, unit, first_curvature(A, rows, loss), mean)

    def take(self, columns: Flags) -> "GLMPart":
        """The same over fewer columns."""
        mean = None if self.mean is None else self.mean[columns]
        return replace(self, A=np.ascontiguousarray(self.A[:, columns]), mean=mean)

    def relax(self, units: Units, x: Vector, target: float, effort: int, tolerance: float = 0.05) -> Bound:
        """Bounds from x on, until one reaches ``target``, no better one can come, or ``effort`` iterations are done."""
        arguments = (units.ends, units.state, units.k, self.l2, self.L, self.unit, x, target, tolerance, effort)
        if self.loss.code is None:
            found = _core.called_relaxation(np.asarray(self.A, dtype=np.float64), self._terms(), *arguments)
        else:
            rows, intercept = self._centred() if self.loss.quadratic else (self.rows, self.intercept)
            found = _core.relaxation(self.A, rows.samples(self.loss), SMOOTHING_WIDTH, intercept, self.mean, *arguments)
        lower, relaxed, x, z, t, _, w, L = found
        a = np.divide(w, self.rows.c, out=np.zeros_like(w), where=self.rows.c > 0)
        return Bound(lower, z, a, x, t, relaxed, replace(self, L=L))

    def _centred(self) -> tuple[Rows, bool]:
        """Squared loss: offset and intercept go into y (and the columns' means)."""
        y = self.rows.y if self.rows.offset is None else self.rows.y - self.rows.offset
        return Rows(y - self.rows.c @ y if self.intercept else y, self.rows.c), False

    def _terms(self) -> Callable[[Vector, Vector], tuple[float, float, Vector, float]]:
        """A loss without a kernel: its value at one linear predictor, and value, c a and -c phi*(a) at another."""
        rows, loss = self.rows, self.loss
        b: Intercept = 0.0

        def best(image: Vector) -> Vector:
            nonlocal b
            eta = rows.shift(image, 0.0)
            if self.intercept:
                b = best_intercept(loss, replace(rows, offset=eta), b)
            return eta + b

        def terms(image: Vector, ahead: Vector) -> tuple[float, float, Vector, float]:
            value = loss.terms(rows.y, best(image), rows.c)[0]
            eta = best(ahead)
            here = loss.terms(rows.y, eta, rows.c)[0]
            a = feasible(loss, rows, loss.d1(rows.y, eta), self.intercept)
            if a is None:
                return value, here, rows.c * loss.d1(rows.y, eta), -np.inf
            used = rows.c > 0
            low = -float(rows.c[used] @ loss.conjugate(rows.y, a)[used])
            if rows.offset is not None:
                low += float(rows.c @ (a * rows.offset))
            return value, here, rows.c * a, low

        return terms


def first_curvature(A: Array, rows: Rows, loss: Loss) -> float:
    """A guess that is too small rather than too large: the largest of a few columns."""
    few = np.asarray(A[:, :16], dtype=np.float64)
    curve = loss.smoothness if np.isfinite(loss.smoothness) else 1.0
    return max(curve * float((rows.c @ few**2).max(initial=0.0)), 1e-300)


def feasible(loss: Loss, rows: Rows, a: Vector, intercept: bool) -> Vector | None:
    """Dual variables inside their domain and, with an intercept, with sum_i c_i a_i = 0; None if that fails."""
    low, high = loss.dual_domain(rows.y)
    if not intercept:
        return np.clip(a, low, high)
    a = balanced(a, rows.c, low, high)
    return a if abs(float(rows.c @ a)) <= BALANCE_TOLERANCE * float(rows.c @ np.abs(a)) else None
