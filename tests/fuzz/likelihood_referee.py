"""Every single exchange of a loss without a closed form, refitted from zero: all supports at once, by damped Newton.

The columns of each support are made orthonormal (Gram-Schmidt), so that units and means do not matter. A value
that is found is attained, so a claim that it contradicts is false; the judge computes it again in extended precision
(``Referee.minimum``). Nothing of the library is used.
"""

from typing import cast

import numpy as np

from fuzz.exchange_referee import Exchange, unit_columns
from fuzz.referee import Referee, phi

MAX_NEWTON_STEPS = 200
MAX_HALVINGS = 30
DECREASE = 1e-4  # share of the predicted decrease that a step must reach (Armijo)
CONVERGED = 1e-13  # Newton decrement, as a share of the value and of what has been gained
RESOLVED = 1e-7  # length of the rest of a unit column below which float64 has too few digits to use it


class LikelihoodReferee:
    """Values of exchanges for one problem with a smooth loss (the interface of ``ExchangeReferee``)."""

    def __init__(self, referee: Referee) -> None:
        self.referee = referee
        columns, tail, self.alive = unit_columns(referee)
        self.columns, self.tail = columns.astype(float), tail.astype(float)
        self.c, self.y, self.o = (a.astype(float) for a in (referee.c, referee.y, referee.o))

    def exchanges(self, support: np.ndarray) -> list[Exchange]:
        """Every exchange that the problem allows."""
        mine, others = [int(j) for j in support], self._others(support)
        pairs = [(i, j) for i in mine if i not in self.referee.problem.include for j in others]
        if not pairs:
            return []
        here = self.values(np.array([mine]))[0][0]
        values, resolved = self.values(np.array([[*(m for m in mine if m != i), j] for i, j in pairs]))
        return [
            Exchange(i, j, float(value - here), bool(known))
            for (i, j), value, known in zip(pairs, values, resolved, strict=True)
        ]

    def value_of_addition(self, support: np.ndarray) -> float:
        """The least value with one more column."""
        mine, others = [int(j) for j in support], self._others(support)
        if not others:
            return np.inf
        return float(self.values(np.array([[*mine, j] for j in others]))[0].min())

    def values(self, supports: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The least value on each row of column indices, and whether its columns are clearly independent.

        A column that is not is left out: the value is still one that the support attains.
        """
        m, k = supports.shape
        n, ones = len(self.c), int(self.referee.problem.intercept)
        stack = np.zeros((m, n + k, ones + k))
        if ones:
            stack[:, :n, 0] = np.sqrt(self.c)
        stack[:, :n, ones:] = np.moveaxis(self.columns[:, supports], 0, 1)
        places = np.arange(k)
        stack[:, n + places, ones + places] = self.tail[supports]
        Q, independent = _orthonormal(stack)
        resolved = np.all(independent[:, ones:] | ~self.alive[supports], axis=1)
        L = Q[:, n:]
        with np.errstate(over="ignore", invalid="ignore"):  # a step that is too long is halved
            return self._minima(Q[:, :n] / np.sqrt(self.c)[:, None], np.swapaxes(L, 1, 2) @ L), resolved

    def _others(self, support: np.ndarray) -> list[int]:
        taken = [*support.tolist(), *self.referee.problem.exclude]
        return cast("list[int]", np.setdiff1d(np.arange(self.columns.shape[1]), taken).tolist())

    def _at(self, E: np.ndarray, ridge: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Values, gradients and the curvature of every sample."""
        value, slope, curvature = phi(self.referee.problem, self.y, (E @ u[..., None])[..., 0] + self.o)
        shrunk = (ridge @ u[..., None])[..., 0]
        gradient = ((self.c * slope)[:, None, :] @ E)[:, 0] + shrunk
        return value @ self.c + (u * shrunk).sum(axis=1) / 2, gradient, curvature

    def _minima(self, E: np.ndarray, ridge: np.ndarray) -> np.ndarray:
        """Minima over u of the mean loss of E u plus u' ridge u / 2, one per matrix of the stack."""
        m, _, size = E.shape
        u, damp = np.zeros((m, size)), np.full(m, 1e-3)
        value, gradient, curvature = self._at(E, ridge, u)
        first, running = value.copy(), np.arange(m) if size else np.arange(0)
        for _ in range(MAX_NEWTON_STEPS):
            if not len(running):
                break
            at, F, r = running, E[running], ridge[running]
            H = np.swapaxes(F * (self.c * curvature[at])[..., None], 1, 2) @ F + r
            flat = np.mean(curvature[at] == 0, axis=1)  # samples on a linear piece: without them in it, H can vanish
            level = damp[at] * (np.trace(H, axis1=1, axis2=2) / size + flat + 1e-290)
            step = -np.linalg.solve(H + level[:, None, None] * np.eye(size), gradient[at][..., None])[..., 0]
            predicted = -(step * gradient[at]).sum(axis=1)
            length, accepted = np.ones(len(at)), np.zeros(len(at), bool)
            for _ in range(MAX_HALVINGS):
                some = np.flatnonzero(~accepted)
                ahead = u[at[some]] + length[some, None] * step[some]
                new = self._at(F[some], r[some], ahead)
                good = new[0] <= value[at[some]] - DECREASE * length[some] * predicted[some]
                accepted[some[good]] = True
                now = at[some[good]]
                u[now], value[now], gradient[now], curvature[now] = ahead[good], *(part[good] for part in new)
                length[some[~good]] /= 2
                if accepted.all():
                    break
            damp[at] = np.where(length < 0.3, 10 * damp[at], np.maximum(damp[at] / 10, 1e-10))
            small = predicted <= CONVERGED * np.maximum(np.abs(value[at]), first[at] - value[at]) + 1e-300
            running = at[~small & (accepted | (damp[at] < 1e3))]
        return value


def _orthonormal(stack: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Gram-Schmidt, twice, on every matrix; zeros, and False, for a column that depends on those before it."""
    Q, independent = np.zeros_like(stack), np.zeros((stack.shape[0], stack.shape[2]), bool)
    for place in range(stack.shape[2]):
        v, done = stack[:, :, place, None], Q[:, :, :place]
        for _ in range(2):
            v = v - done @ (np.swapaxes(done, 1, 2) @ v)
        rest = np.sqrt((v**2).sum(axis=(1, 2)))
        independent[:, place] = rest > RESOLVED
        Q[:, :, place] = np.where(rest[:, None] > RESOLVED, v[..., 0] / np.maximum(rest, RESOLVED)[:, None], 0.0)
    return Q, independent
