"""Spline columns that are computed when they are needed: the same numbers, never all columns of all rows at once."""

import numpy as np
import pytest

import pursuit
from pursuit.designs import Spline, as_design
from pursuit.estimators.additive import training


def problem(n=300, p=6):
    g = np.random.default_rng(0)
    X = g.normal(size=(n, p))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.3 * g.normal(size=n)


def test_products_are_those_of_the_stored_columns():
    X, _ = problem()
    X[:, 3] = np.arange(300) % 3  # a feature with one column
    effects = pursuit.SmoothEffects().fit(X)
    lazy = Spline(as_design(X), effects.basis_)
    Z = effects.basis_.evaluate(lambda j: X[:, j], len(X))
    stored = as_design(Z)
    g = np.random.default_rng(1)
    cols = g.permutation(lazy.shape[1])[:7]
    coef, d, c = g.normal(size=(7, 2)), g.normal(size=(300, 3)), np.full(300, 1 / 300)
    for one, other in (
        (lazy.matmat(cols, coef), Z[:, cols] @ coef),
        (lazy.rmatmat(d), Z.T @ d),
        (lazy.block(cols).dense(), Z[:, cols]),
        (lazy.take(np.arange(5)).block(cols).dense(), Z[:5, cols]),
        (lazy.gram(c, Z.mean(axis=0)), np.cov(Z.T, bias=True)),
        (lazy.stats(c)[1], stored.stats(c)[1]),
        (lazy.matmat(cols[:0], coef[:0]), np.zeros((300, 2))),
    ):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("k", [2, "cv"])
@pytest.mark.parametrize("classes", [False, True])
def test_models_are_those_of_stored_columns(monkeypatch, k, classes):
    X, y = problem()
    kind = pursuit.SparseAdditiveClassifier if classes else pursuit.SparseAdditiveRegressor
    y = y > np.median(y) if classes else y
    more = {"k": k} if k == 2 else {"ks": [0, 1, 2, 3], "cv": 3}
    stored = kind(**more).fit(X, y)
    monkeypatch.setattr(training, "MAX_STORED_ENTRIES", 0)
    lazy = kind(**more).fit(X, y)
    assert isinstance(lazy.objective_.data.raw.design, Spline)
    assert lazy.support_.tolist() == stored.support_.tolist()
    np.testing.assert_allclose(lazy.contributions(X), stored.contributions(X), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("classes", [False, True])
def test_all_columns_of_all_rows_are_never_in_memory_together(monkeypatch, classes):
    n, p = 6000, 12
    X, y = problem(n, p)
    entries = 4 * n * p
    monkeypatch.setattr(training, "MAX_STORED_ENTRIES", 0)
    for name in (
        "designs.spline.GATHERED_ENTRIES",
        "data.batch.GATHERED_ENTRIES_AT_A_TIME",
        "data.hessian.MAX_SPARSE_COPY",
    ):
        monkeypatch.setattr(f"pursuit.{name}", entries // 3)
    monkeypatch.setattr("pursuit.designs.base.GRAM_COPY_BYTES", 8 * entries // 3)
    gathered, block = [], Spline.block

    def noted(self, cols):
        gathered.append(self.shape[0] * len(cols))
        return block(self, cols)

    monkeypatch.setattr(Spline, "block", noted)
    kind = pursuit.SparseAdditiveClassifier if classes else pursuit.SparseAdditiveRegressor
    y = y > np.median(y) if classes else y
    model = kind(ks=[0, 1, 2], cv=2, l2=0.02).fit(X, y)
    assert {0, 1} <= set(model.support_.tolist())
    assert gathered
    assert max(gathered) <= entries // 3
