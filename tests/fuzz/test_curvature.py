"""Brackets and verdicts against enumeration; ``tools/fuzz_curvature.py`` looks at thousands."""

import numpy as np
import pytest
from scipy.optimize import minimize

import pursuit
from fuzz.curvature import judge


@pytest.mark.parametrize("first", range(0, 24, 8))
def test_no_bound_and_no_verdict_is_false(first):
    for seed in range(first, first + 8):
        complaints, _ = judge(seed, most=9)
        assert complaints == [], f"seed {seed}"


def dual_maximum(X, y, l2):
    """The largest D of the hinge loss for k = 1, by SLSQP: mean(b) - l2/2 max_j z_j^2, b in [0, 1]."""
    n = len(X)
    Z = (X * y[:, None]).T / (n * l2)
    rooms = [{"type": "ineq", "fun": lambda v, z=z: v[:n].mean() - l2 / 2 * (z @ v[:n]) ** 2 - v[n]} for z in Z]
    found = minimize(
        lambda v: -v[n],
        np.append(np.full(n, 0.5), 0.0),
        jac=lambda v: np.append(np.zeros(n), -1.0),
        constraints=rooms,
        bounds=[(0, 1)] * n + [(None, None)],
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 500},
    )
    b = np.clip(found.x[:n], 0, 1)
    return b.mean() - l2 / 2 * ((Z @ b) ** 2).max()


@pytest.mark.parametrize("seed", range(12))
def test_saddle_points_of_the_hinge_are_not_refuted_and_certified_ones_have_no_gap(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((12, 3))
    y = np.where(X[:, 0] + 0.3 * rng.standard_normal(12) > 0, 1.0, -1.0)
    f = pursuit.GLM(X, y, "hinge", l2=float(rng.choice([0.1, 0.5, 1.0])), fit_intercept=False)
    target = min((f.refit(np.array([j])) for j in range(3)), key=lambda point: point.value)
    verdict = pursuit.theorems(f, 1, target=target.x)["DIHT Theorem 1"].verdict
    gap = target.value - dual_maximum(X, y, float(f.ridge))
    assert gap > -1e-9, "the dual is a lower bound"
    if gap < 1e-8:
        assert verdict != "refuted"
    if gap > 1e-5:
        assert verdict != "certified"
