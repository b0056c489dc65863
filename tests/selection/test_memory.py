"""What choosing k needs beside X, where X is tall or wide."""

import tracemalloc

import numpy as np
import pytest
from sklearn.model_selection import KFold

from pursuit import GLM, SparseRegressorCV
from pursuit.data import batch, rows
from pursuit.selection import splits

PICKED = "PICKED_ENTRIES_AT_A_TIME"


def traced_peak(call):
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def in_blocks(monkeypatch, centred):
    """Data far from zero, read a few rows at a time; their columns (about their means), and the rows' weights."""
    rng = np.random.default_rng(3)
    X, c = 1e3 + rng.standard_normal((90, 4)), rng.random(90) * (rng.random(90) < 0.7)
    for module in (batch, rows):
        monkeypatch.setattr(module, PICKED, 50)
    w = c / c.sum()
    return GLM(X, X[:, 0], sample_weight=c).data.raw, X - (w @ X if centred else 0.0), w


@pytest.mark.parametrize("combine", ["project", "none"])
def test_tall_data_need_a_few_numbers_a_row(monkeypatch, combine):
    """Weights of ten folds would be 20 numbers a row, their training rows 9 more, and predictions 24."""
    for module, name in ((batch, "PREDICTORS_AT_A_TIME"), (batch, PICKED), (rows, PICKED)):
        monkeypatch.setattr(module, name, 1 << 14)  # so that a block is small beside the rows
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30_000, 3))
    y = X[:, 0] + rng.standard_normal(len(X))
    model = SparseRegressorCV(range(4), cv=10, combine=combine, n_jobs=1)
    assert traced_peak(lambda: model.fit(X, y)) < 16 * 8 * len(X)


def test_wide_data_need_a_few_numbers_a_column():
    """Moments of every fold's rows, Gram columns of all folds and gradients of done ones were 200 numbers a column."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((10, 40_000))
    model = SparseRegressorCV(range(4), cv=10, n_jobs=1)
    assert traced_peak(lambda: model.fit(X, X[:, 0] + rng.standard_normal(10))) < 70 * 8 * X.shape[1]


@pytest.mark.parametrize("zeros", [False, True])
def test_labels_are_the_folds_of_scikit_learn(zeros):
    rng = np.random.default_rng(2)
    weights = rng.random(53) * (rng.random(53) < 0.8) if zeros else np.ones(53)
    pairs, _ = splits(4, np.zeros((53, 1)), np.zeros(53), None, False, 7, weights)
    counted = np.flatnonzero(weights)
    theirs = KFold(4, shuffle=True, random_state=7).split(counted)
    for (train, test), (_, own) in zip(pairs, theirs, strict=True):
        np.testing.assert_array_equal(test[weights[test] > 0], counted[own])
        np.testing.assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(53))
    assert len(pairs) == len(pairs[:]) == 4


@pytest.mark.parametrize("centred", [True, False])
@pytest.mark.parametrize("cols", [[0, 1, 2, 3], [2, 0]])
def test_gram_columns_block_by_block(monkeypatch, centred, cols):
    data, A, w = in_blocks(monkeypatch, centred)
    np.testing.assert_allclose(data.gram(np.array(cols), centred)[0], (A[:, cols].T * w) @ A, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("offset", [None, 1.0])
def test_intercepts_by_means(monkeypatch, offset):
    rng = np.random.default_rng(4)
    X, y, c, B = rng.standard_normal((80, 4)), rng.standard_normal(80), rng.random(80), rng.standard_normal((3, 2, 1))
    o = None if offset is None else rng.standard_normal(80)
    data = GLM(X, y, sample_weight=c, offset=o).data.raw
    monkeypatch.setattr(batch, PICKED, 50)
    monkeypatch.setattr(batch, "PREDICTORS_AT_A_TIME", 30)
    first, second = data.batch(np.array([1, 3]), B).levels(np.full((3, 1), 0.3))
    eta = X[:, [1, 3]] @ B[:, :, 0].T + 0.3 + (0.0 if o is None else o[:, None])
    np.testing.assert_allclose(first[:, 0], (c / c.sum()) @ (eta - y[:, None]), rtol=1e-9)
    np.testing.assert_allclose(second, 1.0, rtol=1e-12)


def test_what_is_forgotten_is_computed_again():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((20, 60))
    f = GLM(X, X[:, 3] + rng.standard_normal(20), standardize=True)
    gradient, mean = f.null.gradient.copy(), f.data.moments().square.copy()
    before = f.refit(np.array([3, 5]))
    f.forget()
    np.testing.assert_allclose(f.null.gradient, gradient, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(f.data.moments().square, mean, rtol=1e-12)
    np.testing.assert_allclose(f.refit(np.array([3, 5])).coef, before.coef, rtol=1e-10)


@pytest.mark.parametrize("centred", [True, False])
def test_products_block_by_block(monkeypatch, centred):
    data, A, w = in_blocks(monkeypatch, centred)
    A = A[:, [3, 1]]
    np.testing.assert_allclose(data.products(np.array([3, 1]), centred), (A.T * w) @ A, rtol=1e-9)
