"""``run`` under ``solve``: a path over k, starts that cost nothing, limits of its own."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import pursuit
from problems import problem
from pursuit import GLM, Function, MultiGLM, solve
from pursuit.objectives.bounded import Bounded
from pursuit.solving.driver import run
from pursuit.solving.loop import Limits

P = 12


class Stay(pursuit.Solver):
    """Gives the point it is started from, and keeps it for a test to look at."""

    def iterate(self, f, constraint, start):
        object.__setattr__(self, "start", start)
        yield start


@pytest.fixture
def f():
    return GLM(**problem("squared", p=P).glm())


def passes(monkeypatch, f):
    """A list that grows with every use of X."""
    used = []
    for name in ("value_gradient", "rmatmat", "matmat", "cross", "block", "stored", "stats"):
        kind = type(f.data.design)
        plain = getattr(kind, name)
        monkeypatch.setattr(kind, name, lambda *a, _name=name, _plain=plain: used.append(_name) or _plain(*a))
    return used


@pytest.mark.parametrize("solver", ["omp", "grahtp", "auto"])
def test_a_path_over_k_is_solve_for_each_k(f, solver):
    widest, before = f.sparse_set(6, exclude=[3]), None
    for k in range(1, 7):
        here = run(f, widest.with_budget(k), solver, start=before)
        want = solve(f, k, solver=solver, exclude=[3], start=before)
        assert np.array_equal(here.support, want.support)
        assert here.coef.tobytes() == want.coef.tobytes()
        assert (here.value, here.k, here.status, here.solver) == (want.value, k, want.status, solver)
        before = here


def test_limits_are_checked_and_kept_to(f):
    assert run(f, f.sparse_set(5), "omp", limits=Limits(max_iter=2)).status == "max_iter"
    assert run(f, f.sparse_set(5), "omp", limits=Limits(time_limit=0)).n_iter == 0
    assert run(f, f.sparse_set(5), "omp", limits=Limits(callback=lambda record: True)).status == "interrupted"
    for wrong in ({"max_iter": 0}, {"tol": -1.0}, {"time_limit": np.nan}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            Limits(**wrong)
    with pytest.raises(TypeError, match="callback must be a function of a Record"):
        Limits(callback=3)


def test_bounds_are_an_objective_of_their_own(f):
    bounded = Bounded(f, (0, 0.5))
    here, want = run(bounded, bounded.sparse_set(3), "grahtp"), solve(f, 3, solver="grahtp", bounds=(0, 0.5))
    assert here.coef.tobytes() == want.coef.tobytes()
    again = run(bounded, bounded.sparse_set(3), "local_search", start=here)
    assert again.value <= here.value


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("solver", ["grahtp", "omp", "grasp", "auto"])
def test_a_start_of_the_same_objective_costs_no_pass(monkeypatch, loss, solver):
    f = GLM(**problem(loss, p=P).glm(), fit_intercept=False)
    result = solve(f, 3, solver=solver)
    gradient = f.at(result.point.support, result.point.coef, result.point.free).gradient
    used, stay = passes(monkeypatch, f), Stay()
    again = solve(f, 3, solver=stay, start=result)
    assert used == []
    assert again.coef.tobytes() == result.coef.tobytes()
    assert again.value == result.value
    assert again.optimality != "swap_optimal"  # what was claimed was claimed of another run
    assert stay.start.exchange is None
    np.testing.assert_allclose(stay.start.gradient, gradient, atol=1e-10)
    assert len(used) <= 1 + (loss == "logistic")  # none where the gradient was known


def test_a_point_and_a_vector_are_evaluated_once(monkeypatch):
    f = GLM(**problem("logistic", p=P).glm(), fit_intercept=False)
    point = f.refit(np.array([1, 4]))
    _ = f.null.gradient, point.gradient
    used = passes(monkeypatch, f)
    assert solve(f, 3, solver=Stay(), start=point).value == point.value
    assert used == []
    solve(f, 3, solver=Stay(), start=point.x)
    assert used == ["value_gradient"]


def test_other_objectives_evaluate_a_start(f):
    result = solve(f, 3, solver="omp")
    others = {
        "pickled": (f, pickle.loads(pickle.dumps(result))),
        "a twin": (GLM(**problem("squared", p=P).glm()), result),
        "another l2": (GLM(**problem("squared", p=P).glm(l2=0.5)), result),
        "ridged": (f.ridged(np.full(P, 0.5)), result),
        "changed": (f, replace(result.point, coef=2 * result.point.coef)),
    }
    for name, (g, start) in others.items():
        stay = Stay()
        point = start.point if isinstance(start, pursuit.Result) else start
        assert solve(g, 3, solver=stay, start=start).value == g.at(point.support, point.coef, point.free).value, name
        assert not stay.start.refitted, name


@pytest.mark.parametrize("kind", ["several outputs", "function"])
def test_other_kinds_know_their_points(kind, rng, monkeypatch):
    X = rng.standard_normal((60, 8))
    if kind == "several outputs":
        f = MultiGLM(X, rng.integers(3, size=60))
    else:
        y = X[:, 1] - X[:, 5]
        f = Function(lambda x: float(np.sum((X @ x - y) ** 2)), lambda x: 2 * X.T @ (X @ x - y), 8)
    result = solve(f, 2, solver="omp")
    monkeypatch.setattr(type(f), "at", lambda *_: pytest.fail("evaluated"))
    assert solve(f, 2, solver=Stay(), start=result).value == result.value


def test_a_start_without_minimiser_is_evaluated():
    f = Function(lambda x: float(-x.sum()), lambda x: -np.ones(3), 3)
    endless = f.refit(np.array([1]))
    assert endless.value == -np.inf
    assert np.isfinite(endless.as_start_for(f).value)
