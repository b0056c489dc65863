"""Refits on an operator: by products with all of it where gathering its columns would take more of them."""

import time

import numpy as np
import pytest
from scipy.sparse.linalg import LinearOperator

import pursuit
from problems import BINARY
from pursuit.data.gathered import MIN_SINGLE_PRODUCTS

N, P, K = 600, 900, 120
SMOOTH = [loss for loss in pursuit.list_losses() if loss != "hinge"]


class Counted:
    """An operator over an array that counts its products, and may take its time over each."""

    def __init__(self, X, seconds=0.0):
        self.X, self.products, self.seconds = X, 0, seconds
        self.operator = LinearOperator(X.shape, matvec=self.forward, rmatvec=self.back, dtype=np.float64)

    def forward(self, x):
        self.products += 1
        time.sleep(self.seconds)
        return self.X @ np.ravel(x)

    def back(self, r):
        self.products += 1
        time.sleep(self.seconds)
        return self.X.T @ np.ravel(r)


def data(loss, seed=0, n=N, p=P, k=K):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) / np.sqrt(k)
    truth = np.zeros(p)
    truth[rng.choice(p, k, replace=False)] = rng.choice([-1.0, 1.0], k)
    eta = X @ truth
    if loss in BINARY:
        y = np.where(rng.random(n) < 1 / (1 + np.exp(-2 * eta)), 1.0, -1.0)
    elif loss == "poisson":
        y = rng.poisson(np.exp(np.clip(eta, None, 3))).astype(float)
    else:
        y = eta + 0.3 * rng.standard_normal(n)
    return X, y, np.flatnonzero(truth)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("loss", SMOOTH)
def test_a_refit_by_products_is_the_refit_of_the_columns(loss, fit_intercept):
    X, y, support = data(loss)
    counted = Counted(X)
    settings = {"loss": loss, "l2": 1e-2, "fit_intercept": fit_intercept}
    want = pursuit.GLM(X, y, **settings).refit(support)
    got = pursuit.GLM(counted.operator, y, **settings).refit(support)
    assert counted.products < (2 if "hinge" in loss else 1) * K  # what gathering alone would take
    assert got.refitted
    assert not got.note
    assert got.value == pytest.approx(want.value, rel=1e-12)
    assert got.support_bound <= want.value - 1e-3 * abs(want.value)  # no bound is claimed that products do not prove
    size = np.abs(want.coef).max()
    np.testing.assert_allclose(got.coef, want.coef, atol=1e-6 * size)
    np.testing.assert_allclose(got.gradient, want.gradient, atol=1e-6 * np.abs(want.gradient).max())


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_a_whole_solve_takes_few_products(loss):
    X, y, support = data(loss, n=1500, p=2000, k=200)
    counted = Counted(X)
    settings = {"loss": loss, "l2": 1e-3, "fit_intercept": False}
    want = pursuit.solve(pursuit.GLM(X, y, **settings), len(support), solver="grahtp")
    got = pursuit.solve(pursuit.GLM(counted.operator, y, **settings), len(support), solver="grahtp")
    assert counted.products < (2 if loss == "squared" else 4) * len(support)  # a gather for each refit: 6 and 12
    assert got.value == pytest.approx(want.value, rel=1e-3)  # the step is estimated, so the way may differ
    assert len(np.intersect1d(got.support, want.support)) > 0.9 * len(support)


def test_exact_measurements_are_explained_exactly():
    X, _, support = data("squared", seed=1)
    y = X[:, support].sum(axis=1)
    got = pursuit.GLM(Counted(X).operator, y, fit_intercept=False).refit(support)
    np.testing.assert_allclose(got.coef, 1.0, rtol=1e-8)
    assert not got.note


def test_a_warm_start_saves_products():
    X, y, support = data("squared")
    f = pursuit.GLM((counted := Counted(X)).operator, y)
    cold = f.refit(support)
    first, counted.products = counted.products, 0
    again = f.refit(support, start=cold)
    assert counted.products < first / 2
    np.testing.assert_allclose(again.coef, cold.coef, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_columns_too_close_for_products_are_gathered(loss):
    X, y, support = data(loss)
    X[:, support] = X[:, support] @ np.diag(np.logspace(0, -6, K))
    X[:, support[1]] = X[:, support[0]] + 1e-7 * X[:, support[1]]
    settings = {"loss": loss, "l2": 0.0 if loss == "squared" else 1e-9, "fit_intercept": False}
    want = pursuit.GLM(X, y, **settings).refit(support)
    got = pursuit.GLM((counted := Counted(X)).operator, y, **settings).refit(support)
    assert counted.products < 3 * K
    assert got.value == pytest.approx(want.value, rel=1e-10)
    assert not got.note


def test_few_columns_are_gathered_and_kept():
    X, y, support = data("logistic")
    f = pursuit.GLM((counted := Counted(X)).operator, y, "logistic", l2=1e-2)
    point = f.refit(support[:MIN_SINGLE_PRODUCTS])
    assert counted.products == MIN_SINGLE_PRODUCTS
    f.refit(support[: MIN_SINGLE_PRODUCTS + 1], start=point)
    assert counted.products == MIN_SINGLE_PRODUCTS + 1


def test_the_step_of_grahtp_costs_one_product():
    X, y, _ = data("squared")
    f = pursuit.GLM((counted := Counted(X)).operator, y, fit_intercept=False)
    null, cols = f.null, np.arange(0, P, 5)
    counted.products = 0
    v = np.full(len(cols), len(cols) ** -0.5)
    got = f.mean_curvature(null, cols, v)
    assert counted.products == 1
    assert got == pytest.approx(pursuit.GLM(X, y, fit_intercept=False).mean_curvature(null, cols, v), rel=0.5)


@pytest.mark.parametrize("loss", ["squared", "logistic", "hinge"])
def test_a_limit_holds_where_products_are_slow(loss):
    X, y, _ = data(loss)
    f = pursuit.GLM((counted := Counted(X, seconds=0.01)).operator, y, loss, l2=1e-3)
    result = pursuit.solve(f, K, solver="grahtp", time_limit=0.3)
    assert counted.products < K  # a single support takes as many, and the limit allows 30
    assert result.status == "time_limit"
