"""The problems: synthetic data with planted supports, one real sparse set, and the neutral objective.

Rows are an AR(1) process with rho = 0.5 and unit variance; k coefficients of size 1..2 with random signs (halved for
logistic); linear noise at a signal-to-noise ratio of 5. X is float64.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.signal import lfilter
from scipy.special import expit

RHO, SNR = 0.5, 5.0


@dataclass(frozen=True)
class Data:
    """X, y (0/1 for logistic), the planted support (None for real data)."""

    X: Any
    y: np.ndarray
    planted: np.ndarray | None


@dataclass(frozen=True)
class Problem:
    """One benchmark problem; ``size`` decides who takes part and which reach figures apply."""

    kind: str
    n: int
    p: int
    k: int
    size: str

    @property
    def name(self) -> str:
        return f"{self.kind}-{self.n}x{self.p}-k{self.k}"

    def make(self, seed: int, order: str = "C") -> Data:
        """The data, the same for the same seed (``order`` changes the layout of X, not its numbers)."""
        rng = np.random.default_rng([seed, self.n, self.p, self.k])
        X = np.empty((self.n, self.p), order=order)
        for row in X:  # row by row, so that making X needs no more memory than X
            noise = rng.standard_normal(self.p)
            noise[1:] *= np.sqrt(1 - RHO**2)
            row[:] = lfilter([1.0], [1.0, -RHO], noise)
        planted = np.sort(rng.choice(self.p, self.k, replace=False))
        coef = rng.uniform(1, 2, self.k) * rng.choice([-1.0, 1.0], self.k)
        if self.kind == "linear":
            signal = X[:, planted] @ coef
            return Data(X, signal + rng.normal(0, np.sqrt(signal.var() / SNR), self.n), planted)
        chance = expit(X[:, planted] @ (coef / 2))
        return Data(X, (rng.random(self.n) < chance).astype(float), planted)


@dataclass(frozen=True)
class Rcv1(Problem):
    """Reuters RCV1, sparse; from $PURSUIT_DATA or ../shared/data, where there is one."""

    @property
    def name(self) -> str:
        return f"{self.kind}-rcv1_binary-k{self.k}"

    @property
    def path(self) -> Path:
        root = os.environ.get("PURSUIT_DATA") or Path(__file__).parents[2] / "shared" / "data"
        return Path(root) / "rcv1_binary.npz"

    def make(self, seed: int, order: str = "C") -> Data:
        with np.load(self.path, allow_pickle=False) as file:
            X = sp.csr_array((file["data"], file["indices"], file["indptr"]), shape=tuple(file["shape"]))
            y = file["y"]
        return Data(X.astype(np.float64), (y == y.max()).astype(float), None)


LINEAR = (
    Problem("linear", 500, 1000, 10, "small"),
    Problem("linear", 1000, 5000, 50, "medium"),
    Problem("linear", 2000, 10000, 100, "large"),
    Problem("linear", 500, 50000, 20, "large"),
)
LOGISTIC = (
    Problem("logistic", 500, 1000, 10, "small"),
    Problem("logistic", 1000, 5000, 30, "medium"),
    Problem("logistic", 2000, 10000, 50, "large"),
)
RCV1 = Rcv1("logistic", 23808, 47236, 20, "sparse")
PROBLEMS = (*LINEAR, *LOGISTIC, RCV1)


def objective(kind: str, data: Data, support: np.ndarray) -> float:
    """What a support is worth, by whichever package it was found: its refit with intercept in NumPy and SciPy.

    Half the mean squared residual (linear) or the mean logistic loss.
    """
    chosen = data.X[:, support]
    A = np.column_stack([np.ones(len(data.y)), chosen.toarray() if sp.issparse(chosen) else chosen])
    if kind == "linear":
        coef = np.linalg.lstsq(A, data.y, rcond=None)[0]
        return float(0.5 * np.mean((data.y - A @ coef) ** 2))
    n, sign = len(data.y), 2 * data.y - 1

    def value(z: np.ndarray) -> float:
        return float(np.logaddexp(0, -sign * (A @ z)).mean())

    def slope(z: np.ndarray) -> np.ndarray:
        return -A.T @ (sign * expit(-sign * (A @ z))) / n

    def hessian(z: np.ndarray) -> np.ndarray:
        eta = A @ z
        return (A.T * (expit(eta) * expit(-eta))) @ A / n

    fit = minimize(value, np.zeros(A.shape[1]), jac=slope, hess=hessian, method="trust-exact", options={"gtol": 1e-9})
    return float(fit.fun)
