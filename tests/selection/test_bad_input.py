"""Data that leave little to choose from: a right answer or a sentence, for both goals."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.model_selection import PredefinedSplit

from problems import random_sparse
from pursuit import SparseClassifierCV, SparseRegressorCV

GOALS = pytest.mark.parametrize("goal", ["predict", "explain"])
ESTIMATORS = pytest.mark.parametrize("make", [SparseRegressorCV, SparseClassifierCV])


def data(n=40, p=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    y = X[:, 0] - X[:, 2] + 0.5 * rng.standard_normal(n)
    return X, y, np.where(y > 0, "b", "a")


def data_of(make):
    """X and a target that suits the estimator."""
    X, y, labels = data()
    return X, labels if make is SparseClassifierCV else y


@GOALS
@pytest.mark.parametrize(
    ("loss", "y"),
    [
        ("squared", np.full(40, 0.1)),
        ("squared", np.full(40, 1e5 / 3)),
        ("squared", np.full(40, 3e150)),
        ("squared", np.full((40, 2), 0.1)),
        ("huber", np.full(40, 0.1)),
        ("poisson", np.full(40, 3.0)),
        ("poisson", np.zeros(40)),
    ],
    ids=["a tenth", "a third", "huge", "two outputs", "huber", "counts", "no counts"],
)
def test_a_constant_y_is_the_null_model(goal, loss, y):
    """No size is better than another by more than rounding, so the smallest is taken, and nothing is explained."""
    X = data()[0]
    model = SparseRegressorCV(goal=goal, loss=loss).fit(X, y)
    assert model.k_ == 0
    np.testing.assert_allclose(model.predict(X), y, atol=1e-12)
    if y.any():  # without counts the folds' losses are what is left of 0
        assert model.reason_ == "k=0 has the least held-out loss: the null model is best, and no feature is used"
    assert model.held_out_.name == "loss"  # there is no variance of which a share could be explained


@GOALS
def test_an_exact_fit_is_not_compared_by_rounding(goal):
    X, _, _ = data()
    model = SparseRegressorCV(goal=goal).fit(X, X[:, 0] - 2 * X[:, 3])
    assert model.support_.tolist() == [0, 3]
    np.testing.assert_allclose(model.coef_[[0, 3]], [1, -2], rtol=1e-10)
    assert model.reason_.startswith("k=2 has the least held-out loss; no smaller size is within one standard error")
    instead = "the best single candidate predicts instead of the projected average, as it is exact"
    assert (instead in model.reason_) == (goal == "predict")
    assert "e-3" not in model.reason_


@GOALS
@pytest.mark.parametrize("n", [2, 3, 5, 9])
@pytest.mark.parametrize("p", [1, 50])
def test_fewer_than_ten_rows(goal, n, p):
    X, y, _ = data(n, max(p, 3))
    X = X[:, :p]
    model = SparseRegressorCV(goal=goal).fit(X, y)
    assert model.k_ <= 0.8 * n
    assert np.isfinite(model.predict(X)).all()
    assert f"cv=10 was capped at {n} folds, as X has {n} rows" in model.reason_
    labels = np.arange(n) % 2
    if n == 2:
        with pytest.raises(ValueError, match=r"y holds class [01] once"):
            SparseClassifierCV(goal=goal).fit(X, labels)
    elif n == 3:
        with pytest.warns(UserWarning, match="class 1 has one row, which trains in every fold"):
            chosen = SparseClassifierCV(goal=goal).fit(X, labels)
        assert np.isfinite(chosen.predict_proba(X)).all()
    else:
        chosen = SparseClassifierCV(goal=goal).fit(X, labels)
        assert np.isfinite(chosen.predict_proba(X)).all()
        assert f"capped at {n // 2} folds, as the rarest class has {n // 2} rows" in chosen.reason_


@GOALS
def test_one_row_cannot_be_held_out(goal):
    X, y, _ = data(1)
    with pytest.raises(ValueError, match="needs at least 2 rows with a weight"):
        SparseRegressorCV(goal=goal).fit(X, y)


@GOALS
@ESTIMATORS
def test_more_than_twenty_thousand_columns(goal, make):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((60, 1))
    X = sp.hstack([sp.csc_array(x), random_sparse((60, 20_500), 0.01, rng)], format="csc")
    y = 3 * x[:, 0] + 0.1 * rng.standard_normal(60)
    model = make([0, 1, 2], goal=goal, cv=3).fit(X, y > 0 if make is SparseClassifierCV else y)
    assert 0 in model.support_
    assert model.coef_.shape[-1] == 20_501


@GOALS
@pytest.mark.parametrize("how", [{}, {"rule": "bic"}])
def test_one_class_is_no_choice(goal, how):
    X, _, labels = data()
    with pytest.raises(ValueError, match=r"y holds only one class \(1\); a classifier needs two"):
        SparseClassifierCV(goal=goal, **how).fit(X, np.ones(40, int))
    words = r"y holds only one class \(a\) among the rows with a weight"
    with pytest.raises(ValueError, match=words):
        SparseClassifierCV(goal=goal, **how).fit(X, labels, labels == "a")
    with pytest.raises(ValueError, match=words):
        SparseClassifierCV(goal=goal, class_weight={"b": 0.0}, **how).fit(X, labels)


@GOALS
@ESTIMATORS
def test_rows_without_weight(goal, make):
    X, target = data_of(make)
    with pytest.raises(ValueError, match="sample_weight is zero for every row"):
        make(goal=goal).fit(X, target, np.zeros(40))
    half = np.repeat([0.0, 1.0], 20)
    one, two = make(goal=goal).fit(X, target, half), make(goal=goal).fit(X[20:], target[20:])
    assert one.support_.tolist() == two.support_.tolist()
    assert one.coef_ == pytest.approx(two.coef_)
    folds = PredefinedSplit(np.arange(40) // 10)
    with pytest.raises(ValueError, match="fold 0 of cv has no row with a weight to test on"):
        make(goal=goal, cv=folds).fit(X, target, half)


@GOALS
@ESTIMATORS
def test_empty_folds(goal, make):
    X, target = data_of(make)
    with pytest.raises(ValueError, match="fold 1 of cv has no row with a weight to test on"):
        make(goal=goal, cv=[(range(20), range(20, 40)), (range(40), [])]).fit(X, target)
    with pytest.raises(ValueError, match="fold 0 of cv has no row with a weight to train on"):
        make(goal=goal, cv=[([], range(40))]).fit(X, target)


@GOALS
@ESTIMATORS
@pytest.mark.parametrize(("value", "name"), [(np.nan, "NaN"), (np.inf, "inf"), (-np.inf, "-inf")])
def test_scores_that_are_no_numbers(goal, make, value, name):
    """Means and standard errors over folds need numbers: with an infinite score every size was as good."""
    X, y, labels = data()

    def scorer(estimator, X, y):
        return value if np.count_nonzero(estimator.coef_) > 2 else 1.0

    words = f"scoring=scorer gave {name} in fold 0, for model [0-9]+, which has 3 features"
    with pytest.raises(ValueError, match=words):
        make(goal=goal, scoring=scorer).fit(X, labels if make is SparseClassifierCV else y)


@GOALS
def test_one_fold_has_no_standard_error(goal):
    X, y, _ = data()
    model = SparseRegressorCV(goal=goal, cv=[(range(30), range(30, 40))]).fit(X, y)
    assert "standard error" not in model.reason_.replace("one fold has no standard error", "")
    assert "one fold has no standard error, so the least held-out loss was taken" in model.reason_


def test_features_that_determine_y_are_not_compared_by_rounding():
    """Neither size is the null model, so that the largest loss is rounding too."""
    X = np.random.default_rng(7).standard_normal((60, 4))
    X -= X.mean(axis=0)  # the intercept is zero, and has no rounding error
    for scale in (1e-100, 1.0, 1e100):
        for lift in np.geomspace(1.0, 2.0, 7):  # other roundings
            model = SparseRegressorCV(ks=[1, 2], cv=3).fit(X, scale * lift * X[:, 1])
            assert model.k_ == 1, (scale, lift)
