"""Second derivatives in the linear predictors, against differences and dense matrices; a loss that couples rows."""

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize

from breslow import Breslow, BreslowInStrata
from pursuit import GLM, InParts, Squared, solve
from pursuit.losses import Multinomial

N, P = 40, 6


def survival(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, P))
    times = np.ceil(8 * rng.exponential(np.exp(-X[:, 0] + 0.8 * X[:, 3])))  # with ties
    return X, np.where(rng.random(N) < 0.7, times, -times), rng.integers(0, 4, N) / 3.0


def problem(kind):
    rng = np.random.default_rng(1)
    c = rng.random(N)
    if kind == "risk sets":
        _, y, weights = survival()
        return Breslow(), y, rng.standard_normal(N), weights
    eta = 3 * rng.standard_normal((N, 3))
    if kind == "classes":
        return Multinomial(), np.eye(3)[rng.integers(3, size=N)], eta, c
    return Squared(), rng.standard_normal((N, 3)), eta, c


@pytest.mark.parametrize("kind", ["risk sets", "classes", "responses"])
def test_products_are_differences_of_derivatives(kind):
    loss, y, eta, c = problem(kind)
    _, d1, W = loss.terms(y, eta, c)
    dense, size = np.empty((eta.size, eta.size)), 1e-5
    for i in range(eta.size):
        d = np.zeros(eta.size)
        d[i] = size
        (ahead, up), (behind, down) = (loss.first_order(y, eta + s * d.reshape(eta.shape), c) for s in (1, -1))
        assert (ahead - behind) / (2 * size) == pytest.approx(d1.ravel()[i], abs=1e-8)
        dense[i] = (up - down).ravel() / (2 * size)
    np.testing.assert_allclose(dense, dense.T, atol=1e-8)
    V = np.random.default_rng(2).standard_normal(eta.shape)
    np.testing.assert_allclose(W.times(V).ravel(), dense @ V.ravel(), atol=1e-7)
    np.testing.assert_allclose(W.diagonal().ravel(), dense.diagonal(), atol=1e-8)
    q = eta[0].size
    ones = np.kron(np.ones((N, 1)), np.eye(q))
    np.testing.assert_allclose(np.atleast_2d(W.total()), ones.T @ dense @ ones, atol=1e-7)
    if kind == "risk sets":  # several columns at once
        A = np.random.default_rng(3).standard_normal((N, 4))
        np.testing.assert_allclose(W.times(A), dense @ A, atol=1e-7)
    else:
        for r in range(q):
            for s in range(q):
                entry = W.entry(r, s)
                block = dense.reshape(N, q, N, q)[:, r, :, s]
                np.testing.assert_allclose(np.zeros(N) if entry is None else entry, block.diagonal(), atol=1e-8)


def dense_hessian(X, y, c, beta):
    """From the definition, event by event."""
    H = np.zeros((X.shape[1], X.shape[1]))
    for i in np.flatnonzero((y > 0) & (c > 0)):
        at_risk = np.abs(y) >= y[i]
        w = c * np.exp(X @ beta) * at_risk
        w /= w.sum()
        Z = X - w @ X
        H += c[i] * (Z.T * w) @ Z
    return H


def cox(X, y, weights, **settings):
    return GLM(X, y, Breslow(), fit_intercept=False, sample_weight=weights, **settings)


def test_a_model_of_risk_sets():
    X, y, weights = survival()
    f, c, every = cox(X, y, weights, l2=0.05), weights / weights.sum(), np.arange(P)
    point = f.at(every, np.linspace(-1, 1, P))
    H = dense_hessian(X, y, c, point.coef) + 0.05 * np.eye(P)
    np.testing.assert_allclose(f.hessian_rows(point, every), H, atol=1e-12)
    np.testing.assert_allclose(f.hessian_rows(point, every[1:3], every[::2]), H[1:3, ::2], atol=1e-12)
    np.testing.assert_allclose(f.curvatures(point, every), H.diagonal(), atol=1e-12)
    assert f.curvature(point, every[:2], np.array([1.0, -2.0])) == pytest.approx(
        np.array([1, -2]) @ H[:2, :2] @ np.array([1, -2]), rel=1e-10
    )
    fit = minimize(lambda b: (lambda at: (at.value, at.gradient))(f.at(every, b)), np.zeros(P), jac=True, tol=1e-12)
    assert f.refit(every).value == pytest.approx(fit.fun, rel=1e-9)
    assert np.abs(f.at(every, f.refit(every).coef).gradient).max() < 1e-9


@pytest.mark.parametrize("solver", ["auto", "omp", "ompr", "local_search", "grahtp", "fbs"])
def test_solvers_need_not_know_that_rows_couple(solver):
    X, y, weights = survival()
    f = cox(X, y, weights, l2=0.05)
    best = min((f.refit(np.array(S)).value, S) for S in combinations(range(P), 2))
    found = solve(f, 2, solver=solver)
    assert found.value == pytest.approx(best[0], rel=1e-9)
    assert tuple(found.support) == best[1]


def test_a_weight_of_zero_takes_a_row_out_of_every_risk_set():
    X, y, weights = survival()
    some, used = np.array([0, 3]), weights > 0
    whole, left = cox(X, y, weights, l2=0.01), cox(X[used], y[used], weights[used], l2=0.01)
    one, other = whole.refit(some), left.refit(some)
    assert one.value == pytest.approx(other.value, rel=1e-12)
    np.testing.assert_allclose(one.gradient, other.gradient, atol=1e-10)
    labels = np.arange(N) % 3
    for j in range(3):
        keep = labels != j
        fold = GLM(whole.data.folds(labels).train(j), loss=whole.loss, fit_intercept=False, l2=0.01)
        alone = cox(X[keep], y[keep], weights[keep], l2=0.01)
        assert fold.refit(some).value == pytest.approx(alone.refit(some).value, rel=1e-10)


def test_parts_that_couple_do_not_add_up():
    X, y, _ = survival()
    parts = InParts([(X[:20], y[:20]), (X[20:], y[20:])])
    with pytest.raises(ValueError, match="loss 'breslow' couples rows, so that parts of them do not add up"):
        GLM(parts, loss=Breslow(), fit_intercept=False)
    f = GLM(parts, loss=BreslowInStrata(), fit_intercept=False, l2=0.1)
    halves = [GLM(X[s], y[s], Breslow(), fit_intercept=False) for s in (slice(20), slice(20, None))]
    at, coef = np.array([0, 3]), np.array([0.3, -0.2])
    want = sum(half.at(at, coef).value for half in halves) / 2 + 0.05 * coef @ coef
    log2 = np.log(2) * np.count_nonzero(y > 0) / N  # shares within a stratum do not depend on the sum of the weights
    assert f.at(at, coef).value == pytest.approx(want - log2, rel=1e-10)
    with pytest.raises(TypeError, match="a sum over samples"):
        solve(GLM(X, y, Breslow(), fit_intercept=False), 1, solver="svrght")
    with pytest.raises(ValueError, match="couples rows, so that held-out rows have no loss each of their own"):
        f.data.batch(at, coef[None, :, None]).losses(np.zeros((1, 1)))
