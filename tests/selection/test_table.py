"""The table of candidates is what a loop by hand gives, with every kind of splitter."""

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)

from problems import problem
from pursuit import GLM, SparseClassifierCV, SparseRegressorCV, as_design
from pursuit.paths import every_size

ROOT = Path(__file__).parents[2]
KS, RIDGES = [0, 1, 3], [0.1, 1.0, 10.0]
GROUPS = np.arange(60) % 7
SPLITTERS = [
    KFold(5, shuffle=True, random_state=3),
    KFold(4),
    GroupKFold(3),
    TimeSeriesSplit(3),
    LeaveOneGroupOut(),
    RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
    ShuffleSplit(4, random_state=1),
    StratifiedKFold(4),
]


def by_hand(X, y, loss, pairs, ks, ridges, refit, weights):
    """Losses of every candidate (k slowest, then ridge, then gamma) and fold, on copies of rows."""
    out = np.zeros((len(ks), len(ridges), 2, len(pairs)))
    for v, (train, test) in enumerate(pairs):
        made = {"standardize": True, "sample_weight": weights[train]}
        plain = GLM(X[train], y[train], loss, l2=refit, **made)
        for r, l2 in enumerate(ridges):
            f = GLM(X[train], y[train], loss, l2=l2, **made)
            best = every_size(f, f.sparse_set(max(ks)))
            for i, k in enumerate(ks):
                for gamma, point in enumerate([plain.refit(best[k].support), best[k]]):
                    model = f.present(point)
                    eta = X[test][:, model.support] @ model.coef + model.intercept
                    out[i, r, gamma, v] = np.average(f.loss.value(y[test], eta), weights=weights[test])
    return out.reshape(-1, len(pairs))


def of(model):
    folds = sum(name.endswith("_loss") and name.startswith("split") for name in model.cv_results_)
    return np.column_stack([model.cv_results_[f"split{v}_loss"] for v in range(folds)])


@pytest.mark.parametrize("splitter", SPLITTERS, ids=lambda s: type(s).__name__)
def test_the_squared_table(splitter):
    given = problem("squared", n=60, p=8, weights=True)
    y = (given.y > 0).astype(float) if isinstance(splitter, StratifiedKFold) else given.y
    groups = GROUPS if "Group" in type(splitter).__name__ else None
    pairs = list(splitter.split(given.X, y, groups))
    model = SparseRegressorCV(KS, cv=splitter).fit(given.X, y, given.weight, cv_groups=groups)
    wanted = by_hand(given.X, y, "squared", pairs, KS, RIDGES, 0.0, given.weight)
    np.testing.assert_allclose(of(model), wanted, rtol=1e-10)
    share = np.array([given.weight[test].sum() for _, test in pairs])
    np.testing.assert_allclose(model.cv_results_["mean_loss"], wanted @ share / share.sum(), rtol=1e-10)
    np.testing.assert_allclose(
        model.cv_results_["std_error"], wanted.std(axis=1, ddof=1) / len(pairs) ** 0.5, rtol=1e-8
    )


@pytest.mark.parametrize(
    "splitter", [StratifiedKFold(4), ShuffleSplit(3, random_state=0)], ids=lambda s: type(s).__name__
)
def test_the_logistic_table(splitter):
    given = problem("logistic", n=80, p=6)
    h = given.y.mean() * (1 - given.y.mean())
    pairs = list(splitter.split(given.X, given.y))
    model = SparseClassifierCV([0, 2], cv=splitter).fit(given.X, given.y)
    ridges = [0.1 * h, h, 10 * h]
    np.testing.assert_allclose(np.unique(model.cv_results_["l2"]), ridges, rtol=1e-12)
    wanted = by_hand(given.X, given.y, "logistic", pairs, [0, 2], ridges, 0.001 * h, np.ones(80))
    np.testing.assert_allclose(of(model), wanted, rtol=1e-7)


def test_the_loop_of_the_page():
    given = problem("squared", n=60, p=8)
    code = re.search(r"```python\n(.*?)```", (ROOT / "docs" / "selection.md").read_text(), re.S).group(1)
    scope = {"X": given.X, "y": given.y}
    exec(code, scope)
    model = SparseRegressorCV([0, 1, 2, 5]).fit(given.X, given.y)
    np.testing.assert_allclose(of(model), scope["table_of_ten_folds"], rtol=1e-10)


def test_a_number_of_folds_is_a_shuffled_splitter():
    given = problem("squared", n=60, p=6)
    one = SparseRegressorCV(KS, cv=5, random_state=7).fit(given.X, given.y)
    two = SparseRegressorCV(KS, cv=KFold(5, shuffle=True, random_state=7)).fit(given.X, given.y)
    pairs = SparseRegressorCV(KS, cv=list(KFold(5, shuffle=True, random_state=7).split(given.X))).fit(given.X, given.y)
    assert np.array_equal(of(one), of(two))
    assert np.array_equal(of(one), of(pairs))
    assert not np.array_equal(of(one), of(SparseRegressorCV(KS, cv=5).fit(given.X, given.y)))
    labels = (given.y > 0).astype(int)
    three = SparseClassifierCV([1], cv=3).fit(given.X, labels)
    four = SparseClassifierCV([1], cv=StratifiedKFold(3, shuffle=True, random_state=0)).fit(given.X, labels)
    assert np.array_equal(of(three), of(four))


def test_gamma_is_a_share():
    given = problem("squared", n=60, p=6)
    half = SparseRegressorCV([2], cv=3, gamma=0.5, l2=1.0, combine="none").fit(given.X, given.y)
    ends = [SparseRegressorCV([2], cv=3, gamma=g, l2=1.0, combine="none").fit(given.X, given.y) for g in (0.0, 1.0)]
    np.testing.assert_allclose(half.coef_, 0.5 * (ends[0].coef_ + ends[1].coef_), rtol=1e-12)
    np.testing.assert_allclose(half.intercept_, 0.5 * (ends[0].intercept_ + ends[1].intercept_), rtol=1e-12)
    np.testing.assert_allclose(ends[0].coef_, ends[0].refit_coef_, rtol=1e-12)


def test_no_copy_of_X_is_made(monkeypatch):
    given = problem("squared", n=60, p=6)
    kind = type(as_design(given.X))
    taken = []
    real = kind.take
    monkeypatch.setattr(kind, "take", lambda self, rows: (taken.append(len(rows)), real(self, rows))[1])
    SparseRegressorCV([1, 2], cv=TimeSeriesSplit(3)).fit(given.X, given.y)
    assert max(taken) <= 8  # a few rows, to see whether they differ
