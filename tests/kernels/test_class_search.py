"""The search for several classes on columns that models choose: next to brute force, and from sparse columns."""

import itertools

import numpy as np
import pytest
from scipy.sparse import csr_array

from pursuit import MultiGLM, solve


@pytest.fixture(autouse=True)
def beyond_the_search_on_all_columns(monkeypatch):
    monkeypatch.setattr("pursuit.kernels.search.MAX_SEARCH_WORK", 0.0)


def words(seed, n=90, p=12, q=4):
    """Rare columns, most of them in one class: where they are, gradients say little of what they bring."""
    rng = np.random.default_rng(seed)
    y = rng.integers(q, size=n)
    rare = np.where(rng.integers(q, size=(1, p)) == y[:, None], 0.25, 0.03)
    return (rng.random((n, p)) < rare) * rng.uniform(0.5, 2.0, (n, p)), y


def least(f, p, k):
    return min(f.refit(f.coordinates(np.array(S))).value for S in itertools.combinations(range(p), k))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("l2", [0.0, 1e-3])
def test_it_finds_the_best_of_all_subsets(seed, l2):
    X, y = words(seed)
    f = MultiGLM(X, y, l2=l2)
    found = solve(f, 3)
    assert found.value <= least(f, 12, 3) + 1e-6 * f.null.value
    assert found.value == pytest.approx(f.refit(f.coordinates(found.support)).value, rel=1e-6)
    assert found.optimality == "swap_stationary"


def test_sparse_columns_lead_to_the_same_support():
    X, y = words(7)
    dense, sparse = solve(MultiGLM(X, y), 4), solve(MultiGLM(csr_array(X), y), 4)
    assert sparse.value == pytest.approx(dense.value, rel=1e-6)
    np.testing.assert_array_equal(sparse.support, dense.support)


def test_the_fast_search_is_no_worse_than_what_it_starts_from():
    X, y = words(3)
    f = MultiGLM(X, y, l2=1e-3)
    start = np.zeros((12, 4))
    start[[0, 1, 2]] = 1.0
    assert solve(f, 3, start=start, effort="fast").value <= f.refit(f.coordinates(np.arange(3))).value


def test_columns_that_separate_the_classes_are_the_best_there_can_be():
    X, y = words(5)
    found = solve(MultiGLM(np.c_[X, np.eye(4)[y]], y), 3)
    assert set(found.support.tolist()) <= {12, 13, 14, 15}
    assert found.optimality == "swap_optimal"


def test_nothing_is_claimed_where_time_is_up():
    X, y = words(1, n=2000, p=200)
    found = solve(MultiGLM(X, y), 8, time_limit=1e-2)
    assert found.optimality == "none"


def test_forced_and_excluded_columns():
    X, y = words(2)
    support = solve(MultiGLM(X, y), 4, include=[3], exclude=[0, 5]).support
    assert 3 in support
    assert not {0, 5} & set(support.tolist())


@pytest.mark.parametrize("column", range(3))
def test_one_rare_column_is_the_best_of_all(column):
    X, y = words(10 + column, n=200, p=40)
    f = MultiGLM(csr_array(X), y)
    values = [f.refit(f.coordinates(np.array([j]))).value for j in range(40)]
    assert solve(f, 1, effort="fast").support.tolist() == [int(np.argmin(values))]
