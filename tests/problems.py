"""Small problems for every loss, the ways X can be given, and f written down in plain NumPy.

Nothing here imports the library: the formulas are those of the table of losses in the mathematics, so that a test
which compares with them compares two independent pieces of work. The data are multiples of 1/256, so that float32
holds them exactly and every design kind must give the same answer.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator
from scipy.special import expit

DELTA, GAMMA = 1.35, 0.25  # the default constants of huber and smoothed_hinge


def random_sparse(shape, density, rng, make=sp.csr_array):
    """Uniform numbers, zero elsewhere (``sp.random_array``, which SciPy 1.11 lacks)."""
    return make(np.where(rng.random(shape) < density, rng.random(shape), 0.0))


def _margin(y):
    return np.where(y > 0, 1.0, -1.0)


def _huber(y, eta):
    r = np.abs(eta - y)
    return np.where(r <= DELTA, r**2 / 2, DELTA * r - DELTA**2 / 2)


def _smoothed_hinge(y, eta):
    m = _margin(y) * eta
    return np.select([m >= 1, m < 1 - GAMMA], [0.0, 1 - m - GAMMA / 2], (1 - m) ** 2 / (2 * GAMMA))


def _smoothed_hinge_slope(y, eta):
    s = _margin(y)
    m = s * eta
    return s * np.select([m >= 1, m < 1 - GAMMA], [0.0, -1.0], (m - 1) / GAMMA)


PHI = {
    "squared": lambda y, eta: (eta - y) ** 2 / 2,
    "logistic": lambda y, eta: np.logaddexp(0, eta) - (y > 0) * eta,
    "huber": _huber,
    "smoothed_hinge": _smoothed_hinge,
    "hinge": lambda y, eta: np.maximum(0, 1 - _margin(y) * eta),
    "squared_hinge": lambda y, eta: np.maximum(0, 1 - _margin(y) * eta) ** 2,
    "poisson": lambda y, eta: np.exp(eta) - y * eta,
}
SLOPE = {
    "squared": lambda y, eta: eta - y,
    "logistic": lambda y, eta: expit(eta) - (y > 0),
    "huber": lambda y, eta: np.clip(eta - y, -DELTA, DELTA),
    "smoothed_hinge": _smoothed_hinge_slope,
    "hinge": lambda y, eta: np.where(_margin(y) * eta < 1, -_margin(y), 0.0),
    "squared_hinge": lambda y, eta: -2 * _margin(y) * np.maximum(0, 1 - _margin(y) * eta),
    "poisson": lambda y, eta: np.exp(eta) - y,
}
BINARY = ("logistic", "smoothed_hinge", "hinge", "squared_hinge")
L2 = {"squared": 0.0, "huber": 0.0, "poisson": 0.0}  # and RIDGE for the others
RIDGE = 1 / 64

SLOW = {"arht", "auto", "svrght"}  # solvers with many refits, starts or passes: they get fewer partners in a product
DUAL = {"diht", "sdiht"}  # solvers on the dual: they need a ridge, and a loss with a conjugate


@dataclass(frozen=True, eq=False)
class Problem:
    """Data, and the objective as the mathematics writes it."""

    X: np.ndarray
    y: np.ndarray
    loss: str
    l2: float = 0.0
    weight: np.ndarray | None = None
    offset: np.ndarray | None = None

    @property
    def c(self):
        s = np.ones(len(self.y)) if self.weight is None else np.asarray(self.weight, float)
        return s / s.sum()

    @property
    def o(self):
        return np.zeros(len(self.y)) if self.offset is None else self.offset

    def value(self, x, b):
        """f(x, b), x of length p."""
        return self.c @ PHI[self.loss](self.y, self.X @ x + b + self.o) + self.l2 / 2 * (x @ x)

    def gradient(self, x, b):
        """The gradient of f over all columns, and its derivative in b."""
        d = self.c * SLOPE[self.loss](self.y, self.X @ x + b + self.o)
        return self.X.T @ d + self.l2 * x, d.sum()

    def suited(self, solver: str) -> "Problem":
        """This problem, with a ridge where the solver needs one."""
        return replace(self, l2=max(self.l2, RIDGE)) if solver in DUAL else self

    def glm(self, X: Any = None, **settings: Any) -> dict[str, Any]:
        """Arguments for pursuit.GLM; ``X`` may be another form of the same matrix."""
        own = {"X": self.X if X is None else X, "y": self.y, "loss": self.loss, "l2": self.l2}
        return {**own, "sample_weight": self.weight, "offset": self.offset, **settings}

    def parts(self, kind: str = "dense_c", cuts: tuple[int, ...] = (9, 45)) -> list[tuple[Any, ...]]:
        """The same rows in uneven parts (X, y, weights, offset)."""
        columns = (self.y, self.weight, self.offset)
        pieces = [[None] * (len(cuts) + 1) if values is None else np.split(values, cuts) for values in columns]
        return list(zip(map(KINDS[kind], np.split(self.X, cuts)), *pieces, strict=True))


def problem(loss, n=70, p=12, seed=0, density=0.6, weights=False, offset=False) -> Problem:
    """A small problem with three true columns and noise; float32 holds X exactly."""
    rng = np.random.default_rng([seed, n, p])
    X = np.round(rng.standard_normal((n, p)) * 256) / 256
    X[rng.random((n, p)) > density] = 0.0
    truth = np.zeros(p)
    truth[[1, p // 2, p - 2]] = 1.2, -0.9, 0.7
    weight = rng.integers(1, 4, n).astype(float) if weights else None
    shift = rng.uniform(-0.5, 0.5, n) if offset else None
    eta = X @ truth + 0.4 + (0 if shift is None else shift)
    if loss in BINARY:
        y = (eta + rng.logistic(size=n) > 0).astype(float)
    elif loss == "poisson":
        y = rng.poisson(np.exp(0.6 * eta)).astype(float)
    else:
        y = eta + 0.5 * rng.standard_normal(n) + 4.0 * (rng.random(n) < 0.05)
    return Problem(X, y, loss, L2.get(loss, RIDGE), weight, shift)


def standardised(X, c, centre=True):
    """Columns minus their weighted mean, divided by their scale (constant columns become zero), and both of these."""
    m = c @ X if centre else np.zeros(X.shape[1])
    s = np.sqrt(c @ (X - m) ** 2)
    flat = s <= 1e-9 * np.abs(X).max(axis=0, initial=1e-300)
    s[flat] = 1.0
    return np.where(flat, 0.0, (X - m) / s), m, s


def _strided(X):
    wide = np.zeros((X.shape[0], X.shape[1] + 3))
    wide[:, : X.shape[1]] = X
    return wide[:, : X.shape[1]]


def _long(X):
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


#: How the same matrix can be handed over.
KINDS = {
    "dense_c": np.ascontiguousarray,
    "dense_f": np.asfortranarray,
    "dense_strided": _strided,
    "float32_c": lambda X: np.ascontiguousarray(X, np.float32),
    "float32_f": lambda X: np.asfortranarray(X, np.float32),
    "csr": sp.csr_matrix,
    "csc": sp.csc_array,
    "csr_float32": lambda X: sp.csr_array(X.astype(np.float32)),
    "csc_float32": lambda X: sp.csc_matrix(X.astype(np.float32)),
    "csr_int64": lambda X: _long(sp.csr_array(X)),
    "operator": lambda X: aslinearoperator(np.array(X)),
}
