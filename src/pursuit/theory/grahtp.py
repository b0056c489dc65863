"""GraHTP and FGraHTP: X.-T. Yuan, P. Li, T. Zhang, JMLR 18 (2018), Theorems 2, 5, 8, 10, Corollaries 3, 7, Lemma 21.

Slips of the paper, and what stands here in their place:

- Corollaries 3 and 7 print 1/mu where 1/ln(1/mu) is meant. Iterations start from x^(0) = 0.
- Theorem 2(b) allows rho < 0.62, where mu_2 = 1.62 rho may be above 1: steps here have rho < 1/1.62.
- Corollary 3 concludes that the supports are equal. Its proof gives that where the target has k non-zeros; a smaller
  target's support is contained in the iterate's.
- The proof of Theorem 8 says eta = 1/M_2k in one place; the theorem's 1/(2 M_2k) is what it uses.
"""

from collections.abc import Iterator
from math import sqrt

import numpy as np

from .problem import (
    Problem,
    at_most,
    at_most_equal,
    best_step,
    contraction,
    iterations,
    size_needed,
    steps_below,
)
from .restricted_curvature import Bracket
from .statements import CERTIFIED, LIMIT_TOLERANCE, NOT_APPLICABLE, OPEN, REFUTED, Statement, together, verdict_below

PAPER = "GraHTP"
LIMIT_A, RHO_A = 2 * sqrt(3) / 3, 0.5  # Theorem 2(a)
LIMIT_B, RHO_B = 1.26, 1 / 1.62  # Theorem 2(b), whose 0.62 is a little more than the rho of mu_2 = 1
GRID_TOLERANCE = 1e-3  # relative error of a minimum over a grid of steps


def statements(problem: Problem) -> Iterator[Statement]:
    """All results of the paper, judged."""
    for part, limit, rho, solver in (("a", LIMIT_A, RHO_A, "grahtp"), ("b", LIMIT_B, RHO_B, "fgrahtp")):
        yield theorem2(problem, part, limit, rho, solver)
        yield corollary3(problem, part, limit, rho, solver)
    yield theorem5a(problem)
    yield corollary7a(problem)
    yield theorem5b(problem)
    yield corollary7b(problem)
    yield theorem8(problem)
    yield theorem10_1(problem)
    yield theorem10_2(problem)
    yield lemma21(problem)


def _theorem2(problem: Problem, limit: float) -> tuple[str, Bracket, int, int]:
    kappa = problem.kappa(3 * problem.k)
    load = Bracket(kappa.inside / limit, kappa.certified / limit)
    verdict = verdict_below(load)
    certified = problem.k if verdict == CERTIFIED else 0
    possible = 0 if verdict == REFUTED else problem.k
    return problem.by_size(certified, possible), load, certified, possible


def theorem2(problem: Problem, part: str, limit: float, rho: float, solver: str) -> Statement:
    """Linear convergence to any k-sparse vector where M_3k / m_3k is small."""
    k = problem.k
    verdict, load, certified, possible = _theorem2(problem, limit)
    numbers: dict[str, float] = {}
    m, M = problem.chosen(verdict, problem.m(3 * k), problem.M(3 * k))
    steps = steps_below(m, M, rho)
    if verdict != REFUTED and steps is not None:
        eta = m / M**2
        r = contraction(eta, m, M)
        numbers = {"step from": steps[0], "step to": steps[1], "step": eta, "mu": _mu(part, r)}
        if problem.size is not None:
            numbers["error"] = _factor(part, eta, r, k) * problem.slope
    return Statement(
        PAPER,
        f"Theorem 2({part})",
        solver,
        f"M_3k/m_3k < {limit:.4g}",
        verdict,
        load,
        **problem.about(certified, possible),
        numbers=numbers,
    )


def corollary3(problem: Problem, part: str, limit: float, rho: float, solver: str) -> Statement:
    """The support of the target, where its smallest entry is large."""
    why = problem.unusable(without_target=False)
    k, factor = problem.k, {"a": "5.66 eta sqrt(k)/(1 - 2 rho)", "b": "5.62 eta sqrt(k)/(1 - 1.62 rho)"}[part]
    condition = f"Theorem 2({part}), x_min > {factor} |f'(x*)|_inf"
    name = f"Corollary 3({part})"
    if why:
        return Statement(PAPER, name, solver, condition, NOT_APPLICABLE, note=why)
    first = _theorem2(problem, limit)[0]

    def needed(m: float, M: float) -> tuple[float, float]:
        steps = steps_below(m, M, rho)
        if steps is None:
            return 0.0, np.inf
        return best_step(steps, lambda eta: 2 * _factor(part, eta, contraction(eta, m, M), k) * problem.slope)

    (eta_in, low), (eta_out, high) = (needed(problem.m(3 * k)[i], problem.M(3 * k)[i]) for i in (0, 1))
    load = _load(low * (1 - GRID_TOLERANCE), high, problem.x_min)
    verdict = together(first, verdict_below(load))
    eta = eta_out if verdict == CERTIFIED else eta_in
    numbers: dict[str, float] = {}
    if verdict != REFUTED and eta > 0:
        m, M = problem.chosen(verdict, problem.m(3 * k), problem.M(3 * k))
        mu = _mu(part, contraction(eta, m, M))
        numbers = {"step": eta, "iterations": iterations(2 * problem.norm, problem.x_min, mu)}
    smaller = problem.size is not None and problem.size < k and verdict != REFUTED
    note = "the iterate has k non-zeros, the target's among them" if smaller else ""
    return Statement(PAPER, name, solver, condition, verdict, load, numbers=numbers, note=note)


def _mu(part: str, rho: float) -> float:
    return rho / (1 - rho) if part == "a" else 1.62 * rho


def _factor(part: str, eta: float, rho: float, k: int) -> float:
    """The factor of |f'|_inf in the error of Theorem 2."""
    rest = 1 - (2 if part == "a" else 1.62) * rho
    return (2.83 if part == "a" else 2.81) * eta * sqrt(k) / rest if rest > 0 else np.inf


def _load(low: float, high: float, x_min: float) -> Bracket:
    return Bracket(low / x_min, high / x_min) if x_min > 0 else Bracket(np.inf, np.inf)


def _room(problem: Problem) -> int:
    """The largest target size with 2k + k* < p."""
    return max(problem.p - 2 * problem.k - 1, 0)


def _theorem5a(problem: Problem) -> tuple[str, Bracket, int, int]:
    k, kappa = problem.k, problem.kappa(2 * problem.k)
    certified, possible = problem.sized(lambda x: at_most(k / (2 + 4 * x * x)), kappa)
    certified, possible = min(certified, _room(problem)), min(possible, _room(problem))
    size = problem.size or 1
    load = Bracket(*((2 + 4 * x * x) * size / k for x in kappa))
    return problem.by_size(certified, possible), load, certified, possible


def theorem5a(problem: Problem) -> Statement:
    """GraHTP with a relaxed k comes near a smaller target, whatever the condition number."""
    condition = "k >= (2 + 4/(eta m_2k)^2) k*, eta < 1/M_2k, 2k + k* < p"
    if problem.unusable():
        return Statement(PAPER, "Theorem 5(a)", "grahtp", condition, NOT_APPLICABLE, note=problem.unusable())
    k, size = problem.k, problem.size or 1
    verdict, load, certified, possible = _theorem5a(problem)
    numbers: dict[str, float] = {}
    m, M = problem.chosen(verdict, problem.m(2 * k), problem.M(2 * k))
    if m > 0 and np.isfinite(M):
        numbers["relaxed k"] = size_needed((2 + 16 * (M / m) ** 2) * size)
        if verdict != REFUTED and k > 2 * size:
            low = 2 / (m * sqrt(k / size - 2))
            eta = max(low, 1 / (2 * M))
            numbers |= {"step from": low, "step below": 1 / M, "mu": 1 - eta * m * (1 - eta * M) / 2}
    note = "2k + k* must be below the number of columns" if _room(problem) < size else ""
    return Statement(
        PAPER,
        "Theorem 5(a)",
        "grahtp",
        condition,
        verdict,
        load,
        **problem.about(certified, possible),
        numbers=numbers,
        note=note,
    )


def corollary7a(problem: Problem) -> Statement:
    """A relaxed k covers the support of the target."""
    condition, k = "Theorem 5(a), x_min > 5.66 sqrt(k) |f'(x*)|_inf / m_2k", problem.k
    why = problem.unusable(without_target=False)
    if why or problem.size is None:
        return Statement(PAPER, "Corollary 7(a)", "grahtp", condition, NOT_APPLICABLE, note=why)
    low, high = (5.66 * sqrt(k) * problem.slope / m if m > 0 else np.inf for m in problem.m(2 * k))
    load = _load(low, high, problem.x_min)
    verdict = together(_theorem5a(problem)[0], verdict_below(load))
    numbers: dict[str, float] = {}
    if verdict != REFUTED:
        m, M = problem.chosen(verdict, problem.m(2 * k), problem.M(2 * k))
        eta = max(2 / (m * sqrt(k / problem.size - 2)), 1 / (2 * M))
        mu = 1 - eta * m * (1 - eta * M) / 2
        delta = max(problem.levels.f.null.value - problem.levels.point.value, 0.0)
        numbers = {"step": eta, "iterations": iterations(8 * delta, m * problem.x_min**2, mu)}
    return Statement(PAPER, "Corollary 7(a)", "grahtp", condition, verdict, load, numbers=numbers)


def _gamma(ratio: float) -> float:
    return sqrt(1 + (ratio + sqrt((4 + ratio) * ratio)) / 2)


def _rho_below(ratio: float) -> float:
    """The rho at which (1 - rho)^2 / rho is k*/k: Theorem 5(b) holds below it."""
    half = 1 + ratio / 2
    return half - sqrt(half * half - 1)


def _largest5b(k: int, kappa: float) -> float:
    """The largest k* with k > rho k* / (1 - rho)^2 at the best step, for one condition number."""
    rho = sqrt(max(1 - 1 / kappa**2, 0.0))
    return at_most(k * (1 - rho) ** 2 / rho) if rho > 0 else float(k)


def _level5b(problem: Problem) -> tuple[int, int]:
    """Levels 2k + k* for values from inside and for certified ones: without a target the extremes of k*."""
    k = problem.k
    return (2 * k + 1, 3 * k) if problem.size is None else (2 * k + problem.size, 2 * k + problem.size)


def _theorem5b(problem: Problem) -> tuple[str, Bracket, int, int]:
    k, (inside, outside) = problem.k, _level5b(problem)
    kappa = Bracket(problem.kappa(inside).inside, problem.kappa(outside).certified)
    certified, possible = problem.sized(lambda x: _largest5b(k, x), kappa)
    certified, possible = min(certified, _room(problem)), min(possible, _room(problem))
    size = problem.size or 1
    rhos = [sqrt(max(1 - 1 / x**2, 0.0)) if np.isfinite(x) else 1.0 for x in kappa]
    load = Bracket(*(r * size / ((1 - r) ** 2 * k) if r < 1 else np.inf for r in rhos))
    return problem.by_size(certified, possible), load, certified, possible


def theorem5b(problem: Problem) -> Statement:
    """FGraHTP with a relaxed k comes near a smaller target."""
    condition = "k > rho k*/(1 - rho)^2, eta < 2 m_s/M_s^2, s = 2k + k* < p"
    if problem.unusable():
        return Statement(PAPER, "Theorem 5(b)", "fgrahtp", condition, NOT_APPLICABLE, note=problem.unusable())
    k, size = problem.k, problem.size or 1
    verdict, load, certified, possible = _theorem5b(problem)
    s = 2 * k + size
    numbers: dict[str, float] = {}
    if verdict != REFUTED:
        m, M = problem.chosen(verdict, problem.m(s), problem.M(s))
        steps = steps_below(m, M, _rho_below(size / k))
        if steps is not None:
            eta = m / M**2
            mu = contraction(eta, m, M) * _gamma(size / k)
            numbers = {"step from": steps[0], "step to": steps[1], "step": eta, "mu": mu}
    note = "2k + k* must be below the number of columns" if _room(problem) < size else ""
    return Statement(
        PAPER,
        "Theorem 5(b)",
        "fgrahtp",
        condition,
        verdict,
        load,
        **problem.about(certified, possible),
        numbers=numbers,
        note=note,
    )


def corollary7b(problem: Problem) -> Statement:
    """FGraHTP with a relaxed k covers the support of the target."""
    condition, k = "Theorem 5(b), x_min > 2 gamma eta sqrt(s)/(1 - mu) |f'(x*)|_inf", problem.k
    why = problem.unusable(without_target=False)
    if why or problem.size is None:
        return Statement(PAPER, "Corollary 7(b)", "fgrahtp", condition, NOT_APPLICABLE, note=why)
    s, gamma = 2 * k + problem.size, _gamma(problem.size / k)

    def needed(m: float, M: float) -> tuple[float, float]:
        steps = steps_below(m, M, _rho_below((problem.size or 1) / k))
        if steps is None:
            return 0.0, np.inf

        def factor(eta: float) -> float:
            rest = 1 - gamma * contraction(eta, m, M)
            return 2 * gamma * eta * sqrt(s) / rest * problem.slope if rest > 0 else np.inf

        return best_step(steps, factor)

    (eta_in, low), (eta_out, high) = (needed(problem.m(s)[i], problem.M(s)[i]) for i in (0, 1))
    load = _load(low * (1 - GRID_TOLERANCE), high, problem.x_min)
    verdict = together(_theorem5b(problem)[0], verdict_below(load))
    numbers: dict[str, float] = {}
    if verdict != REFUTED:
        m, M = problem.chosen(verdict, problem.m(s), problem.M(s))
        eta = eta_out if verdict == CERTIFIED else eta_in
        mu = gamma * contraction(eta, m, M)
        numbers = {"step": eta, "iterations": iterations(2 * problem.norm, problem.x_min, mu)}
    return Statement(PAPER, "Corollary 7(b)", "fgrahtp", condition, verdict, load, numbers=numbers)


def theorem8(problem: Problem) -> Statement:
    """GraHTP ends with the target's support as its largest entries."""
    condition = "k >= (1 + 16 (M_2k/m_2k)^2) k*, x_min > 2.3 sqrt((f(x*) - min f)/m_2k), min over k-sparse x"
    if problem.unusable():
        return Statement(PAPER, "Theorem 8", "grahtp", condition, NOT_APPLICABLE, note=problem.unusable())
    k, kappa = problem.k, problem.kappa(2 * problem.k)
    certified, possible = problem.sized(lambda x: at_most_equal(k / (1 + 16 * x * x)), kappa)
    size = problem.size or 1
    load = Bracket(*((1 + 16 * x * x) * size / k for x in kappa))
    verdict = problem.by_size(certified, possible)
    numbers: dict[str, float] = {}
    note = "the iterations are this times the log of (f(0) - f(x^*)) over the gap to the second best value"
    if problem.size is not None:
        enough, above = _far_above(problem)
        verdict = together(verdict, enough)
        numbers["x_min"], numbers["x_min needed at most"] = problem.x_min, above
    m, M = problem.chosen(verdict, problem.m(2 * k), problem.M(2 * k))
    if m > 0 and np.isfinite(M):
        numbers |= {
            "step": 1 / (2 * M),
            "relaxed k": size_needed((1 + 16 * (M / m) ** 2) * size),
            "2kM/m": 2 * k * M / m,
        }
    return Statement(
        PAPER,
        "Theorem 8",
        "grahtp",
        condition,
        verdict,
        load,
        **problem.about(certified, possible),
        numbers=numbers,
        note=note if verdict != REFUTED else "",
    )


def _far_above(problem: Problem) -> tuple[str, float]:
    """Whether x_min > 2.3 sqrt((f(x*) - min f)/m_2k), the minimum over k-sparse x, and what suffices for it."""
    m, value = problem.m(2 * problem.k), problem.levels.point.value
    above = 2.3 * sqrt(max(value - problem.lowest, 0.0) / m.certified) if m.certified > 0 else np.inf
    if problem.x_min > above * (1 + LIMIT_TOLERANCE):
        return CERTIFIED, above
    excess = value - problem.highest - LIMIT_TOLERANCE * max(abs(value), abs(problem.highest))
    needed = 2.3 * sqrt(excess / m.inside) if excess > 0 and m.inside > 0 else 0.0
    return (REFUTED if problem.x_min < needed * (1 - LIMIT_TOLERANCE) else OPEN), above


def theorem10_1(problem: Problem) -> Statement:
    """The largest entries of the best k-sparse point are those of a strong target."""
    condition, k = "x_min > 4.59 sqrt(k) |f'(x*)|_inf / m_2k, k* <= k", problem.k
    why = problem.unusable(without_target=False)
    if why or problem.size is None:
        return Statement(PAPER, "Theorem 10(1)", "any", condition, NOT_APPLICABLE, note=why)
    low, high = (4.59 * sqrt(k) * problem.slope / m if m > 0 else np.inf for m in problem.m(2 * k))
    load = _load(low, high, problem.x_min)
    smooth = CERTIFIED if np.isfinite(problem.M(2 * k).certified) else OPEN
    verdict = REFUTED if problem.size > k else together(verdict_below(load), smooth)
    return Statement(PAPER, "Theorem 10(1)", "any", condition, verdict, load)


def theorem10_2(problem: Problem) -> Statement:
    """The largest entries of the best k-sparse point are those of a small target whose value is near the best."""
    condition = "k >= (1 + 4 (M_2k/m_2k)^2) k*, x_min > 2.3 sqrt((f(x*) - min f)/m_2k), min over k-sparse x"
    if problem.unusable():
        return Statement(PAPER, "Theorem 10(2)", "any", condition, NOT_APPLICABLE, note=problem.unusable())
    k, kappa, size = problem.k, problem.kappa(2 * problem.k), problem.size or 1
    certified, possible = problem.sized(lambda x: at_most_equal(k / (1 + 4 * x * x)), kappa)
    load = Bracket(*((1 + 4 * x * x) * size / k for x in kappa))
    verdict = problem.by_size(certified, possible)
    numbers: dict[str, float] = {}
    if problem.size is not None:
        enough, above = _far_above(problem)
        verdict = together(verdict, enough)
        numbers["x_min"], numbers["x_min needed at most"] = problem.x_min, above
    (x,) = problem.chosen(verdict, kappa)
    if np.isfinite(x):
        numbers["relaxed k"] = size_needed((1 + 4 * x * x) * size)
    return Statement(
        PAPER,
        "Theorem 10(2)",
        "any",
        condition,
        verdict,
        load,
        **problem.about(certified, possible),
        numbers=numbers,
    )


def lemma21(problem: Problem) -> Statement:
    """A necessary condition: where it fails the target is not the best k-sparse point."""
    condition = "the best x has x_min >= |f'(x)|_inf / M_2k"
    if problem.size is None:
        return Statement(
            PAPER, "Lemma 21", "any", condition, NOT_APPLICABLE, note=problem.unusable(without_target=False)
        )
    M = problem.M(2 * problem.k)
    needed = Bracket(problem.slope / M.certified, problem.slope / M.inside if M.inside > 0 else np.inf)
    x_min = problem.x_min if problem.size else 0.0
    load = _load(*needed, x_min)
    refuted = problem.size > problem.k or x_min < needed.inside * (1 - LIMIT_TOLERANCE) - LIMIT_TOLERANCE * problem.norm
    verdict = REFUTED if refuted else OPEN
    note = "the target is not optimal" if refuted else "this condition does not rule out that the target is optimal"
    if problem.size > problem.k:
        note = "the target has more than k non-zeros"
    return Statement(
        PAPER, "Lemma 21", "any", condition, verdict, load, numbers={"x_min": x_min, "needed": needed.inside}, note=note
    )
