import itertools

import numpy as np
import pytest

from kernels import twins
from kernels.layouts import LAYOUTS, SHAPES, dense
from pursuit import _core


@pytest.fixture(params=SHAPES, ids=str)
def shape(request):
    return request.param


@pytest.fixture(params=[np.float64, np.float32])
def dtype(request):
    return request.param


@pytest.fixture(params=LAYOUTS)
def X(request, shape, dtype, rng):
    return dense(request.param, *shape, dtype, rng)


def assert_near(a, b):
    np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-11)


def choose(p, rng):
    return rng.choice(p, size=min(p, 5), replace=False).astype(np.int64)


def test_value_gradient(X, rng):
    n, p = X.shape
    cols = choose(p, rng)
    coef, c, offset = rng.normal(size=len(cols)), rng.random(n), rng.normal(size=n)
    for name in ("squared", "logistic"):
        y = twins.labels(name, rng, n)
        for off in (None, offset):
            args = (cols, coef, 0.3)
            value, g, slope = _core.Matrix(X).value_gradient(_core.Samples(y, c, off, *twins.LOSSES[name]), *args)
            for a, b in zip((value, g, slope), twins.value_gradient(X, y, c, off, name, 0.0, *args), strict=True):
                assert_near(a, b)


def test_products(X, rng):
    n, p = X.shape
    cols = choose(p, rng)
    for q, order in itertools.product((0, 1, 3, 9), "CF"):
        d, coef = rng.normal(size=(n, q)), rng.normal(size=(len(cols), q))
        out = _core.Matrix(X).matmat(cols, np.asarray(coef, order=order))
        assert out.flags.c_contiguous
        assert_near(out, X[:, cols].astype(float) @ coef)
        assert_near(_core.Matrix(X).rmatmat(np.asarray(d, order=order)), X.astype(float).T @ d)


def test_gather(X, rng):
    for m in (0, 1, 4):
        cols = rng.choice(max(X.shape[1], 1), size=m if X.shape[1] else 0).astype(np.int64)  # may repeat
        out = _core.Matrix(X).gather(cols)
        assert out.flags.f_contiguous
        assert out.dtype == np.float64
        np.testing.assert_array_equal(out, X[:, cols])


def test_cross(X, rng):
    for m, order in itertools.product((0, 1, 3, 8), "CF"):
        w = np.asarray(rng.normal(size=(X.shape[0], m)), order=order)
        out = _core.Matrix(X).cross(w)
        assert out.flags.c_contiguous
        assert_near(out, w.T @ X.astype(float))


def test_stats(X, rng):
    c = rng.random(len(X))
    expected = twins.stats(X, c) if len(X) else np.zeros((2, X.shape[1]))
    for a, b in zip(_core.Matrix(X).stats(c), expected, strict=True):
        assert_near(a, b)


def test_row_hashes(X):
    few = X[:50, :60]  # the twin is slow
    assert _core.Matrix(few).row_hashes(7).tolist() == twins.row_hashes(few, 7)
    found = _core.Matrix(X).row_hashes(0)
    assert found.dtype == np.uint64
    assert np.array_equal(found, _core.Matrix(np.array(X, float, order="F")).row_hashes(0))
    assert np.array_equal(found, _core.Matrix(np.array(X, float, order="C")).row_hashes(0))


@pytest.mark.parametrize("layout", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(5000, 3), (700, 600)])
def test_stats_of_hard_columns(layout, dtype, shape, threads, rng):
    n, p = shape
    X = np.array(rng.normal(size=(n, p)), dtype=dtype, order=layout)
    X[:, 0] = 0.1
    X[:, 1] = 1e7 + rng.integers(0, 2, n)
    c = rng.random(n)
    c[::7] = 0.0
    X[0, 2], c[0] = 1e12, 0.0  # a weightless outlier must not spoil the sums
    mean, var = _core.Matrix(X).stats(c / c.sum())
    assert mean[0] == dtype(0.1)
    assert var[0] == 0.0
    expected = twins.stats(X, c)
    np.testing.assert_allclose(mean, expected[0], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(var, expected[1], rtol=1e-7, atol=1e-25)
    assert (var >= 0).all()


@pytest.mark.parametrize("layout", ["C", "F"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("shape", [(9, 5), (40, 3000)])
def test_nan_reaches_the_results(layout, bad, shape, rng):
    n = shape[0]
    X = np.array(rng.normal(size=shape), order=layout)
    X[3, 2] = bad
    c = np.full(n, 1 / n)
    c[3] = 0.0  # a zero weight hides nothing
    none = np.zeros(0, np.int64)
    _, g, _ = _core.Matrix(X).value_gradient(_core.Samples(np.zeros(n), c, None, 0, 0.0), none, np.zeros(0), 1.0)
    assert not np.isfinite(g[2])
    assert np.isfinite(np.delete(g, 2)).all()
    assert not np.isfinite(_core.Matrix(X).rmatmat(c[:, None])[2, 0])
    assert not np.isfinite(_core.Matrix(X).cross(np.asfortranarray(np.tile(c[:, None], 5)))[:, 2]).any()
    assert np.isnan(_core.Matrix(X).stats(c)[1][2])
