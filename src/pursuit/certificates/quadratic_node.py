"""Exact minimisation of a k-sparse quadratic: bounds with borrowed curvature, safe fixing, branch and bound.

    min  f0 - c'x + x'Hx/2   over   ||x||_0 <= k,    H with a unit diagonal, f0 = 1 (in units of the null model's value)

With several responses x and c have a row per column and a column per response, f is the sum over the responses, and a
row counts once; below |.| is then the norm of a row.

| idea | formula |
|---|---|
| a column that is surely in | eliminate it: H - h h'/h_jj, c - h c_j/h_jj, f0 - c_j^2/(2 h_jj), k - 1 |
| a column that is surely out | delete it |
| borrowed curvature | columns scaled by sqrt (H^-1)_jj, then mu for which H - mu I has a Cholesky factor |
| bound | perspective relaxation of Q = H - mu I and mu (core/relaxation.hpp) |
| fixing | lower + mu/2 (z_(k)^2 - z_j^2) > upper: j is out; lower + mu/2 (z_j^2 - z_(k+1)^2) > upper: j is in |

A node of the tree is such a problem: no forced sets are left in it, and every fixed column makes it smaller and (since
Schur complements and submatrices have larger least eigenvalues) lets it borrow more.

**Rounding.** H_ij is known to within u a_i a_j, where u is the rounding of the Gram matrix and a_j = 1 at the root; y
is one more column. Eliminating j adds |h_ij / h_jj| a_j to a_i, so that a is large exactly where columns are close to
dependent. Every bound is lowered by what that can make of it. Where nothing is left of it (near-duplicates) the
bound is the refit on a node's columns from the data, in twice the digits where needed. Each response has its own a_y.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import lapack
from scipy.sparse.linalg import LinearOperator, eigsh

from .. import _core
from .._utils.rounding import EPS
from .._utils.types import Columns, Flags, Matrix, Vector
from ..refits.factor import Factor
from .tree import NodeBound, Solutions, undecided

MAX_RESCALED_COLUMNS = 1200  # columns up to which a problem is rescaled by its conditional variances
REBORROW_SHARE = 0.8  # share of columns left at which the borrowed curvature is computed anew
# share of what is missing to which a relaxation is solved: on the way to more nodes, or last
ROUGH_GAP_SHARE, FINAL_GAP_SHARE = 0.05, 1e-9
MAX_FULL_COLUMNS = 300  # columns up to which the last is affordable
GRAM_ERROR = 1e-11  # share of the scale by which a value from the Gram matrix may be off
MAX_CANCELLATION = 1e-4  # share of a column's square that may be rounding before it is out of the Gram matrix's reach


@dataclass(frozen=True)
class Source:
    """What a problem asks of the data: refits (value and lower bound on some columns), and the rounding of H."""

    refit: Callable[[tuple[int, ...]], tuple[float, float]]
    unit: float  # what values are multiplied with
    rounding: float


@dataclass(frozen=True)
class SparseQuadratic:
    """A k-sparse quadratic over the columns ``cols`` (numbers of the whole problem); ``fixed`` are already in."""

    H: Matrix
    c: Matrix  # columns x responses
    f0: float
    k: int
    cols: Columns
    data: Source
    a: Vector  # rounding of H_ij is u a_i a_j, of c_ir u a_i a_yr
    a_y: Vector
    x: Matrix
    fixed: tuple[int, ...] = ()
    mu: float = 0.0
    borrowed_at: int = 0
    L: float = 0.0  # curvature of Q along the directions of a minimiser's steps

    def without(self, out: Flags) -> "SparseQuadratic":
        """Columns deleted."""
        keep = np.flatnonzero(~out)
        held = {name: getattr(self, name)[keep] for name in ("c", "cols", "a", "x")}
        return replace(self, H=_core.schur(self.H, self.H[:0], keep), **held)

    def with_in(self, into: Columns) -> "SparseQuadratic":
        """Columns (by position) minimised out one after the other, because they are in."""
        problem = self
        for j in self.cols[into]:
            problem = problem._eliminated(int(np.flatnonzero(problem.cols == j)[0]))
        return problem

    def _eliminated(self, j: int) -> "SparseQuadratic":
        """One column (by position) minimised out; one that is lost in rounding takes all certainty with it."""
        keep = np.delete(np.arange(len(self.c)), j)
        pivot, row = float(self.H[j, j]), self.H[j]
        rest = replace(self, k=self.k - 1, cols=self.cols[keep], x=self.x[keep], fixed=(*self.fixed, int(self.cols[j])))
        if not pivot > self.data.rounding * self.a[j] ** 2 / MAX_CANCELLATION:
            H, a_y = _core.schur(self.H, self.H[:0], keep), np.full_like(self.a_y, np.inf)
            return replace(rest, H=H, c=self.c[keep], a=np.full(len(keep), np.inf), a_y=a_y)
        root = np.sqrt(pivot)
        W, w = row[None, :] / root, self.c[j] / root
        return replace(
            rest,
            H=_core.schur(self.H, np.ascontiguousarray(W), keep),
            c=self.c[keep] - W[0, keep, None] * w,
            f0=self.f0 - 0.5 * float(w @ w),
            a=self.a[keep] + np.abs(row[keep]) / pivot * self.a[j],
            a_y=self.a_y + np.abs(self.c[j]) / pivot * self.a[j],
        )

    def borrowed(self) -> "SparseQuadratic | None":
        """The problem rescaled, with as much curvature as can be borrowed; None if there is none."""
        H, c, x, a, p = self.H, self.c, self.x, self.a, len(self.c)
        if not np.isfinite(a).all() or (H.diagonal() * MAX_CANCELLATION <= self.data.rounding * a**2).any():
            return None
        factor, info = _cholesky(H)
        if info != 0:
            return None
        if p <= MAX_RESCALED_COLUMNS:
            inverse, _ = lapack.dpotri(factor, lower=1, overwrite_c=1)
            s = np.sqrt(np.maximum(inverse.diagonal(), 1e-300))  # sqrt of 1 / conditional variance
            H, c, x, a = H * s * s[:, None], c * s[:, None], x / s[:, None], a * s
            factor, info = _cholesky(H)
            if info != 0:
                return None
        largest = _largest(lambda v: lapack.dpotrs(factor, v, lower=1)[0], p)
        margin = self.data.rounding * float(a @ a) + p * EPS * float(H.diagonal().sum())
        for share in (0.9999, 0.999, 0.99, 0.9, 0.5):
            mu = share / largest if largest > 0 else 0.0
            shifted = H.copy()
            shifted[np.arange(p), np.arange(p)] -= mu + margin
            if mu > margin and _cholesky(shifted, overwrite=True)[1] == 0:
                return replace(self, H=H, c=c, x=x, a=a, mu=mu, borrowed_at=p, L=0.0)
        return None

    def bound(self, known: Solutions, effort: int, precise: bool = False) -> NodeBound:
        """Rounds of bound, fix, borrow again."""
        problem, lower, solutions, relaxed = self, -np.inf, known.copy(), None
        always, never = list[int](), list[int]()

        def result(lower: float, t: Vector | None) -> NodeBound:
            return NodeBound(lower, problem, t, solutions, relaxed, always, never)

        while True:
            p, unit = len(problem.cols), problem.data.unit
            if problem.k <= 0 or p <= problem.k:
                return result(problem._offer(solutions, np.arange(p if problem.k > 0 else 0)), None)
            if p <= REBORROW_SHARE * problem.borrowed_at or problem.borrowed_at == 0:
                problem = problem.borrowed() or replace(problem, borrowed_at=p, mu=0.0)
            if problem.mu <= 0:  # nothing to borrow: the minimum over all columns is still a bound
                return result(max(lower, problem._all_columns()), problem._doubtful())
            L = problem.L or max(float(problem.H.diagonal().max()) - problem.mu, 1e-12)
            rough = not precise or p > MAX_FULL_COLUMNS
            share, steps = (
                (ROUGH_GAP_SHARE, effort) if rough else (FINAL_GAP_SHARE, max(effort, int(min(1e5, 2e8 / p**2))))
            )
            target = solutions.target / unit if np.isfinite(solutions.target) else problem.f0
            _, _, x, z, t, _, y, L = _core.perspective(
                problem.H,
                problem.c.ravel(),
                problem.k,
                problem.f0,
                problem.mu,
                L,
                1.0,
                problem.x.ravel(),
                target,
                share,
                steps,
            )
            low = unit * problem._safe(y.reshape(problem.c.shape))
            lower, problem = max(lower, low), replace(problem, x=x.reshape(problem.c.shape), L=L)
            relaxed = relaxed or problem
            square = _row_squares(z.reshape(problem.c.shape))
            problem._offer(solutions, np.sort(np.argpartition(-square, problem.k - 1)[: problem.k]))
            if lower >= solutions.target:
                return result(lower, t)
            largest = np.sort(square)[::-1]
            slack = (solutions.upper + solutions.slack - low) / unit
            out = problem.mu / 2 * (largest[problem.k - 1] - square) > slack
            into = problem.cols[problem.mu / 2 * (square - largest[problem.k]) > slack]
            never += problem.cols[out].tolist()
            always += into.tolist()
            if not out.any() and len(into) == 0:
                return result(lower, t)
            problem = problem.without(out)
            if len(into):
                problem = problem.with_in(np.flatnonzero(np.isin(problem.cols, into)))

    def children(self, t: Vector) -> list["SparseQuadratic"]:
        """The least decided column in, and out."""
        j = undecided(t)
        out = np.zeros(len(t), bool)
        out[j] = True
        return [self._eliminated(j), self.without(out)]

    def sets(self) -> tuple[list[int], list[int]]:
        return list(self.fixed), [*self.fixed, *self.cols.tolist()]

    def _safe(self, y: Matrix) -> float:
        """The bound at y, less all that rounding can have added to it."""
        turned = self.H @ y - self.mu * y
        r = np.abs(self.c - turned)
        spread = self.a @ np.abs(y) + self.a_y
        r += self.data.rounding * np.outer(self.a, spread)
        square = _row_squares(r)
        charge = float(np.partition(square, len(r) - self.k)[len(r) - self.k :].sum())
        rounding = self.data.rounding * float(spread @ spread)
        return self.f0 - 0.5 * float(np.vdot(y, turned)) - charge / (2 * self.mu) - rounding

    def _all_columns(self) -> float:
        """The minimum over all remaining columns, from the data."""
        return self.data.refit((*self.fixed, *(int(j) for j in self.cols)))[1]

    def _doubtful(self) -> Vector:
        """Indicators that choose the column closest to a combination of others, or the strongest where none is."""
        with np.errstate(all="ignore"):
            lost = np.log(np.nan_to_num(self.a**2 / self.H.diagonal(), nan=np.inf))
        strength = np.sqrt(_row_squares(self.c))
        strength /= max(float(strength.max(initial=0.0)), 1e-300)
        factor, info = _cholesky(self.H)
        t = np.full(len(self.c), 0.1) + 1e-3 * strength
        if np.isfinite(lost).all() and lost.max() > np.log(1e3) + np.median(lost):
            t[int(np.argmax(lost))] = 0.7
        elif info > 0:
            t[info - 1] = 0.7
        else:
            t[int(np.argmin(factor.diagonal()))] = 0.7
        return t

    def _offer(self, solutions: Solutions, positions: Columns) -> float:
        """Add the solution on some of the columns; returns a lower bound of its value."""
        key = tuple(sorted((*self.fixed, *(int(j) for j in self.cols[positions]))))
        value, error = self.f0, self.data.rounding * float(self.a_y @ self.a_y)
        if len(positions):
            factor, c = Factor(self.H[np.ix_(positions, positions)]), self.c[positions]
            noise = self.data.rounding * float((self.a[positions] * factor.s) @ (self.a[positions] * factor.s))
            if factor.rcond * MAX_CANCELLATION > noise:
                x = factor.solve(c)
                value -= 0.5 * float(np.vdot(c, x))
                error = self.data.rounding * float(((self.a[positions] @ np.abs(x) + self.a_y) ** 2).sum())
            else:
                error = np.inf
        unit = self.data.unit
        if error * unit <= GRAM_ERROR * solutions.scale(max(value, 0.0) * unit):
            solutions.offer(key, unit * (value + error))
            return unit * (value - error)
        upper, lower = self.data.refit(key)
        solutions.offer(key, upper, lower)
        return lower


def _row_squares(A: Matrix) -> Vector:
    return np.einsum("ij,ij->i", A, A)


def _cholesky(H: Matrix, overwrite: bool = False) -> tuple[Matrix, int]:
    """The lower factor of a symmetric matrix (above its diagonal stands rubbish), and 0 where there is one."""
    factor, info = lapack.dpotrf(H.T, lower=1, clean=0, overwrite_a=overwrite)
    return factor, int(info)


def _largest(product: Callable[[Vector], Vector], p: int) -> float:
    """The largest eigenvalue of a symmetric operator, to three digits."""
    if p <= 2:
        return float(np.linalg.eigvalsh(np.column_stack([product(e) for e in np.eye(p)]))[-1])
    start = np.cos(np.arange(p) * 1.7) + 0.1
    values = eigsh(
        LinearOperator((p, p), matvec=product, dtype=float),
        k=1,
        which="LA",
        v0=start,
        tol=1e-3,
        ncv=min(p, 20),
        return_eigenvectors=False,
    )
    return float(values[-1])
