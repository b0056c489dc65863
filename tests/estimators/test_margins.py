"""The papers' sparse support vector machines: a ridge of their own, decision_function, no probabilities."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

import pursuit
from problems import problem
from pursuit import GLM, SparseClassifier, SparseRegressor, solve

MARGINS = ("hinge", "smoothed_hinge", "squared_hinge")
GIVEN = problem("logistic", n=90)
X, Y = GIVEN.X, np.where(GIVEN.y > 0, "yes", "no")


@pytest.mark.filterwarnings("ignore:.*limit of 50 iterations")  # sdiht would take thousands at this ridge
@pytest.mark.parametrize("solver", ["grahtp", "sdiht"])
@pytest.mark.parametrize("loss", MARGINS)
def test_without_an_l2_a_margin_loss_has_its_own(loss, solver):
    model = SparseClassifier(k=3, loss=loss, solver=solver, max_iter=50, random_state=1).fit(X, Y)
    assert model.l2 is None
    assert model.l2_ == 1e-3
    same = SparseClassifier(k=3, loss=loss, solver=solver, l2=1e-3, max_iter=50, random_state=1).fit(X, Y)
    np.testing.assert_array_equal(model.coef_, same.coef_)
    f = GLM(X, GIVEN.y, loss, l2=1e-3, standardize=True)
    result = solve(f, 3, solver=solver, max_iter=50, random_state=1)
    assert model.result_.value == pytest.approx(result.value, rel=1e-12)
    score = model.decision_function(X)
    np.testing.assert_allclose(score, X @ model.coef_[0] + model.intercept_[0], rtol=1e-12)
    assert np.array_equal(model.predict(X), np.where(score > 0, "yes", "no"))
    assert model.score(X, Y) > 0.7
    assert not hasattr(model, "predict_proba")
    assert clone(model).l2 is None


def test_the_other_losses_have_none():
    assert SparseRegressor(k=2).fit(X, GIVEN.y).l2_ == 0.0
    assert SparseRegressor(k=2, l2=0.3).fit(X, GIVEN.y).l2_ == 0.3
    assert {loss: pursuit.losses.as_loss(loss).ridge for loss in pursuit.list_losses()} == {
        loss: 1e-3 if loss in MARGINS else 0.0 for loss in pursuit.list_losses()
    }


@pytest.mark.parametrize("C", [0.1, 2.0])
def test_l2_from_C(C):
    n, p = X.shape
    settings = {"k": p, "l2": 1 / (n * C), "standardize": False, "solver": "omp"}
    machine = SVC(kernel="linear", C=C, tol=1e-9).fit(X, Y)
    mine = SparseClassifier(loss="hinge", **settings).fit(X, Y)
    np.testing.assert_allclose(mine.coef_, machine.coef_, atol=1e-5)
    logistic = LogisticRegression(C=C, tol=1e-10, max_iter=10_000).fit(X, Y)
    mine = SparseClassifier(loss="logistic", **settings).fit(X, Y)
    np.testing.assert_allclose(mine.coef_, logistic.coef_, atol=1e-5)


def test_zero_is_what_it_says():
    with pytest.raises(ValueError, match="'hinge' needs l2 > 0"):
        SparseClassifier(k=2, loss="hinge", l2=0.0).fit(X, Y)
    with pytest.raises(ValueError, match="l2 must be a finite number at least 0"):
        SparseClassifier(k=2, l2=-1.0).fit(X, Y)
    with pytest.raises(TypeError, match="l2 must be a number"):
        SparseClassifier(k=2, l2="much").fit(X, Y)
