"""Whole refits by the kernel: the minimiser that SciPy finds, or an honest "not done"."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

from pursuit import _core
from pursuit.losses import as_loss

N, M = 50, 4
LIMITS = (-np.inf, -np.inf, 1e-13, 1e-13)
LOSSES = ("squared", "logistic", "huber", "smoothed_hinge", "squared_hinge", "poisson")


def data(loss, seed=0):
    rng = np.random.default_rng(seed)
    A = np.asfortranarray(rng.standard_normal((N, M)) * (rng.random((N, M)) < 0.6))
    eta = A @ [1.0, -1.0, 0.5, 0.0] + rng.standard_normal(N)
    if loss.targets == "binary":
        y = np.where(eta > 0, *loss.labels[::-1])
    else:
        y = rng.poisson(np.exp(0.5 * eta)).astype(float) if loss.targets == "nonnegative" else eta
    c = rng.integers(0, 3, N).astype(float)
    return A, y, c / c.sum(), 0.1 * rng.standard_normal(N)


def kernels(A):
    S = sp.csc_array(A)
    parts = S.data, S.indices.astype(np.int64), S.indptr.astype(np.int64)
    return {"dense": _core.Matrix(A), "csc": _core.Matrix(*parts, *A.shape, False)}


@pytest.mark.parametrize("kind", ["dense", "csc"])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("name", LOSSES)
def test_the_minimiser_is_scipys(name, intercept, kind):
    loss = as_loss(name)
    A, y, c, offset = data(loss)
    l2 = np.array([0.1, 0.2, 0.0, 0.3]) + 0.05
    samples = _core.Samples(y, c, offset, loss.code, loss.param)
    z, value, done = kernels(A)[kind].fit(samples, l2, intercept, np.zeros(M + 1), *LIMITS[:3], 1e-10)

    def f(z):
        eta = A @ z[:M] + offset + (z[M] if intercept else 0.0)
        return float(c @ loss.value(y, eta)) + 0.5 * float(l2 @ z[:M] ** 2)

    assert f(z) == pytest.approx(value, rel=1e-12)
    assert intercept or z[M] == 0.0
    found = minimize(f, np.zeros(M + 1), method="BFGS", options={"gtol": 1e-9})
    assert done or name in ("huber", "smoothed_hinge")  # flat stretches may ask for a line search
    assert value <= (found.fun if done else f(np.zeros(M + 1))) + 1e-9


def test_dependent_columns_are_left_to_the_caller():
    for name in ("squared", "logistic"):
        loss = as_loss(name)
        A, y, c, _ = data(loss)
        A[:, 3] = A[:, 0]
        samples = _core.Samples(y, c, None, loss.code, loss.param)
        limits = (-np.inf, 0.0, 1e-13, 1e-10)
        z, value, done = _core.Matrix(A).fit(samples, np.zeros(M), True, np.zeros(M + 1), *limits)
        assert not done
        assert np.isfinite(z).all()
        assert np.isfinite(value)


def test_separated_data_stop_at_the_floor():
    loss = as_loss("logistic")
    rng = np.random.default_rng(1)
    A = np.asfortranarray(rng.standard_normal((N, M)))
    y, c = (A[:, 0] > 0).astype(float), np.full(N, 1 / N)
    samples = _core.Samples(y, c, None, loss.code, loss.param)
    z, value, done = _core.Matrix(A).fit(samples, np.zeros(M), True, np.zeros(M + 1), 1e-3, 0.0, 1e-13, 1e-13)
    assert not done
    assert value < 0.1
    assert np.isfinite(z).all()


def test_sizes_are_checked():
    A, y, c, _ = data(as_loss("squared"))
    with pytest.raises(ValueError, match="one number per column"):
        _core.Matrix(A).fit(_core.Samples(y, c, None, 0, 0.0), np.zeros(M + 1), True, np.zeros(M + 1), *LIMITS)
    with pytest.raises(ValueError, match="differ in length"):
        _core.Samples(y[1:], c, None, 0, 0.0)
    with pytest.raises(ValueError, match="not as many as the rows"):
        _core.Matrix(A).fit(_core.Samples(y[1:], c[1:], None, 0, 0.0), np.zeros(M), True, np.zeros(M + 1), *LIMITS)
