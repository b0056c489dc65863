"""Refits whose Newton steps run out go on by another way; where that fails too, nothing is called converged."""

import importlib

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp

from pursuit import GLM, MultiGLM, SparseClassifier, solve

minimise = importlib.import_module("pursuit.refits.minimise")  # whose name the package gives to its function


@pytest.fixture(autouse=True)
def small_kernel(monkeypatch):
    """Refits of this size are left to Python: the kernel has a Newton method of its own."""
    monkeypatch.setattr("pursuit.refits.columns.MAX_KERNEL_VARIABLES", 200)


def classes(n=150, p=48, q=10, seed=0):
    """More unknowns than the Hessian is assembled for."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    return X, np.append(np.arange(q), (X @ rng.standard_normal((p, q)) + rng.gumbel(size=(n, q))).argmax(axis=1)[q:])


def minimum(X, y, l2):
    """By SciPy, in the coefficients of all classes, of which it is a convex function with one minimal value."""
    n, p, q = *X.shape, y.max() + 1
    Y = np.eye(q)[y]

    def f(z):
        C, b = z[: p * q].reshape(p, q), z[p * q :]
        eta = X @ C + b
        P = np.exp(eta - logsumexp(eta, axis=1)[:, None])
        value = (logsumexp(eta, axis=1) - (Y * eta).sum(axis=1)).mean() + 0.5 * l2 * (C * C).sum()
        return value, np.concatenate([(X.T @ (P - Y) / n + l2 * C).ravel(), (P - Y).mean(axis=0)])

    found = minimize(
        f, np.zeros((p + 1) * q), jac=True, method="L-BFGS-B", options={"maxiter": 20000, "ftol": 1e-16, "gtol": 1e-10}
    )
    return found.fun


@pytest.mark.parametrize("warm", [False, True])
def test_a_multinomial_refit_goes_on(warm, monkeypatch):
    X, y = classes()
    f = MultiGLM(X, y, l2=1e-2)
    support = np.arange(f.dim)
    start = f.at(support, np.random.default_rng(1).normal(scale=0.1, size=f.dim)) if warm else None
    monkeypatch.setattr(minimise, "MAX_NEWTON_STEPS", 2)
    point = f.refit(support, start=start)
    assert point.note == ""
    assert point.refitted
    assert point.value == pytest.approx(minimum(X, y, 1e-2), rel=1e-9)


def test_one_output_goes_on(monkeypatch):
    X, y = classes()
    f = GLM(X, (y > 4).astype(float), "logistic", l2=1e-3)
    support = np.arange(48)
    known = f.refit(support)
    monkeypatch.setattr("pursuit.refits.columns.LossOnColumns.kernel_fit", lambda self, z: None)
    monkeypatch.setattr(minimise, "MAX_NEWTON_STEPS", 2)
    point = f.refit(support)
    assert point.note == ""
    assert point.value == pytest.approx(known.value, rel=1e-12)


def test_what_runs_out_of_steps_is_not_converged(monkeypatch):
    X, y = classes()
    f = MultiGLM(X, y, l2=1e-4)
    known = solve(f, 48, solver="omp", include=range(47))
    assert known.status == "converged"
    monkeypatch.setattr(minimise, "MAX_NEWTON_STEPS", 2)
    monkeypatch.setattr(minimise, "MAX_QUASI_NEWTON_STEPS", 2)
    cut = solve(f, 48, solver="omp", include=range(47))
    assert cut.value > known.value
    assert cut.status == "max_iter"
    assert "the refit stopped after 2 Newton steps" in cut.reason
    assert cut.optimality != "swap_optimal"


def test_the_estimator_warns_of_it(monkeypatch):
    X, y = classes()
    monkeypatch.setattr(minimise, "MAX_NEWTON_STEPS", 2)
    monkeypatch.setattr(minimise, "MAX_QUASI_NEWTON_STEPS", 2)
    with pytest.warns(UserWarning, match="the refit stopped after 2 Newton steps"):
        SparseClassifier(k=48, solver="omp", include=range(47)).fit(X, y)
