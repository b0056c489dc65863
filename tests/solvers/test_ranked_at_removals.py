"""Exchanges ranked where the unit that leaves is gone, and searches of several classes, against refits of all."""

import numpy as np
import pytest

from pursuit import GLM, solve
from pursuit.objectives.multi import MultiGLM
from pursuit.solvers.exchanges import newcomers

PAIRS = np.repeat(np.arange(6), 2)


def draw(seed, classes):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 12)) + rng.standard_normal((60, 1))
    score = 2 * X[:, :3] @ rng.standard_normal((3, classes)) + rng.gumbel(size=(60, classes))
    return X, score.argmax(axis=1)


@pytest.mark.parametrize("groups", [None, PAIRS])
@pytest.mark.parametrize("inside", [[], [1], [1, 4]])
def test_gains_on_top_of_a_support_are_those_of_refits(groups, inside):
    X, _ = draw(0, 3)
    f = GLM(X, X[:, 0] - X[:, 7] + 0.1 * X[:, 3] ** 2)
    constraint = f.sparse_set(4, groups=groups)
    point = f.refit(constraint.columns_of(np.array(inside, np.int64)))
    units, gains = newcomers(f, constraint, point, np.array([2]), 3)
    every = np.setdiff1d(constraint.allowed, [*inside, 2])
    exact = {j: point.value - f.refit(constraint.columns_of(np.union1d(inside, [j]).astype(int))).value for j in every}
    best = sorted(exact, key=lambda j: -exact[j])[:3]
    assert units.tolist() == best
    np.testing.assert_allclose(gains, [exact[j] for j in best], rtol=1e-8)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("classes", [2, 3])
def test_local_search_of_few_groups_leaves_no_exchange_that_helps(seed, classes):
    X, y = draw(seed, classes)
    f = GLM(X, y, "logistic", l2=0.01) if classes == 2 else MultiGLM(X, y, l2=0.01)
    constraint = f.sparse_set(2, groups=PAIRS)
    result = solve(f, 2, solver="local_search", groups=PAIRS)
    mine = np.unique(PAIRS[result.support])
    assert len(mine) == 2
    for i in mine:
        for j in np.setdiff1d(np.arange(6), mine):
            other = f.refit(constraint.columns_of(np.union1d(np.setdiff1d(mine, [i]), [j])))
            assert other.value >= result.value - 1e-9


@pytest.mark.parametrize("l2", [0.0, 0.01])
@pytest.mark.parametrize("seed", range(3))
def test_one_column_for_several_classes_is_the_best_of_all(seed, l2):
    X, y = draw(seed, 4)
    y[:2] = 4  # a class with two rows
    X[:, 5], X[:, 6] = 0.0, np.arange(60) == 7  # no entry, one entry
    f = MultiGLM(X, y, l2=l2)
    values = [solve(f, 1, include=[j]).value for j in range(12)]
    result = solve(f, 1)
    assert result.value == pytest.approx(min(values), rel=1e-7)
    assert result.support.tolist() == [int(np.argmin(values))]


def test_nearly_dependent_columns_of_several_classes_are_fitted_to_the_minimum():
    X, y = draw(3, 3)
    X[:, 4] = X[:, 0] + X[:, 1] + 1e-6 * X[:, 4]
    inside = np.array([0, 1, 4])
    result = solve(MultiGLM(X, y), 3, include=inside)
    basis = X[:, inside].copy()
    basis[:, 2] = 1e6 * (X[:, 4] - X[:, 0] - X[:, 1])
    assert result.value == pytest.approx(solve(MultiGLM(basis, y), 3, include=[0, 1, 2]).value, rel=1e-8)
