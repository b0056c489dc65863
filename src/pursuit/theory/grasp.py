"""GraSP: S. Bahmani, B. Raj, P. T. Boufounos, JMLR 14 (2013), Theorems 1 and 2, Corollary 1.

SRL's alpha and beta (Definition 3) are half of smoothness and convexity constants: B_f / ||d||^2, without the 1/2.
"""

from collections.abc import Iterator
from math import ceil, log, log2, sqrt

import numpy as np

from .problem import Problem
from .restricted_curvature import Bracket
from .statements import CERTIFIED, NOT_APPLICABLE, OPEN, REFUTED, Statement, verdict_below

PAPER = "GraSP"
SRH_LIMIT = (1 + sqrt(3)) / 2
SRL_LIMIT = (3 + sqrt(3)) / 4
ERROR_FACTOR = 6 + 2 * sqrt(3)
TAU, EPSILON = 1.0, 0.05  # of Corollary 1: the excess over the expected eigenvalue, and the probability of failing
MAX_READ_ENTRIES = 5e7  # entries of X up to which the rows are looked at


def statements(problem: Problem) -> Iterator[Statement]:
    """All results of the paper, judged."""
    smooth = problem.levels.twice_differentiable
    yield _theorem(problem, "Theorem 1", "mu_4k", SRH_LIMIT, 1.0, smooth, "f is not twice differentiable")
    yield _theorem(
        problem, "Theorem 2", "SRL mu_4k", SRL_LIMIT, 0.5, not smooth, "f is twice differentiable: Theorem 1"
    )
    yield corollary1(problem)


def _theorem(
    problem: Problem, name: str, symbol: str, limit: float, share: float, applies: bool, other: str
) -> Statement:
    """Linear convergence, halving the distance, to a ball around any k-sparse vector."""
    k, condition = problem.k, f"{symbol} <= {limit:.4g}, m_4k > 0"
    if not applies:
        return Statement(PAPER, name, "grasp", condition, NOT_APPLICABLE, note=other)
    found = problem.levels.level(4 * k)
    mu = found.stable[2]
    load = Bracket(mu.inside / limit, mu.certified / limit)
    judged = verdict_below(load)
    certified, possible = (k if judged == CERTIFIED else 0), (0 if judged == REFUTED else k)
    verdict = problem.by_size(certified, possible)
    epsilon = share * problem.chosen(verdict, found.convexity)[0]
    numbers = {"epsilon": epsilon}
    if problem.size is not None and epsilon > 0 and verdict != REFUTED:
        error = ERROR_FACTOR / epsilon * problem.levels.zeta(3 * k)
        numbers["error"] = error
        if error > 0 and problem.norm > error:
            numbers["iterations"] = float(ceil(log2(problem.norm / error)))
    return Statement(
        PAPER, name, "grasp", condition, verdict, load, **problem.about(certified, possible), numbers=numbers
    )


def corollary1(problem: Problem) -> Statement:
    """A bound of mu_4k for the logistic loss with a ridge, if the rows are a sample of bounded vectors."""
    levels, k = problem.levels, 4 * problem.k
    condition = "n >= R (log 4k + 4k (1 + log p/4k) - log eps) / (theta h(tau))"
    name, loss = "Corollary 1", levels.loss
    if loss is None or loss.name != "logistic" or levels.ridge <= 0:
        return Statement(
            PAPER, name, "grasp", condition, NOT_APPLICABLE, note="it is about the logistic loss with l2 > 0"
        )
    k = min(k, problem.p)
    M = problem.M(k)
    numbers = {"mu of these rows at most": M.certified / levels.ridge}
    needed = _rows_needed(problem, k)
    if needed is not None:
        numbers["rows needed"] = needed
        mean = 4 * (M.certified - levels.ridge)
        numbers["mu"] = 1 + (1 + TAU) / (4 * levels.ridge) * mean
    note = f"it is about the distribution of the rows, with tau = {TAU:g}, eps = {EPSILON:g} and this sample's moments"
    return Statement(PAPER, name, "grasp", condition, OPEN, numbers=numbers, note=note)


def _rows_needed(problem: Problem, k: int) -> float | None:
    """The n of Corollary 1 with the sample's own moments; None where the rows are not at hand."""
    data = getattr(problem.levels.f, "data", None)
    if (
        data is None
        or not data.whole
        or data.products_only
        or data.shape[0] * data.shape[1] > MAX_READ_ENTRIES
        or not data.full
    ):
        return None
    A = data.copied()[0]
    R = float(np.sort(A**2, axis=1)[:, -k:].sum(axis=1).max())
    theta = float(np.sort((A**2).mean(axis=0))[k - 1])  # at most the largest eigenvalue of any k columns
    h = (1 + TAU) * log(1 + TAU) - TAU
    if not theta > 0:
        return None
    return float(ceil(R / (theta * h) * (log(k) + k * (1 + log(problem.p / k)) - log(EPSILON))))
