"""Relaxed budgets, and the building blocks that solvers share: pruning, ridges, minibatches, steps."""

from itertools import pairwise

import numpy as np
import pytest

import pursuit
from problems import KINDS, problem
from pursuit.constraints import AtMost
from pursuit.solvers import as_solver
from pursuit.solvers.base import generator
from pursuit.solvers.steps import gradient_step, newton_step
from solvers import references as ref

PRIMAL = [name for name in pursuit.list_solvers() if name not in ("diht", "sdiht")]  # those need a dual


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("name", ["grahtp", "grasp", "omp", "ompr"])
def test_relax_is_its_definition(name, loss):
    """Run at the larger budget, keep the k largest of each iterate, refit; the best of them is the result."""
    given = problem(loss)
    f = pursuit.GLM(**given.glm())
    wide = as_solver(name)[1].iterate(f, AtMost(6, 12), f.null)
    cut = [f.refit(np.sort(point.support[ref.largest(point.coef, 3)])) for point in wide]
    solver = type(as_solver(name)[1])(relax=2)
    result = pursuit.solve(f, 3, solver=solver)
    assert result.value == pytest.approx(min(point.value for point in cut), rel=1e-12)
    assert result.value <= cut[-1].value
    assert result.n_iter == len(cut)
    assert result.solver == name
    assert result.optimality == "none"


@pytest.mark.parametrize("constraint", [{}, {"groups": np.arange(12) // 2}, {"include": [3], "exclude": [1]}])
@pytest.mark.parametrize("name", PRIMAL)
def test_every_solver_can_be_relaxed(name, constraint):
    given = problem("squared")
    f = pursuit.GLM(**given.glm())
    solver = type(as_solver(name)[1])(relax=1.5)
    result = pursuit.solve(f, 2, solver=solver, max_iter=200, **constraint)
    assert AtMost(2, 12, **constraint).allows(result.support)
    assert result.point.refitted
    assert result.value < f.null.value


@pytest.mark.parametrize("relax", [0.5, 0, np.nan])
def test_a_smaller_budget_is_no_relaxation(relax):
    with pytest.raises(ValueError, match="relax"):
        pursuit.solve(pursuit.GLM(**problem("squared").glm()), 2, solver=pursuit.OMP(relax=relax))


def test_relax_by_one_is_the_solver_itself():
    f = pursuit.GLM(**problem("logistic").glm())
    one, plain = pursuit.solve(f, 3, solver=pursuit.GraHTP(relax=1)), pursuit.solve(f, 3, solver="grahtp")
    assert np.array_equal(one.support, plain.support)
    np.testing.assert_allclose(one.coef, plain.coef, rtol=1e-13)  # it is refitted once more


def test_a_users_solver_can_be_relaxed():
    class First(pursuit.Solver):
        """Takes the first columns."""

        def iterate(self, f, constraint, start):
            yield f.refit(np.arange(constraint.k))

    f = pursuit.GLM(**problem("squared").glm())
    assert pursuit.solve(f, 2, solver=First()).support.tolist() == [0, 1]
    assert set(pursuit.solve(f, 2, solver=First(relax=2)).support) <= {0, 1, 2, 3}


def test_top_within():
    v = np.array([5.0, 0.0, 3.0, 0.0, 4.0, 1.0])
    plain = AtMost(2, 6)
    assert plain.top(v, within=np.array([1, 2, 5])).tolist() == [2, 5]
    assert plain.top(v, within=np.array([1, 3])).tolist() == [1, 3]  # zeros too: never from outside
    assert plain.top(v, 5, within=np.array([1, 2])).tolist() == [1, 2]
    assert plain.top(v, 1, keep=np.array([3]), within=np.array([3, 4])).tolist() == [3]
    forced = AtMost(2, 6, include=[1], exclude=[4])
    assert forced.top(v, within=np.array([2, 4])).tolist() == [1, 2]
    groups = AtMost(1, 6, groups=[0, 0, 1, 1, 2, 2])
    assert groups.top(v, within=np.array([2, 3, 4, 5])).tolist() == [4, 5]


@pytest.mark.parametrize("kind", ["dense_c", "csr", "operator"])
@pytest.mark.parametrize("loss", pursuit.list_losses())
def test_a_ridge_per_column(loss, kind):
    """Against the same objective written down; its minimiser has no direction left in which it falls."""
    given = problem(loss, weights=True, offset=True)
    f, w = pursuit.GLM(**given.glm(KINDS[kind](given.X))), np.random.default_rng(0).random(12)
    w[[1, 6]] = 0.0
    S = np.array([1, 3, 6, 8])
    for g in (f.ridged(w), f.ridged(w / 2).ridged(w / 2)):
        point = g.refit(S)
        whole = given.value(point.x, point.free) + 0.5 * w @ point.x**2
        assert point.value == pytest.approx(whole, rel=1e-12)
        for d in np.random.default_rng(1).standard_normal((20, 4)) * 1e-3:
            assert g.at(S, point.coef + d).value >= point.value - 1e-9
    if loss != "hinge":
        slope = given.gradient(point.x, point.free)[0] + w * point.x
        np.testing.assert_allclose(point.gradient, slope, atol=1e-7)
        H, plain = g.hessian_rows(point, S, S), f.hessian_rows(point, S, S)
        np.testing.assert_allclose(H - plain, np.diag(w[S]), atol=1e-12)
        np.testing.assert_allclose(g.curvatures(point, S), H.diagonal(), rtol=1e-9)
    assert np.isfinite(f.lower)
    assert f.lower <= f.refit(np.arange(12)).value + 1e-12


class Once:
    """In place of random numbers: every row exactly once."""

    def integers(self, n, size):
        assert size == n
        return np.arange(n)


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loss", ["squared", "logistic", "poisson"])
def test_a_minibatch_of_every_row_is_the_gradient(loss, kind, standardize):
    given = problem(loss, weights=True, offset=True)
    f = pursuit.GLM(**given.glm(KINDS[kind](given.X), standardize=standardize))
    S, coef = np.array([1, 5, 6]), np.array([0.3, -0.2, 0.1])
    g, in_b = f.minibatch(Once(), 1.0)(S, coef, 0.2)
    np.testing.assert_allclose(g, f.at(S, coef, 0.2).gradient, rtol=1e-9, atol=1e-12)
    h = 1e-6
    ahead, behind = f.at(S, coef, 0.2 + h).value, f.at(S, coef, 0.2 - h).value
    assert in_b == pytest.approx((ahead - behind) / (2 * h), abs=1e-7)


def test_minibatches_are_unbiased():
    given = problem("logistic", weights=True)
    f, S, coef = pursuit.GLM(**given.glm()), np.array([1, 6]), np.array([0.5, -0.5])
    rng, size = np.random.default_rng(0), 4000
    mean = sum(f.minibatch(rng, 0.1)(S, coef, 0.1)[0] for _ in range(size)) / size
    np.testing.assert_allclose(mean, f.at(S, coef, 0.1).gradient, atol=6 / np.sqrt(7 * size))


def test_svrght_with_whole_batches_is_iht():
    A, y = ref.data(50, 20, 3, 0.3, 0.2, 1)
    f, constraint = pursuit.GLM(A, y, fit_intercept=False), AtMost(3, 20)

    class Whole(pursuit.GLM):
        def minibatch(self, rng, share):
            return lambda support, coef, b: (self.at(support, coef, b).gradient, 0.0)

    whole = Whole(A, y, fit_intercept=False)
    solver = pursuit.SVRGHT(step=0.2, inner=5, polish=False)
    xs = ref.iht(A, y, 3, 0.2)
    for point, _ in zip(solver.iterate(whole, constraint, f.null), range(6), strict=False):
        for _ in range(5):
            x = next(xs)
        np.testing.assert_allclose(point.x, x, rtol=1e-8, atol=1e-10)


def test_svrght_is_near_iht_where_data_are_many():
    A, y = ref.data(2000, 40, 5, 0.3, 0.5, 0)
    f = pursuit.GLM(A, y)
    stochastic, best = pursuit.solve(f, 5, solver="svrght"), pursuit.solve(f, 5, solver="auto")
    assert stochastic.value == pytest.approx(best.value, rel=1e-9)
    values = [record.value for record in stochastic.trace]
    assert all(after < before for before, after in pairwise(values))


@pytest.mark.parametrize("loss", ["logistic", "poisson", "squared"])
def test_restricted_steps_lower_f_and_stay_on_their_columns(loss):
    f, cols = pursuit.GLM(**problem(loss).glm()), np.array([1, 3, 6, 10])
    for step in (newton_step, gradient_step):
        point = f.at(np.array([3]), np.array([0.1]))
        for _ in range(3):
            trial = step(f, point, cols)
            assert trial.value < point.value or loss == "squared"
            assert set(trial.support) <= set(cols)
            point = trial
    exact = f.refit(cols)
    for _ in range(8):
        point = newton_step(f, point, cols)
    assert point.value == pytest.approx(exact.value, rel=1e-10)
    assert newton_step(f, exact, cols).value <= exact.value


def test_random_states():
    same = [generator(None).random() for _ in range(2)]
    assert same[0] == same[1]
    assert generator(5).random() == generator(5).random()
    assert generator(np.random.RandomState(5)).random() == generator(np.random.RandomState(5)).random()
    rng = np.random.default_rng(3)
    assert generator(rng) is rng


def test_columns_gathered_in_any_order():
    X = np.random.default_rng(0).standard_normal((12, 40))
    f = pursuit.GLM(X, X[:, 0])
    for cols in ([30, 31, 2, 5, 39], [2, 30, 38, 39], [39, 1], [1, 2, 3], []):
        index = np.array(cols, dtype=np.int64)
        assert np.array_equal(f.data.gathered(index).dense(), X[:, index])
