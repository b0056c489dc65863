"""The one loop: limits, callbacks, interrupts, starts, cycles, failures; all end with the best point and a sentence."""

import time
from dataclasses import dataclass, replace

import numpy as np
import pytest

import pursuit
from problems import problem
from pursuit import GLM, solve
from pursuit.solvers import as_solver, register
from registries import PRIMAL

P = 12


@pytest.fixture
def f():
    return GLM(**problem("squared", p=P).glm())


class Walk(pursuit.Solver):
    """Yields the refits on given supports, in order; written by a user who read one page."""

    halted = "the walk is over"

    def __init__(self, *supports):
        self.supports = supports

    def iterate(self, f, constraint, start):
        for support in self.supports:
            yield f.refit(np.array(support, dtype=np.int64), start=start)


@dataclass(frozen=True)
class Seeded(pursuit.Solver):
    """Draws its supports at random."""

    random_state: object = None

    def iterate(self, f, constraint, start):
        rng = np.random.default_rng(self.random_state)
        for _ in range(5):
            yield f.refit(constraint.top(rng.standard_normal(f.dim)))


class Forever(pursuit.Solver):
    """Moves on for ever by ever smaller steps downhill (the best coefficient is above one)."""

    def iterate(self, f, constraint, start):
        support = np.array([1], dtype=np.int64)
        for t in range(1, 10**9):
            yield f.at(support, np.array([1.0 - 1.0 / t]))


def test_the_limit_of_iterations(f):
    result = solve(f, 5, solver="omp", max_iter=2)
    assert result.status == "max_iter"
    assert result.n_iter == 2
    assert len(result.support) == 2
    assert "limit of 2 iterations" in result.reason
    assert result.optimality == "none"
    assert not result.converged


def test_there_is_always_a_limit(f, monkeypatch):
    monkeypatch.setattr("pursuit.solving.loop.MAX_ITER", 50)
    result = solve(f, 2, solver=Forever())
    assert result.status == "max_iter"
    assert result.n_iter == 50


def test_no_time_at_all_gives_the_start(f):
    result = solve(f, 3, time_limit=0)
    assert result.status == "time_limit"
    assert result.n_iter == 0
    assert result.value == f.null.value
    assert len(result.support) == 0
    assert "time limit of 0 s" in result.reason
    forced = solve(f, 3, time_limit=0, include=[4])
    assert np.array_equal(forced.support, [4])
    assert forced.value == f.refit(np.array([4])).value


def test_a_little_time_is_kept_to(f):
    began, worked = time.perf_counter(), time.process_time()
    result = solve(f, 2, solver=Forever(), time_limit=0.15)
    assert time.perf_counter() - began >= 0.15
    assert time.process_time() - worked < 3  # processor time, since other work may delay this test
    assert result.status == "time_limit"
    assert result.n_iter > 0
    assert 0.15 <= result.seconds <= time.perf_counter() - began


def test_auto_uses_its_time_and_ends(f):
    result = solve(f, 3, time_limit=0.3)
    assert result.status in ("time_limit", "converged")
    assert result.value <= solve(f, 3, solver="grahtp").value + 1e-12


def test_a_callback_sees_every_record_and_can_stop(f):
    seen = []
    result = solve(f, 5, solver="omp", callback=seen.append)
    assert tuple(seen) == result.trace
    assert result.status == "converged"
    stopped = solve(f, 5, solver="omp", callback=lambda record: record.iteration == 3)
    assert stopped.status == "interrupted"
    assert stopped.n_iter == 3
    assert "callback" in stopped.reason
    assert stopped.value == result.trace[2].best


def test_ctrl_c_gives_the_best_so_far(f):
    def press(record):
        if record.iteration == 2:
            raise KeyboardInterrupt

    result = solve(f, 5, solver="omp", callback=press)
    assert result.status == "interrupted"
    assert "interrupted by the user" in result.reason
    assert len(result.support) == 2
    assert result.value == solve(f, 2, solver="omp").value


def test_ctrl_c_inside_a_solver_too(f):
    class Tired(pursuit.Solver):
        def iterate(self, f, constraint, start):
            yield f.refit(np.array([1]))
            raise KeyboardInterrupt

    result = solve(f, 2, solver=Tired())
    assert result.status == "interrupted"
    assert np.array_equal(result.support, [1])


def test_other_exceptions_propagate(f):
    def wrong(record):
        raise RuntimeError("in my callback")

    with pytest.raises(RuntimeError, match="in my callback"):
        solve(f, 3, callback=wrong)


def test_the_best_point_is_kept_not_the_last(f):
    good, bad = f.refit(np.array([1, 6])), f.refit(np.array([0, 2]))
    assert good.value < bad.value
    result = solve(f, 2, solver=Walk([0], [1, 6], [0, 2]))
    assert np.array_equal(result.support, [1, 6])
    assert result.value == pytest.approx(good.value, rel=1e-14)
    assert result.trace[-1].value == pytest.approx(bad.value, rel=1e-14)
    assert result.reason == "the walk is over"


def test_a_cycle_is_seen(f):
    result = solve(f, 2, solver=Walk(*([[0, 2], [1, 6]] * 1000)))
    assert result.status == "converged"
    assert "cycle" in result.reason
    assert result.n_iter <= 4
    assert np.array_equal(result.support, [1, 6])


@pytest.mark.parametrize("broken", ["value", "coef"])
@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_nan_becomes_a_status(f, broken, number):
    class Breaks(pursuit.Solver):
        def iterate(self, f, constraint, start):
            good = f.refit(np.array([1, 6]))
            yield good
            yield replace(good, **{broken: number if broken == "value" else np.array([1.0, number])})
            raise AssertionError("the driver went on after a NaN")

    result = solve(f, 2, solver=Breaks())
    assert result.status == "failed"
    assert "NaN or infinite" in result.reason
    assert np.isfinite(result.coef).all()
    assert result.value == f.refit(np.array([1, 6])).value


def test_tol_stops_slow_progress(f):
    slow = solve(f, 2, solver=Forever(), tol=1e-6)
    assert slow.status == "converged"
    assert "less than tol=1e-06" in slow.reason
    assert slow.n_iter < 500
    looser = solve(f, 2, solver=Forever(), tol=1e-3)
    assert looser.n_iter < slow.n_iter


# Starts.


def test_a_result_is_a_start(f):
    result = solve(f, 3, solver="grahtp")
    again = solve(f, 3, solver="grahtp", start=result)
    assert np.array_equal(again.support, result.support)
    assert again.value == pytest.approx(result.value, rel=1e-14)
    assert again.n_iter <= 1


def test_a_start_of_fewer_columns_is_gone_on_from(f):
    two = solve(f, 2, solver="omp")
    four = solve(f, 4, solver="omp", start=two)
    assert 2 <= four.n_iter <= 3
    assert set(two.support) < set(four.support)
    assert four.value == pytest.approx(solve(f, 4, solver="omp").value, rel=1e-12)


@pytest.mark.parametrize("standardize", [False, True])
def test_a_vector_is_a_start_in_the_units_of_X(standardize):
    given = problem("squared", p=P)
    f = GLM(**given.glm(given.X * 50 + 3, standardize=standardize))
    result = solve(f, 3, solver="grahtp")
    again = solve(f, 3, solver="grahtp", start=result.x)
    assert again.n_iter <= 1
    np.testing.assert_allclose(again.x, result.x, rtol=1e-9)
    assert again.value == pytest.approx(result.value, rel=1e-12)
    assert again.intercept == pytest.approx(result.intercept, rel=1e-9)


def test_a_start_is_not_made_worse(f):
    best = solve(f, 3)
    for solver in PRIMAL:
        again = solve(f, 3, solver=solver, start=best, max_iter=50, random_state=0)
        assert again.value <= best.value * (1 + 1e-12), solver


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (np.ones(P), "start uses 12 columns, more than k=3 allows"),
        (np.ones(P - 1), "start must be a finite vector with one entry per column"),
        (np.full(P, np.nan), "start must be a finite vector"),
        ([0.0, 1.0], "start must be a finite vector"),
    ],
)
def test_a_start_that_cannot_be(f, start, message):
    with pytest.raises(ValueError, match=message):
        solve(f, 3, start=start)


def test_a_start_on_a_forbidden_column(f):
    with pytest.raises(ValueError, match="start uses a column that exclude forbids"):
        solve(f, 3, start=np.eye(P)[4], exclude=[4])


def test_a_result_of_another_size_is_no_start(f):
    other = solve(GLM(**problem("squared", p=P + 1).glm()), 3)
    with pytest.raises(ValueError, match="start has 13 coordinates, but the objective has 12"):
        solve(f, 3, start=other)


# Budgets.


@pytest.mark.parametrize("solver", PRIMAL)
def test_a_budget_above_the_columns_is_capped_and_said(f, solver):
    result = solve(f, 99, solver=solver, max_iter=200, random_state=0)
    assert result.k == P
    assert "k=99 was capped at the 12 columns" in result.reason
    assert len(result.support) <= P


def test_the_cap_counts_allowed_units(f):
    assert "capped at the 10 columns" in solve(f, 11, exclude=[0, 1], solver="omp").reason
    assert "capped at the 3 groups" in solve(f, 4, groups=np.arange(P) % 3, solver="omp").reason
    assert "capped" not in solve(f, P, solver="omp").reason


def test_numpy_integers_are_integers(f):
    assert solve(f, np.int32(2), solver="omp").k == 2


# Names and classes.


def test_a_users_solver_by_instance_class_and_name(f, monkeypatch):
    monkeypatch.setattr("pursuit.solvers.base._registry", dict(pursuit.solvers.base._registry))
    walk = Walk([1, 6])
    assert solve(f, 2, solver=walk).solver == "Walk"
    assert solve(f, 2, solver=pursuit.OMP).solver == "omp"
    assert solve(f, 2, solver=pursuit.GraHTP(step=0.5)).solver == "grahtp"
    register("walk", Walk)
    assert solve(f, 2, solver="walk").status == "converged"
    assert pursuit.list_solvers()["walk"].startswith("Yields the refits")


def test_anything_with_iterate_is_a_solver(f):
    class Duck:
        claims, halted, revisits = "none", "quack", False

        def iterate(self, f, constraint, start):
            yield f.refit(np.array([1]))

    assert solve(f, 1, solver=Duck()).reason == "quack"


def test_random_state_reaches_the_solver(f):
    once, again, other = (solve(f, 3, solver=Seeded(), random_state=seed) for seed in (1, 1, 2))
    assert [r.value for r in once.trace] == [r.value for r in again.trace]
    assert [r.value for r in once.trace] != [r.value for r in other.trace]
    own = solve(f, 3, solver=Seeded(random_state=2), random_state=1)
    assert [r.value for r in own.trace] == [r.value for r in other.trace]


@pytest.mark.parametrize(
    ("name", "offered"), [("grahpt", "grahtp"), ("OMP2", "omp"), ("iht2", "iht"), ("fgrahpt", "fgrahtp")]
)
def test_an_unknown_solver_offers_the_nearest(f, name, offered):
    with pytest.raises(ValueError, match=f"solver '{name}' is unknown; .*{offered}"):
        solve(f, 2, solver=name)


@pytest.mark.parametrize("name", ["GraHTP", "OMP", "Local_Search", "IHT"])
def test_solver_names_in_any_case(f, name):
    result = solve(f, 2, solver=name)
    assert result.solver == name.lower()
    assert result.value == solve(f, 2, solver=name.lower()).value


@pytest.mark.parametrize("solver", [3, None, object(), int])
def test_what_is_not_a_solver(f, solver):
    with pytest.raises(TypeError, match="solver must be a name or have a method `iterate`"):
        solve(f, 2, solver=solver)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"max_iter": 0}, ValueError, "max_iter must be a whole number at least 1, got 0"),
        ({"max_iter": -3}, ValueError, "max_iter must be"),
        ({"max_iter": "many"}, TypeError, "max_iter must be a whole number"),
        ({"max_iter": np.nan}, TypeError, "max_iter must be"),
        ({"tol": -1e-3}, ValueError, "tol must be"),
        ({"tol": np.inf}, ValueError, "tol must be"),
        ({"tol": "small"}, TypeError, "tol must be"),
        ({"time_limit": -1}, ValueError, "time_limit must be"),
        ({"time_limit": np.nan}, ValueError, "time_limit must be"),
        ({"time_limit": "1 s"}, TypeError, "time_limit must be"),
    ],
)
def test_limits_are_checked(f, settings, error, message):
    with pytest.raises(error, match=message):
        solve(f, 2, **settings)


@pytest.mark.parametrize("step", [0, -1.0, np.nan, np.inf, "small", True])
def test_steps_are_checked(step):
    for solver in (pursuit.GraHTP, pursuit.FGraHTP):
        with pytest.raises((ValueError, TypeError), match="step must be a"):
            solver(step=step)


def test_a_result_prints_without_its_trace(f):
    shown = repr(solve(f, 2, solver="omp"))
    assert "status='converged'" in shown
    assert "Record" not in shown


def test_an_objective_that_starts_infinite_is_told():
    class Pole(pursuit.Loss):
        def value(self, y, eta):
            return np.full_like(eta, np.inf)

        def d1(self, y, eta):
            return np.zeros_like(eta)

    with pytest.raises(ValueError, match="not finite at the start"):
        solve(GLM(np.eye(3), np.arange(3.0), Pole(), fit_intercept=False), 1)


def test_solvers_are_listed_with_a_line_each():
    listed = pursuit.list_solvers()
    assert {"grahtp", "fgrahtp", "omp", "auto"} <= set(listed)
    assert all(len(line) > 20 and "\n" not in line for line in listed.values())
    assert all(hasattr(as_solver(name)[1], "iterate") for name in listed)
