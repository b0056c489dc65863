"""Scores of classifiers are scikit-learn's, and stand in summaries, ``held_out_`` and the command line."""

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics
from sklearn.datasets import load_iris
from sklearn.model_selection import StratifiedKFold, TunedThresholdClassifierCV

from pursuit import SparseClassifier, SparseClassifierCV, summary
from pursuit.reports.class_scores import class_scores

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 5))
Y = np.where(RNG.random(300) < 1 / (1 + np.exp(2.2 - X[:, 0])), "yes", "no")


@pytest.mark.parametrize("weighted", [False, True])
def test_two_classes_are_those_of_scikit_learn(weighted):
    eta = np.round(X[:, 0] - 1, 1)  # with ties
    codes = (Y == "yes").astype(int)
    w = RNG.integers(1, 4, 300).astype(float) if weighted else None
    p = 1 / (1 + np.exp(-eta))
    found = class_scores(codes, eta, ["no", "yes"], weights=w)
    assert found.auc == pytest.approx(metrics.roc_auc_score(codes, eta, sample_weight=w))
    assert found.log_loss == pytest.approx(metrics.log_loss(codes, p, sample_weight=w))
    assert found.accuracy == pytest.approx(metrics.accuracy_score(codes, eta > 0, sample_weight=w))
    assert found.balanced_accuracy == pytest.approx(metrics.balanced_accuracy_score(codes, eta > 0, sample_weight=w))
    np.testing.assert_allclose(found.confusion, metrics.confusion_matrix(codes, eta > 0, sample_weight=w))
    assert found.base_rate == pytest.approx(np.average(codes, weights=w))
    other = class_scores(codes, eta, ["no", "yes"], weights=w, threshold=0.2)
    np.testing.assert_allclose(other.confusion, metrics.confusion_matrix(codes, p > 0.2, sample_weight=w))
    assert sum(count for *_, count in found.calibration) == 300
    assert all(low[0] <= high[0] for low, high in zip(found.calibration, found.calibration[1:], strict=False))


def test_several_classes():
    iris = load_iris()
    model = SparseClassifier(k=2).fit(iris.data, iris.target)
    found = model.summary().classes
    shares = model.predict_proba(iris.data)
    assert found.auc == pytest.approx(metrics.roc_auc_score(iris.target, shares, multi_class="ovr"))
    assert found.log_loss == pytest.approx(metrics.log_loss(iris.target, shares))
    assert found.base_rate == pytest.approx(1 / 3)


def test_in_a_summary():
    model = SparseClassifier(k=2).fit(X, Y)
    page = model.summary()
    assert page.classes.auc == pytest.approx(metrics.roc_auc_score(Y, model.decision_function(X)))
    for words in ("base rate", "AUC", "log loss", "balanced accuracy", "threshold 0.5", "predicted (in sample)"):
        assert words in str(page)
    hinge = SparseClassifier(k=2, loss="squared_hinge").fit(X, Y).summary()
    assert hinge.classes.log_loss is None
    assert "log loss" not in str(hinge)
    weighted = SparseClassifier(k=2, class_weight="balanced").fit(X, Y).summary().classes
    assert weighted.confusion.sum() == 300


def test_held_out_scores_are_of_rows_that_did_not_train():
    cv = StratifiedKFold(4, shuffle=True, random_state=3)
    model = SparseClassifierCV(ks=[1], l2=0.01, gamma=1.0, combine="none", cv=cv).fit(X, Y)
    eta = np.empty(300)
    for train, test in cv.split(X, Y):
        eta[test] = SparseClassifier(k=1, l2=0.01).fit(X[train], Y[train]).decision_function(X[test])
    found = model.held_out_.classes
    assert found.auc == pytest.approx(metrics.roc_auc_score(Y, eta), abs=1e-6)
    assert model.summary().held_out_classes is found
    assert "held out" in str(model.summary())


def test_the_threshold_of_a_wrapper():
    tuned = TunedThresholdClassifierCV(SparseClassifier(k=2), scoring="balanced_accuracy", cv=3).fit(X, Y)
    found = summary(tuned).classes
    assert found.threshold == tuned.best_threshold_
    np.testing.assert_array_equal(found.confusion, metrics.confusion_matrix(Y, tuned.predict(X)))


def test_a_class_with_one_row():
    y = Y.astype(object).copy()
    y[7] = "once"
    with pytest.warns(UserWarning, match="class once has one row, which trains in every fold and is held out in none"):
        model = SparseClassifierCV(ks=[1, 2], cv=3).fit(X, y.astype(str))
    assert model.predict_proba(X).shape == (300, 3)
    assert model.held_out_.classes.confusion.sum() == 299


def test_on_the_command_line(tmp_path, capsys, monkeypatch):
    from pursuit.cli import main

    monkeypatch.chdir(tmp_path)
    pd.DataFrame(X, columns=list("abcde")).assign(y=Y).to_csv("t.csv", index=False)
    assert main(["fit", "t.csv", "--ks", "1-2", "--cv", "3"]) == 0
    out = capsys.readouterr().out
    for words in ("held out, AUC", "held out, base rate", "balanced accuracy", "false positives"):
        assert words in out
