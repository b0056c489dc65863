"""Different rows are counted, wherever the rows are."""

import numpy as np
import pytest
import scipy.sparse as sp

from pursuit import GLM, InParts
from pursuit.data.distinct import sampled


def rows(kinds, p, seed=0, n=90):
    """n rows of so many kinds, which differ in one late column only."""
    rng = np.random.default_rng(seed)
    X = np.tile(rng.integers(0, 3, p).astype(float), (n, 1))
    X[:, -2] = rng.permutation(np.arange(n) % kinds)
    return X


@pytest.mark.parametrize("make", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array, np.float32])
@pytest.mark.parametrize("p", [3, 700])
@pytest.mark.parametrize("kinds", [1, 7, 90])
def test_every_kind_of_matrix(make, p, kinds):
    X = rows(kinds, p)
    data = GLM(make(X), np.arange(90.0)).data
    assert len(np.unique(X, axis=0)) == kinds
    for limit in (1, 5, 50, 1000):
        assert data.distinct_rows(limit) == min(kinds, limit)


def test_columns_are_spread_over_all():
    assert sampled(3).tolist() == [0, 1, 2]
    assert len(sampled(10_000)) == 256
    assert sampled(10_000)[[0, -1]].tolist() == [0, 9_999]


def test_rows_without_weight_do_not_count_and_minus_zero_is_zero():
    X = rows(9, 4)
    weights = (X[:, -2] < 4).astype(float)
    assert GLM(X, np.arange(90.0), sample_weight=weights).data.distinct_rows(50) == 4
    assert GLM(np.array([[0.0, 1.0], [-0.0, 1.0], [0.0, 2.0]]), np.arange(3.0)).data.distinct_rows(9) == 2


@pytest.mark.parametrize("p", [3, 700])
def test_rows_in_parts_and_folds(p):
    X, y = rows(30, p), np.arange(90.0)
    whole, parts = GLM(X, y).data, GLM(InParts([(X[:20], y[:20]), (X[20:25], y[20:25]), (X[25:], y[25:])])).data
    labels = np.arange(90) % 4
    for limit in (3, 25, 100):
        assert parts.distinct_rows(limit) == whole.distinct_rows(limit) == min(30, limit)
        for data in (whole, parts):
            fold = data.folds(labels).train(1)
            assert fold.distinct_rows(limit) == min(len(np.unique(X[labels != 1], axis=0)), limit)
