"""Lower bounds for any GLM with a ridge: the perspective (k-support) relaxation, solved on the primal side.

    min  sum_i c_i phi(y_i, eta_i) + l2 K(x),     K = half the squared k-support norm of the units' norms

by accelerated proximal gradient with restarts. At every iterate a_i = phi'(y_i, eta_i), made exactly feasible, gives

    D(a) = - sum_i c_i phi*(a_i) + sum_i c_i a_i o_i - l2/2 (forced units + the k' largest others of ||z_g||^2),

z = -X'(c a)/l2, however far the iteration is from its end. The prox acts on unit norms (``_core.ksupport_prox``).
"""

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..designs import DenseBlock, Rows
from ..losses import Loss, SmoothedHinge
from ..objectives.dual import BALANCED, balanced
from ..objectives.refits import Problem, refit

Vector = NDArray[np.float64]
Columns = NDArray[np.int64]

ROUNDED = 0.02  # width over which a kink is rounded while walking


@dataclass(frozen=True)
class Units:
    """Which unit (0, 1, ...) each alive column belongs to, and which units are forced in."""

    of: Columns
    forced: NDArray[np.bool_]
    k: int  # budget that is left for the units that are not forced

    def norms(self, v: Vector) -> Vector:
        return np.sqrt(np.bincount(self.of, weights=v * v, minlength=len(self.forced)))

    def charge(self, z: Vector) -> float:
        """The sum of squares that the best sparse response to z takes."""
        square = np.bincount(self.of, weights=z * z, minlength=len(self.forced))
        free = square[~self.forced]
        if 0 < self.k < len(free):
            free = np.partition(free, len(free) - self.k)[len(free) - self.k :]
        return float(square[self.forced].sum() + (free.sum() if self.k > 0 else 0.0))

    def prox(self, v: Vector, g: float) -> tuple[Vector, Vector, float]:
        """Prox of g K at v, the units' indicators t, and K at the result."""
        norm = self.norms(v)
        t = np.ones(len(norm))
        free = ~self.forced
        _, t[free], _ = _core.ksupport_prox(norm[free], self.k, g)
        shrink = t / (t + g)
        x = v * shrink[self.of]
        held = (norm * shrink) ** 2
        K = 0.5 * float((held[t > 0] / t[t > 0]).sum())
        return x, t, K


@dataclass(frozen=True)
class Bound:
    """A valid lower bound, the z that it came from, the relaxation's x and indicators, and the relaxation's value."""

    lower: float
    z: Vector
    x: Vector
    t: Vector
    relaxed: float


class GLMPart:
    """The smooth part: sum_i c_i phi over a block of columns, the intercept minimised out; mu is l2."""

    def __init__(self, A: Vector, rows: Rows, loss: Loss, l2: float, intercept: bool) -> None:
        self.A, self.rows, self.loss, self.mu, self.intercept = A, rows, loss, l2, intercept
        # below a kink's rounding lie the same dual variables: they are feasible for both
        self.walked = loss if loss.smooth else SmoothedHinge(ROUNDED)
        self.b = 0.0
        curve = self.walked.smoothness if np.isfinite(self.walked.smoothness) else 1.0
        self.L = max(curve * _top_eigenvalue(A, rows.c, intercept), 1e-12)

    def restrict(self, columns: NDArray[np.bool_]) -> "GLMPart":
        """The same over fewer columns; the curvature bound stays one."""
        fewer = copy.copy(self)
        fewer.A = np.asfortranarray(self.A[:, columns])
        return fewer

    def eta(self, x: Vector) -> Vector:
        """The linear predictor with the best intercept."""
        used = np.flatnonzero(x)
        eta = self.rows.shift(self.A[:, used] @ x[used], 0.0)
        if self.intercept:
            self.b = _intercept(eta, self.rows, self.walked, self.b)
            eta = eta + self.b
        return eta

    def dual(self, x: Vector) -> Vector | None:
        """Feasible dual variables at x."""
        return feasible(self.loss, self.rows, self.walked.d1(self.rows.y, self.eta(x)), self.intercept)

    def evaluate(self, x: Vector) -> tuple[float, Vector, Callable[[Units], tuple[float, Vector]]]:
        """Value and gradient at x, and a function from units to (lower bound, z)."""
        rows, loss = self.rows, self.loss
        eta = self.eta(x)
        value, weighted, _ = self.walked.terms(rows.y, eta, rows.c)
        gradient = self.A.T @ weighted

        def bound(units: Units) -> tuple[float, Vector]:
            a = feasible(loss, rows, self.walked.d1(rows.y, eta), self.intercept)
            if a is None:
                return -np.inf, -gradient / self.mu
            z = -(self.A.T @ (rows.c * a)) / self.mu
            conjugate = loss.conjugate(rows.y, a)
            used = rows.c > 0
            low = -float(rows.c[used] @ conjugate[used])
            if rows.offset is not None:
                low += float(rows.c @ (a * rows.offset))
            return low - 0.5 * self.mu * units.charge(z), z

        return value, gradient, bound


def relax(smooth: GLMPart, units: Units, x: Vector, target: float, effort: int, tolerance: float = 0.05) -> Bound:
    """Bounds from x on, until one reaches ``target``, no better one can come, or ``effort`` iterations are done."""
    L, mu = smooth.L, smooth.mu
    value, gradient, bound = smooth.evaluate(x)
    lower, z = bound(units)
    best = Bound(lower, z, x, np.ones(len(units.forced)), np.inf)
    y, y_value, y_gradient, momentum = x, value, gradient, 1.0
    for _ in range(effort):
        if best.lower >= target:
            break
        while True:  # backtrack where the curvature was underestimated
            fresh, t, K = units.prox(y - y_gradient / L, mu / L)
            move = fresh - y
            value, gradient, bound = smooth.evaluate(fresh)
            model = y_value + float(y_gradient @ move) + 0.5 * L * float(move @ move)
            if value <= model + 1e-12 * (1 + abs(value)) or L > 1e12:
                break
            L *= 2
        lower, z = bound(units)
        relaxed = min(best.relaxed, value + mu * K)
        best = (
            Bound(lower, z, fresh, t, relaxed) if lower > best.lower else replace(best, x=fresh, t=t, relaxed=relaxed)
        )
        if best.relaxed - best.lower <= tolerance * abs(target - best.lower):
            break
        if float((y - fresh) @ (fresh - x)) > 0:
            momentum = 1.0
        ahead = 0.5 * (1 + np.sqrt(1 + 4 * momentum**2))
        beta, momentum = (momentum - 1) / ahead, ahead
        y, x = fresh + beta * (fresh - x), fresh
        y_value, y_gradient, _ = smooth.evaluate(y) if beta > 0 else (value, gradient, None)
    return best


def feasible(loss: Loss, rows: Rows, a: Vector, intercept: bool) -> Vector | None:
    """Dual variables inside their domain and, with an intercept, with sum_i c_i a_i = 0; None if that fails."""
    low, high = loss.dual_domain(rows.y)
    if not intercept:
        return np.clip(a, low, high)
    a = balanced(a, rows.c, low, high)
    return a if abs(float(rows.c @ a)) <= BALANCED * float(rows.c @ np.abs(a)) else None


def _intercept(eta: Vector, rows: Rows, loss: Loss, b: float) -> float:
    """The best intercept on top of a linear predictor."""
    nothing = DenseBlock(np.empty((len(eta), 0), order="F"))
    return refit(Problem(nothing, replace(rows, offset=eta), loss, 0.0, True), np.empty(0), b).b


def _top_eigenvalue(A: Vector, c: Vector, centre: bool) -> float:
    """An estimate of the largest eigenvalue of A'CA (centred with an intercept); backtracking corrects it."""
    if A.shape[1] == 0:
        return 0.0
    v = np.cos(np.arange(A.shape[1]) * 1.7) + 0.1
    value = 0.0
    for _ in range(15):
        v /= np.linalg.norm(v)
        w = A @ v
        w = w - c @ w if centre else w
        v = A.T @ (c * w)
        value = float(np.linalg.norm(v))
        if value == 0:
            return 0.0
    return 1.05 * value
