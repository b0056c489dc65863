"""Two ways to say the same thing about the data give the same answer."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

import pursuit
from problems import BINARY, problem, standardised
from pursuit import SparseClassifier, SparseRegressor
from pursuit.engines import threads
from pursuit.solvers import as_solver

LOSSES = list(pursuit.list_losses())
every_loss = pytest.mark.parametrize("loss", LOSSES)
every_pursuit = pytest.mark.parametrize("solver", ["grahtp", "omp", "local_search"])


def draws_nothing(solver):
    """Whether a solver is free of random numbers (those that draw rows draw others when the rows are others)."""
    return not hasattr(as_solver(solver)[1], "random_state")


STEADY = list(product(filter(draws_nothing, pursuit.list_solvers()), LOSSES))
STEADY.remove(("fgrahtp", "hinge"))  # subgradient steps over kinks turn on the last bits
every_steady_pair = pytest.mark.parametrize(("solver", "loss"), STEADY)


def assert_same(one, other, tol=1e-8):
    """Two results with the same support, value, coefficients and intercept."""
    assert np.array_equal(one.support, other.support)
    assert other.value == pytest.approx(one.value, rel=tol, abs=tol)
    np.testing.assert_allclose(other.coef, one.coef, rtol=1e-6, atol=10 * np.sqrt(tol) * 1e-3)
    assert other.intercept == pytest.approx(one.intercept, rel=1e-6, abs=1e-6)


def solved(given, solver="grahtp", k=3, **settings):
    return pursuit.solve(
        pursuit.GLM(**given.suited(solver).glm(**settings)), k, solver=solver, max_iter=300, random_state=0
    )


def estimator(loss, **settings):
    return (SparseClassifier if loss in BINARY else SparseRegressor)(k=3, loss=loss, random_state=0, **settings)


@pytest.mark.parametrize("standardize", [False, True])
@every_loss
@every_pursuit
def test_weight_two_is_a_repeated_row(solver, loss, standardize):
    given = problem(loss, weights=True, offset=True)
    times = given.weight.astype(int)
    repeated = given.glm(
        np.repeat(given.X, times, axis=0),
        y=np.repeat(given.y, times),
        offset=np.repeat(given.offset, times),
        sample_weight=None,
        standardize=standardize,
    )
    assert_same(
        solved(given, solver, standardize=standardize),
        pursuit.solve(pursuit.GLM(**repeated), 3, solver=solver, max_iter=300, random_state=0),
    )


@pytest.mark.parametrize("standardize", [False, True])
@every_loss
def test_weight_zero_is_no_row(loss, standardize):
    given = problem(loss)
    weight = np.ones(len(given.y))
    weight[::4] = 0.0
    kept = weight > 0
    assert_same(
        solved(given, sample_weight=weight, standardize=standardize),
        solved(given, X=given.X[kept], y=given.y[kept], standardize=standardize),
    )


@every_loss
def test_only_ratios_of_weights_matter(loss):
    given = problem(loss, weights=True)
    assert_same(solved(given), solved(given, sample_weight=given.weight * 1e-300))
    assert_same(solved(given), solved(given, sample_weight=given.weight * 1e307))


@every_loss
@every_pursuit
def test_one_weight_for_all_is_none(solver, loss):
    given = problem(loss)
    one, other = solved(given, solver), solved(given, solver, sample_weight=3.0)
    assert np.array_equal(one.coef, other.coef)


@pytest.mark.parametrize("standardize", [False, True])
@every_loss
@every_pursuit
def test_csr_csc_and_dense_agree(solver, loss, standardize):
    given = problem(loss, density=0.2)
    dense = solved(given, solver, standardize=standardize)
    for kind in (sp.csr_array, sp.csc_matrix):
        other = solved(given, solver, X=kind(given.X), standardize=standardize)
        assert np.array_equal(other.support, dense.support)
        assert other.value == pytest.approx(dense.value, abs=1e-8)
        np.testing.assert_allclose(other.x, dense.x, atol=1e-6 if loss == "hinge" else 1e-8)


@every_loss
def test_offset_zero_is_none(loss):
    given = problem(loss)
    assert_same(solved(given), solved(given, offset=np.zeros(len(given.y))), tol=1e-12)


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_an_offset_is_a_shift_of_y(loss, standardize):
    given = problem(loss, offset=True)
    assert_same(
        solved(given, standardize=standardize),
        solved(given, y=given.y - given.offset, offset=None, standardize=standardize),
    )


@every_loss
def test_a_constant_offset_moves_the_intercept_only(loss):
    given = problem(loss)
    one, other = solved(given), solved(given, offset=np.full(len(given.y), 0.25))
    assert np.array_equal(one.support, other.support)
    np.testing.assert_allclose(other.coef, one.coef, atol=1e-6)
    assert other.intercept + 0.25 == pytest.approx(one.intercept, abs=1e-6)


@pytest.mark.parametrize("weights", [False, True])
@every_loss
@every_pursuit
def test_standardising_by_hand(solver, loss, weights):
    """standardize=True on X is standardize=False on the standardised X, in other units."""
    given = problem(loss, weights=weights)
    X = given.X * np.logspace(-3, 3, given.X.shape[1]) + np.linspace(-2, 2, given.X.shape[1])
    Z, m, s = standardised(X, given.c)
    view, by_hand = solved(given, solver, X=X, standardize=True), solved(given, solver, X=Z)
    assert np.array_equal(view.support, by_hand.support)
    assert view.value == pytest.approx(by_hand.value, rel=1e-9)
    np.testing.assert_allclose(view.x * s, by_hand.x, rtol=1e-5, atol=1e-6)
    assert view.intercept + m @ view.x == pytest.approx(by_hand.intercept, abs=1e-6)


@pytest.mark.parametrize("sparse", [False, True])
@every_loss
def test_the_scale_of_a_column_changes_nothing(loss, sparse):
    given = problem(loss)
    scaled = given.X.copy()
    chosen = estimator(loss, l2=given.l2).fit(given.X, given.y).support_
    for column in (chosen[0], next(j for j in range(12) if j not in chosen)):
        scaled[:, column] *= 1e6
    wrap = sp.csr_array if sparse else np.asarray
    one = estimator(loss, l2=given.l2).fit(wrap(given.X), given.y)
    other = estimator(loss, l2=given.l2).fit(wrap(scaled), given.y)
    assert np.array_equal(one.support_, other.support_)
    eta = "decision_function" if loss in BINARY else "predict"
    np.testing.assert_allclose(
        getattr(other, eta)(wrap(scaled)), getattr(one, eta)(wrap(given.X)), rtol=1e-6, atol=1e-6
    )


@every_loss
def test_float32_in_float32_out(loss):
    given = problem(loss)
    narrow, wide = (estimator(loss, l2=given.l2).fit(given.X.astype(dtype), given.y) for dtype in ("f4", "f8"))
    assert narrow.coef_.dtype == np.float32
    assert np.asarray(narrow.intercept_).dtype == np.float32
    assert wide.coef_.dtype == np.float64
    output = "decision_function" if loss in BINARY else "predict"
    assert getattr(narrow, output)(given.X.astype("f4")).dtype == np.float32
    assert getattr(wide, output)(given.X).dtype == np.float64
    assert narrow.transform(given.X.astype("f4")).dtype == np.float32
    np.testing.assert_allclose(narrow.coef_, wide.coef_, rtol=1e-5, atol=1e-5)


def test_float32_probabilities_are_float32():
    given = problem("logistic")
    model = SparseClassifier(k=3).fit(given.X.astype("f4"), given.y)
    assert model.predict_proba(given.X.astype("f4")).dtype == np.float32
    assert model.predict_log_proba(given.X.astype("f4")).dtype == np.float32


@pytest.mark.parametrize("kind", [np.ascontiguousarray, sp.csr_array])
@every_steady_pair
def test_one_thread_and_two(solver, loss, kind):
    """Large enough that two threads do share the work."""
    given = problem(loss, n=400, p=60, density=0.5)
    f = []
    for count in (1, 2):
        with threads(count) as running:
            assert running == count
            f.append(solved(given, solver, k=4, X=kind(given.X)))
    assert np.array_equal(f[0].support, f[1].support)
    assert f[1].value == pytest.approx(f[0].value, rel=1e-10)
    np.testing.assert_allclose(f[1].coef, f[0].coef, rtol=1e-8)


@every_steady_pair
def test_order_of_rows_does_not_matter(solver, loss):
    given = problem(loss)
    order = np.random.default_rng(0).permutation(len(given.y))
    assert_same(solved(given, solver), solved(given, solver, X=given.X[order], y=given.y[order]))


@every_loss
def test_order_of_columns_only_renames_them(loss):
    given = problem(loss)
    order = np.random.default_rng(1).permutation(given.X.shape[1])
    one, other = solved(given), solved(given, X=given.X[:, order])
    assert np.array_equal(np.sort(order[other.support]), one.support)
    np.testing.assert_allclose(other.x[np.argsort(order)], one.x, atol=1e-6)
