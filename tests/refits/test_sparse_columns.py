"""Refits on sparse columns, standardised or not, stay sparse where the columns are far from dependent."""

import numpy as np
import pytest
import scipy.sparse as sp

import pursuit
from problems import BINARY
from pursuit.designs import Sparse, SparseBlock
from pursuit.designs.standardized import StandardizedBlock

N, P = 600, 300
SMOOTH = [loss for loss in pursuit.list_losses() if loss != "hinge"]


def data(loss):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, P)) * (rng.random((N, P)) < 0.05) * rng.uniform(0.1, 10, P)
    X += 3 * (X != 0)  # a mean that standardising takes off
    eta = X[:, :8] @ rng.choice([-0.3, 0.3], 8)
    if loss in BINARY:
        return X, np.where(eta + rng.logistic(size=N) > 0, 1.0, -1.0)
    return X, rng.poisson(np.exp(np.clip(eta, -2, 2))).astype(float) if loss == "poisson" else eta + rng.normal(size=N)


@pytest.fixture
def no_dense(monkeypatch):
    def refuse(*_):
        raise AssertionError("columns became dense")

    for kind in (SparseBlock, StandardizedBlock):
        monkeypatch.setattr(kind, "dense", refuse)


@pytest.mark.usefixtures("no_dense")
@pytest.mark.parametrize("m", [6, 130])
@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("loss", SMOOTH)
def test_a_refit_is_that_of_dense_columns(loss, standardize, m):
    X, y = data(loss)
    settings = {"l2": 1e-2, "standardize": standardize}
    support = np.arange(m)
    want = pursuit.GLM(X, y, loss, **settings).refit_on_data(support)
    got = pursuit.GLM(sp.csr_array(X), y, loss, **settings).refit_on_data(support)
    assert got.value == pytest.approx(want.value, rel=1e-11)
    assert got.lower_bound <= want.value + 1e-12 * abs(want.value)
    assert not got.note
    np.testing.assert_allclose(got.coef, want.coef, atol=1e-6 * np.abs(want.coef).max())
    assert got.free == pytest.approx(want.free, rel=1e-6, abs=1e-7)


@pytest.mark.usefixtures("no_dense")
@pytest.mark.parametrize("loss", ["logistic", "huber"])
def test_without_an_intercept_too(loss):
    X, y = data(loss)
    settings = {"l2": 1e-3, "standardize": True, "fit_intercept": False}
    want = pursuit.GLM(X, y, loss, **settings).refit_on_data(np.arange(9))
    got = pursuit.GLM(sp.csc_array(X), y, loss, **settings).refit_on_data(np.arange(9))
    assert got.value == pytest.approx(want.value, rel=1e-12)
    np.testing.assert_allclose(got.coef, want.coef, rtol=1e-6)


@pytest.mark.parametrize("m", [6, 130])
def test_dependent_and_constant_columns_are_still_told(m):
    X, y = data("logistic")
    X[:, 1], X[:, 2] = 2 * X[:, 0], 0.0
    settings = {"l2": 0.0 if m == 6 else 1e-3, "standardize": True}
    want = pursuit.GLM(X, y, "logistic", **settings).refit_on_data(np.arange(m))
    got = pursuit.GLM(sp.csr_array(X), y, "logistic", **settings).refit_on_data(np.arange(m))
    assert got.value == pytest.approx(want.value, rel=1e-9)
    if m == 6:  # with a ridge dependent columns have one minimiser
        assert "rank 4" in got.note
    np.testing.assert_allclose(got.coef, want.coef, atol=1e-5)


def test_a_refit_with_a_start_gathers_once(monkeypatch):
    X, y = data("logistic")
    f = pursuit.GLM(sp.csr_array(X), y, "logistic", standardize=True, l2=1e-3)
    first = f.refit(np.arange(8))
    gathers, block = [], Sparse.block
    monkeypatch.setattr(Sparse, "block", lambda self, cols: gathers.append(1) or block(self, cols))
    f.refit(np.arange(1, 9), start=first)
    assert len(gathers) == 1
