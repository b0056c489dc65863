"""The ridge of a logistic classifier that was given none: a thousandth of the curvature of the null model."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from problems import problem
from pursuit import Logistic, SparseClassifier

GIVEN = problem("logistic", n=90)
X, Y = GIVEN.X, GIVEN.y > 0
FAST = {"k": 2, "solver": "grahtp"}


@pytest.mark.parametrize("loss", ["logistic", Logistic()])
def test_two_classes(loss):
    share = Y.mean()
    model = SparseClassifier(loss=loss, **FAST).fit(X, Y)
    assert model.l2 is None
    assert model.l2_ == pytest.approx(1e-3 * share * (1 - share), rel=1e-9)
    same = SparseClassifier(loss=loss, l2=model.l2_, **FAST).fit(X, Y)
    np.testing.assert_array_equal(model.coef_, same.coef_)


def test_several_classes():
    data, kinds = load_iris(return_X_y=True)
    weight = np.random.default_rng(0).random(len(kinds))
    shares = np.array([weight[kinds == r].sum() for r in range(3)]) / weight.sum()
    model = SparseClassifier(**FAST).fit(data, kinds, sample_weight=weight)
    assert model.l2_ == pytest.approx(1e-3 * np.mean(shares * (1 - shares)), rel=1e-6)


def test_weights_count():
    weight = np.where(Y, 3.0, 1.0)
    share = weight @ Y / weight.sum()
    assert SparseClassifier(**FAST).fit(X, Y, sample_weight=weight).l2_ == pytest.approx(1e-3 * share * (1 - share))
    assert SparseClassifier(class_weight="balanced", **FAST).fit(X, Y).l2_ == pytest.approx(1e-3 / 4)


@pytest.mark.parametrize("labels", [Y, X[:, :3].argmax(axis=1)], ids=["two", "three"])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_without_standardising_it_has_the_units_of_the_columns(kind, labels):
    units = np.linspace(0.5, 9, X.shape[1])
    standard = SparseClassifier(**FAST).fit(X, labels).l2_
    plain = SparseClassifier(standardize=False, **FAST).fit(kind(X * units), labels).l2_
    assert plain == pytest.approx(standard * (X * units).var(axis=0).mean(), rel=1e-9)


def test_all_weight_on_one_class_has_a_ridge_too():
    model = SparseClassifier(**FAST).fit(X, Y, sample_weight=Y.astype(float))  # warnings are errors here
    assert model.l2_ == pytest.approx(1e-13)
    assert model.predict(X).all()


def test_the_null_model_is_the_one_that_is_fitted():
    assert SparseClassifier(fit_intercept=False, **FAST).fit(X, Y).l2_ == pytest.approx(1e-3 / 4)
    far = SparseClassifier(fit_intercept=False, **FAST).fit(X, Y, offset=np.full(len(Y), 3.0))
    assert far.l2_ == pytest.approx(1e-3 * np.exp(3) / (1 + np.exp(3)) ** 2)
    kinds = X[:, :3].argmax(axis=1)
    assert SparseClassifier(fit_intercept=False, **FAST).fit(X, kinds).l2_ == pytest.approx(1e-3 * 2 / 9)
    for labels in (Y, kinds):  # an intercept takes up what every row has
        plain = SparseClassifier(**FAST).fit(X, labels)
        shifted = SparseClassifier(**FAST).fit(X, labels, offset=np.full(len(Y), 3.0))
        assert shifted.l2_ == pytest.approx(plain.l2_, rel=1e-6)


@pytest.mark.parametrize("classes", [2, 3])
def test_separable_classes_stay_finite_and_no_ridge_is_told(classes):
    rng = np.random.default_rng(2)
    data = rng.standard_normal((60, 5))
    labels = np.digitize(data[:, 1], [0.0] if classes == 2 else [-0.5, 0.5])
    model = SparseClassifier(**FAST).fit(data, labels)  # warnings are errors here
    assert model.result_.status == "converged"
    assert np.abs(model.coef_).max() < 100
    assert model.score(data, labels) > 0.9
    with pytest.warns(ConvergenceWarning, match="minimum is not attained|separat") as warned:
        bare = SparseClassifier(l2=0, **FAST).fit(data, labels)
    assert len(warned) == 1
    assert bare.l2_ == 0.0
    assert bare.result_.reason in str(warned[0].message)
