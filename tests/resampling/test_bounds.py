"""The bounds against published numbers, linear programs, and a search over the shapes they assume."""

import numpy as np
import pytest
from scipy.optimize import linprog

from pursuit.resampling.bounds import bounds, r_concave, tail, unimodal, worst_case


def test_meinshausen_and_buehlmann_by_hand():
    assert worst_case(10, 1000, 0.75) == pytest.approx(0.2)  # 100 / (0.5 * 1000)
    assert worst_case(np.sqrt(0.8 * 1000), 1000, 0.9) == pytest.approx(1.0)  # q = sqrt(0.8 p) keeps one, as they say


def test_unimodal_as_the_r_package_stabs_prints_it():
    assert unimodal(20, 88, 0.8, 50) == pytest.approx(3.743316, abs=5e-7)


def test_unimodal_by_hand():
    assert unimodal(10, 1000, 0.75, 50) == pytest.approx(0.1 / (2 * (0.5 - 0.01)))
    assert unimodal(10, 1000, 1.0, 50) == pytest.approx(0.1 * 4 * 0.01 / 1.02)
    assert unimodal(700, 1000, 0.9, 50) == worst_case(700, 1000, 0.9)  # theta is too large
    assert unimodal(10, 1000, 0.51, 50) == worst_case(10, 1000, 0.51)  # the threshold is next to one half


def unimodal_tail(mean, count, size):
    """The largest P(X >= count) of a unimodal X on 0..size with E X = mean size: a linear program for each mode."""
    best, i = 0.0, np.arange(size + 1)
    for mode in range(size + 1):
        slopes = np.diff(np.eye(size + 1), axis=0)  # f(i + 1) - f(i)
        slopes[:mode] *= -1
        A_eq, b_eq = np.array([np.ones(size + 1), i]), [1.0, mean * size]
        found = linprog(-(i >= count).astype(float), slopes, np.zeros(size), A_eq, b_eq)
        best = max(best, -found.fun if found.status == 0 else 0.0)
    return best


@pytest.mark.parametrize("threshold", [0.6, 0.7, 0.75, 0.8, 0.95, 1.0])
def test_unimodal_is_what_the_shape_allows(threshold):
    pairs, q, p = 20, 30, 200
    theta = q / p
    exact = p * unimodal_tail(theta**2, round((2 * threshold - 1) * pairs), pairs)
    bound = unimodal(q, p, threshold, pairs)
    assert exact <= bound * (1 + 1e-9)
    assert bound <= 1.1 * exact


def concave(rng, size, r, level):
    """A random r-concave density on 0..size with a mean of at most ``level``; None where it has a larger one."""
    end = rng.integers(1, size + 1)
    i = np.arange(end + 1)
    bends = rng.exponential(size=end) * (rng.random(end) < 0.3) * 10.0 ** rng.integers(-3, 3)
    g = rng.normal() * i + np.maximum(i[:, None] - np.arange(1, end + 1), 0) @ bends
    f = (g - g.min() + 10.0 ** rng.uniform(-4, 2)) ** (1 / r)
    f = np.append(f, np.zeros(size - end)) / f.sum()
    return f if f @ np.arange(size + 1) <= level else None


@pytest.mark.parametrize("r", [-0.5, -0.25])
@pytest.mark.parametrize(("mean", "count", "size"), [(0.1, 2, 4), (0.05, 3, 8), (0.2, 7, 10)])
def test_no_r_concave_distribution_has_a_larger_tail(r, mean, count, size):
    rng = np.random.default_rng(0)
    bound, seen = tail(mean, count, size, r), 0.0
    for _ in range(4000):
        f = concave(rng, size, r, mean * size)
        if f is not None:
            seen = max(seen, f[count:].sum())
    assert seen <= bound * (1 + 1e-9)
    assert bound <= 2 * seen


def test_the_r_concave_tail_is_reached():
    """(a + i)^-2 on 0..3 and the rest on 4, with mean 0.4: the largest by a fine grid over a and k."""
    best, i = 0.0, np.arange(5)
    for a in np.geomspace(1e-3, 1e3, 20001):
        for k in range(4):
            w = (a + i[: k + 1]) ** -2.0
            c = (k + 1 - 0.4) / ((k + 1 - i[: k + 1]) @ w)
            rest = 1 - c * w.sum()
            if 0 <= rest <= c * (a + k + 1) ** -2.0:
                f = np.append(c * w, rest)
                best = max(best, f[3:].sum())
    assert best <= tail(0.1, 3, 4, -0.5) <= best * 1.001


def test_ends_of_the_tail():
    assert tail(0.0, 3, 10, -0.5) == 0.0
    assert tail(0.4, 3, 10, -0.5) == 1.0
    assert tail(0.5, 10, 10, -0.5) == 1.0
    assert 0 < tail(1e-12, 25, 50, -0.5) < 1e-10


def test_assumptions_pay():
    for threshold in (0.6, 0.75, 0.9):
        found = bounds(50, 1000, threshold, 50)
        assert found.r_concave < found.unimodal < found.shah_samworth == found.meinshausen_buehlmann
    assert r_concave(50, 1000, 0.9, 50) < r_concave(50, 1000, 0.6, 50)


def test_no_bound_is_larger_than_what_is_selected():
    found = bounds(9.0, 10, 0.6, 50)
    assert max(found[2:]) <= 10
    assert bounds(0.0, 10, 0.6, 50)[2:] == (0.0, 0.0, 0.0, 0.0)


def test_a_stronger_assumption_never_has_a_weaker_bound():
    rng, above = np.random.default_rng(0), 0
    for _ in range(300):
        p, pairs = int(rng.integers(2, 300)), int(rng.integers(1, 60))
        q, count = rng.uniform(0.01, 1) * p, int(rng.integers(pairs + 1, 2 * pairs + 1))
        found = bounds(q, p, count / (2 * pairs), pairs)
        assert 0 <= found.r_concave <= found.unimodal <= found.shah_samworth
        above += r_concave(q, p, count / (2 * pairs), pairs) > unimodal(q, p, count / (2 * pairs), pairs)
    assert above  # by themselves they may be in the other order
