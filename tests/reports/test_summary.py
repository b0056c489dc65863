"""The page about a solution: its numbers are the model's, and what it says is true."""

import copy
import dataclasses
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.metrics import d2_log_loss_score, r2_score

import pursuit
from pursuit import (
    GLM,
    Function,
    InParts,
    SparseClassifier,
    SparseClassifierCV,
    SparseRegressor,
    SparseRegressorCV,
    certify,
    solve,
    summary,
)
from pursuit.estimators.base_cv import HeldOut


@pytest.fixture(scope="module")
def diabetes():
    return load_diabetes(return_X_y=True, as_frame=True)


def r2(X, y, names):
    return LinearRegression().fit(X[list(names)], y).score(X[list(names)], y) if names else 0.0


def test_numbers_are_those_of_refits(diabetes):
    X, y = diabetes
    page = SparseRegressor(k=3).fit(X * 7, y).summary()
    assert page.names == ("bmi", "bp", "s5")
    assert page.score == pytest.approx(r2(X, y, page.names))
    np.testing.assert_allclose(page.per_sd, page.coef * 7 * X[list(page.names)].std(ddof=0))
    for i, name in enumerate(page.names):
        rest = [other for other in page.names if other != name]
        assert page.drop[i] == pytest.approx(page.score - r2(X, y, rest))
        replaced = {other: r2(X, y, [*rest, other]) for other in X.columns if other not in page.names}
        assert page.rivals[i] == max(replaced, key=replaced.get)
        assert page.rival_cost[i] == pytest.approx(page.score - max(replaced.values()))
    assert (page.rows, page.dim, page.k, page.sets, page.how, page.unit) == (442, 10, 3, 120, "exact", "R2")


def test_what_is_printed(diabetes):
    X, y = diabetes
    text = str(SparseRegressor(k=4, include="age").fit(X, y).summary())
    assert text.startswith("4 of 10 features, 442 rows, squared loss; R2 0.4809 in sample")
    lines = {line.split()[0]: line for line in text.splitlines() if line}
    assert lines["age"].endswith("must stay")
    assert "s3" in lines["bmi"]
    assert "among 84 sets" in text
    assert "p-values" in text
    assert "nan" not in text


def test_a_frame(diabetes):
    frame = SparseRegressor(k=3).fit(*diabetes).summary().to_frame()
    assert frame.columns.tolist() == ["feature", "column", "coefficient", "per_sd", "drop", "rival", "rival_cost"]
    assert frame["feature"].tolist() == ["bmi", "bp", "s5"]


def test_the_estimators_is_the_functions(diabetes):
    X, y = diabetes
    model = SparseRegressor(k=3).fit(X, y)
    page = summary(model.objective_, model.result_)
    assert str(page) == str(model.summary())
    plain = summary(f := GLM(X, y), solve(f, 3))
    np.testing.assert_allclose(plain.per_sd, page.per_sd)
    np.testing.assert_allclose(plain.drop, page.drop)


def test_a_proof_is_told(diabetes):
    f = GLM(*diabetes)
    result = solve(f, 3)
    assert "not proved" in str(summary(f, result))
    assert "No other set of this size is better: proved." in str(summary(f, certify(f, result, time_limit=10).result))


def test_a_set_that_is_not_the_best_is_called_so(diabetes):
    f = GLM(*diabetes)
    result = solve(f, 3, solver="omp", exclude=["bmi"])
    page = summary(f, result)
    assert "bmi" not in page.rivals
    result = dataclasses.replace(solve(f, 1, exclude=["bmi"]), constraint=f.sparse_set(1))
    assert "bmi instead of s5 would be better: this is not the best set." in str(summary(f, result))


def test_a_duplicate_is_a_rival_that_costs_nothing(diabetes):
    X, y = diabetes
    X = X.assign(twin=-3 * X["bmi"])
    for k in (1, 2, 3, 4):
        page = SparseRegressor(k=k).fit(X, y).summary()
        place = next(i for i, name in enumerate(page.names) if name in ("bmi", "twin"))
        assert page.rivals[place] in ("bmi", "twin")
        assert abs(page.rival_cost[place]) < 1e-9
        assert "not the best set" not in str(page)


def test_a_classifier():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = SparseClassifier(k=4).fit(X, np.where(y, "benign", "malignant"))
    page = model.summary()
    assert page.score == pytest.approx(d2_log_loss_score(1 - y, model.predict_proba(X)[:, 1]), abs=1e-9)
    assert (page.unit, page.how) == ("D2", "refitted")
    assert (page.drop > 0).all()
    assert (page.rival_cost <= page.drop + 1e-12).all()
    assert "ridge" in str(page)


def test_several_classes_and_responses(diabetes):
    X, y = load_iris(return_X_y=True, as_frame=True)
    page = SparseClassifier(k=2).fit(X, np.array(["a", "b", "c"])[y]).summary()
    assert page.outputs == ("a", "b", "c")
    assert page.to_frame().filter(like="coefficient[").shape == (2, 3)
    assert "split_intervals" not in str(page)
    X, y = diabetes
    Y = np.column_stack([y, y**2 / 100])
    model = SparseRegressor(k=2).fit(X, Y)
    assert model.summary().score == pytest.approx(r2_score(Y, model.predict(X), multioutput="variance_weighted"))


def test_groups_have_one_cost(diabetes):
    X, y = diabetes
    page = SparseRegressor(k=2, groups=[0, 0, 1, 2, 2, 2, 3, 3, 4, 4]).fit(X, y).summary()
    assert page.names == ("bmi", "s5", "s6")
    assert page.drop[1] == page.drop[2] == pytest.approx(page.score - r2(X, y, ["bmi"]))
    assert page.rivals[0] == "bp, s1 and 1 more"
    assert "one group" in str(page)


def test_bounds(diabetes):
    X, y = diabetes
    page = SparseRegressor(k=3, bounds=(0, None)).fit(X, y).summary()
    assert page.how == "refitted"
    assert (page.rival_cost <= page.drop + 1e-12).all()


@pytest.mark.parametrize("kind", ["sparse", "parts", "float32"])
def test_any_data(kind, diabetes):
    X, y = (part.to_numpy() for part in diabetes)
    given = {"sparse": lambda: (sp.csr_matrix(X), y), "float32": lambda: (X.astype(np.float32), y)}
    f = GLM(InParts([(X[:200], y[:200]), (X[200:], y[200:])])) if kind == "parts" else GLM(*given[kind]())
    plain = GLM(X, y)
    page, expected = summary(f, solve(f, 3)), summary(plain, solve(plain, 3))
    assert page.rivals == expected.rivals
    np.testing.assert_allclose(page.drop, expected.drop, rtol=1e-4)
    np.testing.assert_allclose(page.per_sd, expected.per_sd, rtol=1e-4)


def test_a_function_has_costs_in_its_own_units():
    f = Function(lambda x: float(((x - [1, 2, 3]) ** 2).sum()), lambda x: 2 * (x - [1, 2, 3]), dim=3)
    page = summary(f, solve(f, 2))
    assert page.unit == "the objective"
    np.testing.assert_allclose(page.drop, [4, 9], rtol=1e-5)
    assert page.rivals == ("x0", "x0")
    np.testing.assert_allclose(page.rival_cost, [3, 8], rtol=1e-5)
    assert "value gained if dropped" in str(page)


@pytest.mark.parametrize("made_before", [True, False])
def test_a_pickle_keeps_it(made_before, diabetes):
    X, y = diabetes
    model = SparseRegressor(k=3).fit(X, y)
    if made_before:
        model.summary()
    back = pickle.loads(pickle.dumps(model))
    assert str(back.summary()) == str(model.summary())
    assert str(copy.deepcopy(back).summary()) == str(model.summary())
    assert str(model.fit(X, -2 * y).summary()) != str(back.summary())


KINDS = {
    "three classes": (SparseClassifier(k=3), "wine"),
    "three classes, shrunk": (SparseClassifier(k=2, l2=0.1, include=[4]), "wine"),
    "three classes, k chosen": (SparseClassifierCV(ks=[2, 3], cv=3), "wine"),
    "two classes": (SparseClassifier(k=3), "cells"),
    "hinge": (SparseClassifier(k=3, loss="hinge"), "cells"),
    "two classes, k chosen": (SparseClassifierCV(ks=[2, 3], cv=3), "cells"),
    "huber": (SparseRegressor(k=3, loss="huber"), "diabetes"),
    "bounds": (SparseRegressor(k=3, bounds=(0, None)), "diabetes"),
    "groups": (SparseRegressor(k=2, loss="poisson", groups=[0, 0, 1, 1, 2, 2, 3, 3, 4, 4]), "diabetes"),
    "k chosen": (SparseRegressorCV(ks=[2, 3], cv=3), "diabetes"),
    "k chosen by a criterion": (SparseRegressorCV(ks=[2, 3], rule="bic", loss="poisson"), "diabetes"),
    "average": (SparseRegressorCV(ks=[2, 3], cv=3, combine="average"), "diabetes"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_copies_print_the_same_page(kind):
    """They are taken before the page is made: how costs are computed must not depend on who asks first."""
    model, name = copy.deepcopy(KINDS[kind])
    X, y = {"wine": load_wine, "cells": load_breast_cancer, "diabetes": load_diabetes}[name](return_X_y=True)
    model.fit(X, y)
    copies = [pickle.loads(pickle.dumps(model)), copy.deepcopy(model)]
    copies.append(pickle.loads(pickle.dumps(copies[1])))
    for other in copies:
        assert str(other.summary()) == str(model.summary())


@pytest.mark.parametrize("k", [2, 5])
def test_costs_of_several_classes_are_those_of_refits(k):
    X, y = load_wine(return_X_y=True)
    model = SparseClassifier(k=k).fit(X, y)
    page = pickle.loads(pickle.dumps(model)).summary()
    assert page.how == "refitted"
    f = pursuit.MultiGLM(X, y, l2=model.l2_, standardize=True)
    for i, j in enumerate(page.columns):
        without = np.setdiff1d(page.columns, [j])
        alone = solve(f, len(without), include=without)
        assert page.drop[i] == pytest.approx((alone.value - model.result_.value) / f.null.value, rel=1e-6)


def test_without_data_what_is_left_is_told(diabetes, monkeypatch):
    monkeypatch.setattr("pursuit.estimators.base.MAX_SUMMARY_WORK", 0)
    model = SparseRegressor(k=3).fit(*diabetes)
    back = pickle.loads(pickle.dumps(model)).summary()
    assert back.names == model.summary().names
    assert back.drop is None
    assert back.to_frame().shape == (3, 3)
    assert "needs the data" in str(back)
    X, y = load_iris(return_X_y=True)
    back = pickle.loads(pickle.dumps(SparseClassifier(k=2).fit(X, y))).summary()
    assert back.groups is None
    assert back.outputs == ("0", "1", "2")
    assert "x2" in str(back)


def test_a_held_out_score_is_told(diabetes):
    X, y = diabetes
    model = SparseRegressor(k=2).fit(X, y)  # with what an estimator that chooses k would have
    model.reason_, model.held_out_ = "k=2 has the least held-out loss", HeldOut(0.41, "R2", 0.03, 10)
    page = model.summary()
    assert "; R2 0.4100 held out (standard error 0.0300)\n" in str(page)
    assert "\nk=2 has the least held-out loss." in str(page)
    model.held_out_, model.result_ = None, copy.copy(model.result_)
    assert "held out\n" not in str(model.summary())


def test_a_model_that_is_not_the_plain_fit(diabetes):
    """As of an estimator that averages or shrinks: coefficients and scores are the model's, costs those of refits."""
    X, y = diabetes
    model = SparseRegressor(k=3).fit(X, y)
    plain = model.summary()
    other = SparseRegressor(k=2).fit(X, y)
    model.support_, model.coef_ = np.array([2, 8]), 0.9 * other.coef_
    model.intercept_, model.result_ = float(y.mean()), copy.copy(model.result_)
    page = model.summary()
    assert page.names == ("bmi", "s5")
    np.testing.assert_allclose(page.coef, model.coef_[[2, 8]])
    np.testing.assert_allclose(page.drop, other.summary().drop)
    assert page.score == pytest.approx(r2_score(y, X @ model.coef_ + model.intercept_))
    assert page.sets == 45
    assert "plain refits" in str(page)
    assert "plain refits" not in str(plain)


def test_what_cannot_be_dropped_must_stay(diabetes):
    X, y = diabetes
    f = GLM(X, y)
    page = summary(f, solve(f, 2, bounds=(0, 600), sum_to=1000))
    assert (page.drop == np.inf).all()
    assert str(page).count("must stay") == 2


def test_no_features():
    X = np.zeros((20, 3))
    page = summary(f := GLM(X, np.arange(20.0)), solve(f, 2))
    assert np.isfinite(page.to_frame().select_dtypes("number")).all().all()
    y = np.ones(20)
    X[:, 0] = np.arange(20)
    str(summary(f := GLM(X, y), solve(f, 1)))


def test_bad_input(diabetes):
    X, y = diabetes
    model = SparseRegressor(k=3).fit(X, y)
    with pytest.raises(NotFittedError):
        SparseRegressor().summary()
    with pytest.raises(TypeError, match=r"result must be the Result of the objective.*estimator\.summary\(\)"):
        summary(model.objective_, model)
    with pytest.raises(TypeError, match="objective must be"):
        summary(X, model.result_)
    with pytest.raises(ValueError, match="result has 10 coordinates, but the objective has 4"):
        summary(GLM(X.iloc[:, :4], y), model.result_)
    with pytest.raises(ValueError, match="result has a loss of"):
        summary(GLM(X, 3 * y), model.result_)


def test_names_of_all_kinds():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((30, 3)), columns=["a" * 60, "b c", "d"])
    text = str(pursuit.SparseRegressor(k=2).fit(X, X.iloc[:, 0] + X["d"]).summary())
    assert max(map(len, text.splitlines())) < 130
