"""Value, gradient and curvature of tr(R W) - log det W at a point; the diagonal of W is what is free.

With Sigma = W^-1, a pair e = (a, b) moving both of its entries, and the diagonal minimised out (a Schur complement):

    gradient      2 (R - Sigma)_ab
    Hessian       2 (Sigma_ac Sigma_bd + Sigma_ad Sigma_bc) - b_e' M^-1 b_f,
                  M = Sigma o Sigma,  b_e = 2 Sigma_:a o Sigma_:b
"""

from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve, lapack

from .._utils.lazy import lazy
from .._utils.types import Columns, Vector
from .pairs import Pairs

MAX_NEWTON_STEPS = 100  # Newton steps for the diagonal
MAX_SQUARED_DECREMENT = 1e-14  # squared Newton decrement at which they end
MAX_FULL_STEP_DECREMENT = 0.25  # Newton decrement below which full steps converge (f is self-concordant)


class Inverse:
    """W^-1 of a point, and what follows from it; as a point's ``slope`` it gives the gradient.

    ``support`` are coordinates on which the gradient is zero, but for rounding.
    """

    def __init__(self, R: Vector, pairs: Pairs, Sigma: Vector, support: Columns | None = None) -> None:
        self.R, self.pairs, self.Sigma, self.support = R, pairs, Sigma, support

    def __call__(self) -> Vector:
        gradient = np.asarray(2.0 * (self.R - self.Sigma)[self.pairs.ends])
        if self.support is not None:
            gradient[self.support] = 0.0
        return gradient

    @lazy
    def diagonal(self) -> Any:
        """A factor of M, the Hessian of the diagonal."""
        return cho_factor(self.Sigma**2, lower=True)

    def curvature(self, cols: Columns, v: Vector) -> float:
        """v'Hv."""
        i, j = self.pairs.edges(cols).T
        D = np.zeros_like(self.R)
        D[i, j] = D[j, i] = v
        turned = self.Sigma @ D @ self.Sigma
        b = turned.diagonal()
        return float(np.sum(turned * D) - b @ cho_solve(self.diagonal, b))

    def curvatures(self, cols: Columns) -> Vector:
        """H_ee."""
        i, j = self.pairs.edges(cols).T
        G, B = self.Sigma, self._to_diagonal(cols)
        d = G.diagonal()
        return np.asarray(2.0 * (d[i] * d[j] + G[i, j] ** 2) - np.sum(B * cho_solve(self.diagonal, B), axis=0))

    def rows(self, cols: Columns, others: Columns) -> Vector:
        """H[cols][:, others]."""
        (a, b), (c, d) = self.pairs.edges(cols).T, self.pairs.edges(others).T
        G = self.Sigma
        H = 2.0 * (G[np.ix_(a, c)] * G[np.ix_(b, d)] + G[np.ix_(a, d)] * G[np.ix_(b, c)])
        return np.asarray(H - self._to_diagonal(cols).T @ cho_solve(self.diagonal, self._to_diagonal(others)))

    def _to_diagonal(self, cols: Columns) -> Vector:
        i, j = self.pairs.edges(cols).T
        return np.asarray(2.0 * self.Sigma[:, i] * self.Sigma[:, j])


def inverted(W: Vector) -> tuple[float, Vector] | None:
    """log det W and W^-1, from one Cholesky factor; None where W is not positive definite."""
    factor, info = lapack.dpotrf(W, lower=1)
    if info or not np.isfinite(factor.diagonal()).all():
        return None
    inverse, info = lapack.dpotri(factor, lower=1)
    if info or not np.isfinite(inverse).all():
        return None
    inverse = np.tril(inverse)
    return 2.0 * float(np.log(factor.diagonal()).sum()), inverse + np.tril(inverse, -1).T


def best_diagonal(off: Vector) -> Vector:
    """The d that minimises sum d - log det(diag(d) + off), for any symmetric ``off`` without a diagonal: there is one.

    Damped Newton steps (Y. Nesterov, A. Nemirovskii 1994) from a diagonally dominant start; O(p^3) a step.
    """
    d = 1.0 + np.abs(off).sum(axis=1)
    for _ in range(MAX_NEWTON_STEPS):
        found = inverted(off + np.diag(d))
        if found is None:  # rounding at the edge of what is positive: further inside
            d = d + 1e-3 * np.abs(d)
            continue
        g = 1.0 - found[1].diagonal()
        try:
            step = -np.linalg.solve(found[1] ** 2, g)
        except np.linalg.LinAlgError:  # to rounding: a step in each entry by itself
            step = -g / found[1].diagonal() ** 2
        square = float(-g @ step)
        if square <= MAX_SQUARED_DECREMENT:
            break
        d = d + step / (1.0 if square < MAX_FULL_STEP_DECREMENT**2 else 1.0 + np.sqrt(square))
    return d
