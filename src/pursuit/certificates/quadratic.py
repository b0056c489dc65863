"""Exact minimisation of a k-sparse quadratic: bounds with borrowed curvature, safe fixing, branch and bound.

    min  f0 - c'x + x'Hx/2   over   ||x||_0 <= k

| idea | formula |
|---|---|
| a column that is surely in | eliminate it: H - h h'/h_jj, c - h c_j/h_jj, f0 - c_j^2/(2 h_jj), k - 1 |
| a column that is surely out | delete it |
| borrowed curvature | columns scaled by sqrt (H^-1)_jj, then mu for which H - mu I has a Cholesky factor |
| bound | perspective relaxation of Q = H - mu I and mu (core/relaxation.hpp) |
| fixing | lower + mu/2 (z_(k)^2 - z_j^2) > upper: j is out; lower + mu/2 (z_j^2 - z_(k+1)^2) > upper: j is in |

A node of the tree is such a problem: no forced sets are left in it, and every fixed column makes it smaller and (since
Schur complements and submatrices have larger least eigenvalues) lets it borrow more.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack, lstsq
from scipy.sparse.linalg import LinearOperator, eigsh

from .. import _core
from .tree import Tree, undecided

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Columns = NDArray[np.int64]

RESCALED = 1200  # columns up to which a problem is rescaled by its conditional variances
BORROW_AGAIN = 0.8  # share of columns left at which the borrowed curvature is computed anew


@dataclass(frozen=True)
class Sparse:
    """A k-sparse quadratic over the columns ``cols`` (numbers of the whole problem); ``fixed`` are already in."""

    H: Matrix
    c: Vector
    f0: float
    k: int
    cols: Columns
    fixed: tuple[int, ...] = ()
    mu: float = 0.0
    borrowed_at: int = 0
    L: float = 0.0  # curvature of Q that a walk has met
    x: Vector = field(default_factory=lambda: np.empty(0))

    def without(self, out: NDArray[np.bool_]) -> "Sparse":
        """Columns deleted."""
        keep = np.flatnonzero(~out)
        return replace(
            self,
            H=_core.schur(self.H, self.H[:0], keep),
            c=self.c[keep],
            cols=self.cols[keep],
            x=self.x[keep],
        )

    def with_in(self, into: Columns) -> "Sparse":
        """Columns (by position) minimised out, because they are in."""
        H, c, f0 = self.H, self.c, self.f0
        values, vectors = np.linalg.eigh(H[np.ix_(into, into)])
        root = vectors[:, values > 1e-13 * values[-1]] / np.sqrt(values[values > 1e-13 * values[-1]])
        W, w = root.T @ H[into], root.T @ c[into]
        rest = np.ones(len(c), bool)
        rest[into] = False
        keep = np.flatnonzero(rest)
        return replace(
            self,
            H=_core.schur(H, np.ascontiguousarray(W), keep),
            c=c[keep] - w @ W[:, keep],
            f0=f0 - 0.5 * float(w @ w),
            k=self.k - len(into),
            cols=self.cols[keep],
            fixed=(*self.fixed, *(int(j) for j in self.cols[into])),
            x=self.x[keep],
        )

    def borrowed(self) -> "Sparse | None":
        """The problem rescaled, with as much curvature as can be borrowed; None if there is none."""
        H, c, x = self.H, self.c, self.x
        factor, info = _cholesky(H)
        if info != 0:
            return None
        if len(c) <= RESCALED:
            inverse, _ = lapack.dpotri(factor, lower=1, overwrite_c=1)
            s = np.sqrt(np.maximum(inverse.diagonal(), 1e-300))  # sqrt of 1 / conditional variance
            H, c, x = H * s * s[:, None], c * s, x / s
            factor, info = _cholesky(H)
            if info != 0:
                return None
        least = 1.0 / _largest(lambda v: lapack.dpotrs(factor, v, lower=1)[0], len(c))
        margin = len(c) * np.finfo(float).eps * float(H.diagonal().sum())
        for share in (0.9999, 0.999, 0.99, 0.9, 0.5):
            mu = share * least
            shifted = H.copy()
            shifted[np.arange(len(c)), np.arange(len(c))] -= mu + margin
            if mu > 0 and _cholesky(shifted, overwrite=True)[1] == 0:
                return replace(self, H=H, c=c, x=x, mu=mu, borrowed_at=len(c), L=0.0)
        return None

    def bound(self, tree: Tree, effort: int, root: bool = False) -> tuple[float, "Sparse", Vector | None]:
        """Rounds of bound, fix, borrow again."""
        problem, lower = self, -np.inf
        while True:
            p = len(problem.cols)
            if problem.k <= 0 or p <= problem.k:
                return problem._offer(tree, np.arange(p if problem.k > 0 else 0)), problem, None
            if p <= BORROW_AGAIN * problem.borrowed_at or problem.borrowed_at == 0:
                problem = problem.borrowed() or replace(problem, borrowed_at=p)
            if problem.mu <= 0:  # nothing to borrow: the minimum over all columns is still a bound
                low = problem.f0 - 0.5 * float(problem.c @ lstsq(problem.H, problem.c, cond=1e-13)[0])
                t = np.full(p, 0.5 * problem.k / p)
                t += 1e-3 * np.abs(problem.c) / max(float(np.abs(problem.c).max()), 1e-300)
                return low - 1e-10 * max(1.0, abs(problem.f0)), problem, t
            L = problem.L or max(float(problem.H.diagonal().max()) - problem.mu, 1e-12)
            target = tree.target if np.isfinite(tree.target) else problem.f0
            low, _, x, z, t, _, L = _core.perspective(
                problem.H, problem.c, problem.k, problem.f0, problem.mu, L, problem.x, target, 0.05, effort
            )
            lower, problem = max(lower, low), replace(problem, x=x, L=L)
            problem._offer(tree, np.sort(np.argpartition(-np.abs(z), problem.k - 1)[: problem.k]))
            if lower >= tree.target:
                return lower, problem, t
            square = np.sort(z**2)[::-1]
            slack = tree.upper + tree.slack - low
            out = problem.mu / 2 * (square[problem.k - 1] - z**2) > slack
            into = problem.cols[problem.mu / 2 * (z**2 - square[problem.k]) > slack]
            if root:
                tree.never.update(int(j) for j in problem.cols[out])
                tree.always.update(int(j) for j in into)
            if not out.any() and len(into) == 0:
                return lower, problem, t
            problem = problem.without(out)
            if len(into):
                problem = problem.with_in(np.flatnonzero(np.isin(problem.cols, into)))

    def children(self, t: Vector) -> list["Sparse"]:
        """The least decided column in, and out."""
        j = undecided(t)
        out = np.zeros(len(t), bool)
        out[j] = True
        return [self.with_in(np.array([j])), self.without(out)]

    def sets(self) -> tuple[list[int], list[int]]:
        return list(self.fixed), [*self.fixed, *self.cols.tolist()]

    def _offer(self, tree: Tree, positions: Columns) -> float:
        """Refit on some of the columns, and tell the tree."""
        H, c = self.H[np.ix_(positions, positions)], self.c[positions]
        value = self.f0
        if len(positions):
            value -= 0.5 * float(c @ lstsq(H, c, cond=1e-13)[0])
        tree.offer(tuple(sorted((*self.fixed, *(int(j) for j in self.cols[positions])))), value)
        return value


def _cholesky(H: Matrix, overwrite: bool = False) -> tuple[Matrix, int]:
    """The lower factor of a symmetric matrix (above its diagonal stands rubbish), and 0 where there is one."""
    factor, info = lapack.dpotrf(H.T, lower=1, clean=0, overwrite_a=overwrite)
    return factor, int(info)


def _largest(product: Callable[[Vector], Vector], p: int) -> float:
    """The largest eigenvalue of a symmetric operator, to three digits."""
    if p <= 2:
        return float(np.linalg.eigvalsh(np.column_stack([product(e) for e in np.eye(p)]))[-1])
    start = np.cos(np.arange(p) * 1.7) + 0.1
    values = eigsh(LinearOperator((p, p), matvec=product, dtype=float), k=1, which="LA", v0=start, tol=1e-3,
                   ncv=min(p, 20), return_eigenvectors=False)  # fmt: skip
    return float(values[-1])
