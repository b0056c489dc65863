"""The refit on a support against scikit-learn, SciPy and closed forms, for every loss."""

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, linprog, minimize
from sklearn.linear_model import HuberRegressor, LinearRegression, LogisticRegression, PoissonRegressor, Ridge

import pursuit
from problems import BINARY, KINDS, Problem, problem
from pursuit.refits import columns

N = 24  # rows for SLSQP
SUPPORT = np.array([1, 4, 6, 10])
SMOOTH = [loss for loss in pursuit.list_losses() if loss != "hinge"]


def refitted(given: Problem, **settings):
    point = pursuit.GLM(**given.glm(**settings)).refit(SUPPORT)
    return point.coef, point.free, point


def test_squared_is_linear_regression():
    given = problem("squared", weights=True)
    coef, b, _ = refitted(given)
    theirs = LinearRegression().fit(given.X[:, SUPPORT], given.y, sample_weight=given.weight)
    np.testing.assert_allclose(coef, theirs.coef_, rtol=1e-10)
    assert b == pytest.approx(theirs.intercept_, rel=1e-10)


@pytest.mark.parametrize("l2", [1e-6, 0.1, 100.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_squared_with_l2_is_ridge(l2, fit_intercept):
    given = problem("squared", weights=True)
    coef, b, _ = refitted(given, l2=l2, fit_intercept=fit_intercept)
    theirs = Ridge(alpha=l2, fit_intercept=fit_intercept, solver="cholesky")
    theirs.fit(given.X[:, SUPPORT], given.y, sample_weight=given.c)
    np.testing.assert_allclose(coef, theirs.coef_, rtol=1e-9)
    assert b == pytest.approx(theirs.intercept_, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("l2", [1e-4, 0.05])
def test_logistic_is_logistic_regression(l2, fit_intercept):
    given = problem("logistic", n=150, weights=True)
    coef, b, _ = refitted(given, l2=l2, fit_intercept=fit_intercept)
    theirs = LogisticRegression(C=1 / l2, fit_intercept=fit_intercept, solver="newton-cholesky", tol=1e-12)
    theirs.fit(given.X[:, SUPPORT], given.y, sample_weight=given.c)
    np.testing.assert_allclose(coef, theirs.coef_[0], rtol=1e-7)
    assert b == pytest.approx(np.ravel(theirs.intercept_)[0], rel=1e-7, abs=1e-12)


@pytest.mark.parametrize("l2", [0.0, 0.05])
def test_poisson_is_poisson_regression(l2):
    given = problem("poisson", weights=True)
    coef, b, _ = refitted(given, l2=l2)
    theirs = PoissonRegressor(alpha=l2, solver="newton-cholesky", tol=1e-12)
    theirs.fit(given.X[:, SUPPORT], given.y, sample_weight=given.weight)
    np.testing.assert_allclose(coef, theirs.coef_, rtol=1e-7)
    assert b == pytest.approx(theirs.intercept_, rel=1e-7)


def test_huber_has_the_minimum_that_scikit_learn_has_at_its_scale():
    """HuberRegressor estimates a scale too; at that scale its coefficients minimise our loss."""
    given = problem("huber")
    theirs = HuberRegressor(epsilon=1.5, alpha=0.0, tol=1e-10, max_iter=5000).fit(given.X[:, SUPPORT], given.y)
    coef, b, _ = refitted(given, loss=pursuit.Huber(delta=1.5 * theirs.scale_))
    np.testing.assert_allclose(coef, theirs.coef_, atol=1e-4)
    assert b == pytest.approx(theirs.intercept_, abs=1e-4)


def test_huber_with_a_tiny_delta_is_least_absolute_deviations():
    given = problem("huber")
    delta = 1e-5
    _, _, point = refitted(given, loss=pursuit.Huber(delta=delta))
    A = np.column_stack([given.X[:, SUPPORT], np.ones(len(given.y))])
    n, m = A.shape
    lad = linprog(
        np.append(np.zeros(m), np.full(2 * n, 1 / n)),
        A_eq=np.hstack([A, np.eye(n), -np.eye(n)]),
        b_eq=given.y,
        bounds=[(None, None)] * m + [(0, None)] * (2 * n),
    )
    assert point.value / delta == pytest.approx(lad.fun, abs=delta)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("loss", SMOOTH)
def test_every_smooth_loss_by_bfgs(loss, fit_intercept):
    given = problem(loss, weights=True, offset=True)
    coef, b, point = refitted(given, fit_intercept=fit_intercept)

    def f(z):
        x = np.zeros(given.X.shape[1])
        x[SUPPORT] = z[:-1]
        shift = z[-1] if fit_intercept else 0.0
        gradient, slope = given.gradient(x, shift)
        return given.value(x, shift), np.append(gradient[SUPPORT], slope * fit_intercept)

    best = minimize(f, np.zeros(len(SUPPORT) + 1), jac=True, method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-9})
    assert point.value <= best.fun + 1e-12
    assert point.value == pytest.approx(best.fun, rel=1e-8)
    assert f(np.append(coef, b))[0] == pytest.approx(point.value, rel=1e-12)
    assert np.abs(f(np.append(coef, b))[1]).max() <= 1e-9


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("l2", [0.1, 2.0])
def test_hinge_by_its_dual(l2, fit_intercept):
    """max over alpha in [0, 1] of the dual, by SLSQP: the two values enclose the minimum."""
    given = problem("hinge", n=N, weights=True, offset=True)
    _, _, point = refitted(given, l2=l2, fit_intercept=fit_intercept)
    c, o, s = given.c, given.o, np.where(given.y > 0, 1.0, -1.0)
    rows = given.X[:, SUPPORT] * (c * s)[:, None]
    lin, Q = c * (1 - s * o), rows @ rows.T / l2
    balance = [LinearConstraint((c * s)[None, :] * 100, 0, 0)] if fit_intercept else []
    dual = minimize(
        lambda a: (a @ Q @ a / 2 - lin @ a, Q @ a - lin),
        np.full(N, 0.5),
        jac=True,
        method="SLSQP",
        bounds=[(0, 1)] * N,
        constraints=balance,
        options={"ftol": 1e-12, "maxiter": 1000},
    )
    assert point.value == pytest.approx(-dual.fun, rel=2e-6)


@pytest.mark.parametrize("loss", BINARY)
@pytest.mark.parametrize("kind", ["csr", "csc", "operator", "float32_c"])
def test_a_refit_does_not_ask_where_the_columns_come_from(loss, kind):
    given = problem(loss, density=0.1)
    for standardize in (False, True):
        coef, b, point = refitted(given, standardize=standardize)
        other, c, same = refitted(given, X=KINDS[kind](given.X), standardize=standardize)
        assert same.value == pytest.approx(point.value, rel=1e-10)
        np.testing.assert_allclose(other, coef, atol=1e-6)
        assert c == pytest.approx(b, abs=1e-6)


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("kind", ["dense_c", "csr"])
@pytest.mark.parametrize("loss", [loss for loss in SMOOTH if loss != "smoothed_hinge"])
def test_the_matrix_free_method_is_newtons(loss, kind, standardize, monkeypatch):
    given = problem(loss, weights=True, offset=True, density=0.2)
    X = KINDS[kind](given.X)
    _, _, newton = refitted(given, X=X, standardize=standardize)
    monkeypatch.setattr(columns, "MAX_HESSIAN_COLUMNS", 1)
    _, _, free = refitted(given, X=X, standardize=standardize)
    assert free.value == pytest.approx(newton.value, rel=1e-12)
    np.testing.assert_allclose(free.coef, newton.coef, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("loss", SMOOTH)
def test_a_warm_start_ends_where_a_cold_one_does(loss):
    given = problem(loss)
    f = pursuit.GLM(**given.glm())
    cold = f.refit(SUPPORT)
    for start in (f.refit(np.array([0, 4, 10])), f.at(SUPPORT, np.full(4, -2.0)), f.null):
        warm = f.refit(SUPPORT, start=start)
        assert warm.value == pytest.approx(cold.value, rel=1e-11)
        np.testing.assert_allclose(warm.coef, cold.coef, atol=1e-6)


@pytest.mark.parametrize("loss", pursuit.list_losses())
def test_at_finds_the_best_intercept(loss):
    given = problem(loss, weights=True, offset=True)
    f = pursuit.GLM(**given.glm())
    coef = np.array([0.3, -0.2, 0.5, 0.1])
    x = np.zeros(given.X.shape[1])
    x[SUPPORT] = coef
    point = f.at(SUPPORT, coef)
    assert point.value == pytest.approx(given.value(x, point.free), rel=1e-12)
    for step in (1e-3, 1e-1, 1.0):
        assert given.value(x, point.free + step) >= point.value - 1e-12
        assert given.value(x, point.free - step) >= point.value - 1e-12
    if loss != "hinge":
        np.testing.assert_allclose(point.gradient, given.gradient(x, point.free)[0], atol=1e-12)


@pytest.mark.parametrize("standardize", [False, True])
def test_the_curvatures_are_those_of_the_profiled_objective(standardize):
    """v'Hv with the intercept minimised out, by second differences of f.at(...), which optimises the intercept."""
    given = problem("logistic", n=200, weights=True)
    f = pursuit.GLM(**given.glm(standardize=standardize))
    point = f.refit(SUPPORT)
    v = np.array([0.5, -0.5, 0.5, 0.5])
    h = 1e-3
    values = [f.at(SUPPORT, point.coef + t * v).value for t in (-h, 0, h)]
    assert f.curvature(point, SUPPORT, v) == pytest.approx((values[0] - 2 * values[1] + values[2]) / h**2, rel=1e-4)
    one_by_one = [f.curvature(point, SUPPORT[i : i + 1], np.ones(1)) for i in range(4)]
    np.testing.assert_allclose(f.curvatures(point, SUPPORT), one_by_one, rtol=1e-10)
