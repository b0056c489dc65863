"""A loss that a user writes in plain NumPy (value and d1, nothing else) works with every solver on every design."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

import pursuit
from problems import DUAL, KINDS, SLOW, problem
from registries import PRIMAL

DESIGNS = ["dense_c", "float32_f", "csr", "csc", "operator"]


class PlainLogistic(pursuit.Loss):
    """Logistic without a kernel: a twin of the built-in one."""

    targets, labels, smoothness, attained = "binary", (0.0, 1.0), 0.25, False

    def value(self, y, eta):
        return np.logaddexp(0, eta) - y * eta

    def d1(self, y, eta):
        return expit(eta) - y


class PlainSquared(pursuit.Loss):
    """Squared loss that does not say that it is quadratic."""

    def value(self, y, eta):
        return (eta - y) ** 2 / 2

    def d1(self, y, eta):
        return eta - y


class LogCosh(pursuit.Loss):
    """A loss that the library has never heard of."""

    def value(self, y, eta):
        return np.logaddexp(eta - y, y - eta) - np.log(2)

    def d1(self, y, eta):
        return np.tanh(eta - y)


TWINS = {"logistic": PlainLogistic, "squared": PlainSquared}


CELLS = [
    (solver, design, standardize)
    for solver, design, standardize in product(PRIMAL, DESIGNS, (False, True))
    if solver not in SLOW or (design == "csr" and standardize)
]


@pytest.mark.parametrize("loss", TWINS)
@pytest.mark.parametrize(("solver", "design", "standardize"), CELLS)
def test_a_twin_gives_what_the_built_in_loss_gives(solver, loss, design, standardize):
    given = problem(loss, weights=True, offset=True)
    X = KINDS[design](given.X)
    built_in, own = (
        pursuit.solve(pursuit.GLM(**given.glm(X, loss=kind, standardize=standardize)), 3, solver=solver)
        for kind in (loss, TWINS[loss]())
    )
    assert np.array_equal(own.support, built_in.support)
    assert own.value == pytest.approx(built_in.value, rel=1e-9)
    np.testing.assert_allclose(own.coef, built_in.coef, rtol=1e-6)


@pytest.mark.parametrize("solver", PRIMAL)
def test_an_unknown_loss_is_minimised(solver):
    given = problem("squared")
    result = pursuit.solve(pursuit.GLM(given.X, given.y, LogCosh()), 3, solver=solver)
    A = np.column_stack([given.X[:, result.support], np.ones(len(given.y))])

    def mean_loss(z):
        r = A @ z - given.y
        return np.mean(np.logaddexp(r, -r) - np.log(2)), A.T @ np.tanh(r) / len(r)

    best = minimize(mean_loss, np.zeros(A.shape[1]), jac=True, method="BFGS", options={"gtol": 1e-9})
    assert len(result.support) == 3
    assert result.value == pytest.approx(best.fun, rel=1e-9)
    np.testing.assert_allclose(np.append(result.coef, result.intercept), best.x, rtol=1e-5)


@pytest.mark.parametrize("solver", sorted(DUAL & set(pursuit.list_solvers())))
def test_a_solver_on_the_dual_says_what_it_lacks(solver):
    given = problem("squared")
    with pytest.raises(TypeError, match=r"LogCosh.*no conjugate"):
        pursuit.solve(pursuit.GLM(given.X, given.y, LogCosh(), l2=0.1), 3, solver=solver)
    with pytest.raises(ValueError, match="needs l2 > 0"):
        pursuit.solve(pursuit.GLM(given.X, given.y), 3, solver=solver)


def test_a_loss_without_conjugate_says_so():
    with pytest.raises(TypeError, match=r"LogCosh.*no conjugate"):
        LogCosh().conjugate(np.zeros(1), np.zeros(1))
    with pytest.raises(TypeError, match=r"LogCosh.*no conjugate"):
        LogCosh().dual_domain(np.zeros(1))


def test_a_loss_without_formulas_says_which_is_missing():
    class Half(pursuit.Loss):
        def value(self, y, eta):
            return (eta - y) ** 4

    with pytest.raises(NotImplementedError, match=r"Half must define d1\(y, eta\)"):
        pursuit.GLM(np.eye(3), np.arange(3.0), Half()).null.gradient
    with pytest.raises(NotImplementedError, match=r"Loss must define value\(y, eta\)"):
        pursuit.Loss().value(np.zeros(1), np.zeros(1))


def test_an_exception_in_a_users_loss_propagates():
    class Broken(PlainSquared):
        def d1(self, y, eta):
            raise ZeroDivisionError("my own mistake")

    with pytest.raises(ZeroDivisionError, match="my own mistake"):
        pursuit.solve(pursuit.GLM(np.eye(4), np.arange(4.0), Broken()), 2)


def test_estimators_take_a_users_loss():
    given = problem("squared")
    own = pursuit.SparseRegressor(k=3, loss=LogCosh()).fit(given.X, given.y)
    assert own.score(given.X, given.y) > 0.3
