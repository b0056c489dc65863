"""The path on an orthonormal basis of the columns, for columns that are close to dependent, against refits and all
subsets."""

import itertools

import numpy as np
import pytest

import pursuit
from pursuit import _core

P, K = 9, 5


def nearly_dependent(seed, noise=1e-6, n=40, q=1):
    """Smooth spectra: columns that differ from each other by little, and targets that need these differences."""
    rng = np.random.default_rng(seed)
    bands = np.exp(-((np.linspace(0, 1, P)[:, None] - rng.uniform(0, 1, 3)) ** 2) / 0.3)
    X = rng.standard_normal((n, 3)) @ bands.T + noise * rng.standard_normal((n, P))
    Y = X @ rng.standard_normal((P, q)) + 0.3 * rng.standard_normal((n, q))
    return X, Y


def call(X, Y, k=K, forced=(), allowed=None, ridge=0.0, thorough=True, should_stop=None):
    """The kernel on columns of length 1, further rows for the ridge."""
    p = X.shape[1]
    inside, open_ = np.zeros(p, np.uint8), np.ones(p, np.uint8)
    inside[list(forced)] = 1
    if allowed is not None:
        open_[np.setdiff1d(np.arange(p), allowed)] = 0
    A = np.vstack([X, np.sqrt(ridge) * np.eye(p)]) if ridge else X
    Y = np.vstack([Y, np.zeros((len(A) - len(Y), Y.shape[1]))])
    length = np.linalg.norm(A, axis=0)
    request = _core.SearchRequest(
        k,
        inside,
        open_,
        np.empty(0, np.int64),
        restarts=200,
        patience=40,
        widest=3,
        effort=50.0,
        seed=0,
        scale=1e-12,
        stop=should_stop,
    )
    least = np.full(p, 1e-20)
    found = _core.orthonormal_path(
        np.ascontiguousarray(A / length), np.ascontiguousarray(Y.T), length, least, 0.0, request, thorough, None
    )
    return found, A, Y


def value(A, Y, S):
    x = np.linalg.lstsq(A[:, S], Y, rcond=None)[0]
    return 0.5 * float(np.sum((Y - A[:, S] @ x) ** 2)), x


@pytest.mark.parametrize("q", [1, 3])
@pytest.mark.parametrize("ridge", [0.0, 1e-9])
@pytest.mark.parametrize("noise", [1e-2, 1e-6])
@pytest.mark.parametrize("seed", range(4))
def test_points_are_minimisers_and_the_best_of_their_size(seed, noise, ridge, q):
    X, Y = nearly_dependent(seed, noise, q=q)
    found, A, Y = call(X, Y, ridge=ridge)
    assert [len(at.support) for at in found.points] == list(range(K + 1))
    for k, at in enumerate(found.points):
        least = min(value(A, Y, list(S))[0] for S in itertools.combinations(range(P), k))
        np.testing.assert_allclose(at.value, value(A, Y, at.support)[0], rtol=1e-9)
        np.testing.assert_allclose(at.value, least, rtol=1e-9)
        fit = A[:, at.support] @ at.coef.reshape(k, q)
        np.testing.assert_allclose(0.5 * np.sum((Y - fit) ** 2), at.value, rtol=1e-7)


@pytest.mark.parametrize("thorough", [False, True])
def test_forced_columns_stay_and_forbidden_ones_stay_out(thorough):
    X, Y = nearly_dependent(1)
    found, _, _ = call(X, Y, forced=[2, 6], allowed=[0, 1, 2, 5, 6, 8], thorough=thorough)
    assert [len(at.support) for at in found.points] == [2, 3, 4, 5]
    for at in found.points:
        assert {2, 6} <= set(at.support.tolist()) <= {0, 1, 2, 5, 6, 8}


def test_a_copy_never_comes_in_beside_its_original():
    X, Y = nearly_dependent(2, 1e-2)
    X[:, 5] = X[:, 1]
    found, _, _ = call(X, Y, k=P)
    assert len(found.points) == P  # sizes 0 to 8
    assert all(not {1, 5} <= set(at.support.tolist()) for at in found.points)


def test_it_stops_when_it_is_told_to():
    X, Y = np.random.default_rng(0).standard_normal((2, 200, 200))
    found, _, _ = call(X, Y[:, :1], k=40, should_stop=lambda: True)
    assert found.stopped
    assert len(found.points) < 41


@pytest.mark.parametrize("q", [1, 2])
def test_solve_and_path_take_it_where_products_have_too_few_digits(q):
    """On spectra ``solve`` has the best subset of all, and says that no exchange helps."""
    X, Y = nearly_dependent(3, 1e-5, q=q)
    f = pursuit.GLM(X, Y[:, 0]) if q == 1 else pursuit.MultiGLM(X, Y, "squared")
    A, Z = X - X.mean(axis=0), Y - Y.mean(axis=0)
    path = pursuit.path(f, range(1, 5))
    for k in range(1, 5):
        least = min(value(A, Z, list(S))[0] for S in itertools.combinations(range(P), k)) / len(X)
        result = pursuit.solve(f, k)
        np.testing.assert_allclose([result.value, path.at(k).value], least, rtol=1e-8)
        assert result.optimality == path.at(k).optimality == "swap_optimal"
