"""Time, callbacks and Ctrl-C end a path early, and what was reached is given."""

import time

import numpy as np
import pytest

import pursuit
from paths.cases import function, glm, several


@pytest.fixture(scope="module")
def wide():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 1500))
    return pursuit.GLM(X, X[:, :30] @ rng.standard_normal(30) + rng.standard_normal(400))


CASES = {
    "squared": lambda: glm("squared").f,
    "logistic": lambda: glm("logistic").f,
    "hinge": lambda: glm("hinge").f,
    "operator": lambda: glm("squared", kind="operator").f,
    "multinomial": lambda: several("multinomial").f,
    "function": lambda: function().f,
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("limit", [0.0, 1e-9, 1e-3])
def test_hardly_any_time(name, limit):
    path = pursuit.path(CASES[name](), range(6), time_limit=limit)
    assert path.status in ("time_limit", "converged")
    if path.status == "time_limit":
        assert f"the time limit of {limit:g} s was reached" in path.reason
    assert path.ks.tolist() == list(range(len(path)))
    assert (np.diff(path.values) <= 0).all()


def test_a_limit_is_kept(wide):
    began = time.process_time()
    path = pursuit.path(wide, range(1, 200), time_limit=0.2)
    assert time.process_time() - began < 3.0
    assert path.status in ("time_limit", "converged")


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("solver", ["auto", "omp"])
def test_a_callback_sees_every_size_and_stops(name, solver):
    f, seen, last = CASES[name](), [], 3 if name == "hinge" else 5
    path = pursuit.path(f, [0, last], solver=solver, callback=lambda k, value: seen.append((k, value)))
    assert [k for k, _ in seen] == list(range(last + 1))
    assert path.status == "converged"
    stopped = pursuit.path(f, range(last + 1), solver=solver, callback=lambda k, value: k == 2)
    assert stopped.status == "interrupted"
    assert stopped.reason == "stopped by the callback at size 2"
    assert stopped.ks.tolist() == [0, 1, 2]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("at", [0, 3])
def test_the_users_interrupt_leaves_the_path_so_far(name, at):
    def interrupt(k, value):
        if k == at:
            raise KeyboardInterrupt

    path = pursuit.path(CASES[name](), range(6), callback=interrupt)
    assert path.status == "interrupted"
    assert "interrupted by the user" in path.reason
    assert len(path) > at


@pytest.mark.parametrize("name", CASES)
def test_a_callbacks_own_error_is_its_own(name):
    def broken(k, value):
        raise RuntimeError(f"at {k}")

    with pytest.raises(RuntimeError, match="at 0"):
        pursuit.path(CASES[name](), range(4), callback=broken)


def test_an_objective_without_a_kernel_is_interrupted_too(monkeypatch):
    f = function().f
    refit = type(f).refit

    def sometimes(self, support, *given, **how):
        if len(support) == 4:
            raise KeyboardInterrupt
        return refit(self, support, *given, **how)

    monkeypatch.setattr(type(f), "refit", sometimes)
    path = pursuit.path(f, range(8))
    assert path.status == "interrupted"
    assert "interrupted by the user after size" in path.reason
    assert path.ks.tolist() == [0, 1, 2, 3]
