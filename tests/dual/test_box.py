"""Bounds on coefficients: the dual methods keep to them, and no bound exceeds the enumerated optimum."""

import itertools

import numpy as np
import pytest

from pursuit import GLM, certify, solve
from pursuit.objectives.bounded import Bounded

BOXES = [(0, None), (-0.3, 0.3), (0, 0.5)]


def case(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((40, 6)) + rng.standard_normal((40, 1))
    y = X[:, :2] @ [1.5, -1.0] + rng.standard_normal(40)
    loss = ["squared", "logistic", "smoothed_hinge", "huber"][seed % 4]
    y = (y > 0).astype(float) if loss in ("logistic", "smoothed_hinge") else y
    settings = {"l2": 0.1, "fit_intercept": seed % 2 == 0, "standardize": seed % 3 == 0}
    objective, bounds = GLM(X, y, loss, **settings), BOXES[seed % 3]
    inner = Bounded(objective, bounds)
    return objective, bounds, min(inner.refit(np.array(s)).value for s in itertools.combinations(range(6), 2))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("solver", ["diht", "sdiht"])
def test_dual_methods_keep_to_a_box(seed, solver):
    objective, (low, high), optimum = case(seed)
    result = solve(objective, 2, solver=solver, bounds=(low, high), max_iter=60)
    assert (result.x >= low - 1e-12).all()
    assert high is None or (result.x <= high + 1e-12).all()
    assert result.lower <= optimum + 1e-9
    assert result.value == pytest.approx(optimum, rel=1e-5)


@pytest.mark.parametrize("seed", range(12))
def test_certificates_know_the_box(seed):
    objective, bounds, optimum = case(seed)
    proof = certify(objective, solve(objective, 2, bounds=bounds), time_limit=1.0)
    assert proof.lower <= optimum + 1e-9
    assert proof.upper >= optimum - 1e-9
    if proof.status == "proved":
        assert proof.upper == pytest.approx(optimum, rel=1e-5)
    else:
        assert "bounds" in proof.reason


def test_a_sum_is_refused_by_dual_methods():
    objective, _, _ = case(0)
    with pytest.raises(TypeError, match="without sum_to"):
        solve(objective, 2, solver="diht", sum_to=1.0)
