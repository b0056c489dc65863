"""The sparse set: what ``top`` keeps, who is in and out, groups, ties, and what it does not accept."""

from itertools import combinations

import numpy as np
import pytest

from pursuit.constraints import AtMost

LABELS = {
    "strings": np.repeat(["b", "a", "d", "c"], [2, 3, 1, 2]),
    "numbers": np.repeat([30, 10, 40, 20], [2, 3, 1, 2]),
    "scattered": np.array([0, 1, 1, 0, 2, 3, 1, 3]),
    "mixed": np.array(["a", "a", 1, 1, 1, (2, 3), None, None], dtype=object)[[0, 1, 2, 3, 4, 6, 6, 6]],
}
DIM = 8


def units_of(groups):
    """Groups as lists of columns, in the order of their first column."""
    seen = {}
    for column, label in enumerate(groups):
        seen.setdefault(label, []).append(column)
    return list(seen.values())


def brute_top(v, k, include, exclude, groups):
    """The feasible set of at most k units with the largest norm of v; ties to the lowest units."""
    units = units_of(groups)
    forced = [u for u, members in enumerate(units) if set(members) & set(include)]
    allowed = [u for u, members in enumerate(units) if not set(members) & set(exclude)]
    best, kept = -1.0, None
    for chosen in combinations(allowed, min(k, len(allowed))):
        if set(forced) <= set(chosen):
            size = sum(v[column] ** 2 for u in chosen for column in units[u])
            if size > best + 1e-12:
                best, kept = size, chosen
    return sorted(column for u in kept for column in units[u])


@pytest.mark.parametrize("name", [None, *LABELS])
@pytest.mark.parametrize(("include", "exclude"), [((), ()), ((5,), (0,)), ((2, 7), ()), ((), (3, 4))])
@pytest.mark.parametrize("k", [2, 3, 9])
def test_top_is_the_best_feasible_set(name, include, exclude, k, rng):
    groups = np.arange(DIM) if name is None else LABELS[name]
    if {tuple(g) for g in units_of(groups) if set(g) & set(include)} & {
        tuple(g) for g in units_of(groups) if set(g) & set(exclude)
    }:
        with pytest.raises(ValueError, match="include and exclude overlap"):
            AtMost(k, DIM, include, exclude, groups)
        return
    constraint = AtMost(k, DIM, include, exclude, None if name is None else groups)
    for _ in range(5):
        v = rng.integers(-3, 4, DIM).astype(float)  # many ties
        top = constraint.top(v)
        assert top.tolist() == brute_top(v, k, include, exclude, groups)
        assert constraint.allows(top)
        assert constraint.count(top) <= k


def test_ties_go_to_the_lowest_index():
    assert AtMost(3, 6).top(np.ones(6)).tolist() == [0, 1, 2]
    assert AtMost(2, 6, exclude=[0]).top(np.ones(6)).tolist() == [1, 2]
    assert AtMost(2, 6, include=[5]).top(np.zeros(6)).tolist() == [0, 5]
    assert AtMost(1, 6, groups=[9, 9, 1, 1, 4, 4]).top(np.ones(6)).tolist() == [0, 1]


def test_nan_counts_as_smallest():
    assert AtMost(2, 4).top(np.array([np.nan, 1.0, 0.0, 2.0])).tolist() == [1, 3]


def test_a_budget_and_what_to_keep():
    constraint = AtMost(3, 6, include=[5])
    v = np.array([5.0, 4.0, 3.0, 2.0, 1.0, 0.0])
    assert constraint.top(v, 1).tolist() == [5]
    assert constraint.top(v, 2).tolist() == [0, 5]
    assert constraint.top(v, 3, keep=np.array([4])).tolist() == [0, 4, 5]


@pytest.mark.parametrize("include", [(), (1,)])
@pytest.mark.parametrize("groups", [None, [0, 0, 1, 1, 2, 2, 3, 3]])
def test_the_first_change_of_support_is_where_it_says(include, groups, rng):
    constraint = AtMost(2, DIM, include, [6], groups)
    for _ in range(20):
        x, g = np.zeros(DIM), rng.standard_normal(DIM)
        support = constraint.top(rng.standard_normal(DIM))
        x[support] = rng.standard_normal(len(support))
        g[support] = 0.0
        step = constraint.first_change(support, x, g)
        assert np.array_equal(constraint.top(x - step * (1 - 1e-9) * g), support)
        if np.isfinite(step):
            assert not np.array_equal(constraint.top(x - step * (1 + 1e-9) * g), support)


@pytest.mark.parametrize("k", [0, -1, -(10**20)])
def test_k_below_one(k):
    with pytest.raises(ValueError, match=f"k must be a positive integer, got {k}"):
        AtMost(k, 5)


@pytest.mark.parametrize("k", [2.0, 2.5, "2", None, True, np.nan, [2]])
def test_k_that_is_no_integer(k):
    with pytest.raises(TypeError, match="k must be a positive integer"):
        AtMost(k, 5)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"include": [5]}, ValueError, "include must hold column indices from 0 to 4, got 5"),
        ({"exclude": [-1]}, ValueError, "exclude must hold column indices from 0 to 4, got -1"),
        ({"include": [1.0]}, TypeError, "include must hold column indices"),
        ({"exclude": ["a"]}, ValueError, "exclude names column 'a', which X does not have; X has no column names"),
        ({"include": [[0, 1]]}, TypeError, "include must hold column indices"),
        ({"include": [True, False]}, ValueError, r"include is a mask of shape \(2,\), and there are 5 columns"),
        ({"include": [1, 2], "exclude": [2]}, ValueError, "include and exclude overlap: column 2 is in both"),
        ({"include": [0, 1, 2]}, ValueError, "include names 3 columns, more than k=2 allows"),
        ({"exclude": range(5)}, ValueError, "exclude forbids every column"),
        (
            {"groups": [0, 1]},
            ValueError,
            r"groups must give one label per column \(text or a number\), 5 of them, got 2",
        ),
        ({"groups": 3}, ValueError, "groups must give one label per column .* got 3"),
        ({"groups": [0, 1, np.nan, 1, 0]}, ValueError, "groups contains NaN"),
    ],
)
def test_what_is_not_accepted(settings, error, message):
    with pytest.raises(error, match=message):
        AtMost(2, 5, **settings)


def test_a_generator_and_repeats_are_fine():
    constraint = AtMost(2, 5, include=(j for j in (3, 3)), exclude=np.array([0, 0]))
    assert constraint.top(np.ones(5)).tolist() == [1, 3]
    assert constraint.forced.tolist() == [3]
