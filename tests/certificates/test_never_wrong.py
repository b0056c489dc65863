"""No bound above the enumerated optimum, no false proof, no optimal column fixed out."""

import numpy as np
import pytest

from certificates.instances import instance
from pursuit import certify, solve


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("time_limit", [0, None, 1.0])
def test_bounds_hold(seed, time_limit):
    case = instance(seed, most=7)
    optimum = case.optimum()
    result = solve(case.objective, case.k, solver="omp", **case.options)
    proof = certify(case.objective, result, time_limit=time_limit)
    room = 1e-9 * max(1.0, abs(optimum))
    assert proof.lower <= optimum + room
    assert proof.upper >= optimum - 1e-6 * max(1.0, abs(optimum))
    assert proof.upper <= result.value + room
    assert proof.gap == pytest.approx(max(0.0, proof.upper - proof.lower))
    assert proof.status in ("bounded", "proved")
    if proof.status == "proved":
        assert proof.upper <= optimum + 2e-6 * max(1.0, abs(optimum))
        assert proof.rel_gap <= 1e-6


@pytest.mark.parametrize("seed", range(0, 60, 5))
def test_squared_loss_is_proved_and_fixing_is_safe(seed):
    case = instance(seed)
    optimum = case.optimum()
    result = solve(case.objective, case.k, **case.options)
    proof = certify(case.objective, result, time_limit=20.0)
    if case.constraint.unit_of is None:
        assert proof.status == "proved"
        assert proof.upper == pytest.approx(optimum, rel=1e-6)
    best = set(proof.result.support.tolist())
    if result.value > optimum * (1 + 1e-6):  # only a strictly better solution is promised to obey what was fixed
        assert not best & set(proof.never.tolist())
        assert set(proof.always.tolist()) <= best


def test_a_large_ridge_closes_the_gap_by_theorem_one():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((200, 12))
    y = X[:, :3] @ [3.0, -3.0, 2.0] + 0.1 * rng.standard_normal(200)
    from pursuit import GLM

    objective = GLM(X, y, l2=1.0)
    result = solve(objective, 3)
    proof = certify(objective, result, time_limit=0)
    assert proof.margin > 0
    assert proof.status == "proved"
    assert proof.nodes == 0
