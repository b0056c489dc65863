"""The step of hard thresholding pursuit that GraHTP and PHT share."""

import numpy as np
import pytest

import pursuit
from pursuit.constraints import AtMost
from pursuit.solvers.steps import natural_steps, thresholding_step


@pytest.fixture
def problem():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 15))
    return pursuit.GLM(X, X[:, :4] @ [3.0, -2.0, 1.0, 0.5] + rng.standard_normal(60)), AtMost(4, 15)


def refits(f, calls):
    def refit(support, ahead):
        calls.append(tuple(support))
        return f.refit(support)

    return refit


def test_the_first_natural_step_that_lowers_the_value_is_taken(problem):
    f, constraint = problem
    point, calls = f.refit(np.array([10, 11, 12, 13])), []
    following = thresholding_step(f, constraint, point, None, constraint.top, refits(f, calls))
    assert following.value < point.value
    assert tuple(following.support) == calls[-1]
    assert all(f.refit(np.array(support)).value >= point.value for support in calls[:-1])


def test_no_support_is_refitted_twice_in_a_row(problem):
    f, constraint = problem
    best, calls = f.refit(np.array([0, 1, 2, 3])), []
    assert len(list(natural_steps(f, constraint, best))) >= 4
    worse = np.array([0, 1, 2, 14])  # every step leads to one support that is no better
    assert thresholding_step(f, constraint, best, None, lambda z: worse, refits(f, calls)) is None
    assert calls == [tuple(worse)]


def test_a_constant_step_is_taken_whatever_it_gives(problem):
    f, constraint = problem
    best, worse, calls = f.refit(np.array([0, 1, 2, 3])), np.array([0, 1, 2, 14]), []
    following = thresholding_step(f, constraint, best, 0.1, lambda z: worse, refits(f, calls))
    assert following.value > best.value
    assert thresholding_step(f, constraint, best, 0.1, lambda z: best.support, refits(f, calls)) is None
