"""Refits on columns that are nearly dependent, badly scaled or far from zero: minimisers, or a note."""

import numpy as np
import pytest

import pursuit
from pursuit import GLM, Huber, MultiGLM


def targets(loss, eta, rng):
    noise = rng.standard_normal(len(eta))
    if loss == "poisson":
        return rng.poisson(np.exp(0.5 * eta)).astype(float)
    return eta + noise if loss in ("squared", "huber") else (eta + noise > 0).astype(float)


@pytest.mark.parametrize("gap", [1e-5, 1e-7, 1e-9])
@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("loss", ["squared", "logistic", "huber", "smoothed_hinge", "squared_hinge", "poisson"])
def test_nearly_equal_columns_are_two(loss, standardize, gap):
    """[a, a + gap e] spans what [a, e] does: the minimum is the same, to the digits in which e is stored."""
    rng = np.random.default_rng(0)
    a, e = rng.standard_normal((2, 60))
    y = targets(loss, 2 * e, rng)
    X = np.c_[a, a + gap * e]
    point = GLM(X, y, loss, standardize=standardize).refit(np.arange(2))
    apart = np.c_[a, (X[:, 1] - X[:, 0]) / gap]
    assert point.value == pytest.approx(GLM(apart, y, loss).refit(np.arange(2)).value, rel=1e-9)
    assert point.note == ""
    assert point.support_bound <= point.value
    assert point.support_bound == pytest.approx(point.value, rel=1e-9)


def test_columns_that_differ_by_rounding_get_a_note_and_no_proof():
    rng = np.random.default_rng(1)
    celsius = rng.uniform(-10, 30, 40)
    X = np.c_[celsius, 1.8 * celsius + 32]
    f = GLM(X, celsius + rng.standard_normal(40))
    point, alone = f.refit(np.arange(2)), f.refit(np.arange(1))
    assert "2 chosen columns have rank 1" in point.note
    assert point.value == pytest.approx(alone.value, rel=1e-12)
    assert point.support_bound < alone.value * (1 - 1e-6)  # rounding explains something, at coefficients of 1e15
    assert np.abs(point.coef).max() < 10


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_exact_duplicates_get_a_note_and_their_minimum(loss):
    rng = np.random.default_rng(2)
    a, b = rng.standard_normal((2, 50))
    y = targets(loss, a, rng)
    f = GLM(np.c_[a, -4.0 * a, b], y, loss)
    point = f.refit(np.arange(3))
    assert "rank 2" in point.note
    assert point.support_bound == pytest.approx(point.value, rel=1e-9)
    assert point.value == pytest.approx(f.refit(np.array([0, 2])).value, rel=1e-9)


def test_a_smoothed_hinge_on_small_columns_is_no_worse_than_nothing():
    rng = np.random.default_rng(3)
    X = 1e-6 * rng.standard_normal((60, 3))
    f = GLM(X, X[:, 0] > 0, "smoothed_hinge", l2=1e-3)
    point = f.refit(np.arange(3))
    assert point.value <= f.null.value
    assert point.note == ""
    scaled = GLM(1e6 * X, X[:, 0] > 0, "smoothed_hinge", l2=1e9)
    assert point.value == pytest.approx(scaled.refit(np.arange(3)).value, rel=1e-9)


@pytest.mark.parametrize("loss", ["logistic", "poisson", "huber", "smoothed_hinge"])
def test_an_absurd_start_changes_nothing(loss):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((60, 4))
    f = GLM(X, targets(loss, X[:, 0], rng), loss)
    cold = f.refit(np.arange(2))
    for size in (1e3, 1e8):
        far = f.at(np.arange(4), size * np.ones(4), 0.0)
        assert f.refit(np.arange(2), start=far).value == pytest.approx(cold.value, rel=1e-10)


def test_timestamps_are_columns_like_others():
    t = np.arange(1.7e9, 1.7e9 + 1200, 30.0)
    for standardize in (True, False):
        model = pursuit.SparseRegressor(1, standardize=standardize).fit(np.c_[t], t - 1.7e9)
        assert model.coef_[0] == pytest.approx(1.0, rel=1e-9)
    ids = 1e15 + np.arange(40) % 2
    assert pursuit.SparseRegressor(1).fit(np.c_[ids], 3.0 * (ids - 1e15)).coef_[0] == pytest.approx(3.0)


@pytest.mark.parametrize("standardize", [False, True])
def test_large_means_beside_a_ridge(standardize):
    rng = np.random.default_rng(5)
    Z = np.round(rng.standard_normal((50, 3)) * 64) / 64
    y = Z[:, 0] + rng.standard_normal(50)
    for loss in ("squared", Huber(delta=0.5)):
        near = GLM(Z, y, loss, l2=0.1, standardize=standardize).refit(np.arange(3))
        far = GLM(Z + 2.0**23, y, loss, l2=0.1, standardize=standardize).refit(np.arange(3))
        assert far.value == pytest.approx(near.value, rel=1e-10)


# several outputs


def separable(rng, n=60):
    X = rng.standard_normal((n, 6))
    labels = np.where(X[:, 0] > 0.4, 2, np.where(X[:, 0] > -0.4, 1, 0))
    return X, labels


def columns(*features, q=3):
    return (np.array(features)[:, None] * q + np.arange(q)).ravel()


def test_a_multinomial_refit_from_a_separable_support_does_not_stick():
    rng = np.random.default_rng(6)
    X, labels = separable(rng)
    f = MultiGLM(X, labels, "multinomial")
    assert f.null.value > 1
    apart = f.refit(columns(0, 1))
    assert not apart.minimiser
    for other in ((1, 2), (2, 3, 4)):
        cold = f.refit(columns(*other))
        warm = f.refit(columns(*other), start=apart)
        assert warm.value == pytest.approx(cold.value, rel=1e-9)
        assert warm.note == ""


def test_multinomial_exchanges_end_where_enumeration_does():
    rng = np.random.default_rng(7)
    X = rng.standard_normal((80, 9))
    scores = X[:, [2, 5, 7]] @ rng.standard_normal((3, 3)) * 3
    labels = (scores + rng.gumbel(size=(80, 3))).argmax(axis=1)
    f = MultiGLM(X, labels, "multinomial")
    result = pursuit.solve(f, 3)
    import itertools

    best = min(f.refit(columns(*s)).value for s in itertools.combinations(range(9), 3))
    assert result.value == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("loss", ["multinomial", "squared"])
def test_several_outputs_on_nearly_equal_columns(loss):
    rng = np.random.default_rng(8)
    a, e = rng.standard_normal((2, 80))
    scores = np.c_[2 * e, -a, 0 * a]
    Y = scores + rng.standard_normal((80, 3)) if loss == "squared" else (scores + rng.gumbel(size=(80, 3))).argmax(1)
    X = np.c_[a, a + 1e-7 * e]
    apart = np.c_[a, (X[:, 1] - X[:, 0]) * 1e7]
    near, far = (MultiGLM(A, Y, loss).refit(columns(0, 1)) for A in (X, apart))
    assert near.value == pytest.approx(far.value, rel=1e-7)
