"""ARHT and OMPR: K. Axiotis, M. Sviridenko (2020), Theorem 3.3, Corollaries 3.5 and 3.6, Theorem 3.7, Corollary 3.9.

s is k, s* the size of the target, kappa~ = rho_2^+ / rho^-_{s + s*}, rho^- the constant at level s + s*.

Corollaries 3.5 and 3.6 take zeta at level s, which is right where f'(x*) vanishes on the target's support S*. Elsewhere
f(x) >= f(x*) + f'(x*)'(x - x*) + rho^-/2 ||x - x*||^2 gives, for an s-sparse x, with g = f'(x*):

- Corollary 3.5 with zeta^2 = ||g on S*||^2 + the s largest squares of g elsewhere;
- Corollary 3.6 with this: an x without column i of S* has
  f(x) - f(x*) >= rho^-/2 x*_i^2 - |g_i x*_i| - (zeta^2 - g_i^2)/(2 rho^-).
  So epsilon must be below the least of these over S*, which is positive where |x*_i| > (|g_i| + zeta) / rho^-. Where g
  vanishes on S* both are the printed ones. The printed condition refutes.

Theorem 3.7 and its corollaries say nothing about targets larger than k, as orthogonal columns show.
"""

from collections.abc import Iterator
from math import log, sqrt

import numpy as np

from .problem import Problem, at_most, at_most_equal, size_needed
from .restricted_curvature import Bracket
from .statements import CERTIFIED, NOT_APPLICABLE, REFUTED, Statement, together, verdict_below

PAPER = "ARHT"
EPSILON = 1e-3  # target error, as a share of f(0) - min f
THETA = 0.1  # of Corollary 3.5


def statements(problem: Problem) -> Iterator[Statement]:
    """All results of the paper, judged."""
    yield theorem33(problem)
    yield corollary35(problem)
    yield corollary36(problem)
    yield theorem37(problem, "Theorem 3.7 (1)", 1.0, strict=False)
    yield theorem37(problem, "Theorem 3.7 (2)", 2.0, strict=True)
    yield corollary39(problem)


def kappa(problem: Problem) -> Bracket:
    """kappa~ at level k + k*; without a target the smallest k* from inside and the largest for a certificate."""
    k, size = problem.k, problem.size
    if size is not None:
        return problem.levels.level(k + size).pair_condition
    return Bracket(
        problem.levels.level(k + 1).pair_condition.inside, problem.levels.level(2 * k).pair_condition.certified
    )


def factor(x: float) -> float:
    """max(4 kappa~ + 7, 12 kappa~ + 6)."""
    return max(4 * x + 7, 12 * x + 6)


def _theorem33(problem: Problem) -> tuple[str, Bracket, int, int]:
    found = kappa(problem)
    certified, possible = problem.sized(lambda x: at_most_equal(problem.k / factor(x)), found)
    size = problem.size or 1
    load = Bracket(*(factor(x) * size / problem.k for x in found))
    return problem.by_size(certified, possible), load, certified, possible


def theorem33(problem: Problem) -> Statement:
    """ARHT finds a value within epsilon of the target's."""
    condition = "k >= k* max(4 kappa~ + 7, 12 kappa~ + 6)"
    if problem.unusable():
        return Statement(PAPER, "Theorem 3.3", "arht", condition, NOT_APPLICABLE, note=problem.unusable())
    verdict, load, certified, possible = _theorem33(problem)
    (x,) = problem.chosen(verdict, kappa(problem))
    numbers = {"kappa~": x}
    if np.isfinite(x):
        numbers["k needed"] = size_needed(factor(x) * (problem.size or 1))
    spread = log(1 / EPSILON)
    if verdict != REFUTED:
        numbers["iterations, order"] = problem.k * spread**2 * log(max(problem.p * spread, 2.0))
    return Statement(
        PAPER,
        "Theorem 3.3",
        "arht",
        condition,
        verdict,
        load,
        **problem.about(certified, possible),
        numbers=numbers,
    )


def _zeta(problem: Problem) -> float:
    """The norm of the gradient at the target over its support and any k other columns, at most."""
    return sqrt(float((problem.gradient_on_target**2).sum()) + problem.squares_elsewhere)


def corollary35(problem: Problem) -> Statement:
    """ARHT comes near the target."""
    condition = "as Theorem 3.3"
    why = problem.unusable(without_target=False)
    if why or problem.size is None:
        return Statement(PAPER, "Corollary 3.5", "arht", condition, NOT_APPLICABLE, note=why)
    verdict, load, _, _ = _theorem33(problem)
    numbers: dict[str, float] = {}
    (rho,) = problem.chosen(verdict, problem.m(problem.k + problem.size))
    if rho > 0 and verdict != REFUTED:
        zeta = _zeta(problem)
        numbers = {
            "zeta": zeta,
            "error": (2 + THETA) * zeta / rho,
            "epsilon": zeta**2 / rho * THETA * (1 + THETA / 2),
        }
    note = f"with theta = {THETA:g}" if numbers else ""
    return Statement(PAPER, "Corollary 3.5", "arht", condition, verdict, load, numbers=numbers, note=note)


def corollary36(problem: Problem) -> Statement:
    """ARHT's support covers the target's."""
    condition = "Theorem 3.3, x_min > zeta / rho^-"
    why = problem.unusable(without_target=False)
    if why or problem.size is None:
        return Statement(PAPER, "Corollary 3.6", "arht", condition, NOT_APPLICABLE, note=why)
    zeta, x, g = _zeta(problem), np.abs(problem.levels.point.coef), np.abs(problem.gradient_on_target)
    m = problem.m(problem.k + problem.size)
    printed = problem.levels.zeta(problem.k) / problem.x_min
    needed = (printed, float(((g + zeta) / x).max()))  # times rho^-
    load = Bracket(*(share / rho if rho > 0 else np.inf for share, rho in zip(needed, m, strict=True)))
    verdict = together(_theorem33(problem)[0], verdict_below(load))
    numbers: dict[str, float] = {}
    (rho,) = problem.chosen(verdict, m)
    if verdict != REFUTED and rho > 0:
        below = float((rho * x**2 / 2 - g * x - (zeta**2 - g**2) / (2 * rho)).min())
        if below > 0:
            numbers["epsilon below"] = below
    return Statement(PAPER, "Corollary 3.6", "arht", condition, verdict, load, numbers=numbers)


def theorem37(problem: Problem, name: str, limit: float, strict: bool) -> Statement:
    """OMPR's value: within epsilon of the target's below 1, within a multiple of its distance to the best below 2."""
    condition = f"kappa~ sqrt(k*/k) {'<' if strict else '<='} {limit:g}{' - theta' if strict else ''}, k* <= k"
    if problem.unusable():
        return Statement(PAPER, name, "ompr", condition, NOT_APPLICABLE, note=problem.unusable())
    k, found = problem.k, kappa(problem)
    whole = at_most if strict else at_most_equal
    certified, possible = problem.sized(lambda x: whole(k * (limit / x) ** 2), found)
    size = problem.size or 1
    load = Bracket(*(x * sqrt(size / k) / limit for x in found))
    verdict = problem.by_size(certified, possible)
    (x,) = problem.chosen(verdict, found)
    numbers: dict[str, float] = {}
    if verdict != REFUTED and np.isfinite(x):
        numbers["iterations, order"] = sqrt(k * size) * log(1 / EPSILON)
        used = x * sqrt(size / k)
        if strict and 1 < used < 2:
            theta = (2 - used) / 2
            numbers["theta"] = theta
            numbers["iterations, order"] /= theta
            numbers["factor of f(x*) - min f"] = 4 * (1 - theta) * (used - 1) / (2 - used - theta) ** 2
    note = "up to 1 part (1) says more" if strict and verdict == CERTIFIED and load.certified <= 1 else ""
    return Statement(
        PAPER, name, "ompr", condition, verdict, load, **problem.about(certified, possible), numbers=numbers, note=note
    )


def corollary39(problem: Problem) -> Statement:
    """OMPR comes near the target under a bound of the RIP constant."""
    k, size = problem.k, problem.size
    condition = "delta_{k + k*} < ((2 - theta) sqrt(k/k*) - 1)/((2 - theta) sqrt(k/k*) + 1), k* <= k"
    if problem.unusable():
        return Statement(PAPER, "Corollary 3.9", "ompr", condition, NOT_APPLICABLE, note=problem.unusable())
    low, high = (k + 1, 2 * k) if size is None else (k + size, k + size)
    found = Bracket(problem.kappa(low).inside, problem.kappa(high).certified)
    certified, possible = problem.sized(lambda x: at_most(k * (2 / x) ** 2), found)
    deltas = [(x - 1) / (x + 1) if np.isfinite(x) else 1.0 for x in found]
    root = sqrt(k / (size or 1))
    limit = (2 * root - 1) / (2 * root + 1)
    load = Bracket(*(d / limit for d in deltas))
    verdict = problem.by_size(certified, possible)
    (delta,) = problem.chosen(verdict, Bracket(*deltas))
    return Statement(
        PAPER,
        "Corollary 3.9",
        "ompr",
        condition,
        verdict,
        load,
        **problem.about(certified, possible),
        numbers={"delta": delta, "delta below": limit},
        note="theta may be as small as one likes",
    )
