"""The search on a working set: its claims and values against explicit least squares."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

from pursuit import GLM, _core, solve
from pursuit.engines import threads


def problem(seed, n=120, p=400, signal=6, rho=0.7):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    for j in range(1, p):
        X[:, j] += rho * X[:, j - 1]
    y = X[:, rng.choice(p, signal, replace=False)] @ rng.uniform(1, 2, signal) + 3 * rng.standard_normal(n)
    return X, y


def value(X, y, support, c=None, l2=0.0):
    """The least f of a support, by least squares on weighted rows and those of the ridge."""
    n = len(y)
    c = np.full(n, 1 / n) if c is None else c / c.sum()
    A, b = X[:, support] - c @ X[:, support], y - c @ y
    rows = np.vstack([np.sqrt(c)[:, None] * A, np.sqrt(l2) * np.eye(len(support))])
    target = np.append(np.sqrt(c) * b, np.zeros(len(support)))
    x = np.linalg.lstsq(rows, target, rcond=None)[0]
    return 0.5 * np.sum((rows @ x - target) ** 2)


def exchanges(X, y, support, forced=(), allowed=None, **options):
    """The values after every single exchange."""
    outside = np.setdiff1d(np.arange(X.shape[1]) if allowed is None else allowed, support)
    for i, j in product(np.setdiff1d(support, forced), outside):
        yield value(X, y, np.append(np.setdiff1d(support, i), j), **options)


@pytest.mark.parametrize("effort", ["fast", "default", "thorough"])
@pytest.mark.parametrize("seed", range(4))
def test_no_exchange_helps_where_that_is_claimed(seed, effort):
    X, y = problem(seed, p=150)
    found = solve(GLM(X, y, l2=0.1 * (seed % 2)), 5, effort=effort)
    assert found.optimality == "swap_optimal"
    assert found.value == pytest.approx(value(X, y, found.support, l2=0.1 * (seed % 2)), rel=1e-10)
    least = min(exchanges(X, y, found.support, l2=0.1 * (seed % 2)))
    assert least >= found.value * (1 - 1e-10)
    assert least - found.value == pytest.approx(found.exchange.change, rel=1e-6)


def test_include_exclude_and_weights():
    X, y = problem(7, p=120)
    c = np.random.default_rng(0).uniform(0.1, 2, len(y))
    allowed = np.setdiff1d(np.arange(120), [3, 4, 5])
    found = solve(GLM(X, y, sample_weight=c), 5, include=[60, 61], exclude=[3, 4, 5])
    assert {60, 61} <= set(found.support)
    least = min(exchanges(X, y, found.support, [60, 61], allowed, c=c))
    assert found.optimality == "swap_optimal"
    assert least >= found.value * (1 - 1e-10)


@pytest.mark.parametrize("form", ["F", "float32", "csr", "csc", "shifted", "tiny", "standardized"])
def test_the_same_support_however_X_is_stored(form):
    X, y = problem(11, n=300, p=900)
    X, y = X.astype(np.float32).astype(float), y.astype(np.float32).astype(float)
    X[np.abs(X) < 1] = 0.0
    plain = solve(GLM(X, y), 8)
    make = {
        "F": np.asfortranarray,
        "float32": lambda A: A.astype(np.float32),
        "csr": sp.csr_array,
        "csc": sp.csc_array,
        "shifted": lambda A: A + 5e4,
        "tiny": lambda A: A * 1e-30,
        "standardized": lambda A: A,
    }[form]
    found = solve(GLM(make(X), y, standardize=form == "standardized"), 8)
    assert found.support.tolist() == plain.support.tolist()
    assert found.value == pytest.approx(plain.value, rel=1e-8)
    assert found.optimality == plain.optimality == "swap_optimal"


def test_a_working_set_that_begins_without_the_answer():
    """A hundred columns with nearly the same part of y crowd the others out; these come in by the gradient."""
    rng = np.random.default_rng(3)
    n, p = 400, 2000
    X = rng.standard_normal((n, p))
    y = 3 * X[:, 0] + X[:, 1:5].sum(axis=1) + 0.1 * rng.standard_normal(n)
    X[:, 100:200] = X[:, :1] + 0.1 * rng.standard_normal((n, 100))
    correlation = np.abs(np.corrcoef(X.T, y)[-1, :-1])
    assert np.sort(np.argsort(-correlation)[:101]).tolist() == [0, *range(100, 200)]
    for effort in ("fast", "default"):
        assert solve(GLM(X, y), 5, effort=effort).support.tolist() == [0, 1, 2, 3, 4]


def test_one_pass_for_moments_and_gradient():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((67, 45)) * 10.0 ** rng.uniform(-3, 3, 45) + rng.uniform(-1e4, 1e4, 45)
    X[:, 3] = 7.25
    X[0, 5] = 1e9  # the first row, from which deviations are taken, is an outlier
    c, d = rng.uniform(0.1, 1, 67), rng.standard_normal(67)
    c /= c.sum()
    for A in (X, np.asfortranarray(X), X.astype(np.float32)):
        mean, var, product_ = _core.Matrix(A).first_pass(c, d)
        exact = A.astype(np.longdouble)
        about = exact - c @ exact
        assert mean == pytest.approx((c @ exact).astype(float), rel=1e-14)
        assert var == pytest.approx((c @ about**2).astype(float), rel=1e-11, abs=1e-25)
        size = np.sqrt((about**2).sum(axis=0)).astype(float) * np.linalg.norm(d)
        assert np.abs(product_ - (d @ about).astype(float)).max() <= 1e-12 * max(size.max(), 1)
        assert var[3] == 0
        assert mean[3] == 7.25


def test_stopping():
    X, y = problem(0, n=300, p=3000)
    found = solve(GLM(X, y), 30, time_limit=1e-3)
    assert found.status == "time_limit"
    with pytest.raises(ValueError, match="effort must be one of 'fast', 'default', 'thorough', got 'slow'"):
        solve(GLM(X, y), 3, effort="slow")
    with pytest.raises(ValueError, match="effort='fast' is for solver='auto' only, got solver='omp'"):
        solve(GLM(X, y), 3, solver="omp", effort="fast")


@pytest.mark.parametrize("order", ["C", "F"])
def test_threads_do_not_change_the_result(order):
    """The test over all columns is done by several threads from two million multiplications on."""
    X, y = problem(5, n=300, p=7200)
    found = []
    for count in (1, 3):
        with threads(count):
            found.append(solve(GLM(np.asarray(X, order=order), y), 6, effort="fast"))
    assert found[0].support.tolist() == found[1].support.tolist()
    assert found[0].value == found[1].value
    assert found[0].optimality == found[1].optimality == "swap_optimal"
