"""Designs whose restricted isometry constants are known: an orthogonal matrix plus one of rank one.

X'X / n = I + c u u'. On columns T it has the eigenvalues 1 and 1 + c |u_T|^2, so with U the sum of the m largest u_j^2
the restricted condition number at sparsity m >= 2 is exactly kappa_m = 1 + c U (c > 0) or 1 / (1 + c U) (c < 0), and
delta_m = (kappa_m - 1) / (kappa_m + 1).
"""

from typing import NamedTuple

import numpy as np

SPREADS = ("block", "even", "gaussian")  # u on m columns, on all of them alike, or random
SHAPES = ("alike", "signs", "along u", "gaussian")  # of the coefficients
STARTS = ("disjoint", "random")


class Design(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    target: np.ndarray  # the support to be found
    start: np.ndarray  # a vector on the s columns at which OMPR begins


def design(
    delta: float, sizes: tuple[int, int, int], sign: int, spread: str, shape: str, begin: str, rng: np.random.Generator
) -> Design:
    """A noiseless problem with delta_{s + s*} = ``delta``, and a bad start; ``sizes`` are p, s and s*."""
    p, s, few = sizes
    m = s + few
    order = rng.permutation(p)
    target, others = order[:few], order[few:]
    start = others[:s] if begin == "disjoint" else rng.permutation(p)[:s]
    u = _direction(p, order[:m], spread, rng)
    U = float(np.sort(u**2)[-m:].sum())
    kappa = (1 + delta) / (1 - delta)
    c = (kappa - 1) / U if sign > 0 else (1 / kappa - 1) / U
    c = max(c, -0.999 / float(u @ u))  # the whole matrix must be positive: then delta is smaller than requested
    X = np.sqrt(p) * (np.eye(p) + (np.sqrt(1 + c * (u @ u)) - 1) / (u @ u) * np.outer(u, u))
    x = np.zeros(p)
    x[target] = _coefficients(u[target], shape, rng)
    first = np.zeros(p)
    first[start] = 1.0
    return Design(X, X @ x, np.sort(target), first)


def delta_of(X: np.ndarray, m: int) -> float:
    """delta_m of such a design, by its Gram matrix alone: I + c u u' has c u_i u_j off the diagonal."""
    H = X.T @ X / len(X) - np.eye(X.shape[1])
    c_squares = np.sort(np.abs(H.diagonal()))[-m:].sum()
    kappa = 1 + c_squares if np.trace(H) > 0 else 1 / (1 - c_squares)
    return float((kappa - 1) / (kappa + 1))


def _direction(p: int, block: np.ndarray, spread: str, rng: np.random.Generator) -> np.ndarray:
    if spread == "gaussian":
        return rng.standard_normal(p)
    u = np.ones(p)
    if spread == "block":  # the target and, where the start is disjoint, the start: the worst place
        u = np.zeros(p)
        u[block] = 1.0
    return u


def _coefficients(u: np.ndarray, shape: str, rng: np.random.Generator) -> np.ndarray:
    """The worst of them lie along u, which for c < 0 is the direction that f hardly sees."""
    if shape == "signs":
        return rng.choice([-1.0, 1.0], len(u))
    if shape == "along u":
        return u + 0.3 * rng.standard_normal(len(u))
    return np.ones(len(u)) if shape == "alike" else rng.standard_normal(len(u))
