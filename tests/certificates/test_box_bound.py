"""Lower bounds inside a box and with a given sum, next to the best of all subsets."""

from itertools import combinations

import numpy as np
import pytest

from pursuit import GLM, Quadratic, certify, solve
from pursuit.objectives.bounded import Bounded


def best_of_all(f, k, bounds, sum_to, p):
    """The least value of all supports of k columns, by box-constrained refits."""
    inner = Bounded(f, bounds, sum_to)
    points = [inner.refit(np.array(columns)) for columns in combinations(range(p), k)]
    return min(point.value for point in points if inner.holds(point))


def portfolio(seed, p=9):
    """The sums whose minimum is a portfolio's: variance, and returns in the linear part."""
    rng = np.random.default_rng(seed)
    returns = rng.standard_normal((120, 3)) @ rng.standard_normal((3, p)) + 0.5 * rng.standard_normal((120, p)) + 0.1
    centred = returns - returns.mean(axis=0)
    gram, xy = centred.T @ centred, 120 * 0.3 * returns.mean(axis=0)
    return Quadratic(gram, xy, 1.1 * float(xy @ np.linalg.solve(gram, xy)), 120)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(("bounds", "sum_to"), [((0, 1), 1.0), ((0, 0.4), 1.0), ((-0.3, 0.6), 0.5), ((0, 2), None)])
def test_bounds_of_portfolios_are_below_the_best_of_all(seed, bounds, sum_to):
    f = portfolio(seed)
    k = 3 if bounds != (0, 0.4) else 4
    result = solve(f, k, bounds=bounds, sum_to=sum_to)
    found = certify(f, result)
    best = best_of_all(f, k, bounds, sum_to, 9)
    assert found.lower <= best * (1 + 1e-12)
    assert found.upper == pytest.approx(result.value)
    assert found.status == "bounded" or result.value == pytest.approx(best, rel=1e-6)
    everything = Bounded(f, bounds, sum_to).refit(np.arange(9)).value
    assert found.lower >= everything - 1e-6 * abs(everything)  # it knows the box and the sum


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("seed", range(4))
def test_bounds_of_data_are_below_the_best_of_all(loss, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 7)) * np.logspace(-1, 1, 7)
    y = X @ rng.standard_normal(7) + rng.standard_normal(60)
    f = GLM(X, y if loss == "squared" else (y > 0).astype(float), loss, standardize=True)
    low = np.where(np.arange(7) == 2, -np.inf, 0.0)
    result = solve(f, 3, bounds=(low, 0.5), sum_to=0.4)
    found = certify(f, result)
    assert found.lower <= best_of_all(f, 3, (low, 0.5), 0.4, 7) * (1 + 1e-9)


def test_a_portfolio_of_all_columns_is_proved():
    f = portfolio(0)
    assert certify(f, solve(f, 9, bounds=(0, 1), sum_to=1.0)).status == "proved"
