"""Data on which something must go wrong, and what then happens instead of NaN, a warning or a hang."""

import pickle
import time

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LinearRegression

import pursuit
from problems import problem
from pursuit.designs import Rows
from pursuit.losses import Logistic
from pursuit.refits import best_intercept
from registries import PRIMAL

every_solver = pytest.mark.parametrize("solver", PRIMAL)
every_pursuit = pytest.mark.parametrize("solver", ["grahtp", "omp", "auto"])  # those that refit at each step


def columns(*indices):
    return np.array(indices, dtype=np.int64)


# Separable classes: the infimum is not attained.


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
@every_pursuit
def test_separable_logistic_data_end_soon_and_say_so(solver, scale, standardize, rng):
    X = rng.standard_normal((80, 15)) * scale
    y = X[:, 2] - 0.5 * X[:, 7] > 0
    began = time.process_time()
    result = pursuit.solve(pursuit.GLM(X, y, "logistic", standardize=standardize), 3, solver=solver, random_state=0)
    assert time.process_time() - began < 20
    assert result.status == "no_minimiser"
    assert result.value <= 1e-9
    assert "separate" in result.reason
    assert "l2 > 0" in result.reason
    assert np.isfinite(result.coef).all()
    assert ((X @ result.x + result.intercept > 0) == y).all()


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_one_perfect_column_separates(kind, fit_intercept):
    x = np.repeat([-1.0, 1.0], 20)
    X = np.column_stack([np.tile([0.0, 1.0], 20), x])
    point = pursuit.GLM(kind(X), x, "logistic", fit_intercept=fit_intercept).refit(columns(1))
    assert not point.minimiser
    assert point.value <= 1e-9
    assert "separate" in point.note


def test_a_little_ridge_makes_separable_data_ordinary(rng):
    X = rng.standard_normal((80, 15))
    result = pursuit.solve(pursuit.GLM(X, X[:, 2] > 0, "logistic", l2=1e-3), 3)
    assert result.status == "converged"
    assert "separate" not in result.reason


def test_almost_separable_classes_end(rng):
    """Some columns separate most of the rows: Newton steps grow but a minimiser exists or is reported to be missing."""
    X = rng.standard_normal((60, 6))
    y = (X[:, 0] > 0).astype(float)
    y[np.argsort(X[:, 0])[:1]] = 1.0
    point = pursuit.GLM(X, y, "logistic").refit(columns(0, 1))
    assert np.isfinite(point.coef).all()
    assert point.minimiser
    gradient = point.gradient
    assert np.abs(gradient[[0, 1]]).max() <= 1e-8


def test_quasi_separated_by_a_rare_dummy(rng):
    """A dummy that is 1 for rows of one class only: its coefficient runs away, the others do not."""
    n = 200
    X = np.column_stack([rng.standard_normal(n), np.arange(n) < 5])
    y = (rng.random(n) < 1 / (1 + np.exp(-X[:, 0]))).astype(float)
    y[:5] = 1.0
    point = pursuit.GLM(X, y, "logistic").refit(columns(0, 1))
    rest = pursuit.GLM(X[5:], y[5:], "logistic").refit(columns(0))
    assert np.isfinite(point.coef).all()
    assert point.coef[0] == pytest.approx(rest.coef[0], abs=1e-3)
    assert point.value == pytest.approx(rest.value * (n - 5) / n, abs=1e-6)


def test_all_zero_counts_push_the_intercept_down(rng):
    X = rng.standard_normal((30, 4))
    result = pursuit.solve(pursuit.GLM(X, np.zeros(30), "poisson"), 2)
    assert np.isfinite(result.intercept)
    assert np.isfinite(result.coef).all()
    assert 0 <= result.value <= 1e-6


@pytest.mark.parametrize("loss", ["smoothed_hinge", "squared_hinge"])
def test_separable_hinges_reach_zero(loss, rng):
    X = rng.standard_normal((50, 6))
    result = pursuit.solve(pursuit.GLM(X, X[:, 1] > 0.2, loss), 2)
    assert result.value <= 1e-9
    assert 1 in result.support
    assert np.isfinite(result.coef).all()


# Dependent columns: the minimum-norm solution.


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("kind", [np.asarray, sp.csc_array])
def test_dependent_columns_get_the_minimum_norm_solution(kind, fit_intercept, rng):
    X = rng.standard_normal((40, 5))
    X[:, 3] = 2 * X[:, 0] - X[:, 1]
    y = X[:, 0] + 0.1 * rng.standard_normal(40)
    cols = columns(0, 1, 3, 4)
    point = pursuit.GLM(kind(X), y, fit_intercept=fit_intercept).refit(cols)
    A, target = X[:, cols], y
    if fit_intercept:
        A, target = A - A.mean(axis=0), y - y.mean()
    np.testing.assert_allclose(point.coef, np.linalg.pinv(A, rcond=1e-10) @ target, atol=1e-8)
    assert "4 chosen columns have rank 3" in point.note
    assert "minimum-norm" in point.note


@pytest.mark.parametrize("loss", pursuit.list_losses())
def test_duplicated_columns_do_no_harm(loss):
    given = problem(loss)
    f = pursuit.GLM(**given.glm(np.hstack([given.X, given.X])))
    p = given.X.shape[1]
    twice = f.refit(columns(1, 6, 1 + p, 6 + p))
    once = f.refit(columns(1, 6))
    assert np.isfinite(twice.coef).all()
    if given.l2 == 0:
        assert twice.value == pytest.approx(once.value, rel=1e-9)
        np.testing.assert_allclose(twice.coef[:2] + twice.coef[2:], once.coef, rtol=1e-5, atol=1e-6)
    else:  # a ridge is shared between the twins
        assert twice.value <= once.value
        np.testing.assert_allclose(twice.coef[:2], twice.coef[2:], atol=1e-6)


@every_pursuit
@pytest.mark.parametrize("standardize", [False, True])
def test_k_above_the_rank(solver, standardize, rng):
    left = rng.standard_normal((30, 3))
    X = left @ rng.standard_normal((3, 10))
    y = left @ [1.0, 2.0, -1.0] + 0.1 * rng.standard_normal(30)
    result = pursuit.solve(pursuit.GLM(X, y, standardize=standardize), 6, solver=solver, random_state=0)
    floor = LinearRegression().fit(left, y)
    assert result.value == pytest.approx(np.mean((floor.predict(left) - y) ** 2) / 2, rel=1e-6)
    assert np.isfinite(result.coef).all()
    assert len(result.support) <= 3 or "rank" in result.reason


@every_solver
@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize("loss", pursuit.list_losses())
def test_fewer_rows_than_k(loss, n, solver, rng):
    X, y = rng.standard_normal((n, 9)), (np.arange(n) + 1) % 2
    l2 = 0.01 if loss == "hinge" else 0.0
    result = pursuit.solve(pursuit.GLM(X, y.astype(float), loss, l2=l2), 5, solver=solver, max_iter=60, random_state=0)
    assert np.isfinite(result.coef).all()
    assert np.isfinite(result.value)
    assert len(result.support) <= 5
    if loss in ("squared", "huber") and solver in ("grahtp", "omp", "auto"):
        assert result.value <= 1e-12


@every_pursuit
@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("loss", pursuit.list_losses())
def test_constant_and_empty_columns_are_never_needed(loss, standardize, solver):
    given = problem(loss)
    X = np.column_stack([np.ones(len(given.y)), given.X, np.zeros(len(given.y)), np.full(len(given.y), 1e8)])
    result = pursuit.solve(
        pursuit.GLM(**given.glm(X, standardize=standardize)), 3, solver=solver, max_iter=100, random_state=0
    )
    plain = pursuit.solve(
        pursuit.GLM(**given.glm(standardize=standardize)), 3, solver=solver, max_iter=100, random_state=0
    )
    if not standardize and loss != "squared":
        assert np.isfinite(result.value)  # a raw column of 1e8 may spoil a step, not the numbers
        return
    assert not {0, X.shape[1] - 2, X.shape[1] - 1} & set(result.support)
    assert result.value == pytest.approx(plain.value, rel=1e-6)


def test_only_constant_columns():
    result = pursuit.solve(pursuit.GLM(np.ones((20, 4)), np.arange(20.0), standardize=True), 2)
    assert np.isfinite(result.coef).all()
    assert result.intercept + result.x.sum() == pytest.approx(9.5)


# Exact fits.


@every_solver
def test_without_noise_the_truth_is_found_and_the_run_stops(solver, rng):
    X = rng.standard_normal((60, 30))
    x = np.zeros(30)
    x[[3, 17]] = 2.0, -1.0
    result = pursuit.solve(pursuit.GLM(X, X @ x + 1.5), 6, solver=solver, random_state=0)
    np.testing.assert_allclose(result.x, x, atol=1e-7)
    assert result.intercept == pytest.approx(1.5, abs=1e-7)
    assert result.value <= 1e-15
    assert result.status == "converged"


@every_solver
@pytest.mark.parametrize("loss", ["squared", "huber"])
@pytest.mark.parametrize("level", [0.0, 3.7, -1e6])
def test_a_constant_target_needs_nothing(loss, level, solver, rng):
    X = rng.standard_normal((30, 6))
    result = pursuit.solve(pursuit.GLM(X, np.full(30, level), loss), 2, solver=solver, random_state=0)
    np.testing.assert_allclose(X @ result.x + result.intercept, level, atol=1e-9 * max(1, abs(level)))
    assert result.value <= 1e-12 * max(1, level**2)
    assert result.status == "converged"


@pytest.mark.parametrize("loss", ["logistic", "smoothed_hinge", "hinge", "squared_hinge"])
def test_one_class_is_told_or_fitted(loss, rng):
    """GLM itself does not know that two classes were meant: it answers, with finite numbers."""
    f = pursuit.GLM(rng.standard_normal((20, 4)), np.ones(20), loss, l2=0.1)
    result = pursuit.solve(f, 2)
    assert np.isfinite(result.coef).all()
    assert np.isfinite(result.intercept)
    assert 0 <= result.value <= 1e-6


# Numbers of unequal size.


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("kind", [np.asarray, np.asfortranarray, sp.csr_array])
def test_a_large_mean_does_not_cost_the_digits(kind, standardize, rng):
    """X = 1e6 + noise: compare with least squares on exactly centred columns."""
    noise = np.round(rng.standard_normal((80, 6)) * 1024) / 1024
    X = 1e6 + noise
    y = noise[:, 1] - 2 * noise[:, 4] + 0.1 * rng.standard_normal(80)
    cols = columns(1, 2, 4)
    f = pursuit.GLM(kind(X), y, standardize=standardize)
    coef, intercept = f.in_units(f.refit(cols))
    exact = LinearRegression().fit(noise[:, cols], y)
    np.testing.assert_allclose(coef, exact.coef_, rtol=1e-5)
    assert np.std(X[:, cols] @ coef + intercept - exact.predict(noise[:, cols])) <= 1e-5
    result = pursuit.solve(f, 2)
    assert np.array_equal(result.support, [1, 4])


def test_nearly_dependent_columns_use_an_orthogonal_method(rng):
    """Condition number 1e8: a Gram would have none of the digits."""
    X = rng.standard_normal((60, 4))
    X[:, 3] = X[:, 0] + 1e-8 * rng.standard_normal(60)
    truth = np.array([1.0, 2.0, 0.5, -1.0])
    y = X @ truth
    f = pursuit.GLM(X, y, fit_intercept=False)
    point = f.refit(np.arange(4))
    np.testing.assert_allclose(point.coef, truth, atol=1e-5)
    assert point.note == ""


@pytest.mark.parametrize("scale", [1e-150, 1e-20, 1e20, 1e150])
def test_the_unit_of_y_may_be_anything(scale, rng):
    X = rng.standard_normal((40, 8))
    y = X[:, 1] - X[:, 5] + 0.1 * rng.standard_normal(40)
    result = pursuit.solve(pursuit.GLM(X, y * scale), 2)
    assert np.array_equal(result.support, [1, 5])
    np.testing.assert_allclose(result.coef / scale, pursuit.solve(pursuit.GLM(X, y), 2).coef, rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-100, 1e-8, 1e8, 1e100])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_the_unit_of_X_may_be_anything(loss, scale, rng):
    X = rng.standard_normal((60, 8))
    eta = X[:, 1] - X[:, 5] + 0.5 * rng.standard_normal(60)
    y = eta if loss == "squared" else eta > 0
    result = pursuit.solve(pursuit.GLM(X * scale, y, loss, standardize=True), 2)
    plain = pursuit.solve(pursuit.GLM(X, y, loss, standardize=True), 2)
    assert np.array_equal(result.support, plain.support)
    np.testing.assert_allclose(result.coef * scale, plain.coef, rtol=1e-6)


def test_poisson_with_large_counts(rng):
    X = rng.standard_normal((100, 5))
    y = rng.poisson(np.exp(8 + X[:, 0])).astype(float)
    result = pursuit.solve(pursuit.GLM(X, y, "poisson"), 1)
    assert np.array_equal(result.support, [0])
    assert result.coef[0] == pytest.approx(1.0, abs=0.02)
    assert result.intercept == pytest.approx(8.0, abs=0.05)


def test_huber_ignores_a_wild_outlier(rng):
    X = rng.standard_normal((100, 6))
    y = X[:, 2] + 0.1 * rng.standard_normal(100)
    y[0] = 1e9
    result = pursuit.solve(pursuit.GLM(X, y, "huber"), 1)
    assert np.array_equal(result.support, [2])
    assert result.coef[0] == pytest.approx(1.0, abs=0.1)


def test_the_gradient_of_a_pickled_point_is_told_to_be_gone():
    given = problem("squared")
    result = pursuit.solve(pursuit.GLM(**given.glm()), 2)
    back = pickle.loads(pickle.dumps(result))
    assert np.array_equal(back.x, result.x)
    assert back.value == result.value
    fresh = pickle.loads(pickle.dumps(pursuit.GLM(**given.glm()).refit(columns(0))))
    with pytest.raises(RuntimeError, match="pickled point is not kept"):
        fresh.gradient


def test_separated_classes_with_large_coefficients_keep_their_intercept():
    """Coefficients in the thousands leave offsets between which phi'' vanishes."""
    rng = np.random.default_rng([77, 16])
    for _ in range(40):
        X = (rng.standard_normal((40, 12)) > 0.5).astype(float)
        y = (X @ rng.standard_normal(12) > 0.3).astype(float)
        y[:2] = [0, 1]
        objective = pursuit.GLM(X, y, "logistic")
        point = objective.refit(np.arange(12))
        assert point.value <= objective.null.value
        assert point.minimiser == (not point.note)


def test_the_best_intercept_between_offsets_far_apart():
    offset = np.array([-5e3, -4e3, 3e3, 6e3])
    y = np.array([0.0, 1.0, 0.0, 1.0])
    b = best_intercept(Logistic(), Rows(y, np.full(4, 0.25), offset), 1e5)
    values = [Logistic().terms(y, offset + t, np.full(4, 0.25))[0] for t in (b, b - 1, b + 1, 0.0, 5e2)]
    assert values[0] <= min(values) * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_poisson_intercepts_beside_offsets_far_apart(seed):
    rng = np.random.default_rng(seed)
    X, y, offset = rng.standard_normal((20, 4)), rng.poisson(1.0, 20), 30 * rng.standard_normal(20)
    best = np.log(y.mean()) - (np.log(np.exp(offset - offset.max()).mean()) + offset.max())
    value = np.mean(np.exp(offset + best) - y * (offset + best))
    assert pursuit.GLM(X, y, "poisson", offset=offset).null.value == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("seed", [31, 61, 152])
def test_poisson_refits_from_a_start_too_high(seed):
    """A step of the first refits leads to values of 1e40 and more: what ends them is not relative to that."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((12, 8)), rng.poisson(1.0, 12)
    objective = pursuit.GLM(X, y, "poisson")
    auto, omp = (pursuit.solve(objective, 8, solver=name).value for name in ("auto", "omp"))
    assert auto <= omp + 1e-8 * abs(omp)
    cold = objective.refit(np.arange(8))
    warm = objective.refit(np.arange(8), start=objective.at(np.arange(8), 0.8 * cold.coef, cold.free))
    assert warm.value == pytest.approx(cold.value, rel=1e-8)


@pytest.mark.parametrize("classes", [2, 3])
def test_classes_that_are_told_for_sure_in_part_have_no_minimiser(classes):
    """One value of x occurs with one class only: its coefficient grows without end, though f does not fall to 0."""
    x = np.repeat([0.0, 1.0], 30)
    y = np.concatenate([np.zeros(30), np.arange(30) % classes])
    X = np.column_stack([x, np.random.default_rng(0).standard_normal(60)])
    objective = pursuit.GLM(X, y, "logistic") if classes == 2 else pursuit.MultiGLM(X, y)
    result = pursuit.solve(objective, 1, include=[0])
    assert result.status == "no_minimiser"
    assert "no finite minimiser exists (set l2 > 0)" in result.reason
    ridged = type(objective)(X, y, "logistic" if classes == 2 else "multinomial", l2=1e-3)
    assert pursuit.solve(ridged, 1, include=[0]).status == "converged"
