"""The dual of a k-sparse GLM with a ridge: any feasible a is a lower bound.

B. Liu, X.-T. Yuan, L. Wang, Q. Liu, D. Metaxas, "Dual Iterative Hard Thresholding", ICML 2017, Lemma 1; here with
weights c, an offset o, an intercept, forced sets, groups and (where ``ridged``) a ridge per column.

    D(a) = - sum_i c_i phi*(a_i) + sum_i c_i a_i o_i - 1/2 sum of l2 z_j^2 over top(z)    <=    min f,
    z(a) = - (1/l2) sum_i c_i a_i x_i

| paper | here |
|---|---|
| alpha, F | ``a``, the box ``low <= a <= high`` |
| w~(alpha), w(alpha) = H_k(w~) | ``z(a)``, ``primal(z, constraint)`` |
| D(alpha) | ``value(a, constraint)`` |
| P_F | ``feasible(a)``, in the metric of c, so that sum_i c_i a_i = 0 (an intercept) costs one number |

D is concave and non-smooth. Cost: one pass over X for z, one over the support's columns for eta; the rest is O(n + p).
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from .base import Columns, Point, Vector
from .glm import GLM

if TYPE_CHECKING:
    from ..constraints import AtMost

BALANCED = 1e-12  # share of sum_i c_i |a_i| that an intercept's constraint may be off by: rounding


class Dual:
    """D(a), its primal map and its domain, bound to a GLM with l2 > 0 and a loss that has a conjugate."""

    def __init__(self, f: Any) -> None:
        if not isinstance(f, GLM):
            raise TypeError(f"a dual bound needs a GLM with one output, got {type(f).__name__}")
        if not np.all(f.ridge > 0):
            raise ValueError(f"a dual method needs l2 > 0, got l2={f.l2:g}: without a ridge the dual has no primal map")
        self.f, self.y, self.c, self.offset = f, f.rows.y, f.rows.c, f.rows.offset
        self.low, self.high = f.loss.dual_domain(self.y)
        self.ridge: Any = f.ridge
        self.root = np.sqrt(self.ridge)

    def z(self, a: Vector) -> Vector:
        """The primal vector before it is cut to k: -(1/l2) X'(c a)."""
        return -self.f.design.rmatmat((self.c * a)[:, None])[:, 0] / self.ridge

    def primal(self, z: Vector, constraint: "AtMost") -> tuple[Columns, Vector]:
        """The minimiser of the Lagrangian over the sparse set: the top of z, and z there."""
        support = constraint.top(self.root * z)
        return support, z[support]

    def eta(self, support: Columns, coef: Vector) -> Vector:
        """X x + o, without an intercept."""
        return self.f.rows.shift(self.f.design.matmat(support, coef[:, None])[:, 0], 0.0)

    def value(self, a: Vector, constraint: "AtMost", z: Vector | None = None) -> float:
        """D(a): a lower bound of f over the sparse set, -inf where a is not feasible. ``z`` spares a pass over X."""
        weighted = self.c * a
        if self.f.fit_intercept and abs(weighted.sum()) > BALANCED * np.abs(weighted).sum():
            return -np.inf
        z = self.z(a) if z is None else z
        pull = self.root * z
        pull = pull[constraint.top(pull)]
        cost = float(self.c @ np.where(self.c > 0, self.f.loss.conjugate(self.y, a), 0.0))
        drift = 0.0 if self.offset is None else float(weighted @ self.offset)
        return drift - cost - 0.5 * float(pull @ pull)

    def feasible(self, a: Vector) -> Vector:
        """The nearest feasible a: cut to the domain and, with an intercept, shifted until sum_i c_i a_i = 0."""
        inside = np.clip(a, self.low, self.high)
        return self._balanced(a) if self.f.fit_intercept else inside

    def from_point(self, point: Point) -> Vector:
        """a_i = phi'(y_i, eta_i) at a point, made feasible; at a refit with kinks, the refit's own dual variables."""
        if point.dual is not None:
            return self.feasible(point.dual)
        eta = self.eta(point.support, point.coef)
        a = self.f.loss.d1(self.y, eta + point.intercept)
        if self.f.fit_intercept and abs(self.c @ a) > 1e-6 * (self.c @ np.abs(a)):
            a = self.f.loss.d1(self.y, eta + self.f.at(point.support, point.coef).intercept)
        return self.feasible(a)

    def _balanced(self, a: Vector) -> Vector:
        """clip(a - t) with sum_i c_i clip(a_i - t) = 0: Newton on a decreasing, piecewise linear function of t."""
        below, above, t = -np.inf, np.inf, 0.0
        for _ in range(200):
            inside = np.clip(a - t, self.low, self.high)
            excess = float(self.c @ inside)
            free = self.c * ((inside > self.low) & (inside < self.high))
            if abs(excess) <= 1e-16 * float(self.c @ np.abs(inside)):
                break
            below, above = (t, above) if excess > 0 else (below, t)
            slope = float(free.sum())
            ahead = t + excess / slope if slope > 0 else np.nan
            if not below < ahead < above:
                ahead = _between(below, above, t)
            if ahead == t:
                break
            t = ahead
        return self._settled(inside)

    def _settled(self, a: Vector) -> Vector:
        """The last rounding of sum_i c_i a_i, given to the heaviest sample that has room for it."""
        excess = float(self.c @ a)
        if excess == 0:
            return a
        room = a - self.low if excess > 0 else self.high - a
        i = int(np.argmax(np.where(self.c * np.minimum(room, 1.0) > 2 * abs(excess), self.c, 0.0)))
        if self.c[i] > 0:
            a[i] = np.clip(a[i] - excess / self.c[i], self.low[i], self.high[i])
        return a


def _between(below: float, above: float, t: float) -> float:
    """The middle of a bracket; beyond its open end, ever farther."""
    if np.isinf(below):
        return min(2 * t, t - 1.0) if t < 0 else t - 1.0
    if np.isinf(above):
        return max(2 * t, t + 1.0) if t > 0 else t + 1.0
    return 0.5 * (below + above)
