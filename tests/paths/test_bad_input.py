"""What cannot be meant is an error of one sentence that names the argument; what can be is done, and said."""

import numpy as np
import pytest

import pursuit
from paths.cases import GROUPS, P, glm


@pytest.fixture(scope="module")
def f():
    return glm("squared").f


@pytest.mark.parametrize(
    ("ks", "error", "words"),
    [
        ([], ValueError, "ks is empty"),
        (range(0), ValueError, "ks is empty"),
        ("123", TypeError, "ks must be a list of sizes"),
        (["a"], TypeError, "an entry of ks must be a whole number"),
        (5, TypeError, "ks must be a list of sizes"),
        (None, TypeError, "ks must be a list of sizes"),
        ([1, -1], ValueError, "an entry of ks must be a whole number at least 0, got -1"),
        ([1.0, 2.0], TypeError, "an entry of ks must be a whole number"),
        (np.array([1.5]), TypeError, "an entry of ks must be a whole number"),
        ([True, False], TypeError, "an entry of ks must be a whole number"),
        ([None], TypeError, "an entry of ks must be a whole number"),
        ([[1, 2]], TypeError, "ks must be a list of sizes"),
        (np.ones((2, 2), int), TypeError, "ks must be a list of sizes"),
        ([[1], [1, 2]], TypeError, "ks must be a list of sizes|an entry of ks"),
        ({1: 2}, TypeError, "ks must be a list of sizes"),
    ],
)
def test_sizes_that_are_none(f, ks, error, words):
    with pytest.raises(error, match=words) as raised:
        pursuit.path(f, ks)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("ks", [[3, 1, 3], (1, 3), np.array([3, 1]), {1, 3}, np.array([1, 3], np.uint8), iter([3, 1])])
def test_sizes_in_any_order_and_form(f, ks):
    assert pursuit.path(f, ks).ks.tolist() == [1, 3]


def test_sizes_beyond_what_there_is_are_capped_and_said_once(f):
    path = pursuit.path(f, [2, P, P + 1, 10 * P])
    assert path.ks.tolist() == [2, P]
    assert path.reason.count("was capped at the 9 columns there are") == 1
    few = pursuit.path(f, [50], groups=GROUPS, exclude=[0])
    assert few.ks.tolist() == [3]
    assert "capped at the 3 groups there are" in few.reason


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"include": [1, 2, 3]}, ValueError, "ks holds 2, but include names 3 columns"),
        ({"include": [1], "exclude": [1]}, ValueError, "include and exclude overlap"),
        ({"exclude": list(range(P))}, ValueError, "exclude forbids every column"),
        ({"include": [99]}, ValueError, "include must hold column indices"),
        ({"groups": [1, 2]}, ValueError, "groups must give one label per column"),
        ({"solver": "nosuch"}, ValueError, "solver 'nosuch' is unknown"),
        ({"time_limit": -1}, ValueError, "time_limit must be a finite number at least 0"),
        ({"time_limit": "long"}, TypeError, "time_limit must be a number"),
        ({"max_iter": 0}, ValueError, "max_iter must be a whole number at least 1"),
        ({"tol": -1}, ValueError, "tol must be"),
        ({"callback": 5}, TypeError, "callback must be"),
        ({"bounds": (1.0, 0.0)}, ValueError, "bounds"),
        ({"sum_to": float("nan")}, ValueError, "sum_to"),
    ],
)
def test_other_arguments(f, options, error, words):
    with pytest.raises(error, match=words) as raised:
        pursuit.path(f, [2, 4], **options)
    assert "\n" not in str(raised.value)


def test_an_estimator_is_no_objective():
    with pytest.raises(TypeError, match="objective must be one that solve can minimise"):
        pursuit.path(pursuit.SparseRegressor(k=2), [1])


def test_groups_that_are_forced_in_count_as_groups(f):
    with pytest.raises(ValueError, match="ks holds 1, but include names 2 groups"):
        pursuit.path(f, [1, 3], groups=GROUPS, include=[0, 2])


def test_no_column_is_of_use():
    X = np.ones((20, 4))
    path = pursuit.path(pursuit.GLM(X, np.arange(20.0)), range(4))
    assert path.ks.tolist() == [0, 1, 2, 3]
    assert path.values == pytest.approx([path.null] * 4)


def test_y_is_constant():
    X = np.random.default_rng(0).standard_normal((20, 4))
    path = pursuit.path(pursuit.GLM(X, np.full(20, 2.5)), range(5))
    assert path.ks.tolist() == [0, 1, 2, 3, 4]
    assert path.values == pytest.approx(np.zeros(5), abs=1e-20)
    assert (path.explained == 0).all()
