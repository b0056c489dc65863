import numpy as np
import pytest
import scipy.sparse as sp

from kernels import twins
from pursuit import _core

SHAPES = [(0, 2), (1, 1), (1, 4), (30, 0), (30, 5), (1500, 40)]


def near(a, b):
    np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-12)


@pytest.fixture(params=SHAPES, ids=str)
def A(request, rng):
    n, m = request.param
    return np.asfortranarray(rng.normal(size=(n, m)) * (rng.random((n, m)) < 0.7))


def csc(A, twice=False):
    S = sp.csc_matrix(A)
    data, indices, indptr = S.data, S.indices.astype(np.int64), S.indptr.astype(np.int64)
    if twice:
        data, indices, indptr = np.repeat(data / 2, 2), np.repeat(indices, 2), indptr * 2
    return _core.Matrix(data, indices, indptr, *A.shape, False)


def dense_forms(A):
    padded = np.asfortranarray(np.vstack([A, A, A]))[len(A) : 2 * len(A)]  # a leading dimension above n
    return A, padded, np.ascontiguousarray(A)


def test_centred_gram(A, rng):
    w = rng.random(len(A)) + 0.1
    total = max(w.sum(), 1e-300)
    for far in (0.0, 1e6):
        B = A + far
        mean = w @ B / total
        expected = (B - mean).T @ (w[:, None] * (B - mean))
        for form in dense_forms(np.asfortranarray(B)):
            found, means = _core.Matrix(form).centred_gram(w)
            np.testing.assert_allclose(means, mean, rtol=1e-13, atol=1e-13)
            np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12 + 1e-9 * (far > 0) * total)
            np.testing.assert_array_equal(found, found.T)
    near(csc(A).centred_gram(w)[0], (A - w @ A / total).T @ (w[:, None] * (A - w @ A / total)))


def test_centred_gram_of_a_constant_column_is_exactly_zero(rng):
    A = np.asfortranarray(rng.normal(size=(30, 3)))
    A[:, 1] = 0.1
    found, means = _core.Matrix(A).centred_gram(rng.random(30))
    assert not found[1].any()
    assert not found[:, 1].any()
    assert means[1] == pytest.approx(0.1, rel=1e-15)
    A[4, 1] = np.nan
    assert np.isnan(_core.Matrix(A).centred_gram(rng.random(30))[0][1]).all()


@pytest.mark.parametrize("sign", ["positive", "mixed", "zero"])
def test_gram(A, sign, rng):
    w = {"positive": rng.random(len(A)), "mixed": rng.normal(size=len(A)), "zero": np.zeros(len(A))}[sign]
    expected = A.T @ (w[:, None] * A)
    for form in dense_forms(A):
        found = _core.Matrix(form).gram(w)
        near(found, expected)
        np.testing.assert_array_equal(found, found.T)
    for twice in (False, True):
        near(csc(A, twice).gram(w), expected)
    near(
        _core.Matrix(form.astype(np.float32)).gram(w),
        form.astype(np.float32).T @ (w[:, None] * form.astype(np.float32)),
    )


@pytest.mark.parametrize("name", twins.LOSSES)
def test_newton(A, name, rng):
    n, m = A.shape
    y, c, offset = twins.labels(name, rng, n), rng.random(n), rng.normal(size=n)
    coef = rng.normal(size=m) / 3
    for off in (None, offset):
        value, gradient, hessian = twins.newton(A, y, c, off, name, twins.LOSSES[name][1], coef, 0.4)
        samples, rows = _core.Samples(y, c, off, *twins.LOSSES[name]), sp.csr_matrix(A)
        forms = [_core.Matrix(form) for form in dense_forms(A)] + [csc(A, twice) for twice in (False, True)]
        for X in (*forms, _core.Matrix(rows.data, rows.indices, rows.indptr, n, m, True)):
            for wanted in (True, False):
                v, g, H = X.newton(samples, coef, 0.4, wanted)
                near(v, value)
                near(g, gradient)
                if wanted:
                    near(H, hessian)
                    np.testing.assert_array_equal(H, H.T)
                else:
                    assert H is None


def test_nan_reaches_the_hessian(rng):
    A = np.asfortranarray(rng.normal(size=(20, 3)))
    A[4, 1] = np.nan
    c = np.full(20, 0.05)
    c[4] = 0.0
    _, g, H = _core.Matrix(A).newton(_core.Samples(np.zeros(20), c, None, 1, 0.0), np.zeros(3), 0.0, True)
    assert np.isnan(g[1])
    assert np.isnan(H[1]).all()
