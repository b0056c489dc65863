"""The sparse set as a user describes it, and which sizes have a point of it."""

import numpy as np
import pytest

import pursuit
from pursuit.objectives.sparse_set import SparseSet, check_feasible, first_feasible_size


@pytest.fixture
def f():
    rng = np.random.default_rng(0)
    return pursuit.GLM(rng.standard_normal((30, 6)), rng.standard_normal(30))


def test_parameters_of_estimators_are_read_by_name():
    model = pursuit.SparseRegressor(include=[1], exclude=[2], groups=list("aabbcc"), bounds=(0, 1), sum_to=1.0)
    assert SparseSet.of(model) == ([1], [2], list("aabbcc"), (0, 1), 1.0)
    assert SparseSet.of(pursuit.SparseRegressorCV()).is_bounded is False


def test_without_bounds_the_objective_stays_as_it_is(f):
    everything = SparseSet()
    assert everything.restrict(f) is f
    assert first_feasible_size(f, everything.with_budget(f, 3)) == 0


@pytest.mark.parametrize("total", [0.5, 1.0, 1.5, 2.5, 4.0])
def test_sizes_whose_bounds_reach_the_sum(f, total):
    given = SparseSet(include=[5], bounds=(0, 1), sum_to=total)
    constraint, g = given.with_budget(f, 5), given.restrict(f)
    size = first_feasible_size(g, constraint)
    assert size == max(1, int(np.ceil(total)))
    check_feasible(g, constraint.with_budget(size))
    assert g.refit(g.widest(constraint.with_budget(size))).coef.sum() == pytest.approx(total)
    if size > 1:
        with pytest.raises(ValueError, match="sum_to"):
            check_feasible(g, constraint.with_budget(size - 1))


def test_where_no_size_will_do_the_budget_is_named(f):
    given = SparseSet(bounds=(0, 1), sum_to=7.0)
    assert first_feasible_size(given.restrict(f), given.with_budget(f, 5)) == 5
    with pytest.raises(ValueError, match="sum to at most 5"):
        pursuit.solve(f, 5, bounds=(0, 1), sum_to=7.0)
