"""Light paths of several classes: every point is a minimiser of its support, and no size is worse than one below."""

import itertools

import numpy as np
import pytest

from pursuit import MultiGLM
from pursuit.kernels.path import PathPlan


@pytest.fixture(autouse=True)
def beyond_the_search_on_all_columns(monkeypatch):
    monkeypatch.setattr("pursuit.kernels.search.MAX_SEARCH_WORK", 0.0)


def problem(seed, n=60, p=12, q=3, l2=0.05, intercept=True):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * rng.uniform(0.5, 3.0, p) + rng.standard_normal(p)
    eta = X[:, :4] @ rng.standard_normal((4, q))
    y = np.array([rng.choice(q, p=np.exp(row - row.max()) / np.exp(row - row.max()).sum()) for row in eta])
    weights = rng.uniform(0.2, 2.0, n)
    return MultiGLM(X, y, l2=l2, fit_intercept=intercept, sample_weight=weights)


def light_path(f, k, sizes=(), **constraint):
    return f.quick_path(f.sparse_set(k, **constraint), PathPlan(False, 0, None, None, sizes))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("intercept", [True, False])
def test_points_are_refits_and_larger_sizes_are_better(seed, intercept):
    f = problem(seed, intercept=intercept)
    known = light_path(f, 8).by_size()
    assert list(known) == list(range(9))
    for size, at in known.items():
        assert len(at.support) == size * f.width
        refit = f.refit(at.support) if size else f.null
        assert at.value == pytest.approx(refit.value, rel=1e-6)
        assert f.at(at.support, at.coef, at.free).value == pytest.approx(at.value, rel=1e-9)
    values = [at.value for at in known.values()]
    assert all(more <= less for less, more in itertools.pairwise(values))


@pytest.mark.parametrize("seed", range(6))
def test_small_sizes_are_close_to_the_best_of_all_subsets(seed):
    f = problem(seed, p=7)
    known = light_path(f, 3).by_size()
    for size in (1, 2, 3):
        values = [f.refit(f.coordinates(np.array(S))).value for S in itertools.combinations(range(7), size)]
        null = f.null.value
        assert known[size].value <= min(values) + 0.02 * null
        assert known[size].value >= min(values) - 1e-7 * null


def test_sizes_that_are_not_wanted_have_the_point_below():
    f = problem(1)
    known = light_path(f, 9, sizes=(0, 2, 5, 9)).by_size()
    assert [len(known[size].support) // f.width for size in range(10)] == [0, 0, 2, 2, 2, 5, 5, 5, 5, 9]


def test_forced_columns_stay_and_excluded_ones_stay_out():
    f = problem(2)
    for size, at in light_path(f, 6, include=[10], exclude=[0, 1]).by_size().items():
        cols = np.unique(at.support // f.width)
        assert len(cols) == size
        assert 10 in cols
        assert not {0, 1} & set(cols.tolist())
