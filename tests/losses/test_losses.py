"""Every registered loss: derivatives by differences, conjugates by maximisation, labels, and far-out arguments."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import pursuit
from problems import BINARY, PHI, SLOPE
from pursuit import _core
from pursuit.losses import Loss, as_loss, register

LOSSES = {name: as_loss(name) for name in pursuit.list_losses()}
VARIANTS = {
    **LOSSES,
    "huber_small": pursuit.Huber(delta=0.1),
    "huber_large": pursuit.Huber(delta=50.0),
    "smoothed_hinge_one": pursuit.SmoothedHinge(gamma=1.0),
    "smoothed_hinge_sharp": pursuit.SmoothedHinge(gamma=0.01),
}
every_loss = pytest.mark.parametrize("loss", VARIANTS.values(), ids=VARIANTS)
every_smooth_loss = pytest.mark.parametrize(
    "loss", [loss for loss in VARIANTS.values() if loss.smooth], ids=[n for n, loss in VARIANTS.items() if loss.smooth]
)


def grid(loss, low=-4.0, high=4.0, size=801):
    """(y, eta) over the loss's targets and a grid that avoids the kinks of phi'."""
    eta = np.linspace(low, high, size) + 0.00037
    targets = (
        loss.labels
        if loss.targets == "binary"
        else (0.0, 1.0, 2.5)
        if loss.targets == "nonnegative"
        else (-1.3, 0.0, 2.0)
    )
    y, eta = np.meshgrid(targets, eta)
    return y.ravel(), eta.ravel()


@pytest.mark.parametrize("name", LOSSES)
def test_value_and_slope_are_those_of_the_table(name):
    y, eta = grid(LOSSES[name])
    np.testing.assert_allclose(LOSSES[name].value(y, eta), PHI[name](y, eta), rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(LOSSES[name].d1(y, eta), SLOPE[name](y, eta), rtol=1e-12, atol=1e-13)


@every_loss
def test_d1_is_the_slope_of_value(loss):
    y, eta = grid(loss)
    h = 1e-6
    slope = (loss.value(y, eta + h) - loss.value(y, eta - h)) / (2 * h)
    np.testing.assert_allclose(loss.d1(y, eta), slope, rtol=1e-6, atol=2e-8)


@every_smooth_loss
def test_d2_is_the_slope_of_d1_and_below_the_smoothness(loss):
    y, eta = grid(loss)
    h = 1e-6
    slope = (loss.d1(y, eta + h) - loss.d1(y, eta - h)) / (2 * h)
    np.testing.assert_allclose(loss.d2(y, eta), slope, rtol=1e-6, atol=1e-8)
    assert loss.d2(y, eta).max() <= loss.smoothness
    if np.isfinite(loss.smoothness):
        assert loss.d2(y, eta).max() >= 0.99 * loss.smoothness  # the supremum, not just any bound


@every_smooth_loss
def test_the_default_d2_is_close_to_the_written_one(loss):
    y, eta = grid(loss)
    np.testing.assert_allclose(Loss.d2(loss, y, eta), loss.d2(y, eta), rtol=1e-6, atol=1e-8)


@every_loss
def test_kernel_and_numpy_agree(loss, rng):
    y, eta = grid(loss)
    y, eta = np.append(y, np.repeat(y[:3], 2)), np.append(eta, np.tile([-30.0, 30.0], 3))
    c = rng.random(len(y))
    value, d1, d2 = _core.Samples(y, c, None, loss.code, loss.param).terms(eta)
    assert value == pytest.approx(c @ loss.value(y, eta), rel=1e-12)
    np.testing.assert_allclose(d1, c * loss.d1(y, eta), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(d2, c * loss.d2(y, eta), rtol=1e-12, atol=1e-15)
    assert value == loss.terms(y, eta, c)[0]


@every_loss
def test_conjugate_by_maximisation(loss):
    """phi*(a) = sup over eta of a eta - phi: inside the domain, by a scalar maximiser."""
    for target in loss.labels if loss.targets == "binary" else (0.5, 2.0):
        y = np.array([target])
        low, high = (float(v[0]) for v in loss.dual_domain(y))
        for share in (0.02, 0.3, 0.5, 0.9, 0.98):
            a = np.array([max(low, -3.0) + share * (min(high, 3.0) - max(low, -3.0))])
            found = minimize_scalar(
                lambda eta: float(loss.value(y, np.array([eta]))[0] - a[0] * eta),
                bounds=(-60, 60),
                method="bounded",
                options={"xatol": 1e-10},
            )
            assert loss.conjugate(y, a)[0] == pytest.approx(-found.fun, abs=1e-6), (target, a)


@every_loss
def test_fenchel_young(loss):
    """phi + phi* >= a eta everywhere in the domain, with equality at a = phi'(eta)."""
    y, eta = grid(loss)
    a = loss.d1(y, eta)
    low, high = loss.dual_domain(y)
    assert ((low <= a) & (a <= high)).all()
    np.testing.assert_allclose(loss.value(y, eta) + loss.conjugate(y, a), a * eta, rtol=1e-9, atol=1e-11)
    other = np.clip(a[::-1], low, high)
    assert (loss.value(y, eta) + loss.conjugate(y, other) >= other * eta - 1e-11).all()


@every_loss
def test_outside_its_domain_the_conjugate_is_infinite(loss):
    y, _ = grid(loss, size=3)
    low, high = loss.dual_domain(y)
    assert (low <= high).all()
    for edge, outwards in ((low, -1.0), (high, 1.0)):
        finite = np.isfinite(edge)
        assert np.isposinf(loss.conjugate(y[finite], edge[finite] + 0.01 * outwards)).all()
        assert np.isfinite(loss.conjugate(y[finite], edge[finite] - 1e-12 * outwards)).all()


@every_loss
def test_far_out_the_loss_stays_convex(loss):
    """Poisson once fell without end beyond eta = 700, where e^eta is capped."""
    targets = loss.labels if loss.targets == "binary" else (0.0, 3.0)
    for y in targets:
        eta = np.array([-1e9, -800.0, -100.0, 0.0, 100.0, 690.0, 710.0, 2e3, 1e4])
        values = [loss.value(np.full(9, y), eta)]
        one = _core.Samples(np.array([y]), np.ones(1), None, loss.code, loss.param)
        values.append(np.array([one.terms(np.array([e]))[0] for e in eta]))
        for value in values:
            slopes = np.diff(value) / np.diff(eta)
            assert (np.diff(slopes) >= -1e-9 - 1e-12 * np.abs(slopes[1:])).all()


@every_loss
def test_far_out_nothing_overflows_or_warns(loss):
    """eta = +-1e4, with warnings as errors; Poisson's e^eta is capped and stays finite."""
    targets = loss.labels if loss.targets == "binary" else (0.0, 3.0)
    y, eta = (v.ravel() for v in np.meshgrid(targets, [-1e4, -700.0, -40.0, 40.0, 700.0, 1e4]))
    for quantity in (loss.value(y, eta), loss.d1(y, eta), loss.d2(y, eta)):
        assert np.isfinite(quantity).all()
    value, d1, d2 = _core.Samples(y, np.ones_like(y) / len(y), None, loss.code, loss.param).terms(eta)
    assert np.isfinite(value)
    assert np.isfinite(d1).all()
    assert np.isfinite(d2).all()
    assert (loss.d2(y, eta) >= 0).all()


def test_logistic_keeps_its_digits_in_the_tails():
    loss, one, zero = pursuit.Logistic(), np.ones(1), np.zeros(1)
    assert loss.value(one, np.array([50.0]))[0] == pytest.approx(np.exp(-50), rel=1e-12)
    assert loss.d1(one, np.array([50.0]))[0] == pytest.approx(-np.exp(-50), rel=1e-12)
    assert loss.d2(zero, np.array([50.0]))[0] == pytest.approx(np.exp(-50), rel=1e-12)
    value, d1, d2 = _core.Samples(one, one, None, loss.code, 0.0).terms(np.array([50.0]))
    assert [value, -d1[0], d2[0]] == pytest.approx([np.exp(-50)] * 3, rel=1e-12)


@pytest.mark.parametrize("name", BINARY)
def test_both_conventions_of_labels_are_one(name):
    loss = LOSSES[name]
    plus_minus = loss.encode(np.array([-1, 1, 1, -1]))
    assert np.array_equal(plus_minus, loss.encode([0, 1, 1, 0]))
    assert np.array_equal(plus_minus, loss.encode([False, True, True, False]))
    assert np.array_equal(np.unique(plus_minus), loss.labels)
    assert plus_minus.dtype == np.float64


BAD_TARGETS = {
    "complex": (np.array([1j, 0.0]), "Complex data not supported: y"),
    "strings": (np.array(["a", "b"]), "y must be numeric for loss '{}'"),
    "objects": (np.array([object(), 1.0], dtype=object), "y must be numeric for loss '{}'"),
    "nan": ([0.0, np.nan], "y contains NaN or infinity"),
    "inf": ([np.inf, 0.0], "y contains NaN or infinity"),
}


@pytest.mark.parametrize("bad", BAD_TARGETS)
@pytest.mark.parametrize("name", LOSSES)
def test_bad_targets_are_named(name, bad):
    y, message = BAD_TARGETS[bad]
    with pytest.raises(ValueError, match=message.format(name)):
        LOSSES[name].encode(y)


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("y", [[0, 2], [-1, 0], [-1, 0, 1], [0.5, 1], [1, 2], list(range(9))])
def test_labels_that_are_neither_convention_are_shown(name, y):
    with pytest.raises(ValueError, match=f"y must hold labels 0 and 1, or -1 and 1, for loss '{name}'; got"):
        LOSSES[name].encode(y)


def test_negative_counts_are_named():
    with pytest.raises(ValueError, match="y must be non-negative for loss 'poisson', got -2"):
        pursuit.Poisson().encode([1.0, -2.0])


@pytest.mark.parametrize("bad", [0.0, -1.0, np.inf, np.nan])
def test_constants_are_checked(bad):
    with pytest.raises(ValueError, match="delta must be a finite number greater than 0"):
        pursuit.Huber(delta=bad)
    with pytest.raises(ValueError, match="gamma must be a finite number greater than 0"):
        pursuit.SmoothedHinge(gamma=bad)


@every_loss
def test_a_start_is_finite_and_no_worse_than_zero(loss, rng):
    y = loss.encode(rng.integers(0, 2, 30).astype(float))
    c = rng.random(30)
    c /= c.sum()
    start = loss.start(y, c)
    assert np.isfinite(start)
    assert c @ loss.value(y, np.full(30, start)) <= c @ loss.value(y, np.zeros(30)) + 1e-12
    assert np.isfinite(loss.start(np.full(30, loss.labels[1] if loss.targets == "binary" else 0.0), c))


def test_the_registry():
    assert set(LOSSES) == {"squared", "logistic", "huber", "smoothed_hinge", "hinge", "squared_hinge", "poisson"}
    assert all(len(line) > 10 for line in pursuit.list_losses().values())
    assert as_loss(pursuit.Huber).delta == pursuit.Huber().delta
    assert as_loss("huber") == pursuit.Huber()
    with pytest.raises(ValueError, match="loss 'quantile' is unknown; known: hinge, huber"):  # not 'squared'
        as_loss("quantile")
    assert as_loss("Squared_Hinge").name == "squared_hinge"
    with pytest.raises(ValueError, match="loss 'logstic' is unknown; did you mean 'logistic'"):
        as_loss("logstic")
    with pytest.raises(ValueError, match="loss 'zzz' is unknown; known: hinge, huber"):
        as_loss("zzz")
    with pytest.raises(TypeError, match=r"loss must be a name or an instance of pursuit\.Loss, got int"):
        as_loss(3)


def test_a_registered_loss_has_a_name(monkeypatch):
    monkeypatch.setattr("pursuit.losses.base._registry", dict(LOSSES))

    class Quartic(Loss):
        """Fourth power."""

    with pytest.raises(ValueError, match="Quartic needs a class attribute `name`"):
        register(Quartic)
    Quartic.name = "quartic"
    register(Quartic)
    assert isinstance(as_loss("quartic"), Quartic)
