"""Refits on many supports at once are the refits on each."""

import numpy as np
import pytest

from pursuit import GLM


def problem(seed, n=120, p=14, **settings):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * rng.uniform(0.1, 10, p) + rng.uniform(-5, 5, p)
    X[:, 3] = X[:, 4] + X[:, 5]  # dependent
    X[:, 6] = 2.0  # constant
    X[:, 7] = 1e6 + 1e-3 * rng.standard_normal(n)  # far from zero
    f = GLM(X, X[:, 0] + rng.standard_normal(n), **settings)
    f.null
    return f


SUPPORTS = [
    np.array(S, np.int64)
    for S in ([], [0], [1, 2], [3, 4, 5], [6], [0, 6], [7, 8], [0, 1, 2, 8, 9, 10, 11, 12, 13], [0, 1, 2, 3, 4])
] + [np.arange(14)]


@pytest.mark.parametrize("settings", [{}, {"l2": 0.5}, {"standardize": True}, {"l2": 0.1, "standardize": True}])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_many_refits_are_the_single_ones(settings, fit_intercept):
    f, other = (problem(0, fit_intercept=fit_intercept, **settings) for _ in range(2))
    f.gram.columns(np.arange(f.dim))
    for S, point in zip(SUPPORTS, f.refits(SUPPORTS), strict=True):
        single = other.refit_on_data(S)
        assert np.array_equal(point.support, S)
        np.testing.assert_allclose(point.value, single.value, rtol=1e-9)
        np.testing.assert_allclose(f.value_at(point), single.value, rtol=1e-9)
        if set(S) & {3, 6, 7} == set():
            np.testing.assert_allclose(point.coef, single.coef, rtol=1e-7, atol=1e-10)
            np.testing.assert_allclose(point.free, single.free, rtol=1e-7, atol=1e-9)
            assert point.refitted


def test_many_refits_do_not_go_one_by_one(monkeypatch):
    f = problem(1)
    f.gram.columns(np.arange(f.dim))
    monkeypatch.setattr(GLM, "refit", lambda *_: pytest.fail("a single refit"))
    supports = [np.arange(8, 8 + k) for k in range(1, 6)]
    assert [len(point.coef) for point in f.refits(supports)] == [1, 2, 3, 4, 5]
