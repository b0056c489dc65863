"""DIHT and SDIHT as printed (Liu et al. 2017, Algorithms 1 and 2), written again in NumPy in the paper's own units."""

from itertools import islice

import numpy as np
import pytest

import pursuit
from pursuit.constraints import AtMost

K, N, D = 3, 30, 12
LAMBDA = 0.4


def top(v, k):
    """H_k: the k largest by magnitude stay."""
    out = np.zeros_like(v)
    keep = np.argsort(-np.abs(v), kind="stable")[:k]
    out[keep] = v[keep]
    return out


def squared(y):
    """l(u) = (y - u)^2: conjugate slope, projection, mu of its 1/mu-smoothness; ours is half of it."""
    return lambda a: a / 2 + y, lambda a: a, 0.5


def smoothed_hinge(y, gamma=0.25):
    """The paper's "Huber" loss: the conjugate is y a + gamma a^2 / 2 for y a in [-1, 0]."""
    return lambda a: y + gamma * a, lambda a: np.where(y > 0, np.clip(a, -1, 0), np.clip(a, 0, 1)), gamma


def diht(X, y, loss, lam):
    """Algorithm 1 with eta^(t) = N / (mu (t + 1)) (Theorem 4, Remark 3)."""
    slope, project, mu = loss(y)
    a, w = np.zeros(N), np.zeros(D)
    t = 0
    while True:
        g = (X @ w - slope(a)) / N
        a = project(a + N / (mu * (t + 1)) * g)  # (4.1)
        w = top(-X.T @ a / (lam * N), K)  # (4.2)
        t += 1
        yield w


def sdiht(X, y, loss, lam, m, rng):
    """Algorithm 2 with eta^(t) = m N / (mu (t + 1)) (Theorem 5); gives w after every m blocks."""
    slope, project, mu = loss(y)
    blocks = np.array_split(rng.permutation(N), m)
    a, raw, w = np.zeros(N), np.zeros(D), np.zeros(D)
    t = 0
    while True:
        for i in rng.integers(m, size=m):
            B, step = blocks[i], np.zeros(N)
            step[B] = m * N / (mu * (t + 1)) * (X[B] @ w - slope(a)[B]) / N
            new = project(a + step)  # (4.3)
            raw = raw - X[B].T @ (new[B] - a[B]) / (lam * N)  # (4.4)
            a[B] = new[B]
            w = top(raw, K)
            t += 1
        yield w


@pytest.fixture(params=["squared", "smoothed_hinge"])
def case(request):
    rng = np.random.default_rng(7)
    X = rng.standard_normal((N, D))
    u = X[:, :3] @ np.array([2.0, -1.0, 0.7]) + 0.3 * rng.standard_normal(N)
    if request.param == "squared":  # half of the paper's loss has half of its ridge
        return X, u, squared, LAMBDA, pursuit.GLM(X, u, fit_intercept=False, l2=LAMBDA / 2)
    y = np.sign(u)
    f = pursuit.GLM(X, y, pursuit.SmoothedHinge(0.25), fit_intercept=False, l2=LAMBDA)
    return X, y, smoothed_hinge, LAMBDA, f


def test_diht_is_algorithm_1(case):
    X, y, loss, lam, f = case
    solver = pursuit.DIHT(step="paper", refit=False, from_zero=True, halt=0.0)
    ours = list(islice(solver.iterate(f, AtMost(K, D), f.null), 40))
    assert len(ours) == 40
    for point, w in zip(ours, diht(X, y, loss, lam), strict=False):
        np.testing.assert_allclose(point.x, w, atol=1e-10)


@pytest.mark.parametrize("m", [2, 5, 7])
def test_sdiht_is_algorithm_2(case, m):
    X, y, loss, lam, f = case
    solver = pursuit.SDIHT(step="paper", refit=False, from_zero=True, halt=0.0, blocks=m, random_state=3)
    ours = list(islice(solver.iterate(f, AtMost(K, D), f.null), 20))
    assert len(ours) == 20
    for point, w in zip(ours, sdiht(X, y, loss, lam, m, np.random.default_rng(3)), strict=False):
        np.testing.assert_allclose(point.x, w, atol=1e-10)


def test_zero_is_no_start_for_the_logistic_loss():
    X = np.random.default_rng(0).standard_normal((N, D))
    f = pursuit.GLM(X, X[:, 0] > 0, "logistic", l2=0.1)
    with pytest.raises(ValueError, match="no finite slope at zero"):
        pursuit.solve(f, 2, solver=pursuit.DIHT(from_zero=True))


def test_blocks_are_counted_and_checked():
    X = np.random.default_rng(0).standard_normal((N, D))
    f = pursuit.GLM(X, X[:, 0], l2=0.1)
    with pytest.raises(ValueError, match="blocks must be at most 15"):
        pursuit.solve(f, 2, solver=pursuit.SDIHT(blocks=16))
    with pytest.raises(ValueError, match="give one of them"):
        pursuit.SDIHT(block=2, blocks=3)
