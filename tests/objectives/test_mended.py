"""Bugs that were found once: each test failed before its fix."""

import numpy as np
import pytest
import scipy.sparse as sp

import pursuit
from problems import problem
from pursuit.refits import columns
from registries import PRIMAL

S = np.array([1, 4, 6, 10])


@pytest.mark.parametrize("solver", PRIMAL)
@pytest.mark.parametrize("settings", [{}, {"max_iter": 1}, {"time_limit": 0}])
def test_a_start_without_the_forced_column_gains_it(solver, settings):
    f = pursuit.GLM(**problem("squared", p=12).glm())
    best = pursuit.solve(f, 2)
    assert 0 not in best.support
    result = pursuit.solve(f, 2, solver=solver, start=best, include=[0], random_state=0, **settings)
    assert 0 in result.support


def test_hinge_without_intercept_at_a_small_ridge_is_minimised():
    given = problem("hinge", n=24, weights=True, offset=True)
    f = pursuit.GLM(**given.glm(l2=1e-3, fit_intercept=False))
    smooth = pursuit.GLM(**given.glm(l2=1e-3, fit_intercept=False, loss=pursuit.SmoothedHinge(gamma=1e-5)))
    near = smooth.refit(S)
    assert f.refit(S).value <= f.at(S, near.coef, 0.0).value + 1e-6


@pytest.mark.parametrize("l2", [0.0, 1 / 64])
def test_matrix_free_newton_on_a_loss_with_flat_stretches(l2, monkeypatch):
    f = pursuit.GLM(**problem("smoothed_hinge", weights=True, offset=True, density=0.2).glm(l2=l2))
    newton = f.refit(S)
    monkeypatch.setattr(columns, "MAX_HESSIAN_COLUMNS", 1)
    assert f.refit(S).value == pytest.approx(newton.value, rel=1e-9)


def test_counts_that_are_all_zero_have_no_minimiser(rng):
    result = pursuit.solve(pursuit.GLM(rng.standard_normal((30, 4)), np.zeros(30), "poisson"), 2)
    assert result.status == "no_minimiser"
    assert np.isfinite(result.intercept)


def test_arht_where_there_is_no_curvature():
    X = np.random.default_rng(20240229).standard_normal((1, 9))
    result = pursuit.solve(pursuit.GLM(X, np.zeros(1), "poisson"), 5, solver="arht", max_iter=60, random_state=0)
    assert np.isfinite(result.value)


def test_the_column_with_nan_is_named_in_csr_too(rng):
    X, y = rng.standard_normal((20, 6)), rng.standard_normal(20)
    X[7, 3] = np.nan
    with pytest.raises(ValueError, match="in column 3"):
        pursuit.solve(pursuit.GLM(sp.csr_array(X), y), 2)


def test_values_too_large_to_square_are_named(rng):
    X = rng.standard_normal((20, 6))
    X[:, 2] *= 1e200
    with pytest.raises(ValueError, match="column 2 that are too large to square"):
        pursuit.solve(pursuit.GLM(X, rng.standard_normal(20)), 2)


def test_hessian_rows_of_columns_in_any_order(rng):
    f = pursuit.GLM(rng.standard_normal((30, 8)), rng.standard_normal(30), l2=0.7)
    cols, others = np.array([5, 1, 6]), np.array([7, 6, 0, 1, 2])
    whole = f.hessian_rows(f.null, np.arange(8), np.arange(8))
    np.testing.assert_allclose(f.hessian_rows(f.null, cols, others), whole[np.ix_(cols, others)], atol=1e-13)


def test_exchanges_of_interleaved_groups_keep_their_ridge(rng):
    X, groups = rng.standard_normal((40, 9)), np.array([0, 1, 2, 0, 1, 2, 0, 1, 2])
    f = pursuit.GLM(X, X[:, [1, 4, 7]].sum(axis=1) + rng.standard_normal(40), l2=0.5)
    result = pursuit.solve(f, 1, groups=groups, solver="local_search")
    values = [f.refit(np.flatnonzero(groups == g)).value for g in range(3)]
    assert result.value == pytest.approx(min(values))
    assert result.exchange.change == pytest.approx(sorted(values)[1] - min(values), rel=1e-9)


def uneven(loss, seed, shift=0.0, scale=1.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((30, 4))
    eta = X @ [1.0, -1.0, 1.0, 0.0] + rng.standard_normal(30)
    y = {"huber": eta, "poisson": rng.poisson(np.exp(0.5 * eta)).astype(float)}.get(loss, (eta > 0).astype(float))
    return (X + shift) * [1.0, scale, 1.0, 1.0], y


@pytest.mark.parametrize("loss", ["huber", "smoothed_hinge", "squared_hinge", "logistic", "poisson"])
@pytest.mark.parametrize("changed", [{"shift": 100.0}, {"shift": 1e5}, {"scale": 1e5}, {"scale": 1e-8}], ids=str)
def test_a_refit_without_a_ridge_knows_no_scale_and_no_offset(loss, changed):
    for seed in range(4):
        plain = pursuit.GLM(*uneven(loss, seed), loss).refit(np.arange(4))
        other = pursuit.GLM(*uneven(loss, seed, **changed), loss).refit(np.arange(4))
        assert other.value == pytest.approx(plain.value, abs=1e-7)


def test_poisson_with_large_means_can_be_solved():
    X, y = uneven("poisson", 0, shift=1e5)
    assert np.isfinite(pursuit.solve(pursuit.GLM(X, y, "poisson", l2=1e-3), 2).value)
