"""The dual of a k-sparse GLM with a ridge: any feasible a is a lower bound.

B. Liu, X.-T. Yuan, L. Wang, Q. Liu, D. Metaxas, "Dual Iterative Hard Thresholding", ICML 2017, Lemma 1; here with
weights c, an offset o, an intercept, forced sets, groups and (where ``ridged``) a ridge per column.

    D(a) = - sum_i c_i phi*(a_i) + sum_i c_i a_i o_i - 1/2 sum of l2 z_j^2 over top(z)    <=    min f,
    z(a) = - (1/l2) sum_i c_i a_i x_i

With a box on the coefficients z_j^2 becomes the maximum over the box of 2 z_j x - x^2, taken at x_j = z_j cut to it.

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
from scipy.optimize import minimize_scalar

from .. import _core
from .._utils.types import Columns, Ridge, Vector
from ..constraints import AtMost
from .base import Objective, Point

if TYPE_CHECKING:
    from .bounded import Bounded
    from .glm import GLM

BALANCED = 1e-13  # share of sum_i c_i |a_i| that an intercept's constraint may be off by: rounding
SAME = 1e-13  # relative difference of dual variables that is rounding


class Dual:
    """D(a), its primal map and its domain, of a GLM with l2 > 0 and a loss that has a conjugate, perhaps in a box."""

    def __init__(self, f: "GLM", boxed: "Bounded | None" = None) -> None:
        if not f.loss.has_conjugate:
            raise f.loss.no_conjugate
        if not np.all(f.ridge > 0):
            raise ValueError(
                f"a dual method needs l2 > 0, got l2={np.min(f.ridge):g}: without a ridge the dual has no primal map"
            )
        self.whole: Any = boxed or f
        self.box = None if boxed is None else (boxed.low, boxed.high)
        self.f, self.here = f, f.data.local
        self.y, self.c, self.offset = self.here.rows.y, self.here.rows.c, self.here.rows.offset
        self.low, self.high = f.loss.dual_domain(self.y)
        self.ridge: Ridge = f.ridge
        self.root = np.sqrt(self.ridge)

    @property
    def by_rows(self) -> bool:
        """Whether samples can move one by one: X gives rows, and the loss has a kernel."""
        return self.box is None and self.here.design.sweeps and self.f.loss.code is not None

    def z(self, a: Vector) -> Vector:
        """The primal vector before it is cut to k: -(1/l2) X'(c a)."""
        return -self.here.design.rmatmat((self.c * a)[:, None])[:, 0] / self.ridge

    def primal(self, z: Vector, constraint: AtMost) -> tuple[Columns, Vector]:
        """The minimiser of the Lagrangian over the sparse set: the top of z (cut to a box), and that there."""
        x = self._cut(z)
        support = constraint.top(np.sqrt(np.maximum(self._squares(z, x), 0.0)))
        return support, x[support]

    def _cut(self, z: Vector) -> Vector:
        return z if self.box is None else np.clip(z, *self.box)

    def _squares(self, z: Vector, x: Vector) -> Vector:
        """Twice the maximum over x_j (in its box) of ridge (z_j x_j - x_j^2/2): ridge z_j^2 without a box."""
        return np.asarray(self.ridge * (z * z if self.box is None else x * (2 * z - x)))

    def eta(self, support: Columns, coef: Vector) -> Vector:
        """X x + o, without an intercept."""
        return self.here.rows.shift(self.here.design.matmat(support, coef[:, None])[:, 0], 0.0)

    def value(self, a: Vector, constraint: AtMost, z: Vector | None = None) -> float:
        """D(a): a lower bound of f over the sparse set, -inf where a is not feasible. ``z`` spares a pass over X."""
        weighted = self.c * a
        if self.f.fit_intercept and abs(weighted.sum()) > BALANCED * np.abs(weighted).sum():
            return -np.inf
        z = self.z(a) if z is None else z
        squares = self._squares(z, self._cut(z))
        charge = float(squares[constraint.top(np.sqrt(np.maximum(squares, 0.0)))].sum())
        cost = float(self.c @ np.where(self.c > 0, self.f.loss.conjugate(self.y, a), 0.0))
        drift = 0.0 if self.offset is None else float(weighted @ self.offset)
        return drift - cost - 0.5 * charge

    def feasible(self, a: Vector, rows: Any = slice(None), total: float = 0.0) -> Vector:
        """The nearest feasible a: cut to the domain and, with an intercept, shifted until sum_i c_i a_i = ``total``.

        ``rows`` says to which samples the entries of a belong.
        """
        low, high = self.low[rows], self.high[rows]
        return balanced(a, self.c[rows], low, high, total) if self.f.fit_intercept else np.clip(a, low, high)

    def from_point(self, point: Point) -> Vector:
        """a_i = phi'(y_i, eta_i) at a point, made feasible; at a refit with kinks, the refit's own dual variables."""
        if point.refitted and not self.f.smooth:
            return self.feasible(self.f.duals(point.support))
        eta = self.eta(point.support, point.coef)
        a = self.f.loss.d1(self.y, eta + point.free)
        if self.f.fit_intercept and abs(self.c @ a) > 1e-6 * (self.c @ np.abs(a)):
            a = self.f.loss.d1(self.y, eta + self.f.at(point.support, point.coef).free)
        return self.feasible(a)

    def z_from_point(self, point: Point, a: Vector) -> Vector:
        """z of ``from_point``'s a; at a refit it is -gradient/l2 outside the support, and X need not be read again."""
        if self.box is not None or not point.refitted or not self.f.smooth:
            return self.z(a)
        slope = self.f.loss.d1(self.y, self.eta(point.support, point.coef) + point.free)
        if np.abs(a - slope).max(initial=0.0) > SAME * np.abs(a).max(initial=0.0):
            return self.z(a)
        slope = point.gradient.copy()
        slope[point.support] = self.here.gathered(point.support).rmatvec(self.c * a)
        return np.asarray(-slope / self.ridge)

    def start(self, point: Point, constraint: AtMost) -> Vector:
        """The best multiple of a point's dual variables: inside the domain, and where D is not far below zero's.

        Along the ray top(z) stays, so that each value costs O(n).
        """
        a = self.from_point(point)
        if self.box is not None:
            return a
        slope = self.root * self.z(a)
        slope = slope[constraint.top(slope)]
        square, drift = float(slope @ slope), 0.0 if self.offset is None else float((self.c * a) @ self.offset)

        def fall(s: float) -> float:
            return float(self.c @ self.f.loss.conjugate(self.y, s * a)) - s * drift + 0.5 * s * s * square

        return float(minimize_scalar(fall, bounds=(0.0, 1.0), method="bounded").x) * a

    def point(self, support: Columns, coef: Vector) -> Point:
        """The primal point of these coefficients; its gradient is computed when asked for."""
        if self.f.fit_intercept or self.box is not None:
            return self.whole.at(support, coef)
        value = self.f.value(support, coef, 0.0)
        return Point(self.f.dim, support, coef, 0.0, value, lambda: self.f.at(support, coef).gradient.copy())


class HasDual(Objective):
    """What a GLM says of its dual."""

    offers: tuple[str, ...] = ("dual", "minibatch", "bounds", "proof")

    def require(self, need: str) -> None:
        super().require(need)
        if need == "dual":
            self.dual()

    def dual(self: Any) -> Dual:
        return Dual(self)


def balanced(a: Vector, c: Vector, low: Vector, high: Vector, total: float = 0.0) -> Vector:
    """clip(a - t) with sum_i c_i clip(a_i - t) = total."""
    return _core.balanced(a, c, np.broadcast_to(low, a.shape), np.broadcast_to(high, a.shape), total)
