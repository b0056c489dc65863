"""A smooth loss of q outputs on a few columns, as a function of few variables, and its minimiser.

The variables are the coefficients in the directions of the outputs that matter (``loss.basis``): for several classes
q - 1 of them, since adding a constant to all classes changes no probability. With an intercept its row comes last.
Several responses are fitted by one factor for all of them; classes by a kernel, and where that gives up by ``minimise``
in orthonormal coordinates.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._types import Vector
from ..designs.base import Rows
from ..losses.vector import VectorLoss
from .basis import TRUSTED, Basis, Stored, basis, least_norm
from .columns import SEPARATED, SEPARATION
from .factor import Factor
from .few import Few, Fit, State
from .methods import PARTLY, dependent
from .minimise import CONVERGED, EPS, minimise

DIRECT = 400  # unknowns up to which the Hessian is assembled
UNKNOWNS = 200  # unknowns, and samples times squared outputs, up to which the kernel refits
KERNEL = 1e7


@dataclass(frozen=True)
class FittedOutputs:
    """Coefficients (a row per column), intercepts, value, lower bound, and a sentence if there is something to say.

    ``converged`` is False where the refit ran out of steps.
    """

    C: Vector
    b: Vector
    value: float
    least: float
    note: str = ""
    minimiser: bool = True
    converged: bool = True


class Outputs(Few):
    """sum_i c_i phi(Y_i, C'a_i + b + o_i) + sum_j ridge_j/2 ||C_j||^2; ``stored``: A as it is stored."""

    convex = True
    endless = SEPARATION

    def __init__(
        self, loss: VectorLoss, rows: Rows, A: Vector, ridge: float | Vector, intercept: bool,
        stored: Stored | None = None,
    ) -> None:  # fmt: skip
        self.loss, self.rows, self.intercept, self.A, self.stored = loss, rows, intercept, A, stored
        self.Y, self.c, self.offset = rows.y, rows.c, 0.0 if rows.offset is None else rows.offset
        self.D = np.column_stack([A, np.ones(len(A))]) if intercept else A
        m = A.shape[1]
        self.ridge = np.append(np.broadcast_to(ridge, m), 0.0) if intercept else np.broadcast_to(ridge, m)
        self.turn = loss.basis(self.Y.shape[1])
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

    # the minimiser

    def value(self, C: Vector, b: Vector) -> float:
        Z = np.vstack([C, b]) if self.intercept else C
        eta = self.A @ C + b + self.offset
        return float(self.c @ self.loss.value(self.Y, eta)) + 0.5 * float(self.ridge @ (Z * Z).sum(axis=1))

    def refit(self, C: Vector, b: Vector) -> FittedOutputs:
        """The minimiser; (C, b) is a start."""
        if self.loss.quadratic:
            C, b, note = self._least_squares()
            value = self.value(C, b)
            return FittedOutputs(C, b, value, -np.inf if note else value, note)
        C, b, known, endless = self._quick(C, b)
        if known is not None:
            return FittedOutputs(C, b, known, known - CONVERGED * EPS * abs(known))
        C, b, fit = self._minimised(C, b)
        if endless and not fit.note and self.bottom > -np.inf:
            fit = replace(fit, note=PARTLY, minimiser=False)
        return FittedOutputs(C, b, self.value(C, b), fit.least, fit.note, fit.minimiser, fit.converged)

    def best_intercept(self, b: Vector) -> Vector:
        """The best intercepts, where there are no columns."""
        return self.split(minimise(self, self.join(np.empty((0, len(b))), b)).z)[1]

    def _least_squares(self) -> tuple[Vector, Vector, str]:
        """One factor for all responses, and orthonormal coordinates where that is too close to singular."""
        A, q, target = self.A, self.Y.shape[1], self.Y - self.offset
        centre = self.c @ target if self.intercept else np.zeros(q)
        if A.shape[1] == 0:
            return np.empty((0, q)), centre, ""
        mean = self._mean()
        W, R = self.c[:, None] * (A - mean), target - centre
        factor = Factor(W.T @ (A - mean) + np.diag(self.ridge[: A.shape[1]]))
        if factor.rcond > TRUSTED:
            C = factor.solve(W.T @ R)
            return C, centre - mean @ C, ""
        room = self._room()
        if room is None:
            root = np.sqrt(self.c)[:, None]
            C = np.asarray(np.linalg.lstsq(root * (A - mean), root * R, rcond=None)[0], dtype=np.float64)
            return C, centre - mean @ C, ""
        C = self._outward(room, room.Q.T @ (self.c[:, None] * R))
        note = dependent(A, self.c, self.intercept, room.Q.shape[1]) if room.null.shape[1] else ""
        return C, centre - mean @ C, note

    def _mean(self) -> Vector:
        return self.c @ self.A if self.intercept else np.zeros(self.A.shape[1])

    def _raw_ridge(self) -> Vector:
        assert self.stored is not None
        return self.ridge[: self.A.shape[1]] * np.where(np.isfinite(self.stored.s), self.stored.s, 0.0) ** 2

    def _room(self) -> Basis | None:
        """Orthonormal coordinates for the columns."""
        if self.stored is None or self.A.shape[1] == 0:
            return None
        return basis(self.stored.A, self.c, 1.0, self._raw_ridge(), self.intercept)

    def _outward(self, room: Basis, U: Vector) -> Vector:
        assert self.stored is not None
        s = np.where(np.isfinite(self.stored.s), self.stored.s, 1.0)
        C = least_norm(s[:, None] * room.null, s[:, None] * room.outward(U), np.abs(self.stored.A).max(axis=0) / s)
        return np.where(np.isfinite(self.stored.s)[:, None], C, 0.0)

    def _quick(self, C: Vector, b: Vector) -> tuple[Vector, Vector, float | None, bool]:
        """The minimiser by the kernel and its value; where that needs more care, how far it came, without a value.

        Last, whether it went where coefficients grow without end.
        """
        m, q = self.A.shape[1], self.Y.shape[1]
        unknowns = (m + self.intercept) * (q - 1)
        small = 0 < unknowns <= UNKNOWNS and self.c.size * q**2 <= KERNEL
        labels = one_hot(self.loss, self.Y) if small else None
        if labels is None:
            return C, b, None, False
        E = np.ascontiguousarray(self.turn)
        z, value, done, endless = _core.multinomial_fit(
            labels, self.c, self.rows.offset, E, np.asfortranarray(self.A), self.ridge[:m].copy(), self.intercept,
            self.bottom, np.ravel(np.vstack([C, b]) @ E),
        )  # fmt: skip
        Z = z.reshape(m + 1, -1) @ E.T
        return Z[:-1], Z[-1], value if done else None, endless

    def _minimised(self, C: Vector, b: Vector) -> tuple[Vector, Vector, Fit]:
        """The minimiser of a smooth loss, in orthonormal coordinates where the columns allow it."""
        room = self._room()
        if room is None or self.stored is None:
            fit = minimise(self, self.join(C, b))
            return *self.split(fit.z), fit
        U = room.inward(self.stored.A, self.c, 1.0, self._raw_ridge(), self.stored.raw(C))
        there = Outputs(self.loss, self.rows, room.Q, room.ridge, self.intercept)
        fit = minimise(there, there.join(U, b + self._mean() @ C))
        U, b = there.split(fit.z)
        C = self._outward(room, U)
        return C, b - self._mean() @ C, fit


def one_hot(loss: VectorLoss, Y: Vector) -> NDArray[np.int64] | None:
    """The class of each sample, where a multinomial's targets are classes and not shares."""
    if loss.name != "multinomial" or not (((Y == 0) | (Y == 1)).all() and (Y.sum(axis=1) == 1).all()):
        return None
    return Y.argmax(axis=1)
