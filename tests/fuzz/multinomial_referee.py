"""Values, minima and exchanges of the multinomial loss, by NumPy and L-BFGS of SciPy; nothing of the library."""

from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

from fuzz.likelihood_referee import LikelihoodReferee
from fuzz.problems import Problem
from fuzz.referee import LD, Minimum, Referee


class MultinomialReferee(Referee):
    """``problem.y`` has the classes 0 to q - 1; coefficients and intercepts have a column for each of them."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        labels = np.asarray(problem.y, dtype=np.int64)
        self.shares = np.eye(int(labels.max()) + 1)[labels][self.used]

    def value(self, cols: Any, coef: Any, b: Any) -> float:
        coef = np.asarray(coef, LD)
        losses = self._losses(np.asarray(self.X[:, list(cols)] @ coef + np.asarray(b, LD), float))
        return float(self.c @ losses + (np.nan_to_num(self.ridge[list(cols)]) @ coef**2).sum() / 2)

    def rounding(self, cols: Any, coef: Any, b: Any) -> float:
        """As for one output; a slope is at most 1."""
        size = np.abs(self.X[:, list(cols)]) @ np.abs(np.asarray(coef, LD)) + np.abs(np.asarray(b, LD))
        return float(64 * LD(2.0**-52) * (self.c @ (1 + size.max(axis=1))))

    def least(self, E: np.ndarray, ridge: np.ndarray) -> float:
        """The least value of E U with the ridge U' ridge U / 2 over matrices U."""
        c, size, classes = self.c.astype(float), E.shape[1], self.shares.shape[1]

        def value_and_gradient(u: np.ndarray) -> tuple[float, np.ndarray]:
            U = u.reshape(size, classes)
            eta = E @ U
            top = logsumexp(eta, axis=1, keepdims=True)
            slope = E.T @ (c[:, None] * (np.exp(eta - top) - self.shares)) + ridge @ U
            return float(c @ self._losses(eta) + (U * (ridge @ U)).sum() / 2), slope.ravel()

        start = np.zeros(size * classes)
        if not size:
            return value_and_gradient(start)[0]
        options = {"maxiter": 1000, "ftol": 1e-15, "gtol": 1e-10, "maxcor": 30}
        return float(minimize(value_and_gradient, start, jac=True, method="L-BFGS-B", options=options).fun)

    def _losses(self, eta: np.ndarray) -> np.ndarray:
        return logsumexp(eta, axis=1) - (self.shares * eta).sum(axis=1)

    def _minimum(self, cols: tuple[int, ...]) -> Minimum:
        P, L = self._basis([j for j in cols if not np.isnan(self.ridge[j])], LD(1))
        E = np.asarray(P / np.sqrt(self.c)[:, None], float)
        return Minimum(self.least(E, np.asarray(L.T @ L, float)), 0.0)


class MultinomialExchanges(LikelihoodReferee):
    """Values of exchanges, one refit after the other."""

    def __init__(self, referee: MultinomialReferee) -> None:
        super().__init__(referee)
        self.classes = referee

    def _minima(self, E: np.ndarray, ridge: np.ndarray) -> np.ndarray:
        return np.array([self.classes.least(*basis) for basis in zip(E, ridge, strict=True)])
