"""A smooth loss of q outputs on a few columns, as a function of few variables.

The variables are the coefficients in the directions of the outputs that matter (``loss.basis``): for several classes
q - 1 of them, since adding a constant to all classes changes no probability. With an intercept its row comes last.
"""

from collections.abc import Callable

import numpy as np

from ..losses.vector import VectorLoss
from ..refits import Few, State
from ..refits.columns import SEPARATED, SEPARATION
from .base import Vector

DIRECT = 400  # unknowns up to which the Hessian is assembled


class Outputs(Few):
    """sum_i c_i phi(Y_i, C'a_i + b + o_i) + sum_j ridge_j/2 ||C_j||^2."""

    convex = True
    endless = SEPARATION

    def __init__(
        self, loss: VectorLoss, Y: Vector, c: Vector, offset: Vector | float, A: Vector, ridge: float | Vector,
        intercept: bool,
    ) -> None:  # fmt: skip
        self.loss, self.Y, self.c, self.offset, self.intercept = loss, Y, c, offset, intercept
        self.D = np.column_stack([A, np.ones(len(A))]) if intercept else A
        m = A.shape[1]
        self.ridge = np.append(np.broadcast_to(ridge, m), 0.0) if intercept else np.broadcast_to(ridge, m)
        self.turn = loss.basis(Y.shape[1])
        self.lower = 0.0 if not loss.attained else -np.inf
        self.bottom = SEPARATED if not loss.attained and not np.all(self.ridge[:m]) else -np.inf

    def join(self, C: Vector, b: Vector) -> Vector:
        return np.ravel((np.vstack([C, b[None, :]]) if self.intercept else C) @ self.turn)

    def split(self, z: Vector) -> tuple[Vector, Vector]:
        """Coefficients and intercepts of all outputs."""
        Z = self._matrix(z) @ self.turn.T
        return (Z[:-1], Z[-1]) if self.intercept else (Z, np.zeros(self.Y.shape[1]))

    def _matrix(self, z: Vector) -> Vector:
        return z.reshape(self.D.shape[1], self.turn.shape[1])

    def _eta(self, z: Vector) -> Vector:
        return self._moved(z) + self.offset

    def _moved(self, d: Vector) -> Vector:
        """What a direction adds to eta; the small product first."""
        return np.asarray(self.D @ (self._matrix(d) @ self.turn.T))

    def at(self, z: Vector, hessian: bool = True) -> State:
        eta, Z = self._eta(z), self._matrix(z)
        value = float(self.c @ self.loss.value(self.Y, eta)) + 0.5 * float(self.ridge @ (Z * Z).sum(axis=1))
        g = (self.D.T @ (self.c[:, None] * self.loss.d1(self.Y, eta))) @ self.turn + self.ridge[:, None] * Z
        wanted = hessian and z.size <= DIRECT
        return State(z, value, g.ravel(), (lambda: self._hessian(eta)) if wanted else None, kept=eta)

    def line(self, here: State, d: Vector) -> Callable[[float], tuple[float, float, State | None]]:
        eta, ahead = here.kept, self._moved(d)
        Z, D = self._matrix(here.z), self._matrix(d)
        zz, zd, dd = (float(self.ridge @ (a * b).sum(axis=1)) for a, b in ((Z, Z), (Z, D), (D, D)))

        def trial(t: float) -> tuple[float, float, State | None]:
            there = eta + t * ahead
            value = float(self.c @ self.loss.value(self.Y, there)) + 0.5 * (zz + 2 * t * zd + t * t * dd)
            slope = float(self.c @ (self.loss.d1(self.Y, there) * ahead).sum(axis=1)) + zd + t * dd
            return value, slope, None

        return trial

    def product(self, here: State) -> Callable[[Vector], Vector] | None:
        weighted = self.loss.curve(here.kept).weighted(self.c)

        def apply(v: Vector) -> Vector:
            turn = weighted.times(self._moved(v))
            return np.asarray((self.D.T @ turn) @ self.turn + self.ridge[:, None] * self._matrix(v)).ravel()

        return apply

    def curve(self) -> Vector | None:
        m, q = self.D.shape[1], self.turn.shape[1]
        G = self.D.T @ (self.c[:, None] * self.D)
        return np.asarray(np.kron(G, np.eye(q)), dtype=np.float64).reshape(m * q, m * q)

    def _hessian(self, eta: Vector) -> Vector:
        """sum_i c_i (d_i d_i') x (T' phi''_i T), T the directions of the outputs: products of matrices only."""
        m, r = self.D.shape[1], self.turn.shape[1]
        out = np.zeros((m * r, m * r))
        for rows, T, curve in self.loss.curve(eta).pieces(self.turn):
            D, c = self.D[rows], self.c[rows, None]
            pairs = (D[:, :, None] * D[:, None, :]).reshape(len(D), m * m)
            h = (pairs.T @ (c * curve.h)).reshape(m, m, -1)
            out += (T.T @ (h[..., None] * T)).transpose(0, 2, 1, 3).reshape(m * r, m * r)
            if curve.u is not None:
                u = (D[:, :, None] * (curve.u @ T)[:, None, :]).reshape(len(D), m * r)
                out -= u.T @ (c * u)
        out[np.diag_indices_from(out)] += np.repeat(self.ridge, r)
        return out
