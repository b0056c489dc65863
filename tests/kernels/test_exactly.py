"""Twice the digits: against exact fractions and 60 digits."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from pursuit import _core


def test_eta_is_rounded_once():
    rng = np.random.default_rng(0)
    A = np.asfortranarray(rng.standard_normal((20, 4)) * 10.0 ** rng.integers(-8, 9, 4))
    A[:, 1] = A[:, 0] * (1 + 1e-9)
    coef, offset = np.array([1e9, -1e9, 3.0, 1e-7]), rng.standard_normal(20)
    eta = _core.exact_eta(A, coef, 0.1, offset)
    for i in range(20):
        exact = sum(Fraction(a) * Fraction(v) for a, v in zip(A[i], coef, strict=True))
        exact += Fraction(0.1) + Fraction(offset[i])
        assert eta[i] == pytest.approx(float(exact), rel=1e-15)
    np.testing.assert_allclose(_core.exact_eta(A[:, :0], np.empty(0), 2.0, None), 2.0)


def digits(A, w, ridge, intercept):
    """Gram-Schmidt in 60 digits."""
    with mpmath.workdps(60):
        n, m = A.shape
        weight = [mpmath.mpf(x) for x in (*w, *ridge)]
        done = []
        for j in range(m):
            v = [mpmath.mpf(x) for x in A[:, j]] + [mpmath.mpf(i == j) for i in range(m)]
            if intercept:
                mean = mpmath.fdot(weight[:n], v[:n]) / mpmath.fsum(weight[:n])
                v = [x - mean for x in v[:n]] + v[n:]
            for q in done:
                t = mpmath.fsum(c * a * b for c, a, b in zip(weight, q, v, strict=True))
                v = [x - t * y for x, y in zip(v, q, strict=True)]
            size = mpmath.sqrt(mpmath.fsum(c * a * a for c, a in zip(weight, v, strict=True)))
            done.append([x / size for x in v])
        return np.array([[float(x) for x in q] for q in done]).T


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("ridged", [False, True])
def test_orthonormal_columns_have_all_their_digits(intercept, ridged):
    rng = np.random.default_rng(1)
    n = 25
    a, e = rng.standard_normal((2, n))
    A = np.asfortranarray(np.c_[1e7 + a, 1e5 * a + 1e-9 * e, e * 1e-8, rng.standard_normal(n) * 1e30])
    w, ridge = rng.random(n), np.array([0.0, 1e-3, 0.0, 1e50]) * ridged
    Q, T, left = _core.orthonormal(A, w, ridge, intercept, 1e-25)
    exact = digits(A, w, ridge, intercept)
    np.testing.assert_allclose(Q, exact[:n], atol=1e-14)
    np.testing.assert_allclose(T, exact[n:], rtol=1e-14, atol=1e-300)
    assert (left > 0).all()
    assert (left <= 1.001).all()
    if intercept and not ridged:
        assert left[1] < 1e-9


def test_exact_combinations_are_told_from_close_ones():
    rng = np.random.default_rng(2)
    X = rng.integers(-9, 9, (30, 3)).astype(float)
    A = np.asfortranarray(np.c_[X, 2 * X[:, 0] - X[:, 1], X[:, 2] * (1 + 1e-15 * rng.standard_normal(30)), np.ones(30)])
    _, T, left = _core.orthonormal(A, np.full(30, 1 / 30), np.zeros(6), True, 1e-25)
    assert (left == 0).tolist() == [False, False, False, True, False, True]
    assert 1e-17 < left[4] < 1e-14
    np.testing.assert_allclose(A @ T[:, 3], 0.0, atol=1e-13)
    assert np.abs(T[:, 3]).max() == 1.0
    _, _, coarse = _core.orthonormal(A, np.full(30, 1 / 30), np.zeros(6), True, 1e-13)
    assert coarse[4] == 0
    with pytest.raises(ValueError, match="one number per row"):
        _core.orthonormal(A, np.ones(3), np.zeros(6), True, 1e-25)
