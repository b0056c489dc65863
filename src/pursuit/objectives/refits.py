"""Minimisers of a GLM over a few gathered columns.

    min over (v, b) of   sum_i c_i phi(y_i, A_i v + b + o_i) + sum_j l2_j/2 v_j^2,    one l2 for all columns or one each

| method | when | cost per iteration |
|---|---|---|
| Cholesky on the Gram, refined once | squared loss | n m^2 + m^3/3 flops, once |
| QR / SVD on the columns | squared loss, Gram worse than 1e10 | about 4 n m^2, once |
| damped Newton | smooth losses | n m^2 + m^3/3 |
| Newton with conjugate gradients | m above ``LARGE`` | 4 n m per inner step |
| Newton on ever less rounded hinges | hinge, n m^2 up to ``AFFORDABLE`` | n m^2 + m^3/3 |
| dual coordinate descent, proximal in b | hinge beyond that | n m per epoch |
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack, lstsq

from .. import _core
from ..designs.base import Block, Rows
from ..designs.dense import Dense
from ..designs.standardized import Standardized
from ..losses.base import Loss
from ..losses.hinges import SmoothedHinge

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

LARGE = 1500  # columns beyond which no m x m Hessian is formed
GRAM_LIMIT = 1e-10  # reciprocal condition below which a least-squares Gram is not trusted
RANK = 1e-12  # singular values below this share of the largest count as zero
SINGULAR = 1e-13  # ratio of squared pivots at which a Newton direction is not trusted
QUICK = 100  # columns up to which the kernel does a whole refit: its own Cholesky is no LAPACK
CONVERGED = 1e-13  # Newton decrement, relative to the objective, at which one last step is taken
SEPARATED = 1e-10  # mean loss at which data count as separated
MAX_NEWTON = 200
AFFORDABLE = 5e8  # n m^2 up to which a hinge is refitted by Newton's method
GATHERED = 1e8  # n m up to which coordinate descent gets its samples as a dense array
SQUARED = 1e150  # numbers up to which squares are finite
GAP = 1e-6  # duality gap of a hinge refit, relative to its value, that is worth a sentence


@dataclass(frozen=True)
class Fit:
    """Coefficients, intercept, value; a sentence if there is something to say; the dual of a non-smooth loss."""

    coef: Vector
    b: float
    value: float
    note: str = ""
    minimiser: bool = True
    dual: Vector | None = None


@dataclass(frozen=True)
class Problem:
    """The refit at hand: columns, rows, loss, ridge, and whether there is an intercept."""

    block: Block
    rows: Rows
    loss: Loss
    l2: float | Vector
    intercept: bool

    def system(self, z: Vector, hessian: bool) -> tuple[float, Vector, Matrix | None]:
        """Value, gradient, Hessian in z = (v, b), or z = v without an intercept."""
        m = self.block.width
        v, b = z[:m], (float(z[m]) if self.intercept else 0.0)
        value, g, H = self.block.newton(self.loss, self.rows, v, b, hessian)
        g[:m] += self.l2 * v
        if H is not None:
            H[np.arange(m), np.arange(m)] += self.l2
        if not self.intercept:
            g, H = g[:m], None if H is None else H[:m, :m]
        return value + 0.5 * float(v @ (self.l2 * v)), g, H

    def quick(self, z: Vector, floor: float, singular: float) -> tuple[Vector, float, bool] | None:
        """A refit in one call of the kernel, as far as that goes; None where it has nothing to say."""
        m = self.block.width
        if m > QUICK or len(z) == 0:
            return None
        start = z if self.intercept else np.append(z, 0.0)
        l2 = np.broadcast_to(self.l2, m)
        found = self.block.fit(self.loss, self.rows, l2, self.intercept, start, (floor, CONVERGED, singular))
        return None if found is None else (found[0][: len(z)], *found[1:])

    def along(self, z: Vector, d: Vector) -> Callable[[float], tuple[float, float]]:
        """Value and slope of t -> f(z + t d), each call costing O(n) only."""
        m = self.block.width
        v, dv = z[:m], d[:m]
        eta = self.rows.shift(self.block.matvec(v), float(z[m]) if self.intercept else 0.0)
        turn = self.block.matvec(dv) + (d[m] if self.intercept else 0.0)
        vv, vd, dd = float(v @ (self.l2 * v)), float(v @ (self.l2 * dv)), float(dv @ (self.l2 * dv))

        def evaluate(t: float) -> tuple[float, float]:
            value, d1, _ = self.loss.terms(self.rows.y, eta + t * turn, self.rows.c)
            return value + 0.5 * (vv + 2 * t * vd + t * t * dd), float(d1 @ turn) + vd + t * dd

        return evaluate

    def finish(self, z: Vector, value: float, note: str = "", minimiser: bool = True) -> Fit:
        m = self.block.width
        return Fit(z[:m].copy(), float(z[m]) if self.intercept else 0.0, value, note, minimiser)


def refit(problem: Problem, coef: Vector, b: float) -> Fit:
    """The minimiser, by the method that fits the loss and the number of columns; (coef, b) is a start."""
    if not problem.loss.smooth:
        return hinge(problem)
    z = np.append(coef, b) if problem.intercept else coef.copy()
    if problem.loss.quadratic and problem.block.width <= LARGE:
        return least_squares(problem, z)
    return newton(problem, z)


def least_squares(problem: Problem, z: Vector) -> Fit:
    """Exact: Cholesky with one refinement; columns too close to dependent go to an orthogonal method."""
    known = problem.quick(z, -np.inf, GRAM_LIMIT)
    if known is not None and known[2]:
        return problem.finish(*known[:2])
    z = np.zeros_like(z)
    start, g, H = problem.system(z, True)
    if len(z) == 0:
        return problem.finish(z, start)
    assert H is not None
    factor = Factor(H)
    if factor.rcond < GRAM_LIMIT:
        return orthogonal(problem)
    z -= factor.solve(g)
    value, g, _ = problem.system(z, False)
    better = z - factor.solve(g)
    refined, _, _ = problem.system(better, False)
    return problem.finish(better, refined) if refined <= value else problem.finish(z, value)


def orthogonal(problem: Problem) -> Fit:
    """Least squares by SVD of the centred, weighted columns; the minimum-norm solution if they are dependent."""
    A, rows, m = problem.block.dense(), problem.rows, problem.block.width
    target = rows.y if rows.offset is None else rows.y - rows.offset
    mean = rows.c @ A if problem.intercept else np.zeros(m)
    centre = float(rows.c @ target) if problem.intercept else 0.0
    root = np.sqrt(rows.c)
    W, r = root[:, None] * (A - mean), root * (target - centre)
    if np.any(problem.l2):
        W = np.vstack([W, np.sqrt(problem.l2) * np.eye(m)])
        r = np.append(r, np.zeros(m))
    v, _, rank, _ = lstsq(W, r, cond=RANK, lapack_driver="gelsd", check_finite=False)
    z = np.append(v, centre - mean @ v) if problem.intercept else v
    value = problem.system(z, False)[0]
    note = "" if rank == m else f"the {m} chosen columns have rank {rank}, so the minimum-norm solution is given"
    return problem.finish(z, value, note)


def newton(problem: Problem, z: Vector) -> Fit:
    """Damped Newton: by the kernel if all goes well, else with care, in columns of mean 0 and mean square 1."""
    large = problem.block.width > LARGE
    bottomless = not np.all(problem.l2) and not problem.loss.attained
    known = problem.quick(z, SEPARATED if bottomless else -np.inf, SINGULAR)
    if known is not None and known[2]:
        return problem.finish(*known[:2])
    even = None if large or len(z) == 0 else evened(problem)
    if even is None:
        return careful_newton(problem, z, bottomless)
    m, every = problem.block.width, np.arange(problem.block.width)
    v, b = even.from_units(every, z[:m], float(z[m]) if problem.intercept else 0.0)
    there = replace(problem, block=even.block(every), l2=problem.l2 / even.s**2)
    fit = careful_newton(there, np.append(v, b) if problem.intercept else v, bottomless)
    v, b = even.in_units(every, fit.coef, fit.b)
    z = np.append(v, b) if problem.intercept else v
    return problem.finish(z, problem.system(z, False)[0], fit.note, fit.minimiser)


def evened(problem: Problem) -> Standardized | None:
    """The columns standardised, so that no scale and no mean makes them ill-conditioned; None where that cannot be."""
    if len(problem.rows.y) * problem.block.width > GATHERED:
        return None
    A = problem.block.dense()
    if not np.abs(A).max(initial=0.0) < SQUARED:
        return None
    view = Standardized(Dense(A), problem.rows.c, problem.intercept)
    return None if view.constant.any() else view


def careful_newton(problem: Problem, z: Vector, bottomless: bool) -> Fit:
    """Damped Newton where a Hessian may be singular; a step that does not help is searched along, at O(n) a trial."""
    large = problem.block.width > LARGE
    value, g, H = problem.system(z, not large)
    start = value
    for _ in range(MAX_NEWTON):
        if bottomless and problem.loss.targets == "binary" and value <= SEPARATED:
            return problem.finish(
                z, value, "the chosen columns separate the classes, so no finite minimiser exists (set l2 > 0)", False
            )
        if bottomless and value <= SEPARATED and problem.loss.targets == "nonnegative" and not problem.rows.y.any():
            return problem.finish(z, value, "every count is zero, so no finite minimiser exists (set l2 > 0)", False)
        if len(z) == 0:
            return problem.finish(z, value)
        d, trusted = conjugate_gradients(problem, z, g) if H is None else direction(problem, H, g)
        decrement = -float(g @ d)
        scale = max(abs(value), abs(start - value))
        last = decrement <= CONVERGED * scale
        ahead = z + d
        trial, g_trial, H_trial = problem.system(ahead, not (large or last))
        if last:
            return problem.finish(ahead, trial) if trial <= value else problem.finish(z, value)
        if not (trial <= value - 1e-4 * decrement and trusted):
            t = search(problem.along(z, d), value, -decrement)
            if t == 0.0:
                return problem.finish(z, value)
            ahead = z + t * d
            trial, g_trial, H_trial = problem.system(ahead, not large)
            if not trial < value:
                return problem.finish(z, value)
        z, value, g, H = ahead, trial, g_trial, H_trial
    note = f"the refit stopped after {MAX_NEWTON} Newton steps"
    if bottomless:
        note += ": some coefficients grow without end, so there may be no finite minimiser (set l2 > 0)"
    return problem.finish(z, value, note, not bottomless)


class Factor:
    """Cholesky of a symmetrically scaled matrix, with its reciprocal condition number (0 when it fails).

    ``quick`` takes the ratio of the pivots for it, which is at least as large: enough for a step that is safeguarded.
    """

    def __init__(self, H: Matrix, quick: bool = False) -> None:
        diagonal = H.diagonal()
        self.s = np.where(diagonal > 0, 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0)), 0.0)
        scaled = H * self.s * self.s[:, None]
        dead = np.flatnonzero(self.s == 0)
        scaled[dead, dead] = 1.0
        norm = 0.0 if quick else float(np.abs(scaled).sum(axis=0).max())
        self.L, info = lapack.dpotrf(scaled, lower=1, overwrite_a=1, clean=0)
        if info != 0 or dead.size:
            self.rcond = 0.0
        elif quick:
            pivots = self.L.diagonal()
            self.rcond = float(pivots.min() / pivots.max()) ** 2
        else:
            self.rcond = float(lapack.dpocon(self.L, norm, uplo="L")[0])

    def solve(self, g: Vector) -> Vector:
        return np.asarray(self.s * lapack.dpotrs(self.L, self.s * g, lower=1)[0])


def direction(problem: Problem, H: Matrix, g: Vector) -> tuple[Vector, bool]:
    """Newton's direction, and whether its length can be trusted.

    Where the Hessian is singular (dependent columns, flat stretches of a loss) the bound phi'' <= smoothness, if
    there is one, supplies what is missing; the length is then for the line search to find.
    """
    factor = Factor(H, quick=True)
    if factor.rcond > SINGULAR:
        return -factor.solve(g), True
    if np.isfinite(problem.loss.smoothness):
        m = problem.block.width
        bound = np.zeros_like(H)
        bound[:m, :m] = problem.block.gram(problem.rows.c)
        if problem.intercept:
            bound[m, :m] = bound[:m, m] = problem.block.rmatvec(problem.rows.c)
            bound[m, m] = 1.0
        H = H + 1e-4 * problem.loss.smoothness * bound
    d = -pseudo_solve(H, g)
    return (d if d.any() else -g), False


def pseudo_solve(H: Matrix, g: Vector) -> Vector:
    """The minimum-norm solution of H x = g, directions with next to no curvature left out."""
    values, vectors = np.linalg.eigh(H)
    keep = values > max(RANK * values[-1], 0.0)
    return np.asarray(vectors[:, keep] @ ((vectors[:, keep].T @ g) / values[keep]))


def conjugate_gradients(problem: Problem, z: Vector, g: Vector) -> tuple[Vector, bool]:
    """Newton's direction without a Hessian, to a residual of min(0.1, sqrt||g||) ||g||."""
    block, m = problem.block, problem.block.width
    eta = problem.rows.shift(block.matvec(z[:m]), float(z[m]) if problem.intercept else 0.0)
    w = problem.loss.terms(problem.rows.y, eta, problem.rows.c)[2]
    flat = (w == 0) & (problem.rows.c > 0)
    if flat.any() and np.isfinite(problem.loss.smoothness):  # a little curvature where the loss has none
        w = np.where(flat, 1e-4 * problem.loss.smoothness * problem.rows.c, w)

    def apply(v: Vector) -> Vector:
        turn = w * (block.matvec(v[:m]) + (v[m] if problem.intercept else 0.0))
        head = block.rmatvec(turn) + problem.l2 * v[:m]
        return np.append(head, turn.sum()) if problem.intercept else head

    d, r = np.zeros_like(z), -g
    v, rr = r.copy(), float(r @ r)
    goal = rr * min(0.01, np.sqrt(rr)) * 1e-4
    for _ in range(min(500, 2 * len(z))):
        Hv = apply(v)
        curve = float(v @ Hv)
        if curve <= 1e-300:
            break
        t = rr / curve
        d += t * v
        r -= t * Hv
        rr, before = float(r @ r), rr
        if rr <= goal:
            break
        v = r + (rr / before) * v
    return (d, not flat.any()) if d.any() else (-g, False)


def search(evaluate: Callable[[float], tuple[float, float]], value: float, slope: float) -> float:
    """A step t > 0 near the minimum of a convex function of t, or 0 if none lowers it."""
    low, high, t = 0.0, np.inf, 1.0
    best, best_t = value, 0.0
    for _ in range(60):
        f, s = evaluate(t)
        if np.isfinite(f) and f < best:
            best, best_t = f, t
        if np.isfinite(f) and abs(s) <= 0.1 * abs(slope) and best_t == t:
            return t
        low, high = (t, high) if np.isfinite(f) and s < 0 else (low, t)
        t = 0.5 * (low + high) if high < np.inf else 4.0 * t
    return best_t


def hinge(problem: Problem) -> Fit:
    """Newton on the hinge rounded less and less, or where that costs too much, dual coordinate descent.

    Both end with dual variables alpha in [0, 1]; the value is the hinge's own, and a duality gap above ``GAP`` is said.
    """
    rows, n, m = problem.rows, len(problem.rows.y), problem.block.width
    if m == 0:
        return constant(problem)
    by_newton = n * m * m <= AFFORDABLE or n * m > GATHERED  # the latter without any dense copy of the columns
    alpha, coef, b = rounded(problem) if by_newton else coordinate_descent(problem)
    if problem.intercept:
        b = best_threshold(rows, rows.shift(problem.block.matvec(coef), 0.0))
    ridge = 0.5 * float(coef @ (problem.l2 * coef))
    value = problem.block.newton(problem.loss, rows, coef, b, False)[0] + ridge
    margin = rows.c * alpha if rows.offset is None else rows.c * alpha * (1 - rows.y * rows.offset)
    gap = value - (float(margin.sum()) - ridge)
    note = f"the refit stopped at a duality gap of {gap:.1e}" if gap > GAP * max(value, 1e-3) else ""
    return Fit(coef, b, value, note, dual=-rows.y * alpha)


def rounded(problem: Problem) -> tuple[Vector, Vector, float]:
    """The path of smoothed hinges to the hinge; at its end alpha = clip((1 - y eta) / gamma)."""
    rows, m = problem.rows, problem.block.width
    z = np.zeros(m + problem.intercept)
    for gamma in 10.0 ** -np.arange(8):
        fit = newton(replace(problem, loss=SmoothedHinge(gamma)), z)
        z = np.append(fit.coef, fit.b) if problem.intercept else fit.coef
    eta = rows.shift(problem.block.matvec(fit.coef), fit.b)
    return np.clip((1 - rows.y * eta) / gamma, 0.0, 1.0), fit.coef, fit.b


def coordinate_descent(
    problem: Problem, tol: float = 1e-9, max_epochs: int = 2000, rounds: int = 200
) -> tuple[Vector, Vector, float]:
    """Dual coordinate descent; the intercept by proximal steps, so that sum_i c_i y_i alpha_i ends at zero."""
    rows, l2 = problem.rows, float(np.min(problem.l2, initial=np.inf))
    scale = np.sqrt(l2 / problem.l2) * np.ones(problem.block.width)  # columns so scaled have one l2
    samples = np.asfortranarray(problem.block.dense().T * scale[:, None])
    alpha, b, rho = np.full(len(rows.y), 0.5), 0.0, max(l2, 1e-3) if problem.intercept else 1e30
    for turn in range(rounds):
        alpha, coef, ahead, epochs = _core.hinge_dual(
            samples, rows.y, rows.c, rows.offset, l2, rho, b, alpha, tol, max_epochs, turn
        )
        moved, b = abs(ahead - b) * rho if problem.intercept else 0.0, ahead
        if moved <= tol and (epochs < max_epochs or turn >= 10):
            break
    return alpha, coef * scale, b if problem.intercept else 0.0


def constant(problem: Problem) -> Fit:
    """The hinge model without features, and of its many duals the even one: samples at the kink share alike."""
    rows = problem.rows
    eta = rows.shift(np.zeros(len(rows.y)), 0.0)
    b = best_threshold(rows, eta) if problem.intercept else 0.0
    short = 1.0 - rows.y * (eta + b)
    kink = np.abs(short) <= 1e-12
    alpha = (short > 0).astype(float)
    alpha[kink] = 0.0
    shared = float((rows.c * rows.y)[kink].sum())
    if problem.intercept and shared != 0:
        alpha[kink] = np.clip(-float(rows.c * rows.y @ alpha) / shared, 0.0, 1.0)
    value = float(rows.c @ np.maximum(0.0, short))
    return Fit(np.empty(0), b, value, dual=-rows.y * alpha)


def best_threshold(rows: Rows, eta: Vector) -> float:
    """The b that minimises sum_i c_i max(0, 1 - y_i (eta_i + b)); the middle where a whole interval does.

    The slope in b starts at -sum of the positive class and rises by c_i at each kink b_i = y_i - eta_i.
    """
    kinks = rows.y - eta
    order = np.argsort(kinks)
    kinks, slope = kinks[order], np.cumsum(rows.c[order]) - float(rows.c[rows.y > 0].sum())
    left = min(int(np.searchsorted(slope, -1e-12)), len(kinks) - 1)
    right = min(int(np.searchsorted(slope, 1e-12)), len(kinks) - 1)
    return float(0.5 * (kinks[left] + kinks[right]))
