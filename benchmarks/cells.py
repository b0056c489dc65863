"""Data with a known truth for the choice of k: the 24 cells of Hastie, Tibshirani, Tibshirani (2017, arXiv:1707.08692).

Rows are Gaussian with covariance rho^|i-j|; coefficients b0 of type 1, 2, 3 or 5; a signal-to-noise ratio (SNR).

    squared    y = X b0 + noise, SNR = b0' Sigma b0 / sigma^2
    logistic   SNR = b0' Sigma b0 / (pi^2 / 3), the variance of logistic noise
    poisson    mean count 1, SNR = var(mean) / mean(var) = exp(b0' Sigma b0) - 1

What a model is worth is computed exactly, without test rows: (x'b, x'b0) is jointly Gaussian, so the expected squared
error is a quadratic form, and by Stein's lemma the expected log losses are integrals over one Gaussian.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.linalg import toeplitz
from scipy.signal import lfilter
from scipy.special import expit

DESIGNS = ((100, 10, 5), (500, 100, 5), (50, 1000, 5), (100, 1000, 10))  # n, p, s
SNRS = (0.05, 0.14, 0.42, 1.22, 3.52, 6.0)
CELLS = tuple(product(DESIGNS, SNRS))
SHAPES = tuple(product((1, 2, 3, 5), (0.0, 0.35, 0.7)))  # beta types and rho: taken in turn within a cell
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(101)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


def beta(kind: int, p: int, s: int) -> np.ndarray:
    """Type 1: s ones at equal distances; 2: the first s; 3: 10 down to 1/2; 5: s ones, then decay by halves."""
    b = np.zeros(p)
    if kind == 1:
        b[np.round(np.linspace(0, p - 1, s)).astype(int)] = 1
    elif kind == 2:
        b[:s] = 1
    elif kind == 3:
        b[:s] = np.linspace(10, 0.5, s)
    else:
        b[:s] = 1
        b[s:] = 0.5 ** np.arange(1, p - s + 1)
    return b


def gaussian(value: Callable[[np.ndarray], np.ndarray], mean: float, variance: float) -> float:
    """The expectation of a function of one Gaussian."""
    return float(WEIGHTS @ value(mean + np.sqrt(variance) * NODES))


@dataclass(frozen=True)
class Sample:
    """One data set with its truth; ``planted`` is what counts as found (type 5: the s ones)."""

    loss: str
    X: np.ndarray
    y: np.ndarray
    b0: np.ndarray
    intercept: float
    rho: float
    sigma2: float
    planted: np.ndarray

    def error(self, coef: np.ndarray, intercept: float) -> float:
        """100 log relative test error (squared), or 100 times the expected log loss above the truth's."""
        apart = coef - self.b0
        if self.loss == "squared":
            off = self._form(apart, apart) + (intercept - self.intercept) ** 2
            return 100 * float(np.log1p(off / self.sigma2))
        return 100 * (self._log_loss(coef, intercept) - self._log_loss(self.b0, self.intercept))

    def _log_loss(self, coef: np.ndarray, intercept: float) -> float:
        own, with_truth, truth = self._form(coef, coef), self._form(coef, self.b0), self._form(self.b0, self.b0)
        if self.loss == "poisson":  # E exp(eta) - E y eta, and E exp(eta0) = 1
            with np.errstate(over="ignore"):
                return float(np.exp(intercept + own / 2) - (intercept + with_truth))
        fitted = gaussian(lambda eta: np.logaddexp(0, eta), intercept, own)
        chance = gaussian(expit, self.intercept, truth)
        slope = gaussian(lambda eta: expit(eta) * expit(-eta), self.intercept, truth)
        return fitted - intercept * chance - with_truth * slope

    def _form(self, a: np.ndarray, b: np.ndarray) -> float:
        left, right = np.flatnonzero(a), np.flatnonzero(b)
        if self.rho == 0:
            return float(a @ b)
        return float(a[left] @ self.rho ** np.abs(left[:, None] - right) @ b[right])

    def f_score(self, coef: np.ndarray) -> float:
        chosen = np.flatnonzero(coef)
        return float(2 * len(np.intersect1d(chosen, self.planted)) / max(len(chosen) + len(self.planted), 1))


def sample(loss: str, cell: int, seed: int, turn: int) -> Sample:
    """Data set number ``turn`` of a cell: the same for the same seed."""
    (n, p, s), snr = CELLS[cell]
    kind, rho = SHAPES[(turn + cell + 5 * seed) % len(SHAPES)]
    rng = np.random.default_rng([seed, cell, turn])
    noise = rng.standard_normal((n, p))
    noise[:, 1:] *= np.sqrt(1 - rho**2)
    X = lfilter([1.0], [1.0, -rho], noise, axis=1)
    b0 = beta(kind, p, s)
    planted = np.flatnonzero(b0 >= 0.5) if kind == 3 else np.flatnonzero(b0 == 1)
    variance = float(b0 @ toeplitz(rho ** np.arange(p)) @ b0)
    sigma2, intercept = variance / snr, 0.0
    if loss == "squared":
        y = X @ b0 + rng.normal(0, np.sqrt(sigma2), n)
    elif loss == "logistic":
        b0 = b0 * np.sqrt(snr * np.pi**2 / 3 / variance)
        y = (rng.random(n) < expit(X @ b0)).astype(float)
    else:
        wanted = np.log1p(snr)
        b0, intercept = b0 * np.sqrt(wanted / variance), -wanted / 2
        y = rng.poisson(np.exp(intercept + X @ b0)).astype(float)
    return Sample(loss, X, y, b0, intercept, rho, sigma2, planted)
