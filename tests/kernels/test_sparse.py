import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from kernels import twins
from kernels.layouts import KINDS, sparse
from pursuit import _core

SHAPES = [(1, 1), (1, 9), (9, 1), (23, 17), (40, 70), (0, 3), (3, 0), (30, 500)]


@pytest.fixture(params=[True, False], ids=["csr", "csc"])
def rows(request):
    return request.param


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture(params=SHAPES, ids=str)
def shape(request):
    return request.param


@pytest.fixture(params=[(np.float64, np.int32), (np.float32, np.int64)], ids=["f64-i32", "f32-i64"])
def types(request):
    return request.param


@pytest.fixture
def matrix(rows, kind, shape, types, rng):
    return sparse(kind, types[1], types[0], *shape, rng, rows)


@pytest.fixture
def cols(shape, rng):
    p = shape[1]
    chosen = rng.choice(p, size=min(p, 5), replace=False).astype(np.int64)
    return np.r_[chosen, chosen[:1]]  # one column twice


def assert_near(a, b):
    # duplicated float32 entries are rounded twice
    np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)


def assert_exact(kind, types, a, b):
    if kind == "duplicates" and types[0] == np.float32:
        assert_near(a, b)
    else:
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


def test_value_gradient(matrix, cols, shape, rows, kind, types, rng):
    (n, p), (D, parts) = shape, matrix
    coef, c, offset = rng.normal(size=len(cols)), rng.random(n), rng.normal(size=n)
    for name in ("squared", "logistic"):
        y = twins.labels(name, rng, n)
        for off in (None, offset):
            found = _core.Matrix(*parts, n, p, rows).value_gradient(
                _core.Samples(y, c, off, *twins.LOSSES[name]), cols, coef, 0.2
            )
            expected = twins.value_gradient(D, y, c, off, name, 0.0, cols, coef, 0.2)
            for a, b in zip(found, expected, strict=True):
                assert_exact(kind, types, a, b)


@pytest.mark.parametrize("p", [32_000, 33_000])
def test_value_gradient_of_wide_rows(p, rng):
    D, parts = sparse("duplicates", np.int32, np.float64, 20, p, rng, True, 0.01)
    cols = np.r_[rng.choice(p, 300, replace=False), 7, 7]
    y, c, coef = rng.normal(size=20), rng.random(20), rng.normal(size=302)
    found = _core.Matrix(*parts, 20, p, True).value_gradient(_core.Samples(y, c, None, 0, 0.0), cols, coef, 0.2)
    for a, b in zip(found, twins.value_gradient(D, y, c, None, "squared", 0.0, cols, coef, 0.2), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


def test_products(matrix, cols, shape, rows, kind, types, rng):
    (n, p), (D, parts) = shape, matrix
    X = _core.Matrix(*parts, n, p, rows)
    for q in (0, 1, 3):
        coef, d = rng.normal(size=(len(cols), q)), rng.normal(size=(n, q))
        assert_exact(kind, types, X.matmat(cols, coef), D[:, cols] @ coef)
        assert_exact(kind, types, X.rmatmat(d), D.T @ d)


def test_gather(matrix, cols, shape, rows, kind, types):
    (n, p), (D, parts) = shape, matrix
    X = _core.Matrix(*parts, n, p, rows)
    out = X.gather(cols)
    assert out.flags.f_contiguous
    assert_exact(kind, types, out, D[:, cols])
    data, indices, indptr = X.gather_csc(cols)
    assert (data.dtype, indices.dtype, indptr.dtype) == (np.float64, np.int64, np.int64)
    if len(cols):
        assert_exact(kind, types, sp.csc_matrix((data, indices, indptr), shape=(n, len(cols))).toarray(), D[:, cols])
    if kind == "sorted":
        assert all((np.diff(indices[a:b]) > 0).all() for a, b in itertools.pairwise(indptr))


def test_gather_rows(matrix, cols, shape, rows, kind, types):
    (n, p), (D, parts) = shape, matrix
    X = _core.Matrix(*parts, n, p, rows)
    if not rows:
        with pytest.raises(ValueError, match="must be CSR"):
            X.gather_rows(cols)
        return
    data, indices, indptr = X.gather_rows(cols)
    assert (data.dtype, indices.dtype, indptr.dtype) == (np.float64, np.int32, np.int32)
    if len(cols):
        assert_exact(kind, types, sp.csr_matrix((data, indices, indptr), shape=(n, len(cols))).toarray(), D[:, cols])


def test_a_whole_product_with_a_hessian(matrix, shape, rows, kind, types, rng):
    (n, p), (D, parts) = shape, matrix
    X, w, v = _core.Matrix(*parts, n, p, rows), rng.normal(size=n), rng.normal(size=p)
    d = w * (D @ v + 0.3)
    found, total = X.turn(w, v, 0.3)
    assert_exact(kind, types, found, D.T @ d)
    assert_exact(kind, types, total, d.sum())


def test_gram_matrices(matrix, cols, shape, rows, kind, types, rng):
    (n, p), (D, parts) = shape, matrix
    X, w = _core.Matrix(*parts, n, p, rows), rng.normal(size=n)
    few = _core.Matrix(*X.gather_csc(cols), n, len(cols), False)
    assert_exact(kind, types, X.gram(w), D.T @ (w[:, None] * D))
    assert_exact(kind, types, few.gram(w), D[:, cols].T @ (w[:, None] * D[:, cols]))
    assert_exact(kind, types, few.between(w, X), D[:, cols].T @ (w[:, None] * D))
    assert_exact(kind, types, X.between(w, few), D.T @ (w[:, None] * D[:, cols]))


def test_between_wants_sparse_columns(rng):
    dense = _core.Matrix(rng.normal(size=(4, 2)))
    with pytest.raises(ValueError, match="sparse"):
        dense.between(np.ones(4), dense)


def test_cross(matrix, shape, rows, kind, types, rng):
    D, parts = matrix
    X, shift = _core.Matrix(*parts, *shape, rows), rng.normal(size=shape[1])
    for m in (0, 1, 3, 11):
        w = np.asfortranarray(rng.normal(size=(shape[0], m)))
        assert_exact(kind, types, X.cross(w), w.T @ D)
        assert_exact(kind, types, X.cross(w, shift), w.T @ (D - shift))


def test_stats(matrix, shape, rows, kind, types, rng):
    (n, p), (D, parts) = shape, matrix
    c = rng.random(n)
    expected = twins.stats(D, c) if n else np.zeros((2, p))
    for a, b in zip(_core.Matrix(*parts, n, p, rows).stats(c), expected, strict=True):
        assert_exact(kind, types, a, b)


@pytest.mark.parametrize("kind", ["sorted", "unsorted"])
def test_stats_of_hard_columns(rows, kind, threads, rng):
    n, p = 4000, 60
    D = rng.normal(size=(n, p)) * (rng.random((n, p)) < 0.5)
    D[:, 0] = 0.1
    D[:, 1] = 1e7 + rng.integers(0, 2, n)
    D[:, 2] = 0.0
    S = (sp.csr_matrix if rows else sp.csc_matrix)(D)
    if kind == "unsorted":
        S.data[:2], S.indices[:2] = S.data[1::-1].copy(), S.indices[1::-1].copy()
    c = rng.random(n)
    mean, var = _core.Matrix(S.data, S.indices, S.indptr, n, p, rows).stats(c)
    expected = twins.stats(D, c)
    np.testing.assert_allclose(mean, expected[0], rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(var[1:], expected[1][1:], rtol=1e-9)
    assert 0 <= var[0] <= 1e-14 * mean[0] ** 2
    assert var[2] == 0


def test_nan_reaches_the_gradient(rows, rng):
    D = rng.normal(size=(9, 5))
    D[3, 2] = np.nan
    S = (sp.csr_matrix if rows else sp.csc_matrix)(D)
    c = np.full(9, 1 / 9)
    c[3] = 0.0
    X = _core.Matrix(S.data, S.indices, S.indptr, 9, 5, rows)
    cols = np.array([0, 4], np.int64)
    _, g, _ = X.value_gradient(_core.Samples(np.zeros(9), c, None, 0, 0.0), cols, np.ones(2), 0.0)
    assert np.isnan(g[2])
    assert np.isnan(X.rmatmat(c[:, None])[2, 0])


def test_row_hashes(matrix, shape, rows, kind):
    D, parts = matrix
    if kind != "duplicates":  # whose sums are not to be had entry by entry
        assert _core.Matrix(*parts, *shape, rows).row_hashes(5).tolist() == twins.row_hashes(D, 5)
