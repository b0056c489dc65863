import numpy as np
import pytest
from scipy.optimize import minimize

from pursuit import GLM, _core
from pursuit.losses.hinges import Hinge, SmoothedHinge
from pursuit.refits import hinge, methods

WIDTHS = 10.0 ** -np.array([1.0, 2.0, 3.0, 5.0, 7.0])


def problem(rng, n, m, noise=0.5):
    A = rng.normal(size=(n, m))
    y = np.where(A @ rng.normal(size=m) + 0.3 + noise * rng.normal(size=n) > 0, 1.0, -1.0)
    c = rng.random(n)
    return np.asfortranarray(A), y, c / c.sum(), 0.3 * rng.normal(size=n)


def samples(y, c, offset):
    return _core.Samples(y, c, offset, Hinge.code, 0.0)


def rounded(A, y, c, offset, l2, gamma, z):
    """The twin: value and gradient by the loss as it is written elsewhere."""
    m = A.shape[1]
    eta = A @ z[:m] + offset + (z[m] if len(z) > m else 0.0)
    value, d1, _ = SmoothedHinge(gamma).terms(y, eta, c)
    gradient = A.T @ d1 + l2 * z[:m]
    return value + 0.5 * float(z[:m] @ (l2 * z[:m])), np.append(gradient, d1.sum())[: len(z)]


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("gamma", [1.0, 0.1, 1e-3])
@pytest.mark.parametrize("shape", [(40, 3), (300, 8), (30, 40)])
def test_it_ends_where_the_gradient_vanishes(shape, gamma, intercept, rng):
    A, y, c, offset = problem(rng, *shape)
    l2 = rng.uniform(0.01, 0.1, shape[1])
    start, width = np.zeros(shape[1] + intercept), np.array([gamma])
    z, alpha, done = _core.rounded_hinge(A, samples(y, c, offset), l2, intercept, start, width, 1e-13)
    assert done
    value, gradient = rounded(A, y, c, offset, l2, gamma, z)
    np.testing.assert_allclose(gradient, 0.0, atol=1e-8)
    np.testing.assert_allclose(A.T @ (c * y * alpha), l2 * z[: shape[1]], atol=1e-8)
    peer = minimize(lambda z: rounded(A, y, c, offset, l2, gamma, z), 0 * z, jac=True, method="BFGS")
    assert value <= peer.fun + 1e-12


@pytest.mark.parametrize("l2", [1.0, 1e-2, 1e-5])
@pytest.mark.parametrize("noise", [0.0, 0.5, 3.0])
def test_a_narrow_rounding_closes_the_gap_of_the_hinge(l2, noise, rng):
    A, y, c, offset = problem(rng, 200, 5, noise)
    ridge = np.full(5, l2)
    z, alpha, done = _core.rounded_hinge(A, samples(y, c, offset), ridge, True, np.zeros(6), WIDTHS, 1e-12)
    assert done
    primal = float(c @ np.maximum(0, 1 - y * (A @ z[:5] + z[5] + offset))) + 0.5 * l2 * float(z[:5] @ z[:5])
    left = float((c * y) @ alpha)  # 0, but for rounding; an intercept of 9 makes 9e-9 of it
    assert abs(left) < 1e-9
    pull = A.T @ (c * y * alpha)
    dual = float(c @ alpha) - float((c * y * alpha) @ offset) - 0.5 * float(pull @ pull) / l2 - z[5] * left
    assert abs(primal - dual) <= 1e-6 * primal + 1e-9


def test_one_class_has_no_end_or_a_flat_one(rng):
    A, _, c, _ = problem(rng, 50, 3)
    given = samples(np.ones(50), c, None)
    z, _, done = _core.rounded_hinge(A, given, np.full(3, 0.1), True, np.zeros(4), WIDTHS, 1e-12)
    assert np.isfinite(z).all()
    if done:
        assert float(c @ np.maximum(0, 1 - (A @ z[:3] + z[3]))) < 1e-6


def test_bad_input_is_refused(rng):
    A, y, c, _ = problem(rng, 10, 2)
    for l2, z in ((np.ones(3), np.zeros(3)), (np.zeros(2), np.zeros(3)), (np.ones(2), np.zeros(2))):
        with pytest.raises(ValueError):
            _core.rounded_hinge(A, samples(y, c, None), l2, True, z, WIDTHS, 1e-12)


@pytest.mark.parametrize("gamma", [0.25, 0.01])
@pytest.mark.parametrize("seed", range(8))
def test_a_smoothed_hinge_comes_to_its_end_in_one_call(gamma, seed):
    rng = np.random.default_rng(seed)
    A, y, c, offset = problem(rng, 200, 6, 0.3)
    limits = (-np.inf, 0.0, 1e-13, 1e-11)
    given = _core.Samples(y, c, offset, 3, gamma)
    z, value, done = _core.Matrix(A).fit(given, np.full(6, 1e-3), True, np.zeros(7), *limits)
    assert done
    want, gradient = rounded(A, y, c, offset, np.full(6, 1e-3), gamma, z)
    assert value == pytest.approx(want, rel=1e-13)
    np.testing.assert_allclose(gradient, 0.0, atol=1e-7)


@pytest.mark.parametrize("loss", ["hinge", "smoothed_hinge"])
def test_small_refits_need_the_kernel_only(loss, monkeypatch):
    for module, name in ((hinge, "rounded"), (hinge, "coordinate_descent"), (methods, "minimise")):
        monkeypatch.setattr(module, name, None)
    rng = np.random.default_rng(0)
    for _ in range(20):
        A, y, _, _ = problem(rng, 300, 5)
        f = GLM(A, y, loss, l2=1e-2)
        point = f.refit(np.arange(5))
        assert not point.note
        assert 0 <= point.value - point.lower_bound <= 1e-7 * point.value
