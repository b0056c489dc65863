"""D(a): never above the optimum, equal to it at a saddle point, and always feasible."""

import numpy as np
import pytest

import pursuit
from dual.instances import CELLS, K, P, glm, solved
from pursuit.constraints import AtMost
from pursuit.objectives.dual import Dual, balanced


def below(lower, optimum):
    return lower <= optimum + 1e-9 * max(1.0, abs(optimum))


@pytest.mark.parametrize(("loss", "intercept", "kind"), CELLS)
def test_no_feasible_a_is_above_the_optimum(loss, intercept, kind):
    for seed, standardize in ((0, False), (1, True)):
        f, constraint, optimum = solved(loss, intercept, kind, seed, standardize=standardize)
        dual, rng = Dual(f), np.random.default_rng(seed)
        starts = [dual.from_point(optimum), dual.from_point(f.null), dual.start(f.null, constraint)]
        for a in [*starts, *(dual.feasible(0.7 * rng.standard_normal(len(dual.c))) for _ in range(4))]:
            assert np.isfinite(dual.value(a, constraint))
            assert below(dual.value(a, constraint), optimum.value)
            assert (dual.low <= a).all()
            assert (a <= dual.high).all()
            assert not intercept or abs(dual.c @ a) <= 1e-15


@pytest.mark.parametrize(("loss", "intercept", "kind"), CELLS)
def test_at_a_saddle_point_the_gap_is_zero(loss, intercept, kind):
    """Theorem 1: D at a refit is f there exactly when min |x_S| >= max |g| / l2 outside."""
    f, constraint, optimum = solved(loss, intercept, kind, seed=2)
    dual = Dual(f)
    a = dual.from_point(optimum)
    z = dual.z(a)
    np.testing.assert_allclose(z[optimum.support], optimum.coef, atol=1e-6)
    gap = optimum.value - dual.value(a, constraint, z)
    assert gap >= -1e-9
    saddle = np.array_equal(constraint.top(z), optimum.support)
    assert (gap <= 1e-7) == saddle


def test_without_balance_an_intercept_leaves_no_bound():
    dual = Dual(glm("logistic", True))
    assert dual.value(np.clip(np.full(len(dual.c), 0.3), dual.low, dual.high), AtMost(K, P)) == -np.inf


def test_outside_the_domain_there_is_no_bound():
    dual = Dual(glm("hinge", False))
    assert dual.value(2.0 * dual.y, AtMost(K, P)) == -np.inf


def test_balancing_is_a_projection():
    rng = np.random.default_rng(0)
    for _ in range(50):
        n = int(rng.integers(2, 12))
        c = rng.dirichlet(np.ones(n))
        low, high = -rng.uniform(0, 2, n), rng.uniform(0, 2, n)
        a = 3 * rng.standard_normal(n)
        nearest = balanced(a, c, low, high)
        assert abs(c @ nearest) <= 1e-15
        for _ in range(20):
            other = balanced(rng.uniform(low, high), c, low, high)
            assert c @ (a - nearest) ** 2 <= c @ (a - other) ** 2 + 1e-12


def test_a_ridge_per_column_is_still_a_bound():
    f = glm("logistic", True, l2=0.1).ridged(np.linspace(0.0, 0.4, P))
    constraint = AtMost(K, P)
    optimum = min(f.refit(np.array([i, j])).value for i in range(P) for j in range(i))
    for result in (pursuit.solve(f, K, solver="diht"), pursuit.solve(f, K, solver="sdiht")):
        assert below(result.lower, optimum)
        assert result.value == pytest.approx(optimum, rel=1e-6)
    dual = Dual(f)
    assert below(dual.value(dual.from_point(f.null), constraint), optimum)


def test_what_the_dual_needs():
    with pytest.raises(ValueError, match="needs l2 > 0, got l2=0"):
        Dual(glm("squared", True, l2=0.0))
    with pytest.raises(TypeError, match="needs a GLM"):
        pursuit.Function(lambda x: float(x @ x), lambda x: 2 * x, 3).dual()
