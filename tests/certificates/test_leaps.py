"""Leaps and bounds against enumeration by least squares, over all options and the kinds of data that go wrong."""

import itertools
import os
from pathlib import Path

import numpy as np
import pytest

import pursuit
from pursuit import GLM, best_subsets, certify, solve
from pursuit.certificates import subsets

DATA = Path(os.environ.get("PURSUIT_DATA", Path(__file__).parents[3] / "shared" / "data"))


def minimum(X, y, cols, l2, intercept, weight):
    """f on some columns by ``lstsq`` on columns of norm 1: nothing of the library."""
    c = np.ones(len(y)) if weight is None else weight
    c = c / c.sum()
    A, t = X[:, list(cols)], y
    if intercept:
        A, t = A - c @ A, t - c @ t
        A = A - c @ A
    root = np.sqrt(c)
    W = np.vstack([root[:, None] * A, np.sqrt(l2) * np.eye(len(cols))])
    t = np.append(root * t, np.zeros(len(cols)))
    norm = np.linalg.norm(W, axis=0)
    alive = norm > 1e-13 * np.sqrt(c @ X[:, list(cols)] ** 2 + l2)
    W = W[:, alive] / norm[alive]
    U, s, _ = np.linalg.svd(W, full_matrices=False)
    Q = U[:, s > 1e-11]
    left = t - Q @ (Q.T @ t)
    left -= Q @ (Q.T @ left)
    return 0.5 * float(left @ left)


def draw(seed):
    """Data and options; every trait comes alone and with others."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(3, 25)), int(rng.integers(1, 9))
    X = rng.standard_normal((n, p)) + rng.uniform(0, 2) * rng.standard_normal((n, 1))
    whole = rng.random() < 0.5
    if whole:
        X = np.round(2 * X)
    if p > 2 and rng.random() < 0.3:
        X[:, 2] = X[:, 0]
    if p > 3 and rng.random() < 0.3:
        X[:, 3] = X[:, 0] - 2 * X[:, 1] if whole else -2 * X[:, 1]  # exactly: what rounding leaves is a column too
    if p > 4 and rng.random() < 0.2:
        X[:, 4] = 3.0
    y = X[:, : min(p, 3)].sum(axis=1) + rng.standard_normal(n)
    if rng.random() < 0.15:
        y = X[:, 0] - X[:, -1]
    if rng.random() < 0.3:
        X = X * 2.0 ** rng.integers(-30, 30, p)
    options = {"fit_intercept": bool(rng.random() < 0.6), "l2": float(rng.choice([0.0, 0.0, 1e-3, 0.1]))}
    if rng.random() < 0.3:
        options["sample_weight"] = rng.integers(0, 4, n).astype(float)
        options["sample_weight"][:2] = 1.0
    order = rng.permutation(p)
    include = [int(order[0])] if rng.random() < 0.25 else []
    exclude = [int(order[1])] if p > 1 and rng.random() < 0.25 else []
    return X, 10.0 ** rng.uniform(-8, 8) * y, options, include, exclude, int(rng.integers(1, 5))


def check(seed):
    """The seed's table has every row that enumeration has, in order, with its value, and says that it is proved."""
    X, y, options, include, exclude, nbest = draw(seed)
    p, l2 = X.shape[1], options["l2"]
    intercept, weight = options["fit_intercept"], options.get("sample_weight")
    table = best_subsets(X, y, p, nbest, include=include, exclude=exclude, **options)
    free = [j for j in range(p) if j not in include and j not in exclude]
    height = minimum(X, y, (), l2, intercept, weight)
    for k in range(max(1, len(include)), len(include) + len(free) + 1):
        sets = [(*include, *some) for some in itertools.combinations(free, k - len(include))]
        truth = sorted(minimum(X, y, sorted(some), l2, intercept, weight) for some in sets)[:nbest]
        rows = [row for row in table if row.k == k]
        assert len(rows) == len(truth), (seed, k)
        assert len({row.support for row in rows}) == len(rows)
        np.testing.assert_allclose(
            [row.value for row in rows], truth, rtol=2e-8, atol=2e-13 * height, err_msg=f"{seed}"
        )
        for row in rows:
            assert row.proved, (seed, k, row.rank)
            assert set(include) <= set(row.support)
            assert not set(exclude) & set(row.support)
            own = minimum(X, y, row.support, l2, intercept, weight)
            assert row.value == pytest.approx(own, rel=2e-8, abs=2e-13 * height)


@pytest.mark.parametrize("block", range(10))
def test_tables_equal_enumeration(block):
    for seed in range(30 * block, 30 * block + 30):
        check(seed)
