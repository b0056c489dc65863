"""Restricted constants of designs whose constants are known."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

import pursuit
from pursuit.sparse_eigenvalues import Outer, SparseHessian, hessian_at, largest, smallest


def orthonormal(n, p, seed=0):
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((n, p)))[0] * np.sqrt(n)


def from_hessian(H, y=None):
    """A GLM without an intercept whose Hessian is H."""
    p = len(H)
    X = np.sqrt(p) * np.linalg.cholesky(H).T
    return pursuit.GLM(X, np.arange(p) if y is None else y, fit_intercept=False)


@pytest.mark.parametrize("s", [1, 2, 5, 12])
def test_identity_plus_rank_one_has_the_constants_of_its_formula(s):
    p, a = 12, 1.5
    H = np.eye(p) + a * np.ones((p, p)) / p
    found = pursuit.curvature(from_hessian(H), s)
    M, m = 1 + a * s / p, (1.0 if s > 1 else 1 + a / p)
    assert found.smoothness.inside == pytest.approx(M)
    assert found.convexity.inside == pytest.approx(m)
    assert found.smoothness.certified == pytest.approx(M)
    assert found.convexity.certified == pytest.approx(m)
    assert found.isometry.inside == pytest.approx((M / m - 1) / (M / m + 1))


def test_a_kronecker_product_has_the_products_of_its_factors_eigenvalues():
    A, B = np.diag([3.0, 1.0]) + 0.5, np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]])
    found = pursuit.curvature(from_hessian(np.kron(A, B)), 6)
    a, b = np.linalg.eigvalsh(A), np.linalg.eigvalsh(B)
    assert found.smoothness == pytest.approx((a[-1] * b[-1],) * 2)
    assert found.convexity == pytest.approx((a[0] * b[0],) * 2)


@pytest.mark.parametrize("kind", [np.asarray, sp.csc_matrix, aslinearoperator])
@pytest.mark.parametrize("intercept", [False, True])
def test_every_kind_of_design_has_the_constants_of_the_dense_one(kind, intercept):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((30, 8)) + 1.0
    y, w = rng.standard_normal(30), rng.uniform(0.5, 2, 30)
    options = {"fit_intercept": intercept, "l2": 0.3, "sample_weight": w}
    dense, other = pursuit.GLM(X, y, **options), pursuit.GLM(kind(X), y, **options)
    c = w / w.sum()
    A = X - c @ X if intercept else X
    H = A.T @ (c[:, None] * A) + 0.3 * np.eye(8)
    view = hessian_at(other, other.null)
    np.testing.assert_allclose(view.full, H, atol=1e-12)
    V = rng.standard_normal((3, 2))
    cols = np.array([1, 4, 6])
    view.__dict__["full"] = None  # as if p were large
    np.testing.assert_allclose(view.times(cols, V), H[:, cols] @ V, atol=1e-12)
    np.testing.assert_allclose(view.rows(cols), H[cols], atol=1e-12)
    assert str(pursuit.curvature(other, 3)) == str(pursuit.curvature(dense, 3))


def test_rows_in_parts_and_sums_have_the_constants_of_the_rows():
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((40, 6)), rng.standard_normal(40)
    whole = pursuit.curvature(pursuit.GLM(X, y), 3)
    parts = pursuit.curvature(pursuit.GLM(pursuit.InParts([(X[:15], y[:15]), (X[15:], y[15:])])), 3)
    sums = pursuit.curvature(pursuit.Quadratic(X.T @ X, X.T @ y, y @ y, 40, mean=X.mean(axis=0), ymean=y.mean()), 3)
    for other in (parts, sums):
        assert other.condition == pytest.approx(whole.condition)


def test_without_the_whole_hessian_values_are_attained_and_bounds_hold():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 20)) @ np.linalg.cholesky(0.8 ** np.abs(np.subtract.outer(range(20), range(20)))).T
    H = X.T @ X / 60
    dense = SparseHessian(20, lambda cols: H[cols], lambda: H.diagonal())
    lean = SparseHessian(20, lambda cols: H[cols], lambda: H.diagonal())
    lean.__dict__["full"] = None
    for search in (largest, smallest):
        a, b = search(dense, 4, np.random.default_rng(0)), search(lean, 4, np.random.default_rng(0))
        assert b.value == pytest.approx(a.value, rel=0.5)
        assert len(b.support) == 4
        assert b.value == pytest.approx(b.vector @ H[np.ix_(b.support, b.support)] @ b.vector)
    assert Outer(lean).largest(4)[0] >= Outer(dense).largest(4)[0]
    assert Outer(lean).smallest(4)[0] <= Outer(dense).smallest(4)[0]


def test_the_logistic_loss_has_its_bound_at_zero_and_only_the_ridge_below():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((80, 6)), rng.integers(0, 2, 80)
    f = pursuit.GLM(X, y, "logistic", l2=0.02, fit_intercept=False)
    found = pursuit.curvature(f, 3)
    H = X.T @ X / 80 / 4
    truth = pursuit.curvature(from_hessian(H), 3).smoothness.inside + 0.02
    assert found.smoothness.inside == pytest.approx(truth)  # at zero phi'' is 1/4 in every row
    assert found.smoothness.certified == pytest.approx(truth)
    assert found.convexity.certified == 0.02
    assert found.kind == "local"
    away = pursuit.curvature(f, 3, at=np.array([4.0, -3, 0, 0, 0, 0]))
    assert away.smoothness.inside < truth
    assert away.convexity.inside < found.convexity.inside
    assert "m_s over all x is the ridge" in str(away)


def test_poisson_has_no_certified_smoothness_and_hinge_none_at_all():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 5))
    counts = pursuit.curvature(pursuit.GLM(X, rng.poisson(2, 30), "poisson"), 2)
    assert counts.smoothness.certified == np.inf
    assert np.isfinite(counts.smoothness.inside)
    kinked = pursuit.curvature(pursuit.GLM(X, np.sign(X[:, 0]), "hinge", l2=0.5), 2)
    assert kinked.smoothness.inside == np.inf
    assert kinked.convexity == (0.5, 0.5)


def test_stable_hessian_keeps_the_support_of_the_point():
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((100, 7)), rng.integers(0, 2, 100)
    f = pursuit.GLM(X, y, "logistic", l2=0.1, fit_intercept=False)
    x = np.zeros(7)
    x[[0, 5]] = 2.0, -1.0
    A, B, mu = pursuit.curvature(f, 3, at=x).stable
    w = 1 / (1 + np.exp(-X @ x))
    H = X.T @ ((w * (1 - w) / 100)[:, None] * X) + 0.1 * np.eye(7)
    blocks = [np.linalg.eigvalsh(H[np.ix_(S, S)]) for S in ([0, 5, j] for j in (1, 2, 3, 4, 6))]
    assert pytest.approx(max(v[-1] for v in blocks)) == A
    assert pytest.approx(min(v[0] for v in blocks)) == B
    assert mu.inside == pytest.approx(A / B)
    assert mu.certified >= mu.inside


def test_local_quantities_at_a_point():
    X, beta = orthonormal(50, 6), np.array([2.0, 0, -1.0, 0, 0, 0])
    f = pursuit.GLM(X, X @ beta + 0.5 * X[:, 4], fit_intercept=False, l2=0.25)
    found = pursuit.curvature(f, 2, at=beta)
    g = 1.25 * beta - np.array([2.0, 0, -1.0, 0, 0.5, 0])
    assert found.gradient_norm == pytest.approx(np.linalg.norm(np.sort(np.abs(g))[-2:]))
    assert found.margin == pytest.approx(1.0 - np.abs(g).max() / 0.25)
    assert found.coherence.inside == pytest.approx(0.0, abs=1e-12)


def test_a_function_of_the_users_has_estimates_only():
    H = np.diag([1.0, 2.0, 3.0]) + 0.1
    f = pursuit.Function(lambda x: 0.5 * x @ H @ x, lambda x: H @ x, 3)
    found = pursuit.curvature(f, 3)
    assert found.smoothness.inside == pytest.approx(np.linalg.eigvalsh(H)[-1], rel=1e-6)
    assert found.smoothness.certified == np.inf
    assert found.convexity.certified == 0.0


def test_more_columns_than_rows_have_no_convexity_but_the_ridge():
    X = np.random.default_rng(0).standard_normal((5, 12))
    found = pursuit.curvature(pursuit.GLM(X, X[:, 0], l2=0.01), 8)
    assert found.convexity.inside == pytest.approx(0.01, rel=1e-6)
    assert found.convexity.certified == 0.01
    assert "more than the rows can tell apart" in str(found)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"s": 0}, "s must be"),
        ({"s": 2, "starts": 0}, "starts must be"),
        ({"s": 2, "at": [1.0]}, "at must be"),
        ({"s": 2, "random_state": "x"}, "random_state must be"),
    ],
)
def test_wrong_arguments_are_named(options, error):
    f = pursuit.GLM(np.eye(4), np.arange(4.0))
    with pytest.raises((TypeError, ValueError), match=error):
        pursuit.curvature(f, **options)


def test_several_classes_are_refused_and_several_responses_are_not():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((30, 5)), rng.standard_normal((30, 2))
    one, both = pursuit.curvature(pursuit.GLM(X, Y[:, 0]), 2), pursuit.curvature(pursuit.GLM(X, Y), 2)
    assert both.condition == pytest.approx(one.condition)
    with pytest.raises(TypeError, match="one output"):
        pursuit.curvature(pursuit.GLM(X, rng.integers(0, 3, 30), "multinomial"), 2)
    with pytest.raises(TypeError, match="objective must be"):
        pursuit.curvature(X, 2)
