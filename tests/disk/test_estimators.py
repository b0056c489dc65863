"""Estimators that are given data on a disk, or the path to them: the same as in memory."""

import numpy as np
import pytest

from pursuit import (
    SparseClassifier,
    SparseClassifierCV,
    SparseRegressor,
    SparseRegressorCV,
    convert,
    open_data,
    stability,
)

CLOSE = {"rtol": 1e-7, "atol": 1e-9}


@pytest.mark.parametrize("model", [SparseRegressor(2), SparseRegressorCV(range(5), cv=3)])
def test_regression(tmp_path, table, small_blocks, model):
    X, y, names = table
    np.savez(tmp_path / "a.npz", X=X, y=y, feature_names=np.array(names))
    folder = convert(tmp_path / "a.npz", tmp_path / "a.pursuit")
    one, other = model.fit(X, y), type(model)(**model.get_params()).fit(folder)
    assert np.array_equal(other.support_, one.support_)
    np.testing.assert_allclose(other.coef_, one.coef_, **CLOSE)
    assert list(other.feature_names_in_) == names
    assert other.score(folder) == pytest.approx(one.score(X, y), rel=1e-9)
    halves = {"n_pairs": 3, "random_state": 0}
    frequencies = [stability(SparseRegressor(2), *data, **halves).frequencies for data in ((X, y), (folder,))]
    assert np.array_equal(*frequencies)


@pytest.mark.parametrize("weighting", [None, "balanced"])
@pytest.mark.parametrize("kinds", [2, 3])
def test_labels(tmp_path, table, small_blocks, kinds, weighting):
    X, y, _ = table
    labels = np.array(["none", "few", "many"])[np.searchsorted(np.quantile(y, [0.4, 0.8][: kinds - 1]), y)]
    np.savez(tmp_path / "a.npz", X=X, y=labels)
    data = open_data(convert(tmp_path / "a.npz", tmp_path / "a.pursuit"))
    settings = {"class_weight": weighting, "l2": 0.01}
    for model in (SparseClassifier(2, **settings), SparseClassifierCV([0, 2, 3], cv=3, **settings)):
        one, other = model.fit(X, labels), type(model)(**model.get_params()).fit(data)
        assert np.array_equal(other.classes_, one.classes_)
        assert np.array_equal(other.support_, one.support_)
        np.testing.assert_allclose(other.coef_, one.coef_, rtol=1e-6, atol=1e-8)
        assert np.array_equal(other.predict(data), one.predict(X))
