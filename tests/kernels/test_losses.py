import numpy as np
import pytest

from kernels import twins
from pursuit import _core


@pytest.mark.parametrize("name", twins.LOSSES)
@pytest.mark.parametrize("n", [0, 1, 3, 4097, 100_000])
def test_pointwise_is_its_definition(name, n, rng):
    code, param = twins.LOSSES[name]
    y, eta, c = twins.labels(name, rng, n), 4 * rng.normal(size=n), rng.random(n)
    value, d, h = _core.Samples(y, c, None, code, param).terms(eta)
    v, d1, d2 = twins.phi(name, param, y, eta)
    assert value == pytest.approx(c @ v, rel=1e-13, abs=1e-13)
    np.testing.assert_allclose(d, c * d1, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(h, c * d2, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("name", twins.LOSSES)
def test_derivatives_match_differences(name, rng):
    code, param = twins.LOSSES[name]
    y, eta = twins.labels(name, rng, 200), 2 * rng.normal(size=200)
    kinks = (
        np.abs(np.abs(eta - y) - param) if name == "huber" else np.minimum(abs(1 - y * eta), abs(1 - param - y * eta))
    )
    y, eta = y[kinks > 1e-4], eta[kinks > 1e-4]
    one, step = np.ones(1), 1e-6
    for yi, e in zip(y, eta, strict=True):
        (lo, dlo, _), (hi, dhi, _), (_, d, h) = (
            _core.Samples(np.array([yi]), one, None, code, param).terms(np.array([e + s])) for s in (-step, step, 0)
        )
        assert (hi - lo) / (2 * step) == pytest.approx(d[0], rel=1e-6, abs=1e-7)
        assert (dhi - dlo)[0] / (2 * step) == pytest.approx(h[0], rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("name", twins.LOSSES)
@pytest.mark.parametrize("eta", [-1e4, -750.0, -705.0, 0.0, 705.0, 1e4])
def test_far_out_nothing_overflows(name, eta):
    code, param = twins.LOSSES[name]
    for y in {"logistic": (0.0, 1.0), "poisson": (0.0, 3.0)}.get(name, (-1.0, 1.0)):
        value, d, h = _core.Samples(np.array([y]), np.ones(1), None, code, param).terms(np.array([eta]))
        v, d1, d2 = twins.phi(name, param, np.array([y]), np.array([eta]))
        assert np.isfinite([value, d[0], h[0]]).all()
        np.testing.assert_allclose([value, d[0], h[0]], [v[0], d1[0], d2[0]], rtol=1e-12, atol=1e-300)


def test_logistic_tails_keep_their_digits():
    eta = np.array([40.0, 100.0, 700.0])
    _, d, h = _core.Samples(np.ones(3), np.ones(3), None, 1, 0.0).terms(eta)
    np.testing.assert_allclose(d, -np.exp(-eta), rtol=1e-14)
    np.testing.assert_allclose(h, np.exp(-eta), rtol=1e-14)
    for e in eta:
        assert _core.Samples(np.zeros(1), np.ones(1), None, 1, 0.0).terms(np.array([-e]))[0] == pytest.approx(
            np.exp(-e), rel=1e-14
        )


@pytest.mark.parametrize("name", ["logistic", "poisson"])
def test_exponentials_are_accurate(name):
    code, param = twins.LOSSES[name]
    eta = np.linspace(-30, 30, 20_001)
    _, _, h = _core.Samples(np.zeros_like(eta), np.ones_like(eta), None, code, param).terms(eta)
    t = np.exp(-np.abs(eta))
    expected = np.exp(eta) if name == "poisson" else t / (1 + t) ** 2
    np.testing.assert_allclose(h, expected, rtol=2e-15)


@pytest.mark.parametrize("name", twins.LOSSES)
def test_nan_stays_nan(name):
    code, param = twins.LOSSES[name]
    assert np.isnan(_core.Samples(np.ones(1), np.ones(1), None, code, param).terms(np.array([np.nan]))[0])


def test_unknown_loss():
    with pytest.raises(ValueError, match="loss"):
        _core.Samples(np.ones(1), np.ones(1), None, 99, 0.0).terms(np.ones(1))
