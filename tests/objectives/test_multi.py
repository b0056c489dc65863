import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression, LogisticRegression

from pursuit import MultiGLM, SparseClassifier, SparseRegressor, solve
from pursuit.data import hessian
from pursuit.losses import Multinomial


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


def test_multinomial_refit_equals_logistic_regression(iris):
    X, y = iris
    objective = MultiGLM(X, y, l2=0.01)
    point = objective.refit(np.arange(12))
    peer = LogisticRegression(C=1 / (0.01 * len(y)), tol=1e-12, max_iter=20000).fit(X, y)
    np.testing.assert_allclose(point.coef.reshape(4, 3), peer.coef_.T, atol=1e-4)
    assert np.abs(objective.at(np.arange(12), point.coef, point.free).gradient).max() < 1e-7


def test_hessian_rows_are_differences_of_gradients(iris):
    X, y = iris
    objective = MultiGLM(X, y, l2=0.01)
    point, every = objective.refit(np.arange(6)), np.arange(12)
    rows = objective.hessian_rows(point, np.arange(6), every)
    for i in range(6):
        d = np.zeros(12)
        d[i] = 1e-5
        ahead, behind = objective.at(every, point.x + d), objective.at(every, point.x - d)
        np.testing.assert_allclose(rows[i], (ahead.gradient - behind.gradient) / 2e-5, atol=1e-5)


@pytest.mark.parametrize("standardize", [False, True])
def test_several_responses_equal_least_squares(standardize):
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((50, 4)), rng.standard_normal((50, 2))
    model = SparseRegressor(k=4, standardize=standardize).fit(X, Y)
    peer = LinearRegression().fit(X, Y)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-8)
    np.testing.assert_allclose(model.predict(X), peer.predict(X), atol=1e-8)


def test_weights_are_repeated_rows(iris):
    X, y = iris
    weight = 1 + np.arange(len(y)) % 2
    weighted = solve(MultiGLM(X, y, l2=0.01, sample_weight=weight), 2)
    repeated = solve(MultiGLM(np.repeat(X, weight, axis=0), np.repeat(y, weight), l2=0.01), 2)
    np.testing.assert_array_equal(weighted.support, repeated.support)
    np.testing.assert_allclose(weighted.x, repeated.x, atol=1e-6)


def test_classifier_of_three_classes(iris):
    X, y = iris
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = SparseClassifier(k=2, l2=0.001).fit(X, names)
    assert model.coef_.shape == (3, 4)
    assert np.count_nonzero(model.coef_.any(axis=0)) == 2
    assert model.score(X, names) > 0.94
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[proba.argmax(axis=1)], model.predict(X))
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), proba)


def test_separated_classes_end_with_a_status():
    X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]])
    result = solve(MultiGLM(X, [0, 0, 1, 1, 2, 2]), 1)
    assert result.status == "no_minimiser"
    assert "separate" in result.reason
    assert np.isfinite(result.x).all()
    assert result.value <= 1e-9


def test_errors(iris):
    X, y = iris
    with pytest.raises(ValueError, match="does not take several outputs"):
        MultiGLM(X, y, "huber")
    with pytest.raises(ValueError, match="one row per row of X"):
        MultiGLM(X, np.zeros((3, 2)), "squared")
    with pytest.raises(ValueError, match="NaN"):
        MultiGLM(X, np.full((150, 2), np.nan), "squared")
    with pytest.raises(ValueError, match="loss='logistic'"):
        SparseClassifier(loss="squared_hinge").fit(X, y)


def test_the_rarest_probabilities_keep_their_digits():
    rng = np.random.default_rng(0)
    loss, Y = Multinomial(), np.eye(4)[rng.integers(4, size=50)]
    eta = 20.0 * Y + rng.normal(size=(50, 4))  # all but sure, and right
    wide = eta.astype(np.longdouble)
    odds = np.exp(wide - (Y * wide).sum(axis=1)[:, None])
    rest = (odds * (1 - Y)).sum(axis=1)
    P = odds / (1 + rest)[:, None]
    np.testing.assert_allclose(loss.value(Y, eta), np.log1p(rest).astype(float), rtol=1e-12)
    np.testing.assert_allclose(loss.d1(Y, eta)[Y > 0], (-rest / (1 + rest)).astype(float), rtol=1e-12)
    others = np.where(Y > 0, rest[:, None] / (1 + rest)[:, None], 1 - P)
    np.testing.assert_allclose(loss.row_hessian(Y, eta, np.ones(50)).diagonal(), (P * others).astype(float), rtol=1e-12)


@pytest.mark.parametrize("sure", [1.0, 30.0])
@pytest.mark.parametrize("many", [False, True])
def test_second_derivatives_are_those_of_every_pair_of_classes(sure, many, monkeypatch):
    monkeypatch.setattr(hessian, "FEW_COLUMNS", -1 if many else 10**9)
    rng = np.random.default_rng(1)
    n, p, q = 40, 6, 4
    X, y = rng.standard_normal((n, p)), np.arange(n) % q
    f = MultiGLM(X, y, l2=0.1, fit_intercept=False)
    every = np.arange(p * q)
    point = f.at(every, sure * rng.standard_normal(p * q))
    eta = X @ point.coef.reshape(p, q)
    P = np.exp(eta - eta.max(axis=1, keepdims=True))
    P /= P.sum(axis=1, keepdims=True)
    W = P[:, :, None] * np.eye(q) - P[:, :, None] * P[:, None, :]
    H = np.einsum("ij,irs,il->jrls", X, W, X).reshape(p * q, p * q) / n + 0.1 * np.eye(p * q)
    np.testing.assert_allclose(f.hessian_rows(point, every), H, atol=1e-12)
    np.testing.assert_allclose(f.hessian_rows(point, every[3:9], every[::2]), H[3:9, ::2], atol=1e-12)
    np.testing.assert_allclose(f.curvatures(point, every), H.diagonal(), atol=1e-12)
    few = f.support_problem(every)
    state = few.at(few.join(point.coef.reshape(p, q), np.zeros(q)))
    assert state.hessian is not None
    T = np.kron(np.eye(p), few.turn)
    np.testing.assert_allclose(state.hessian(), T.T @ H @ T, atol=1e-12)
    v = rng.standard_normal(len(state.z))
    np.testing.assert_allclose(few.product(state)(v), T.T @ H @ T @ v, atol=1e-10)
