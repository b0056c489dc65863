"""Every operation of every kind of design, and of the standardised views over it, against a dense float64 array."""

from itertools import product

import numpy as np
import pytest

import pursuit
from problems import KINDS, PHI, SLOPE, problem, standardised
from pursuit.data import Data
from pursuit.designs import Rows, Standardized, as_design
from pursuit.losses import as_loss

N, P = 43, 11
CONSTANT, ZERO = 4, 7
VIEWS = {"plain": None, "centred": True, "uncentred": False}
COLS = {"some": [0, 3, 8], "with_constants": [1, CONSTANT, 6, ZERO], "none": [], "all": list(range(P))}
DENSITIES = {"thin": 0.1, "full": 0.7}  # a sparse block stays sparse, or is handed to BLAS
TIGHT = {"rtol": 1e-11, "atol": 1e-12}


def matrix(density):
    X = problem("squared", N, P, density=density).X.copy()
    X[:, CONSTANT], X[:, ZERO] = 3.0, 0.0
    X[0, :4] = 1.0  # no column but ZERO is empty
    return X


def weights():
    s = np.random.default_rng(3).integers(0, 4, N).astype(float)
    return s / s.sum()


def seen(design, c, centre):
    """The standardised view."""
    return Data(design, Rows(np.zeros(len(c)), c), as_loss("squared")).standardized(centre).design


@pytest.fixture(params=list(product(KINDS, VIEWS, DENSITIES)), ids="-".join)
def pair(request):
    """A design, and the array that it must behave like."""
    kind, view, density = request.param
    X, c = matrix(DENSITIES[density]), weights()
    design = as_design(KINDS[kind](X))
    if VIEWS[view] is None:
        return design, X
    return seen(design, c, VIEWS[view]), standardised(X, c, VIEWS[view])[0]


def columns(cols):
    return np.array(cols, dtype=np.int64)


def test_shape_and_dtype(pair):
    design, A = pair
    assert design.shape == A.shape
    assert design.dtype in (np.float32, np.float64)
    assert design.nbytes > 0


def test_matmat(pair, rng):
    design, A = pair
    for cols in COLS.values():
        coef = rng.standard_normal((len(cols), 2))
        np.testing.assert_allclose(design.matmat(columns(cols), coef), A[:, cols] @ coef, **TIGHT)


def test_rmatmat(pair, rng):
    design, A = pair
    d = rng.standard_normal((N, 3))
    np.testing.assert_allclose(design.rmatmat(d), A.T @ d, **TIGHT)


def test_cross(pair, rng):
    design, A = pair
    w = np.asfortranarray(rng.standard_normal((N, 2)))
    np.testing.assert_allclose(design.cross(w), w.T @ A, **TIGHT)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_narrow(pair, dtype):
    design, A = pair
    for cols in COLS.values():
        room = np.full((N, len(cols) + 3), 7.0, dtype=dtype)
        design.narrow(columns(cols), room[:, 1 : len(cols) + 1])
        np.testing.assert_allclose(room[:, 1 : len(cols) + 1], A[:, cols], rtol=1e-5, atol=1e-5)
        assert (room[:, [0, -2, -1]] == 7.0).all()


def test_stats(pair, rng):
    design, A = pair
    c = rng.random(N)
    c /= c.sum()
    mean, var = design.stats(c)
    np.testing.assert_allclose(mean, c @ A, **TIGHT)
    np.testing.assert_allclose(var, c @ (A - c @ A) ** 2, **TIGHT)
    assert (var >= 0).all()


def test_block_products(pair, rng):
    design, A = pair
    for cols in COLS.values():
        block, B = design.block(columns(cols)), A[:, cols]
        v, d, w = rng.standard_normal(len(cols)), rng.standard_normal(N), rng.random(N)
        assert block.width == len(cols)
        np.testing.assert_allclose(block.dense(), B, **TIGHT)
        np.testing.assert_allclose(block.matvec(v), B @ v, **TIGHT)
        np.testing.assert_allclose(block.rmatvec(d), B.T @ d, **TIGHT)
        np.testing.assert_allclose(block.gram(w), (B * w[:, None]).T @ B, **TIGHT)
        np.testing.assert_allclose(block.curvatures(w, False), w @ B**2, **TIGHT)
        np.testing.assert_allclose(block.curvatures(w, True), w @ (B - w @ B / w.sum()) ** 2, **TIGHT)
        raw, m, s = design.stored(columns(cols))
        np.testing.assert_allclose((raw - m) / s, B, **TIGHT)


def curvature(loss, y, eta, h=1e-5):
    return (SLOPE[loss](y, eta + h) - SLOPE[loss](y, eta - h)) / (2 * h)


def rows_and_point(loss, m, offset):
    """Rows of a loss, and a point away from the kinks of phi'."""
    rng = np.random.default_rng([m, offset])
    y = np.round(rng.random(N)) if loss not in ("squared", "huber") else rng.standard_normal(N)
    rows = Rows(as_loss(loss).encode(y), weights(), rng.standard_normal(N) if offset else None)
    return y, rows, 0.3 * rng.standard_normal(m), 0.1234567


@pytest.mark.parametrize("loss", pursuit.list_losses())
def test_value_gradient(pair, loss):
    design, A = pair
    for cols, offset in product(COLS.values(), (False, True)):
        y, rows, coef, b = rows_and_point(loss, len(cols), offset)
        eta = A[:, cols] @ coef + b + (rows.offset if offset else 0)
        value, gradient, slope = design.value_gradient(as_loss(loss), rows, columns(cols), coef, b)
        d = rows.c * SLOPE[loss](y, eta)
        assert value == pytest.approx(rows.c @ PHI[loss](y, eta), rel=1e-12)
        np.testing.assert_allclose(gradient, A.T @ d, **TIGHT)
        assert slope == pytest.approx(d.sum(), abs=1e-13)


@pytest.mark.parametrize("loss", [loss for loss in pursuit.list_losses() if loss != "hinge"])
def test_newton(pair, loss):
    design, A = pair
    for cols, offset in product(COLS.values(), (False, True)):
        y, rows, coef, b = rows_and_point(loss, len(cols), offset)
        B = np.column_stack([A[:, cols], np.ones(N)])
        eta = B @ np.append(coef, b) + (rows.offset if offset else 0)
        block = design.block(columns(cols))
        value, gradient, H = block.newton(as_loss(loss), rows, coef, b, True)
        assert value == pytest.approx(rows.c @ PHI[loss](y, eta), rel=1e-12)
        np.testing.assert_allclose(gradient, B.T @ (rows.c * SLOPE[loss](y, eta)), **TIGHT)
        np.testing.assert_allclose(H, (B * (rows.c * curvature(loss, y, eta))[:, None]).T @ B, rtol=1e-7, atol=1e-8)
        again, same, nothing = block.newton(as_loss(loss), rows, coef, b, False)
        assert nothing is None
        assert again == pytest.approx(value, rel=1e-14)
        np.testing.assert_allclose(same, gradient, **TIGHT)


def test_units_there_and_back(pair, rng):
    design, _ = pair
    cols = columns([0, 3, 8])
    coef, b = rng.standard_normal(3), 0.7
    ours, shift = design.from_units(cols, coef, b)
    back, again = design.in_units(cols, ours, shift)
    np.testing.assert_allclose(back, coef, **TIGHT)
    assert again == pytest.approx(b, abs=1e-12)
    there = design.matmat(cols, ours[:, None])[:, 0] + shift
    plain = design.base if isinstance(design, Standardized) else design
    np.testing.assert_allclose(there, plain.matmat(cols, coef[:, None])[:, 0] + b, **TIGHT)


@pytest.mark.parametrize("kind", KINDS)
def test_a_view_keeps_its_accuracy_under_a_large_mean(kind, rng):
    """Means a million times the spread: the standardised columns still have mean 0 and variance 1."""
    X = 1e6 + rng.integers(-3, 4, (N, 3)).astype(float)
    c = weights()
    design = seen(as_design(KINDS[kind](X)), c, True)
    mean, var = design.stats(c)
    np.testing.assert_allclose(mean, 0, atol=1e-9)
    np.testing.assert_allclose(var, 1, rtol=1e-9)
    np.testing.assert_allclose(design.block(columns([0, 1, 2])).dense(), standardised(X, c)[0], atol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("centre", [True, False])
def test_a_constant_column_has_no_say(kind, centre):
    """Centred it is exactly zero everywhere; a tenth is not a binary fraction, so the mean is not exactly it."""
    X = matrix(0.7)
    X[:, CONSTANT] = 0.1
    design = seen(as_design(KINDS[kind](X)), weights(), centre)
    assert design.constant[ZERO]
    assert design.constant[CONSTANT] == centre
    dead = np.flatnonzero(design.constant)
    assert not design.block(dead).dense().any()
    assert not design.rmatmat(np.ones((N, 1)))[dead].any()
    assert not design.matmat(dead, np.ones((len(dead), 1))).any()
    coef, b = design.in_units(dead, np.ones(len(dead)), 2.0)
    assert not coef.any()
    assert b == 2.0


def test_a_design_is_taken_as_it_is():
    design = as_design(np.eye(3))
    assert as_design(design) is design


@pytest.mark.parametrize("kind", ["dense_c", "dense_f", "dense_strided", "float32_c", "float32_f"])
def test_a_good_array_is_not_copied(kind):
    X = KINDS[kind](matrix(0.7))
    assert as_design(X).X is X


@pytest.mark.parametrize("kind", ["csr", "csc", "csr_float32", "csc_float32", "csr_int64"])
def test_good_sparse_data_are_not_copied(kind):
    X = KINDS[kind](matrix(0.1))
    design = as_design(X)
    assert np.shares_memory(design.X.data, X.data)
    assert np.shares_memory(design.X.indices, X.indices)
