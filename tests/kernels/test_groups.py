"""Paths of groups of columns against a NumPy twin and against enumeration."""

from itertools import combinations

import numpy as np
import pytest

from pursuit import GLM, _core
from pursuit.kernels.groups import group_supports
from pursuit.solvers.group_path import group_path
from pursuit.solvers.path_search import PathSearch, exchanged

WIDTHS = (1, 4, 3, 1, 4, 2, 4, 1)


def problem(seed=0, widths=WIDTHS, n=60):
    g = np.random.default_rng(seed)
    p = sum(widths)
    A = g.normal(size=(n, p)) @ (np.eye(p) + 0.5 * g.normal(size=(p, p)))
    H = A.T @ A / n + 0.05 * np.eye(p)
    return H, A.T @ (A[:, : p // 2].sum(axis=1) + 3 * g.normal(size=n)) / n, np.concatenate([[0], np.cumsum(widths)])


def value(H, g, starts, groups):
    cols = np.concatenate([np.arange(starts[b], starts[b + 1]) for b in groups] or [np.empty(0, int)]).astype(int)
    return -0.5 * g[cols] @ np.linalg.solve(H[np.ix_(cols, cols)], g[cols]) if len(cols) else 0.0


def call(H, g, starts, k, forced=(), forbidden=(), start=(), wanted=None):
    groups = len(starts) - 1
    masks = np.zeros((2, groups), np.uint8)
    masks[0, list(forced)] = 1
    masks[1] = 1
    masks[1, list(forbidden)] = 0
    flags = np.ones(k + 1, np.uint8) if wanted is None else wanted
    begin = np.array(sorted({*forced, *start}), np.int64)
    return _core.group_path(H, g, starts.astype(np.int64), masks[0], masks[1], begin, flags, 1e-12, None)


def exchange_twin(H, g, starts, groups, fixed=()):
    """Exchanges of one group until none helps."""
    groups, others = set(groups), len(starts) - 1
    while True:
        now = value(H, g, starts, sorted(groups))
        tried = {
            (i, j): value(H, g, starts, sorted(groups - {i} | {j}))
            for i in groups - set(fixed)
            for j in set(range(others)) - groups
        }
        best = min(tried, key=tried.get, default=None)
        if best is None or tried[best] >= now - 1e-12:
            return sorted(groups)
        groups = groups - {best[0]} | {best[1]}


@pytest.mark.parametrize("seed", range(12))
def test_values_are_those_of_the_supports_and_no_exchange_helps(seed):
    H, g, starts = problem(seed)
    supports, values, error = call(H, g, starts, 6)
    assert error is None
    for size, (groups, found) in enumerate(zip(supports, values, strict=True)):
        assert len(groups) == size
        assert found == pytest.approx(value(H, g, starts, groups), rel=1e-9, abs=1e-12)
        assert exchange_twin(H, g, starts, groups.tolist()) == groups.tolist()
    assert (np.diff(values) <= 1e-12).all()


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_most_sizes_are_the_best_of_all(k):
    best = 0
    for seed in range(12):
        H, g, starts = problem(seed)
        found = call(H, g, starts, k)[1][k]
        least = min(value(H, g, starts, S) for S in combinations(range(len(WIDTHS)), k))
        assert found >= least - 1e-10
        best += found <= least + 1e-9
    assert best >= 10


def test_forced_and_forbidden_groups_and_a_start():
    H, g, starts = problem(3)
    supports = call(H, g, starts, 4, forced=[2], forbidden=[0, 5])[0]
    assert supports[0] is None
    for groups in supports[1:]:
        assert 2 in groups
        assert not {0, 5} & set(groups.tolist())
    began = call(H, g, starts, 5, start=[0, 1, 2])[0]
    assert began[1] is not None or began[2] is not None or began[3] is not None
    only = call(H, g, starts, 3, start=[0, 1, 2, 3, 4])[0]  # a start that is too large
    assert len(only[3]) == 3


def test_many_pivots_do_not_drift():
    g0 = np.random.default_rng(0)
    n, groups = 200, 60
    A = np.repeat(g0.normal(size=(n, groups)), 4, axis=1) + 0.1 * g0.normal(size=(n, 4 * groups))
    y = A @ g0.normal(size=4 * groups) + 5 * g0.normal(size=n)
    H, g, starts = A.T @ A / n + 1e-2 * np.eye(4 * groups), A.T @ y / n, np.arange(0, 4 * groups + 1, 4)
    supports, values, _ = call(H, g, starts, 40)
    for size in (10, 25, 40):
        assert values[size] == pytest.approx(value(H, g, starts, supports[size]), rel=1e-8)


def test_wrong_arguments_and_a_stop():
    H, g, starts = problem()
    with pytest.raises(ValueError, match="starts must begin with 0"):
        call(H, g, starts + 1, 2)
    with pytest.raises(ValueError, match="sizes differ"):
        call(H[:-1, :-1], g, starts, 2)

    def stop():
        raise KeyboardInterrupt

    flags = np.ones(3, np.uint8)
    masks = np.ones((2, 8), np.uint8)
    masks[0] = 0
    error = _core.group_path(H, g, starts.astype(np.int64), *masks, np.empty(0, np.int64), flags, 0.0, stop)[2]
    assert error is None or isinstance(error, KeyboardInterrupt)


@pytest.mark.parametrize("loss", ["squared", "logistic", "poisson"])
def test_light_paths_are_as_good_as_those_by_refits(loss):
    g = np.random.default_rng(5)
    X = g.normal(size=(150, 40))
    eta = X[:, :4].sum(axis=1) - X[:, 12:16] @ [1, -1, 0.5, 0]
    y = {
        "squared": eta + g.normal(size=150),
        "logistic": (eta + g.logistic(size=150) > 0).astype(float),
        "poisson": g.poisson(np.exp(0.3 * eta)),
    }[loss]
    f = GLM(X, y, loss, l2=0.01)
    constraint = f.sparse_set(6, (), (), np.repeat(np.arange(10), 4))
    found = group_path(f, constraint)
    assert sorted(found) == list(range(7))
    walk = PathSearch(f, constraint, exchanged(f), 0)
    walk._stages(None, None)
    for size, point in found.items():
        assert point.value == pytest.approx(f.refit(point.support).value, rel=1e-8) if size else True
        assert constraint.count(point.support) <= size
        assert point.value <= walk.best[size].value * (1 + 1e-3)
    only = group_path(f, constraint, (2, 6))
    assert {2, 6} <= set(only)
    assert only[6].value <= walk.best[6].value * (1 + 1e-3)


def test_ungrouped_and_unridged_problems_are_left_alone():
    g = np.random.default_rng(5)
    X, y = g.normal(size=(30, 8)), g.normal(size=30)
    assert group_path(GLM(X, y, l2=0.1), GLM(X, y).sparse_set(3, (), (), None)) is None
    assert group_path(GLM(X, y), GLM(X, y).sparse_set(2, (), (), [0, 0, 1, 1, 2, 2, 3, 3])) is None
    H, gradient = np.eye(8), y[:8]
    constraint = GLM(X, y).sparse_set(2, [1], [7], [0, 1, 0, 1, 2, 2, 3, 3])
    found = group_supports(H, gradient, constraint, constraint.include, (1, 2), 0.0, None)
    assert found[1].tolist() == [1, 3]
    assert len(found[2]) == 4
