"""Exchanges with a newcomer that rounding alone keeps from being a combination: bounds against rational arithmetic."""

from fractions import Fraction

import numpy as np
import pytest

from pursuit import GLM


def minimum(columns, y, weights):
    """The least weighted sum of squares / 2, by elimination on the normal equations in rational numbers."""
    A, b, c = ([[Fraction(float(v)) for v in column] for column in some] for some in (columns, [y], [weights]))
    scaled = [[v * w for v, w in zip(column, c[0], strict=True)] for column in A]
    G = [[sum(map(Fraction.__mul__, s, a)) for a in [*A, b[0]]] for s in scaled]
    loss = sum(w * v * v for w, v in zip(c[0], b[0], strict=True))
    for i, row in enumerate(G):
        if row[i] == 0:
            continue
        loss -= row[-1] ** 2 / row[i]
        for other in G[i + 1 :]:
            factor = other[i] / row[i]
            other[:] = [a - factor * r for a, r in zip(other, row, strict=True)]
    return loss / 2


def problem(seed, intercept, responses=1):
    rng = np.random.default_rng(seed)
    S = rng.standard_normal((12, 3)) + 5.0
    newcomers = [0.1 * S[:, 0] + 0.7 * S[:, 1], S.sum(axis=1) / 3.0, 1.8 * S[:, 2] + 32.0]
    X = np.c_[S, newcomers[seed % 3]]
    weights, y = rng.uniform(0.5, 2.0, 12), rng.standard_normal((12, responses)).squeeze() + 3.0
    if seed >= 6:
        weights[[2, 7]] = 0.0
    f = GLM(X, y, sample_weight=weights, fit_intercept=intercept)
    columns = [*X.T, np.ones(12)] if intercept else [*X.T]
    return f, columns, y, f.data.rows.c


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_bounds_are_below_the_exact_change_and_close_to_it(seed, intercept):
    f, columns, y, c = problem(seed, intercept)
    found = f.exchange_bounds(np.arange(3), 3)
    assert found is not None
    before = minimum(columns[:3] + columns[4:], y, c)
    for i in range(3):
        change = float(minimum(columns[:i] + columns[i + 1 :], y, c) - before)
        assert found[i] <= change
        assert found[i] >= change - 1e-6 * f.null.value


@pytest.mark.parametrize("seed", range(4))
def test_changes_of_several_responses_are_sums(seed):
    f, columns, y, c = problem(seed, True, responses=3)
    found = f.exchange_bounds(np.arange(3), 3)
    assert found is not None
    for i in range(3):
        supports = [columns[:i] + columns[i + 1 :], columns[:3] + columns[4:]]
        change = float(np.subtract(*(sum(minimum(some, target, c) for target in y.T) for some in supports)))
        assert change - 1e-6 * f.null.value <= found[i] <= change


def test_no_bound_with_a_ridge_or_an_exact_combination():
    f, *_ = problem(0, True)
    assert f.ridged(np.full(4, 0.1)).exchange_bounds(np.arange(3), 3) is None
    X = np.random.default_rng(0).integers(0, 3, (12, 3)).astype(float)
    exact = GLM(np.c_[X, X[:, 0] + X[:, 1]], np.arange(12.0) ** 2)
    assert exact.exchange_bounds(np.arange(3), 3) is None
