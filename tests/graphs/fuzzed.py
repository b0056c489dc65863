"""Random covariance matrices that numerical methods get wrong, and what the library says of them held against truth.

A seed chooses everything: few rows, collinear and duplicated columns, near-duplicates, constant blocks, extreme units;
edges that must and must not be there, shrinkage, bounds on eigenvalues, solver. At most six nodes, so that
all exchanges, and often all graphs, can be refitted by the reference.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np

import pursuit
from graphs.checks import wrong_claims, wrongs
from graphs.reference import FAR, best_graph, correlations, every_pair, refit, refits, shrunk

SOLVERS = (
    "auto",
    "auto",
    "auto",
    "local_search",
    "grahtp",
    "omp",
    "foba",
    "grasp",
    "fbs",
    "ompr",
    "pht",
    "arht",
    "fgrahtp",
)

FIXED = (
    "grahtp",
    "fgrahtp",
    "grasp",
    "pht",
    "ompr",
    "arht",
)  # they go where the paper says, even if f has no minimum there
MOST = 300  # iterations
MANY = 500  # graphs, beyond which not all of them are refitted


@dataclass(frozen=True, eq=False)
class Problem:
    seed: int
    S: np.ndarray
    k: int
    include: list[tuple[int, int]]
    exclude: list[tuple[int, int]]
    shrinkage: float
    bounds: tuple[float, float] | None
    solver: str
    traits: tuple[str, ...]

    @property
    def sets(self) -> dict[str, Any]:
        return {"include": self.include, "exclude": self.exclude}


def draw(seed: int) -> Problem:
    """The problem of a seed."""
    rng = np.random.default_rng([seed, 12])
    p = int(rng.integers(2, 7))
    n = int(rng.choice([3, 4, p, p + 1, 2 * p, 40]))
    X = rng.standard_normal((n, p)) @ (np.eye(p) + rng.choice([0.0, 0.5, 3.0]) * rng.standard_normal((p, p)))
    traits = [f"n={n}"]
    for trait, chance in (("duplicate", 0.15), ("near", 0.15), ("sum", 0.15), ("two values", 0.1), ("units", 0.3)):
        if rng.random() >= chance:
            continue
        traits.append(trait)
        i, j = rng.permutation(p)[:2]
        if trait == "duplicate":
            X[:, j] = X[:, i] * rng.choice([1.0, -2.0])
        elif trait == "near":
            X[:, j] = X[:, i] + 10.0 ** -rng.uniform(1, 9) * X[:, j]
        elif trait == "sum":
            X[:, j] = X.sum(axis=1) - X[:, j]
        elif trait == "two values":
            X[:, j] = np.where(np.arange(n) % 2, 1.0, -1.0)
        else:
            X = X * 10.0 ** rng.uniform(-rng.choice([3, 8, 60]), 8, p)
    S = np.atleast_2d(np.cov(X.T, bias=True))
    pairs = [tuple(e) for e in every_pair(p).tolist()]
    order = [pairs[q] for q in rng.permutation(len(pairs))]
    inside = int(rng.integers(0, 3)) if rng.random() < 0.3 and len(pairs) > 4 else 0
    outside = int(rng.integers(0, len(pairs) - inside)) if rng.random() < 0.3 else 0
    k = int(rng.integers(inside, len(pairs) + 2))
    shrinkage = float(rng.choice([0.0, 0.0, 0.0, 1e-6, 0.1, 0.6]))
    bounds = None
    if rng.random() < 0.15 and "units" not in traits:
        trace = float(np.trace(S))
        bounds = (float(rng.choice([0.0, 1.0, 3.0])) / trace, float(rng.choice([np.inf, 30.0, 10.0])) * p / trace)
    solver = str(rng.choice(SOLVERS))
    include, exclude = order[:inside], order[inside : inside + outside]
    return Problem(seed, S, k, include, exclude, shrinkage, bounds, solver, tuple(traits))


def judge(problem: Problem) -> list[str]:
    """Everything that is wrong with what the library says."""
    return list(_complaints(problem))


def _complaints(problem: Problem) -> Iterator[str]:
    S, k, t = problem.S, problem.k, problem.shrinkage
    if not (S.diagonal() > 0).all():
        return
    f = pursuit.LogDet(S, shrinkage=t, eigenvalues=problem.bounds)
    forced = refit(shrunk(S, t), problem.include)
    try:
        result = pursuit.solve(f, k, solver=problem.solver, max_iter=MOST, **problem.sets)
    except ValueError as error:
        if forced is None and problem.bounds is None and "no minimum" in str(error):
            return
        yield f"error: {error}"
        return
    fine = (
        "converged",
        "max_iter",
        "no_minimiser" if problem.solver in FIXED and "no minimum" in result.reason else "",
    )
    if result.status not in fine:
        yield f"status {result.status}: {result.reason}"
    bounds = problem.bounds or (0.0, np.inf)
    yield from wrongs(result, S, k, **problem.sets, shrinkage=t, bounds=bounds)
    if problem.bounds is None:
        yield from wrong_claims(result, S, k, **problem.sets, shrinkage=t)
        yield from _against_all(problem, result)
    yield from _other_units(problem, result)


def _against_all(problem: Problem, result: Any) -> Iterator[str]:
    """No value below the minimum; no fewer edges than there could be without a word."""
    S, pairs = shrunk(problem.S, problem.shrinkage), len(every_pair(len(problem.S)))
    at_most = min(problem.k, pairs - len(problem.exclude))
    if comb(pairs, at_most) > MANY:
        return
    _, best, without = best_graph(S, at_most, **problem.sets)
    if not without and result.value < best - 1e-7 * max(1.0, abs(best)):
        yield f"value {result.value:.12g} below the minimum over all graphs {best:.12g}"
    d = correlations(S)[1]
    if np.abs(result.x * d * d[:, None]).max() > 0.01 * FAR:
        return
    if problem.solver == "auto" and not without and result.optimality == "none":
        yield f"auto without a word on exchanges: {result.reason}"
    if len(result.support) < at_most and problem.solver in ("auto", "local_search", "omp"):
        rest = [e for e in every_pair(len(S)).tolist() if e not in result.support.tolist()]
        rest = [e for e in rest if tuple(e) not in problem.exclude]
        more = np.array([sorted([*result.support.tolist(), e]) for e in rest])
        _, values, exists = refits(S, more)
        helps = exists & (values < result.value - 1e-6 * max(1.0, abs(result.value)))
        if helps.any():
            one = rest[int(np.argmax(helps))]
            yield f"only {len(result.support)} of {at_most} edges, but {one} would help: {result.reason}"


def _other_units(problem: Problem, result: Any) -> Iterator[str]:
    """Powers of two for units: the same graph, the same claim, the value but for the units."""
    if problem.bounds is not None:
        return
    powers = np.random.default_rng([problem.seed, 13]).integers(-30, 31, len(problem.S))
    d = 2.0**powers
    f = pursuit.LogDet(problem.S * d * d[:, None], shrinkage=problem.shrinkage)
    other = pursuit.solve(f, problem.k, solver=problem.solver, max_iter=MOST, **problem.sets)
    if other.support.tolist() != result.support.tolist():
        yield f"support {result.support.tolist()} becomes {other.support.tolist()} in other units"
    elif not np.allclose(other.x * d * d[:, None], result.x, rtol=1e-9):
        yield "x is another one in other units"
    if abs(other.value - 2 * np.log(2.0) * powers.sum() - result.value) > 1e-9 * max(1.0, abs(result.value)):
        yield f"value {result.value:.12g} becomes {other.value:.12g} in other units"
    if other.optimality != result.optimality and problem.solver != "fgrahtp":  # rounding ends its steps sooner or later
        yield f"{result.optimality} becomes {other.optimality} in other units"
