"""``auto``: no worse than what it is made of, and every claim about exchanges checked by refitting all of them."""

import itertools
import time

import numpy as np
import pytest
from scipy.special import expit

import pursuit.solvers.auto as module
from pursuit import GLM, MultiGLM, solve
from pursuit.constraints import AtMost
from pursuit.kernels.search import SearchPlan
from pursuit.solvers import Auto

PARTS = ("grahtp", "omp", "ompr", "local_search")
LOSSES = ("squared", "logistic", "poisson", "multinomial", "huber", "smoothed_hinge", "squared_hinge")
PROVABLE = LOSSES[1:]  # by a bound of each exchange; the squared loss computes them all


def problem(loss, seed, n=60, p=14, rho=0.7, size=1.5, l2=0.0, **options):
    """Correlated columns of different sizes, three of them with an effect of ``size``."""
    rng = np.random.default_rng([seed, n, p])
    X = rng.standard_normal((n, p))
    for j in range(1, p):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    eta = size * X[:, rng.choice(p, 3, replace=False)] @ rng.choice([-1.0, 1.0], 3)
    X = X * np.exp(rng.normal(0, 1, p)) + rng.normal(0, 1, p)
    if loss == "multinomial":
        y = (np.column_stack([eta, -eta, np.roll(eta, 1)]) + rng.gumbel(size=(n, 3))).argmax(1)
        return MultiGLM(X, y, l2=l2, **options)
    if loss in ("squared", "huber"):
        return GLM(X, eta + rng.standard_t(3, n), loss, l2=l2, **options)
    if loss == "poisson":
        return GLM(X, rng.poisson(np.exp(np.clip(eta, -4, 4))), loss, l2=l2, **options)
    return GLM(X, rng.random(n) < expit(eta), loss, l2=l2, **options)


def width(f):
    return getattr(f, "width", 1)


def refitted(f, columns):
    columns = np.sort(np.asarray(columns, dtype=np.int64))
    return f.refit((columns[:, None] * width(f) + np.arange(width(f))).ravel())


def exchanged(f, support):
    """The values of all supports that differ by one column."""
    p = f.dim // width(f)
    for i, j in itertools.product(range(len(support)), np.setdiff1d(np.arange(p), support)):
        yield refitted(f, np.append(np.delete(support, i), j)).value


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_no_worse_than_its_parts(loss, standardize, seed):
    f = problem(loss, seed, l2=[0.0, 1e-3][seed % 2], size=[0.7, 3.0][seed // 2], standardize=standardize)
    value = solve(f, 4).value
    best = min(solve(f, 4, solver=name).value for name in PARTS)
    assert value <= max(best + 1e-9 * f.scale(best), f.floor)


@pytest.mark.parametrize("options", [{"bounds": (0.0, 0.4)}, {"sum_to": 1.0}, {"groups": np.arange(14) // 2}])
@pytest.mark.parametrize("seed", range(3))
def test_no_worse_than_its_parts_with_constraints(options, seed):
    f = problem("squared", seed)
    value = solve(f, 4, **options).value
    best = min(solve(f, 4, solver=name, **options).value for name in PARTS)
    assert value <= best * (1 + 1e-9)


@pytest.mark.parametrize("loss", PROVABLE)
@pytest.mark.parametrize("seed", range(6))
def test_what_is_proved_of_exchanges_is_true(loss, seed):
    f = problem(loss, seed, n=[40, 90][seed % 2], p=9, size=[1.0, 4.0][seed // 3], rho=[0.5, 0.99][seed % 2])
    result = solve(f, 3, solver=Auto(prove=True))
    nearest = min(exchanged(f, result.support))
    assert nearest >= result.value - 1e-8 * f.scale(result.value)
    if result.optimality == "swap_optimal":
        assert "no single exchange helps" in result.reason
    else:
        assert "are not excluded" in result.reason


@pytest.mark.parametrize("loss", PROVABLE)
def test_ordinary_data_are_proved(loss):
    l2 = 1e-3 if loss == "smoothed_hinge" else 0.0  # without a ridge its bound is often too weak
    proved = [solve(problem(loss, seed, l2=l2), 3, solver=Auto(prove=True)).optimality for seed in range(5)]
    assert proved == ["swap_optimal"] * 5


@pytest.mark.parametrize("loss", LOSSES[:4])
@pytest.mark.parametrize("seed", range(4))
def test_the_best_of_all_supports(loss, seed):
    f = problem(loss, seed, p=8, l2=1e-3)
    every = {S: refitted(f, S).value for S in itertools.combinations(range(8), 3)}
    assert solve(f, 3).value == pytest.approx(min(every.values()), rel=1e-9)


@pytest.mark.parametrize("loss", LOSSES[:4])
def test_forced_and_forbidden_columns(loss):
    f = problem(loss, 1, p=9)
    include, exclude = [2, 5], [0, 8]
    result = solve(f, 4, include=include, exclude=exclude)
    others = [j for j in range(9) if j not in include + exclude]
    values = [refitted(f, [*include, *pair]).value for pair in itertools.combinations(others, 2)]
    assert result.value == pytest.approx(min(values), rel=1e-9)
    assert set(include) <= set(result.support.tolist())


@pytest.mark.parametrize("loss", LOSSES[:4])
def test_a_start_is_taken_up(loss):
    """A start at the best of all supports is not left, with no restart that could find it again."""
    f = problem(loss, 2, p=12, rho=0.95)
    best = solve(f, 5, solver=Auto(restarts=200))
    again = solve(f, 5, solver=Auto(restarts=0), start=best)
    assert again.value <= best.value + 1e-9 * f.scale(best.value)


@pytest.mark.parametrize("loss", LOSSES[:4])
def test_units_do_not_matter_once_standardised(loss):
    f = problem(loss, 3, l2=1e-3, standardize=True)
    X, y = f.data.design.base, f.data.rows.y
    sizes = 10.0 ** np.random.default_rng(0).uniform(-6, 6, 14)
    columns = X.stored(np.arange(14))[0]
    twin = type(f)(columns * sizes, y, f.loss if loss == "multinomial" else loss, l2=1e-3, standardize=True)
    one, other = solve(f, 4), solve(twin, 4)
    assert np.array_equal(one.support, other.support)
    assert one.value == pytest.approx(other.value, rel=1e-9)


def test_a_limit_is_not_a_target():
    result = solve(problem("logistic", 0), 3, time_limit=30.0)
    assert result.status == "converged"
    assert result.seconds < 10


def test_restarts_until_the_limit_need_one():
    with pytest.raises(ValueError, match="give a time_limit"):
        solve(problem("logistic", 0), 3, solver=Auto(restarts="limit"))
    with pytest.raises(ValueError, match="'limit' or None, got 'many'"):
        Auto(restarts="many")


@pytest.mark.parametrize("loss", ["squared", "logistic", "multinomial"])
def test_a_limit_stops_the_kernel(loss):
    f, began = problem(loss, 0, p=40), time.process_time()
    result = solve(f, 6, solver=Auto(restarts="limit"), time_limit=2.5)  # a fifth to judge the end, on a busy machine
    assert result.seconds >= 2.0  # four fifths of it for restarts
    assert time.process_time() - began < 9
    assert result.optimality == "swap_optimal"
    assert result.value <= solve(f, 6, solver=Auto(restarts=0)).value + 1e-9 * f.scale(result.value)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_an_interrupt_keeps_the_best_point(loss, monkeypatch):
    calls = []

    def interrupted():
        calls.append(time.perf_counter())
        if len(calls) == 4:
            raise KeyboardInterrupt
        return False

    monkeypatch.setattr(module, "late", interrupted)
    f = problem(loss, 0, p=40)
    result = solve(f, 6, solver=Auto(restarts=10**9))
    assert result.status == "interrupted"
    assert len(result.support) == 6
    assert result.value < solve(f, 6, solver="omp").value * (1 + 1e-9)
    assert len(calls) <= 5  # the kernel does not ask again, the solver may once


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_the_kernel_asks_often(loss):
    f = problem(loss, 0, p=40)
    assert f.null.value > 0  # which is computed once
    moments = []

    def ask():
        moments.append(time.process_time())
        return len(moments) >= 20

    f.quick_search(AtMost(6, f.dim), np.empty(0, np.int64), SearchPlan(10**9, 10**9, np.inf, 0, 0, ask))
    assert len(moments) == 20
    assert np.median(np.diff(moments)) < 0.1  # 10 ms on each thread, and room


def test_the_same_seed_is_the_same_run():
    f = problem("logistic", 5, p=40, rho=0.9)
    runs = [solve(f, 6, random_state=seed, solver=Auto(restarts=5)).x for seed in (0, 0, 1)]
    assert np.array_equal(runs[0], runs[1])
