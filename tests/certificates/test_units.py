"""Proofs and bounds where numbers are badly scaled: what was once wrong, and what must not depend on units."""

import itertools

import numpy as np
import pytest

from pursuit import GLM, best_subsets, certify, solve


def least(f, k, units=None):
    """The optimum, by refitting every support."""
    return min(f.refit(np.array(s)).value for s in itertools.combinations(range(f.dim), k))


def test_columns_a_million_times_smaller_do_not_vanish():
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 50))
    X = np.c_[1e4 * a, 1e4 * a, 1e-4 * b]
    y = b + 0.1 * rng.standard_normal(50) + 0.3 * a
    proof = certify(GLM(X, y), [1e-5, 0, 0], k=1, time_limit=5)
    assert proof.status == "proved"
    assert proof.upper == pytest.approx(0.04196748506742343, rel=1e-9)
    assert proof.result.support.tolist() == [2]


@pytest.mark.parametrize("include", [[], [0]])
def test_runners_up_at_all_scales(include):
    rng = np.random.default_rng(1)
    Z = rng.standard_normal((40, 6)) + rng.standard_normal((40, 1))
    y = Z[:, :3].sum(axis=1) + rng.standard_normal(40)
    X = Z * 10.0 ** np.array([-7, 7, 0, -3, 5, 2])
    rows = best_subsets(X, y, 3, nbest=4, include=include)
    plain = best_subsets(Z, y, 3, nbest=4, include=include)
    assert [row.support for row in rows] == [row.support for row in plain]
    np.testing.assert_allclose([row.rss for row in rows], [row.rss for row in plain], rtol=1e-9)
    assert all(row.proved for row in rows)
    for k in (1, 2, 3):
        mine = [row.rss for row in rows if row.k == k]
        assert mine == sorted(mine)


@pytest.mark.parametrize("unit", [1e-10, 1e-100, 1e100])
def test_the_unit_of_y_proves_nothing(unit):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((40, 8))
    y = X[:, 0] + 2 * rng.standard_normal(40)
    for limit in (0, None):
        plain = certify(GLM(X, y), np.eye(8)[3], k=1, time_limit=limit)
        other = certify(GLM(X, unit * y), unit * np.eye(8)[3], k=1, time_limit=limit)
        assert other.status == plain.status
        assert other.rel_gap == pytest.approx(plain.rel_gap, abs=1e-9)
        assert other.lower / unit**2 == pytest.approx(plain.lower, rel=1e-8)


def test_a_result_near_the_floor_is_its_own_objectives():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((40, 5))
    f = GLM(X, X[:, 0] + 1e-8 * rng.standard_normal(40))
    result = solve(f, 1)
    assert 0 < result.value < 1e-14
    proof = certify(f, result, time_limit=1)
    assert proof.status == "proved"
    assert proof.lower == 0.0


@pytest.mark.parametrize("mean", [1e5, 1e6, 1e7])
def test_large_means_get_no_wrong_value(mean):
    rng = np.random.default_rng(4)
    Z = np.round(rng.standard_normal((60, 5)) * 64) / 64  # exact beside a large mean
    y = Z[:, 1] - Z[:, 3] + rng.standard_normal(60)
    f, plain = GLM(Z + mean, y), GLM(Z, y)
    result = solve(f, 2)
    assert result.value == pytest.approx(least(plain, 2), rel=1e-9)
    proof = certify(f, result, time_limit=2)
    assert proof.status == "proved"
    for row, other in zip(best_subsets(Z + mean, y, 2, nbest=3), best_subsets(Z, y, 2, nbest=3), strict=True):
        assert row.support == other.support
        assert row.rss == pytest.approx(other.rss, rel=1e-9)


def test_separated_data_have_no_bound_above_zero():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((30, 4))
    f = GLM(X, X[:, 0] > 0, "logistic")
    result = solve(f, 1)
    proof = certify(f, result, time_limit=2)
    assert result.status == "no_minimiser"
    assert proof.lower == 0.0
    assert proof.status == "proved"


@pytest.mark.parametrize("size", [1e-310, 1e-160])
def test_numbers_too_small_to_square_are_named(size):
    rng = np.random.default_rng(6)
    X, y = rng.standard_normal((30, 4)), rng.standard_normal(30)
    X[:, 2] *= size
    with pytest.raises(ValueError, match="column 2 that are too small to square; rescale it"):
        best_subsets(X, y, 2)
    with pytest.raises(ValueError, match="column 2 that are too small to square; rescale it"):
        GLM(X, y, standardize=True)


@pytest.mark.parametrize("power", [-400, -30, 30, 400])
@pytest.mark.parametrize("loss", ["squared", "logistic", "huber", "poisson", "smoothed_hinge"])
def test_units_of_columns_change_no_claim(loss, power):
    """Powers of two: the same problem to the last bit."""
    rng = np.random.default_rng(7)
    X = rng.standard_normal((40, 5)) + rng.standard_normal((40, 1))
    eta = X[:, 0] - X[:, 2] + rng.standard_normal(40)
    y = {"squared": eta, "huber": eta, "poisson": rng.poisson(np.exp(0.3 * eta))}.get(loss, eta > 0)
    d = np.ldexp(1.0, rng.integers(min(power, 0), max(power, 0) + 1, 5))
    for settings in ({}, {"standardize": True, "l2": 0.05}):
        f, g = GLM(X, y, loss, **settings), GLM(X * d, y, loss, **settings)
        for support in (np.array([1, 3]), np.array([0, 2, 4])):
            here, there = f.refit(support), g.refit(support)
            assert there.value == pytest.approx(here.value, rel=1e-10)
        mine, other = solve(f, 2), solve(g, 2)
        if settings:
            assert np.array_equal(other.support, mine.support)
            assert other.optimality == mine.optimality
        one = certify(f, np.eye(5)[0] + np.eye(5)[2], k=2, time_limit=1)
        two = certify(g, np.eye(5)[0] + np.eye(5)[2], k=2, time_limit=1)
        assert two.status == one.status
        assert two.upper == pytest.approx(one.upper, rel=1e-8)
        assert two.lower == pytest.approx(one.lower, rel=1e-8)
