"""DIHT and SDIHT: B. Liu, X.-T. Yuan, L. Wang, Q. Liu, D. Metaxas, ICML 2017, Theorems 1 to 5.

sigma_min(X, k) in the step of Theorems 4 and 5 should be squared, and it is zero: its infimum is over all sets of at
most k columns, and one column has rank one. So the step is N/(mu (t+1)), m times that for SDIHT, and c_1 = N (r +
lambda rho)^2 / (lambda mu)^2. The theorems assume ||x_i|| <= 1: rows are scaled by B = max
||x_i||, which makes lambda / B^2 of lambda and B epsilon of the margin. Their r and rho, bounds of the dual variables
and of the conjugate's slope, are finite for the Huber loss and for the smoothed hinge only.

sigma_max(X, k) in c_2 should be squared too: the proof bounds the norm of the vector of x_i'(w - w*) over all rows by
||w - w*||, which ||x_i|| <= 1 gives for one row only. sigma_max(X), never below sigma_max(X, k), stands in its place.

Theorem 5 wants max(4 t_2, t_3) iterations for the gap: its proof takes t_2 at half of delta, which is 4 x ln(4 x) where
t_2 is x ln(x), a little more than 4 t_2. That number stands in its place.
"""

from collections.abc import Iterator
from math import ceil, log

import numpy as np

from .._utils.rounding import SUM_ROUNDING
from ..objectives.base import Point
from .problem import NEEDS_TARGET, Problem
from .statements import CERTIFIED, LIMIT_TOLERANCE, NOT_APPLICABLE, OPEN, REFUTED, Statement

PAPER = "DIHT"
TARGET_GAP = 1e-3  # of the value at the target: the primal-dual gap that t_1 and t_3 are for
BLOCKS, FAILURE_PROBABILITY = 10, 0.05  # m and delta of Theorem 5
REFIT_TOLERANCE = 1e-6  # relative distance from its refit at which a target counts as refitted
GRADIENT_TOLERANCE = 1e-6  # share of l2 x_min that a gradient on the support may be


def statements(problem: Problem) -> Iterator[Statement]:
    """All results of the paper, judged."""
    yield theorem1(problem)
    yield duality(problem, "Theorem 2", "a sparse saddle point exists, so that min and max may be exchanged")
    yield duality(problem, "Theorem 3", "a sparse saddle point exists, so that the dual's maximum is the best value")
    yield ascent(problem, "Theorem 4", "diht")
    yield ascent(problem, "Theorem 5", "sdiht")


def _margin(problem: Problem) -> tuple[str, float]:
    """Whether the target is half of a saddle point, and how far the condition holds.

    Where the loss is not differentiable the subgradient of the refit is the one that can vanish on the support. Others
    exist, so that nothing is refuted by it.
    """
    levels = problem.levels
    point, g = levels.point, levels.gradient
    unique = levels.f.smooth
    if not unique and (refit := _refit(problem)) is not None:
        g = refit.gradient
    size, x_min = problem.size or 0, problem.x_min
    outside = np.abs(g)
    on_support = float(outside[point.support].max(initial=0.0))
    outside = outside.copy()
    outside[point.support] = 0.0
    widest = float(outside.max(initial=0.0)) / levels.ridge
    margin = x_min - widest if size == problem.k else -widest
    rounding = _gradient_rounding(problem) if unique else 0.0
    # -sum a_i x_i / (l2 n) is x* - f'(x*)/l2, whose k largest entries must be those of x* with this much rounding
    room = LIMIT_TOLERANCE * max(x_min, widest) + (2 * on_support + rounding) / levels.ridge
    zero = GRADIENT_TOLERANCE * levels.ridge * max(x_min, widest, 1e-300) + 1e-12 * problem.slope
    if size > problem.k:
        return REFUTED, margin
    if on_support > max(zero, rounding):
        return (REFUTED if unique and _refit(problem) is None else OPEN), margin
    if margin > room:
        return CERTIFIED, margin
    return (REFUTED if unique and margin < -room else OPEN), margin


def _refit(problem: Problem) -> Point | None:
    """The refit of the target's support, where the target is one but for rounding."""
    point = problem.levels.point
    refit = problem.levels.f.refit(point.support)
    same = np.allclose(refit.coef, point.coef, rtol=REFIT_TOLERANCE, atol=REFIT_TOLERANCE * problem.norm)
    return refit if same else None


def _gradient_rounding(problem: Problem) -> float:
    """What an entry of f'(x*) may be off by: a column is no longer than sqrt(h), the derivatives than sqrt(2 f)."""
    levels = problem.levels
    spread = problem.glm.data.moments()
    bend = levels.loss.smoothness if np.isfinite(levels.loss.smoothness) else 1.0
    h = bend * spread.about(0.0) / spread.weight + levels.ridge
    value = levels.point.value
    height = value - max(float(levels.f.lower), -abs(value))
    reach = float(np.abs(levels.point.coef) @ np.sqrt(h[levels.point.support])) + float(np.sqrt(2 * max(height, 0.0)))
    return SUM_ROUNDING * float(np.sqrt(h.max())) * reach


def theorem1(problem: Problem) -> Statement:
    """The target and its dual variables are a saddle point, so that the target is the best k-sparse point."""
    condition = "f'(x*) = 0 on the support, x_min >= |f'(x*)|_inf / l2"
    why = _applies(problem)
    if why:
        return Statement(PAPER, "Theorem 1", "diht", condition, NOT_APPLICABLE, note=why)
    verdict, margin = _margin(problem)
    note = {
        CERTIFIED: "the target is a global minimiser",
        REFUTED: "the target is not half of a saddle point; it may still be optimal",
        OPEN: "" if problem.levels.f.smooth else "the loss is not differentiable: another subgradient may do",
    }[verdict]
    return Statement(PAPER, "Theorem 1", "diht", condition, verdict, numbers={"margin": margin}, note=note)


def duality(problem: Problem, name: str, condition: str) -> Statement:
    """Strong duality, which a saddle point proves; that there is none a single target cannot show."""
    why = _applies(problem)
    if why:
        return Statement(PAPER, name, "diht", condition, NOT_APPLICABLE, note=why)
    verdict, margin = _margin(problem)
    return Statement(
        PAPER, name, "diht", condition, CERTIFIED if verdict == CERTIFIED else OPEN, numbers={"margin": margin}
    )


def ascent(problem: Problem, name: str, solver: str) -> Statement:
    """Steps after which the support is that of the target, and the gap is small."""
    condition = "the loss is 1/mu-smooth, x_min > |f'(x*)|_inf / l2"
    why, f = _applies(problem), problem.glm
    loss = problem.levels.loss
    if not why and not np.isfinite(loss.smoothness):
        why = f"the {loss.name} loss is not smooth: with k below the number of rows the paper has no step"
    if not why and f.data.whole and np.ptp(f.data.rows.c) > LIMIT_TOLERANCE * f.data.rows.c.max():
        why = "the paper weighs all rows alike"
    if why:
        return Statement(PAPER, name, solver, condition, NOT_APPLICABLE, note=why)
    n, blocks = f.data.shape[0], BLOCKS if solver == "sdiht" else 1
    first = blocks * n * loss.smoothness
    numbers = {"step at t = 0": first}
    verdict, margin = _margin(problem)
    limits = _dual_limits(problem)
    if limits is None:
        note = (
            f"the {loss.name} loss has unbounded dual variables or conjugate slopes, so that the paper's r or rho, and"
            " with them the iterations, are infinite"
        )
        return Statement(PAPER, name, solver, condition, verdict, numbers=numbers, note=note)
    if f.fit_intercept:
        note = "the paper has no intercept: steps are those without one"
        return Statement(
            PAPER, name, solver, condition, OPEN if verdict == CERTIFIED else verdict, numbers=numbers, note=note
        )
    if verdict == CERTIFIED:
        numbers |= _counts(problem, limits, margin, blocks, solver)
    last = "max(t2 for the gap, t3)" if solver == "sdiht" else "max(t0, t1)"
    note = f"the gap is below {TARGET_GAP:g} of the value from iteration {last} on" if verdict == CERTIFIED else ""
    if solver == "sdiht":
        chosen = f"with m = {BLOCKS} blocks and delta = {FAILURE_PROBABILITY:g}"
        note = f"{chosen}, {note}" if note else chosen
    return Statement(PAPER, name, solver, condition, verdict, numbers=numbers, note=note)


def _counts(problem: Problem, limits: tuple[float, float], margin: float, blocks: int, solver: str) -> dict[str, float]:
    """t_0 (for the support) and t_1 (for the gap) of Theorem 4, or t_2 and t_3 of Theorem 5."""
    levels, f = problem.levels, problem.glm
    n, mu, (r, rho) = f.data.shape[0], 1 / levels.loss.smoothness, limits
    B = _largest_row(problem)
    lam, epsilon = levels.ridge / B**2, B * margin
    sigma = n * max((levels.level(problem.p).smoothness.certified - levels.ridge) / levels.loss.smoothness, 0.0) / B**2
    c1 = n * (r + lam * rho) ** 2 / (lam * mu) ** 2
    c2 = (r + lam * rho) ** 2 * (1 + sigma / (mu * lam * n)) ** 2
    delta = FAILURE_PROBABILITY if solver == "sdiht" else 1.0
    gap = TARGET_GAP * abs(levels.point.value)
    support = 12 * blocks * c1 * sigma / (lam**2 * delta**2 * n**2 * epsilon**2)
    value = 3 * blocks * c1 * c2 / (lam**2 * delta**2 * n * gap**2)
    if solver == "diht":
        return {"t0": _n_log(support), "t1": _n_log(value)}
    return {"t2": _n_log(support), "t2 for the gap": _n_log(4 * support), "t3": _n_log(4 * value)}


def _n_log(x: float) -> float:
    return float(ceil(x * log(x))) if x > 1 else 1.0


def _dual_limits(problem: Problem) -> tuple[float, float] | None:
    """r and rho: bounds of |a| and of |phi*'(a)| over the dual domain; None where one is infinite."""
    loss, data = problem.levels.loss, problem.glm.data
    if loss.name not in ("huber", "smoothed_hinge") or not data.whole:
        return None
    low, high = loss.dual_domain(data.rows.y)
    slopes = [np.abs(loss.conjugate_d1(data.rows.y, a)).max() for a in (np.asarray(low), np.asarray(high))]
    return float(max(np.abs(low).max(), np.abs(high).max())), float(max(slopes))


def _largest_row(problem: Problem) -> float:
    """max ||x_i||."""
    design, (n, p) = problem.glm.data.design, problem.glm.data.shape
    squares = np.zeros(n)
    for low in range(0, p, 256):
        squares += (design.block(np.arange(low, min(p, low + 256))).dense() ** 2).sum(axis=1)
    return float(np.sqrt(squares.max())) or 1.0


def _applies(problem: Problem) -> str:
    """Why the paper's results say nothing about the problem; an empty string where they do."""
    if "dual" not in problem.levels.f.offers:
        return "the paper is about generalised linear models with one output"
    if problem.levels.ridge <= 0:
        return "the paper needs l2 > 0"
    if np.ndim(problem.glm.ridge) != 0:
        return "the paper has one l2 for all columns"
    return NEEDS_TARGET if problem.size is None else ""
