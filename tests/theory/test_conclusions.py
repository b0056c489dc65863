"""What a certified theorem concludes happens: the methods as printed, in NumPy, on nearly orthonormal designs."""

from math import sqrt

import numpy as np
import pytest

import pursuit

ROOM = 1e-9  # for rounding
ITERATIONS = 25
CASES = ((1, 1), (2, 2), (1, 7), (2, 14), (1, 20), (1, 20))  # sizes of the target and of the solutions


def largest(v, k):
    return np.sort(np.argsort(-np.abs(v), kind="stable")[:k])


class Problem:
    """x'Hx/2 - c'x of a nearly orthonormal design, a target, and its table."""

    def __init__(self, seed):
        rng = np.random.default_rng([77, seed])
        self.size, self.k = CASES[seed]
        self.p = p = int(rng.integers(44, 60))
        X = np.linalg.qr(rng.standard_normal((4 * p, p)))[0] * sqrt(4 * p)
        X += 0.005 * (seed % 2) * rng.standard_normal(X.shape)
        self.target = np.zeros(p)
        self.target[rng.choice(p, self.size, replace=False)] = rng.uniform(1, 3, self.size)
        y = X @ self.target + 0.1 * rng.standard_normal(4 * p)
        self.H, self.c = X.T @ X / len(y), X.T @ y / len(y)
        self.table = pursuit.theorems(pursuit.GLM(X, y, fit_intercept=False), self.k, target=self.target)
        self.slope = float(np.abs(self.gradient(self.target)).max())

    def gradient(self, x):
        return self.H @ x - self.c

    def value(self, x):
        return 0.5 * x @ self.H @ x - self.c @ x

    def refit(self, S):
        x = np.zeros(self.p)
        x[S] = np.linalg.solve(self.H[np.ix_(S, S)], self.c[S])
        return x

    def numbers(self, name):
        """What the statement yields, where it is certified."""
        return self.table[name].numbers if self.table[name].verdict == "certified" else None

    def constants(self, s):
        level = self.table.levels.level(s)
        return level.convexity.certified, level.smoothness.certified

    def distances(self, step, refitted):
        """||x_t - target|| of GraHTP, or of FGraHTP, from zero."""
        x = np.zeros(self.p)
        for _ in range(ITERATIONS):
            z = x - step * self.gradient(x)
            S = largest(z, self.k)
            x = self.refit(S) if refitted else np.where(np.isin(np.arange(self.p), S), z, 0.0)
            yield float(np.linalg.norm(x - self.target))


@pytest.fixture(scope="module", params=range(len(CASES)))
def problem(request):
    return Problem(request.param)


@pytest.mark.parametrize("name", ["GraHTP Theorem 2(a)", "GraHTP Theorem 2(b)", "GraHTP Theorem 5(b)"])
def test_iterates_contract_as_fast_as_the_theorem_says(problem, name):
    found = problem.numbers(name)
    if found is None:
        assert name == "GraHTP Theorem 5(b)"
        return
    k, ratio = problem.k, problem.size / problem.k
    s = 2 * k + problem.size if "5(b)" in name else 3 * k
    m, M = problem.constants(s)
    for step in (found["step"], found["step from"] + 1e-6, found["step to"] - 1e-6):
        rho = sqrt(max(0.0, 1 - 2 * step * m + (step * M) ** 2))
        gamma = sqrt(1 + (ratio + sqrt((4 + ratio) * ratio)) / 2)
        mu, error = {
            "GraHTP Theorem 2(a)": (rho / (1 - rho), 2.83 * step * sqrt(k) / (1 - 2 * rho)),
            "GraHTP Theorem 2(b)": (1.62 * rho, 2.81 * step * sqrt(k) / (1 - 1.62 * rho)),
            "GraHTP Theorem 5(b)": (gamma * rho, gamma * step * sqrt(s) / (1 - gamma * rho)),
        }[name]
        if step == found["step"]:
            assert mu == pytest.approx(found["mu"], abs=ROOM)
        assert mu < 1
        for t, distance in enumerate(problem.distances(step, "(a)" in name), 1):
            assert distance <= mu**t * np.linalg.norm(problem.target) + error * problem.slope + ROOM


def test_theorem_5a_and_8_hold_for_the_printed_grahtp(problem):
    found, (m, M) = problem.numbers("GraHTP Theorem 5(a)"), problem.constants(2 * problem.k)
    if found is not None:
        fall = max(problem.value(np.zeros(problem.p)) - problem.value(problem.target), 0.0)
        floor = 2.83 * sqrt(problem.k) * problem.slope / m
        for t, distance in enumerate(problem.distances(max(found["step from"], 1 / (2 * M)), True), 1):
            assert distance <= sqrt(2 * found["mu"] ** t * fall / m) + floor + ROOM
    eight = problem.numbers("GraHTP Theorem 8")
    if eight is not None:
        x, before, S = np.zeros(problem.p), None, largest(problem.c, problem.k)
        while not np.array_equal(S, before):
            x, before = problem.refit(S), S
            S = largest(x - eight["step"] * problem.gradient(x), problem.k)
        assert pursuit.exact_recovery(problem.target, x)
    assert (problem.k < 20) == (eight is None)
    assert found is not None or problem.k < 7 * problem.size


def test_grasp_comes_as_near_as_its_theorem_says(problem):
    found, k, x = problem.numbers("GraSP Theorem 1"), problem.k, np.zeros(problem.p)
    if found is None:
        pytest.fail("a nearly orthonormal design certifies GraSP's Theorem 1")
    for t in range(1, ITERATIONS):
        merged = np.union1d(largest(problem.gradient(x), 2 * k), np.flatnonzero(x))
        x = problem.refit(merged)
        x[np.setdiff1d(np.arange(problem.p), largest(x, k))] = 0.0
        bound = 2.0**-t * np.linalg.norm(problem.target) + found["error"]
        assert np.linalg.norm(x - problem.target) <= bound + ROOM


def test_ompr_ends_no_higher_than_the_target(problem):
    found = problem.numbers("ARHT Theorem 3.7 (1)")
    if found is None:
        assert problem.k == problem.size
        return
    S = np.arange(problem.k)
    while True:
        x = problem.refit(S)
        g = problem.gradient(x)
        g[S] = 0.0
        swapped = np.sort(np.append(np.delete(S, np.argmin(np.abs(x[S]))), np.argmax(np.abs(g))))
        if not problem.value(problem.refit(swapped)) < problem.value(x) - 1e-14:
            break
        S = swapped
    assert problem.value(x) <= problem.value(problem.target) + ROOM
