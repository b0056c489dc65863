"""A precision matrix on a given graph with bounds on its eigenvalues, by the paper's ADMM.

X.-T. Yuan, P. Li and T. Zhang, Gradient hard thresholding pursuit, JMLR 18 (2018), subproblem (13) and appendix D.2:
minimise L(Omega) = tr(Sigma_n Omega) - log det Omega over alpha I <= Omega <= beta I with supp(Omega) within F. An
iteration is one eigenvalue decomposition, 9 p^3 flops: some hundred times dearer than the dual sweeps of ``graph.py``,
which know no bounds on eigenvalues.

| paper | here |
|---|---|
| Sigma_n, p (printed n in Lambda) | ``S``, ``p`` |
| F | ``free``: the edges both ways, and the diagonal |
| Omega, Theta, Gamma, rho | ``Omega``, ``Theta``, ``Gamma``, ``rho`` |
| M, V, Lambda | ``M``, ``V``, ``levels`` |
| tilde lambda | ``levels`` after (32) |

Not in the paper:

- **Units.** Without bounds the problem is solved for the correlation matrix. Eigenvalue bounds know no scale of
  columns, so with them S is divided by one number, the mean of its diagonal.
- **rho** begins as 1 / (smallest times largest eigenvalue of Omega), the geometric mean of the extreme curvatures of L
  there (P. Giselsson and S. Boyd, IEEE TAC 62, 2017), and is then multiplied by the root of the ratio of the residuals
  (B. Wohlberg, arXiv 1704.06209, 2017), at ever rarer turns, so that it comes to rest.
- **Over-relaxation** by 1.7 (S. Boyd et al., 2010, 3.4.3): half the iterations on most problems.
- **An l1 term** on the graph's entries makes (33) a soft threshold.
- **The end.** Both residuals are shares: Omega - Theta of Omega, rho (Theta - Theta_before) on F of S, for that is what
  S - Omega^-1 (and what the bounds and the l1 term add to it) is from zero there. Theta is returned, which is symmetric
  and lies on the graph exactly; ``_pulled`` moves it towards a multiple of the identity by as little as brings it
  between the bounds.
"""

from typing import NamedTuple

import numpy as np

from .._utils.types import Columns, Flags, Matrix
from ..engines import check_time

OVER_RELAXATION = 1.7  # over-relaxation
MAX_RHO_CHANGE = 10.0  # factor by which rho may change at once
MAX_ITERATIONS = 5000


class BoundedGraphFit(NamedTuple):
    """A matrix on a graph with eigenvalues between bounds, in the units of S.

    ``residual`` is the larger of two shares: what Omega and Theta differ by, and what is left of the gradient on the
    graph. ``converged`` says that it fell below ``tol``.
    """

    Omega: Matrix
    value: float
    residual: float
    converged: bool


def graph_admm(
    S: Matrix,
    edges: Columns,
    alpha: float = 0.0,
    beta: float = np.inf,
    *,
    l1: float = 0.0,
    start: Matrix | None = None,
    tol: float = 1e-9,
    max_iter: int = MAX_ITERATIONS,
) -> BoundedGraphFit:
    """Minimise tr(S W) - log det W over alpha I <= W <= beta I whose off-diagonal entries lie on the edges (m, 2).

    S is symmetric with a positive diagonal, in any units; 0 <= alpha <= beta, and beta is positive. ``l1`` is what the
    sum over i != j of |W_ij|, on the correlation scale, is added with. ``start`` is a W to begin from, None the best
    diagonal one. Where the graph has no optimum, which takes beta = inf and l1 = 0, this does not converge.
    """
    p = len(S)
    bounded = alpha > 0 or beta < np.inf
    d = np.full(p, np.sqrt(S.diagonal().mean())) if bounded else np.sqrt(S.diagonal())
    unit = d[0] ** 2 if bounded else 1.0
    low, high = alpha * unit, beta * unit
    free = np.eye(p, dtype=bool)
    free[edges[:, 0], edges[:, 1]] = free[edges[:, 1], edges[:, 0]] = True
    first = np.diag(1 / S.diagonal()) if start is None else start
    own = np.sqrt(S.diagonal()) / d
    penalty = l1 * (np.outer(own, own) - np.diag(own**2))
    Theta, residual = _iterate(S / d / d[:, None], free, penalty, low, high, first * d * d[:, None], tol, max_iter)
    Omega = Theta / d / d[:, None]
    Omega = 0.5 * (Omega + Omega.T)
    value = float(np.sum(S * Omega) + np.sum(penalty * np.abs(Theta)))
    value += 2 * float(np.log(d).sum()) - float(np.linalg.slogdet(Theta)[1])
    return BoundedGraphFit(Omega, value, residual, residual < tol)


def _iterate(
    S: Matrix, free: Flags, penalty: Matrix, alpha: float, beta: float, Theta: Matrix, tol: float, most: int
) -> tuple[Matrix, float]:
    """Theta and the residual at which it ended."""
    levels, V = np.linalg.eigh(Theta)
    levels = np.clip(levels, max(alpha, 1e-8), min(beta, 1e8))
    Gamma = np.where(free, 0.0, S - (V / levels) @ V.T)  # the gradient of L, which is Gamma at the end
    Theta, rho, due = np.where(free, Theta, 0.0), 1 / (levels[0] * levels[-1]), 5
    size, residual = float(np.linalg.norm(S[free])), np.inf
    for turn in range(1, most + 1):
        check_time()
        before = Theta
        M = Theta - (S - Gamma) / rho
        levels, V = np.linalg.eigh(M)
        levels = np.clip(_root(levels, 1 / rho), alpha, beta)  # (32)
        Omega = (V * levels) @ V.T
        ahead = OVER_RELAXATION * Omega + (1 - OVER_RELAXATION) * before
        Theta = np.where(free, ahead - Gamma / rho, 0.0)  # (33), and the prox of the l1 term
        Theta = np.sign(Theta) * np.maximum(np.abs(Theta) - penalty / rho, 0.0)
        Gamma = Gamma - rho * (ahead - Theta)
        apart = float(np.linalg.norm(Omega - Theta)) / float(np.linalg.norm(levels))
        slope = rho * float(np.linalg.norm((Theta - before)[free])) / size
        residual = max(apart, slope)
        if residual < tol:
            break
        if turn == due:
            due += due // 2 + 1
            rho *= float(np.clip(np.sqrt(apart / max(slope, 1e-300)), 1 / MAX_RHO_CHANGE, MAX_RHO_CHANGE))
    return _pulled(0.5 * (Theta + Theta.T), levels, alpha, beta), residual


def _root(levels: Matrix, share: float) -> Matrix:
    """(l + sqrt(l^2 + 4 / rho)) / 2, for negative l without the difference of two equal numbers."""
    far = np.abs(levels) + np.sqrt(levels**2 + 4 * share)
    return np.where(levels > 0, far / 2, 2 * share / far)


def _pulled(Theta: Matrix, levels: Matrix, alpha: float, beta: float) -> Matrix:
    """(1 - t) Theta + t c I with the smallest t that has its eigenvalues between the bounds, or above half of Omega's.

    c is the middle of what the bounds leave of Omega's eigenvalues; t is of the order of Omega - Theta.
    """
    low = alpha if alpha > 0 else 0.5 * float(levels[0])
    seen = np.linalg.eigvalsh(Theta)
    least, most = float(seen[0]), float(seen[-1])
    if least >= low and most <= beta:
        return Theta
    c = 0.5 * (low + min(beta, max(float(levels[-1]), low)))
    t = max((low - least) / (c - least) if least < low else 0.0, (most - beta) / (most - c) if most > beta else 0.0)
    pulled = (1 - t) * Theta
    pulled[np.diag_indices_from(pulled)] += t * c
    return pulled


def eigenvalue_bounds(S: Matrix, xi: float = 1e-2) -> tuple[float, float]:
    """The paper's alpha and beta (section 5.3, after Z. Lu, 2009): 1 / (||S|| + p xi) and (p - alpha tr S) / xi.

    The paper prints n for the dimension p. The rule belongs to the l1-penalised problem: with a bound on the number of
    edges instead, alpha can cut off the optimum (S = [[1, .7, 0], [.7, 1, .7], [0, .7, 1]] on a chain has the smallest
    eigenvalue .4415, and alpha is .495), so it is there to reproduce the paper. Safe on every graph is 1 / tr S: the
    optimum without bounds has tr W^-1 = tr S, and no eigenvalue of W^-1 exceeds that.
    """
    p, trace = len(S), float(np.trace(S))
    alpha = 1 / (float(np.linalg.eigvalsh(S)[-1]) + p * xi)
    return alpha, (p - alpha * trace) / xi
