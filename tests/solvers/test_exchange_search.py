"""Local search and auto: exchange-optimal, against brute force over exchanges and over supports."""

import itertools
import time

import numpy as np
import pytest

from pursuit import GLM, MultiGLM, solve
from pursuit.solvers import Auto


def linear(seed, n=60, p=14, rho=0.8):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    for j in range(1, p):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    y = X[:, ::4].sum(1) + rng.standard_normal(n)
    return X, y


def changes(objective, support, p):
    """The change of f for every single exchange, by refitting."""
    here = objective.refit(support).value
    for i, j in itertools.product(support, np.setdiff1d(np.arange(p), support)):
        yield objective.refit(np.sort(np.append(support[support != i], j))).value - here, int(i), int(j)


@pytest.mark.parametrize("solver", ["local_search", "auto"])
@pytest.mark.parametrize("seed", range(4))
def test_no_exchange_helps_and_the_next_best_is_told(solver, seed):
    X, y = linear(seed)
    objective = GLM(X, y)
    result = solve(objective, 4, solver=solver)
    assert result.optimality == "swap_optimal"
    change, leave, enter = min(changes(objective, result.support, 14))
    assert change >= -1e-9 * result.value
    assert result.exchange.change == pytest.approx(change, rel=1e-6)
    assert (result.exchange.leave, result.exchange.enter) == ((leave,), (enter,))


@pytest.mark.parametrize("seed", range(3))
def test_other_losses_claim_no_more_than_the_model(seed):
    X, y = linear(seed)
    objective = GLM(X, (y > 0).astype(float), "logistic", l2=0.01)
    result = solve(objective, 3, solver="local_search")
    assert result.optimality == "swap_stationary"
    assert min(changes(objective, result.support, 14))[0] >= -1e-9


@pytest.mark.parametrize("solver", ["local_search", "auto"])
def test_groups_are_exchanged_whole(solver):
    X, y = linear(1, p=12)
    groups = np.repeat(["c", "a", "d", "b"], 3)
    objective = GLM(X, y)
    result = solve(objective, 2, solver=solver, groups=groups)
    values = {}
    for pair in itertools.combinations(range(4), 2):
        columns = np.concatenate([np.arange(3 * g, 3 * g + 3) for g in pair])
        values[pair] = objective.refit(columns).value
    assert result.value == pytest.approx(min(values.values()))
    assert len(result.support) == 6
    assert result.optimality == "swap_optimal"


def test_forced_columns_stay_and_forbidden_ones_stay_out():
    X, y = linear(2)
    result = solve(GLM(X, y), 4, include=[13], exclude=[0, 4])
    assert 13 in result.support
    assert not {0, 4} & set(result.support.tolist())
    assert 13 not in result.exchange.leave
    assert not {0, 4} & set(result.exchange.enter)


def test_restarts_fill_the_time_that_is_given():
    (X, y), began = linear(4, p=30), time.process_time()
    result = solve(GLM(X, y), 6, solver=Auto(restarts="limit"), time_limit=0.3, random_state=0)
    assert result.optimality == "swap_optimal"
    assert result.seconds >= 0.2
    assert time.process_time() - began < 5
    assert result.value <= solve(GLM(X, y), 6).value * (1 + 1e-12)


@pytest.mark.parametrize("loss", ["multinomial", "squared"])
def test_several_outputs_share_the_best_support(loss):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 7))
    scores = X[:, [1, 4]] @ rng.standard_normal((2, 3)) * 2
    Y = scores + rng.standard_normal((90, 3)) if loss == "squared" else (scores + rng.gumbel(size=(90, 3))).argmax(1)
    objective = MultiGLM(X, Y, loss, l2=0.01)
    result = solve(objective, 2)
    values = {}
    for pair in itertools.combinations(range(7), 2):
        values[pair] = objective.refit((np.array(pair)[:, None] * 3 + np.arange(3)).ravel()).value
    assert tuple(result.support) == min(values, key=values.get)
    assert result.coef.shape == (2, 3)
    assert result.x.shape == (7, 3)
    assert result.value == pytest.approx(min(values.values()))
