"""Estimators, the choice of k, stability and summaries on rows in three uneven parts: the same as on one piece."""

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import ShuffleSplit, StratifiedKFold

from engines.loopback import Loopback
from problems import KINDS, problem
from pursuit import (
    InParts,
    SparseClassifier,
    SparseClassifierCV,
    SparseRegressor,
    SparseRegressorCV,
    bootstrap_intervals,
    split_intervals,
    stability,
)
from pursuit.data import Source
from pursuit.engines import in_threads

CUTS = (9, 60)
CLOSE = {"rtol": 1e-8, "atol": 1e-8}


def regression(loss, kind="dense_c", n=120, **how):
    """A small problem, and its rows in parts."""
    given = problem(loss, n=n, p=12, **how)
    return given, KINDS[kind](given.X), InParts(given.parts(kind, cuts=CUTS))


def flowers():
    """Three classes with names, of which the first part holds one and the last part two."""
    X, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(0)
    X, y = np.column_stack([X, rng.normal(size=(150, 6))]), np.array(["setosa", "versicolor", "virginica"])[y]
    return X[20:], y[20:], [(X[20:50], y[20:50]), (X[50:70], y[50:70]), (X[70:], y[70:])]


def same(one, parts):
    """Same choice, same coefficients."""
    assert np.array_equal(one.support_, parts.support_)
    np.testing.assert_allclose(parts.coef_, one.coef_, **CLOSE)
    np.testing.assert_allclose(parts.intercept_, one.intercept_, **CLOSE)
    assert parts.l2_ == pytest.approx(one.l2_, rel=1e-8)
    assert parts.n_features_in_ == one.n_features_in_
    if hasattr(one, "k_"):
        assert (parts.k_, parts.k_1se_, parts.gamma_) == (one.k_, one.k_1se_, one.gamma_)
        for table in ("cv_results_", "sizes_"):
            ours, theirs = getattr(parts, table), getattr(one, table)
            assert list(ours) == list(theirs)
            for name, values in theirs.items():
                np.testing.assert_allclose(ours[name], values, rtol=1e-7, atol=1e-9, err_msg=name)
        np.testing.assert_allclose(parts.refit_coef_, one.refit_coef_, **CLOSE)


@pytest.mark.parametrize("how", [{}, {"weights": True, "offset": True}])
@pytest.mark.parametrize("kind", ["dense_c", "csr"])
@pytest.mark.parametrize("loss", ["squared", "poisson"])
def test_regressors(loss, kind, how):
    given, X, parts = regression(loss, kind, **how)
    for model in (SparseRegressor(3, loss=loss), SparseRegressorCV(range(6), loss=loss, cv=4)):
        one = model.fit(X, given.y, given.weight, offset=given.offset)
        seen = one.predict(X, given.offset), one.score(parts)
        other = type(model)(**model.get_params()).fit(parts)
        same(one, other)
        np.testing.assert_allclose(other.predict(parts), seen[0], **CLOSE)
        assert other.score(parts) == pytest.approx(seen[1], rel=1e-8)
        if given.offset is None:
            assert one.score(X, given.y, given.weight) == pytest.approx(seen[1], rel=1e-12)


@pytest.mark.parametrize(
    "how",
    [
        {"rule": "1se"},
        {"combine": "none"},
        {"combine": "average"},
        {"rule": "bic"},
        {"cv": ShuffleSplit(3, random_state=0)},
        {"standardize": False},
        {"fit_intercept": False},
        {"scoring": "neg_mean_absolute_error"},
        {"bounds": (0, None)},
        {"solver": "omp", "l2": 0.1},
    ],
    ids=str,
)
def test_ways_to_choose(how):
    given, X, parts = regression("squared", weights=True)
    settings = {"ks": range(6), "cv": 4, "random_state": 3, **how}
    same(SparseRegressorCV(**settings).fit(X, given.y, given.weight), SparseRegressorCV(**settings).fit(parts))


@pytest.mark.parametrize("weighting", [None, "balanced", {"no": 1.0, "yes": 3.0}])
@pytest.mark.parametrize("kind", ["dense_c", "csc"])
def test_two_classes(kind, weighting):
    given = problem("logistic", n=120, p=12, weights=True, offset=True)
    y, X = np.where(given.y > 0, "yes", "no"), KINDS[kind](given.X)
    blocks = [(A, np.split(y, CUTS)[i], *rest) for i, (A, _, *rest) in enumerate(given.parts(kind, CUTS))]
    parts = InParts(blocks, in_threads)
    for model in (
        SparseClassifier(3, class_weight=weighting),
        SparseClassifierCV([0, 2, 4], cv=3, class_weight=weighting),
    ):
        one = model.fit(X, y, given.weight, offset=given.offset)
        other = type(model)(**model.get_params()).fit(parts)
        assert list(other.classes_) == ["no", "yes"]
        same(one, other)
        assert np.array_equal(other.predict(parts), one.predict(X, given.offset))
        assert other.score(parts) == pytest.approx(np.average(one.predict(parts) == y, weights=given.weight))
        np.testing.assert_allclose(other.predict_proba(parts), one.predict_proba(X, given.offset), **CLOSE)


def test_several_classes_some_of_them_missing_in_a_part():
    X, y, blocks = flowers()
    parts = InParts(blocks)
    for model in (SparseClassifier(3), SparseClassifierCV([0, 1, 2, 4], cv=StratifiedKFold(3), l2=0.01)):
        one, other = model.fit(X, y), type(model)(**model.get_params()).fit(parts)
        same(one, other)
        assert np.array_equal(other.predict(parts), one.predict(X))
        # scores by class need the rows in one piece
        plain = [replace(model.summary(), classes=None, held_out_classes=None) for model in (one, other)]
        assert str(plain[0]) == str(plain[1])


def test_several_responses():
    given, X, _ = regression("squared")
    Y = np.column_stack([given.y, X[:, 3] - given.y])
    parts = InParts(list(zip(np.split(X, CUTS), np.split(Y, CUTS), strict=True)))
    for model in (SparseRegressor(3), SparseRegressorCV(range(5), cv=3)):
        one, other = model.fit(X, Y), type(model)(**model.get_params()).fit(parts)
        same(one, other)
        np.testing.assert_allclose(other.predict(parts), one.predict(X), **CLOSE)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_stability(loss):
    given, X, parts = regression(loss, weights=True)
    model = SparseClassifier(4) if loss == "logistic" else SparseRegressor(4)
    one = stability(model, X, given.y, sample_weight=given.weight, n_pairs=5, random_state=1)
    other = stability(model, parts, n_pairs=5, random_state=1)
    assert np.array_equal(one.frequencies, other.frequencies)
    assert np.array_equal(one.stable, other.stable)


def test_intervals():
    given, X, parts = regression("squared", weights=True)
    how = {"n_boot": 10, "random_state": 0}
    one = bootstrap_intervals(SparseRegressor(3), X, given.y, sample_weight=given.weight, **how)
    other = bootstrap_intervals(SparseRegressor(3), parts, **how)
    assert np.array_equal(one.columns, other.columns)
    for name in ("estimate", "low", "high", "frequency"):
        np.testing.assert_allclose(getattr(other, name), getattr(one, name), **CLOSE)
    with pytest.raises(TypeError, match="bootstrap_intervals takes them"):
        split_intervals(SparseRegressor(3), parts)


def test_halves_that_are_not_copied(monkeypatch):
    monkeypatch.setattr("pursuit.resampling.selectors.MAX_COPIED_BYTES", 1)
    given, X, parts = regression("squared", "csr")
    one, other = (stability(SparseRegressor(3), *data, n_pairs=3, random_state=1) for data in ((X, given.y), (parts,)))
    assert np.array_equal(one.frequencies, other.frequencies)


def test_names_summary_and_a_pickle():
    pd = pytest.importorskip("pandas")
    given, X, _ = regression("squared")
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(12)])
    blocks = [(frame[:9], given.y[:9]), (frame[9:60], given.y[9:60]), (frame[60:], given.y[60:])]
    one, other = SparseRegressor(3).fit(frame, given.y), SparseRegressor(3).fit(InParts(blocks))
    assert list(other.feature_names_in_) == list(frame.columns)
    assert list(other.get_feature_names_out()) == list(one.get_feature_names_out())
    assert str(other.summary()) == str(one.summary())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        other.predict(frame)
    again = pickle.loads(pickle.dumps(other))
    assert str(again.summary()) == str(one.summary())
    renamed = frame.rename(columns={"c1": "c2", "c2": "c1"})
    with pytest.raises(ValueError, match="other column names than those seen at fit"):
        other.predict(InParts([(renamed, given.y)]))
    assert not hasattr(other.fit(InParts([(X, given.y)])), "feature_names_in_")


class Elsewhere(InParts):
    """Rows that live elsewhere, with servers that lose what they hold; the first two parts are one bundle."""

    def bound(self, loss, classes=None, factors=None):
        data = super().bound(loss, classes, factors)
        far = Loopback([data._like(data.parts[:2]), data.parts[2]], lose=7)
        return type(data)(far.each.rows, far.each)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_rows_that_live_elsewhere(loss):
    given, X, parts = regression(loss, weights=True, offset=True)
    far, model = Elsewhere(parts.parts), SparseClassifier if loss == "logistic" else SparseRegressor
    one, other = model(3).fit(X, given.y, given.weight, offset=given.offset), model(3).fit(far)
    same(one, other)
    np.testing.assert_allclose(other.summary().drop, one.summary().drop, rtol=1e-6)
    halves = {"n_pairs": 2, "random_state": 1}
    frequencies = [stability(model(3), data, **halves).frequencies for data in (parts, far)]
    assert np.array_equal(*frequencies)


def test_a_choice_among_rows_that_live_elsewhere():
    given, X, parts = regression("squared", weights=True)
    for settings in ({"cv": 3}, {"cv": ShuffleSplit(2, random_state=0), "combine": "none"}):
        one, other = (SparseRegressorCV([0, 2, 4], **settings) for _ in range(2))
        same(one.fit(X, given.y, given.weight), other.fit(Elsewhere(parts.parts)))
    X, y, blocks = flowers()
    model = SparseClassifierCV([0, 1, 2], cv=2, l2=0.01)
    same(model.fit(X, y), SparseClassifierCV(**model.get_params()).fit(Elsewhere(blocks)))


def test_no_question_brings_rows_of_x():
    """Folds, half-samples and held-out losses of larger data ask for no copy of columns."""
    given, X, parts = regression("squared", n=500, density=1.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pursuit.data.gram.MAX_COPIED_ROWS", 0)
        patch.setattr("pursuit.data.parts.Parts.copied", None)
        other = SparseRegressorCV(range(6), cv=4).fit(parts)
    same(SparseRegressorCV(range(6), cv=4).fit(X, given.y), other)


BAD = {
    "y": (lambda parts, y: SparseRegressor(2).fit(parts, y), TypeError, "leave y, sample_weight and offset out"),
    "weights": (lambda parts, y: SparseRegressorCV().fit(parts, None, y), TypeError, "bring their own"),
    "an offset": (lambda parts, y: SparseRegressor(2).fit(parts).predict(parts, y), TypeError, "bring their own"),
    "y to score": (lambda parts, y: SparseRegressor(2).fit(parts).score(parts, y), TypeError, "bring their own"),
    "a width": (
        lambda parts, y: SparseRegressor(2).fit(np.zeros((120, 3)) + y[:, None], y).predict(parts),
        ValueError,
        "X has 12 features, but SparseRegressor is expecting 3",
    ),
    "one class": (
        lambda parts, y: SparseClassifier(2).fit(InParts([(np.eye(4), ["a"] * 4)])),
        ValueError,
        r"only one class \(a\)",
    ),
    "numbers": (lambda parts, y: SparseClassifier(2).fit(parts), ValueError, "Unknown label type"),
    "kinds": (
        lambda parts, y: SparseClassifier(2).fit(InParts([(np.eye(2), ["a", "b"]), (np.eye(2), [0, 1])])),
        ValueError,
        "part 1 has targets of dtype int64, and part 0 of dtype <U1",
    ),
    "columns of y": (
        lambda parts, y: InParts([(np.eye(2), [1.0, 2.0]), (np.eye(2), np.eye(2))]),
        ValueError,
        "y must have the same number of targets per row in every part",
    ),
    "an unknown label": (
        lambda parts, y: InParts([(np.eye(2), ["a", "b"])]).bound(None, np.array(["a", "c"])),
        ValueError,
        "part 0: y holds .*'b'.*, which is none of the classes",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_is_told(name):
    act, kind, message = BAD[name]
    given, _, parts = regression("squared")
    with pytest.raises(kind, match=message):
        act(parts, given.y)


def test_a_source_says_what_it_lacks():
    with pytest.raises(NotImplementedError):
        Source().targets()
