"""Additive models: against enumeration, against a fold computed by hand, and in terms of the user's columns."""

import pickle
import warnings
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import pursuit
from pursuit import SmoothEffects, SparseAdditiveClassifier, SparseAdditiveRegressor
from pursuit.effects import fit_basis


def friedman(n=300, p=8, seed=0):
    g = np.random.default_rng(seed)
    X = g.random((n, max(p, 5)))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    return X[:, :p], y + g.normal(size=n)


def ridge_value(Z, y, l2):
    Z = Z - Z.mean(axis=0)
    r = y - y.mean()
    b = np.linalg.solve(Z.T @ Z / len(y) + l2 * np.eye(Z.shape[1]), Z.T @ r / len(y))
    return 0.5 * np.mean((r - Z @ b) ** 2) + 0.5 * l2 * b @ b


@pytest.mark.parametrize("k", [1, 2, 3])
def test_a_fixed_k_finds_the_best_features_by_enumeration(k):
    X, y = friedman(p=7)
    model = SparseAdditiveRegressor(k=k).fit(X, y)
    basis = model.model_.basis_
    Z = basis.evaluate(lambda j: X[:, j], len(X))
    value = {S: ridge_value(Z[:, np.isin(basis.feature_of, S)], y, model.model_.l2_) for S in combinations(range(7), k)}
    best = min(value, key=value.get)
    assert tuple(model.support_) == best
    assert model.model_.result_.value == pytest.approx(value[best], rel=1e-9)
    proof = pursuit.certify(model.model_.objective_, model.model_.result_, time_limit=10)
    assert proof.status == "proved"


def test_knots_of_a_fold_are_those_of_its_training_rows():
    X, y = friedman(120, 4)
    X[:30] *= 40.0  # rows of the held-out fold, which would move every knot
    train, test = np.arange(30, 120), np.arange(30)
    model = SparseAdditiveRegressor(cv=[(train, test)], ks=[2], l2=0.3, gamma=1.0, combine="none", n_knots=4)
    model.fit(X, y)
    kinds = ["smooth"] * 4
    basis = fit_basis(lambda j: X[train, j], None, kinds, 4)
    f = pursuit.GLM(basis.evaluate(lambda j: X[train, j], 90), y[train], l2=0.3)
    result = pursuit.solve(f, 2, groups=basis.feature_of)
    held = basis.evaluate(lambda j: X[test, j], 30) @ result.x + result.intercept
    assert model.model_.cv_results_["split0_loss"][0] == pytest.approx(0.5 * np.mean((y[test] - held) ** 2), rel=1e-6)
    scored = SparseAdditiveRegressor(
        cv=[(train, test)], ks=[2], l2=0.3, gamma=1.0, combine="none", n_knots=4, scoring="neg_mean_squared_error"
    ).fit(X, y)
    assert scored.model_.cv_results_["split0_score"][0] == pytest.approx(-np.mean((y[test] - held) ** 2), rel=1e-6)


def test_the_average_of_folds_with_other_knots_predicts_like_its_parts():
    X, y = friedman(400, 6)
    test_X, test_y = friedman(2000, 6, seed=1)
    smooth = SparseAdditiveRegressor().fit(X, y)
    assert smooth.model_.combine_ == "project"
    linear = SparseAdditiveRegressor(effects="linear").fit(X, y)
    error = [np.mean((model.predict(test_X) - test_y) ** 2) for model in (smooth, linear)]
    assert error[0] < 0.75 * error[1]
    assert set(range(5)) <= set(smooth.support_.tolist())


def test_a_model_speaks_of_the_columns_of_x():
    X, y = friedman(200, 6)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame["g"] = np.arange(200) % 3
    model = SparseAdditiveRegressor(k=4, include=["f"], exclude=["d"]).fit(frame, y)
    assert "f" in model.get_feature_names_out()
    assert "d" not in model.get_feature_names_out()
    assert model.k_ == len(model.support_) == 4
    assert np.array_equal(model.transform(frame), frame[model.get_feature_names_out()])
    assert list(model.effects_) == model.get_feature_names_out().tolist()
    parts = model.contributions(frame)
    assert parts.shape == (200, 4)
    assert np.allclose(parts.sum(axis=1) + model.intercept_, model.predict(frame), rtol=1e-12)
    assert np.allclose(parts.mean(axis=0), 0, atol=1e-9)
    with pytest.raises(AttributeError, match="effects_ holds the curves"):
        model.coef_
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(frame), model.predict(frame))
    assert "features, one effect each" in str(again.summary())


def test_effects_by_column():
    X, y = friedman(200, 5)
    model = SparseAdditiveRegressor(k=5, effects={3: "linear", 4: "linear"}).fit(X, y)
    assert [effect.kind for effect in model.effects_.values()] == ["smooth"] * 3 + ["linear"] * 2
    curve = model.effects_["x3"]
    assert np.allclose(np.diff(curve(np.linspace(0, 1, 11)), 2), 0, atol=1e-9)
    assert "falls" in model.effects_["x2"].describe()
    assert "rises" in model.effects_["x2"].describe()


def test_features_of_a_group_enter_together_and_count_once():
    X, y = friedman(200, 6)
    model = SparseAdditiveRegressor(k=2, groups=[0, 0, 1, 2, 3, 4]).fit(X, y)
    assert model.k_ == 2
    assert {0, 1} <= set(model.support_.tolist())
    assert len(model.support_) == 3


def test_few_values_have_no_curve():
    X = np.column_stack([np.arange(90) % 8, np.arange(90) % 9, np.arange(90.0)])
    effects = SmoothEffects().fit(X)
    assert [column.kind for column in effects.basis_.columns] == ["linear", "smooth", "smooth"]
    Z = effects.transform(X)
    assert np.array_equal(Z[:, 0], X[:, 0])
    assert effects.get_feature_names_out(["a", "b", "c"]).tolist() == ["a", "b", "b:2", "c", "c:2"]
    assert SmoothEffects({0: "smooth"}).fit(X).basis_.columns[0].kind == "smooth"


def test_classes_of_any_kind_and_several_of_them():
    X, y = friedman(240, 4)
    two = np.where(y > np.median(y), "high", "low")
    model = SparseAdditiveClassifier(k=2).fit(X, two)
    assert model.score(X, two) > 0.75
    eta = model.contributions(X).sum(axis=1) + model.intercept_
    assert np.allclose(model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-eta)))
    three = np.digitize(y, np.quantile(y, [0.33, 0.67]))
    several = SparseAdditiveClassifier(k=2).fit(X, three)
    assert several.contributions(X).shape == (240, 2, 3)
    assert np.allclose(several.contributions(X).sum(axis=1) + several.intercept_, several.decision_function(X))
    chosen = SparseAdditiveClassifier(cv=3, ks=[1, 2]).fit(X, two)
    assert chosen.k_ in (1, 2)


def test_far_beyond_the_training_rows_curves_are_lines_which_is_said_once():
    X, y = friedman(150, 3)
    model = SparseAdditiveRegressor(k=3).fit(X, y)
    far = np.full((1, 3), 50.0)
    with pytest.warns(UserWarning, match="column 0 has 50, far beyond the training rows"):
        one = model.predict(far)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        two, three = model.predict(2 * far), model.predict(3 * far)
    assert one - 2 * two + three == pytest.approx(0, abs=1e-6 * abs(float(three[0])))


def test_a_column_that_is_constant_in_a_fold():
    X, y = friedman(60, 3)
    X[:, 2] = 0.0
    X[:20, 2] = np.arange(20.0)
    model = SparseAdditiveRegressor(cv=[(np.arange(20, 60), np.arange(20)), (np.arange(40), np.arange(40, 60))])
    assert np.isfinite(model.fit(X, y).predict(X)).all()


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"k": "all"}, "k must be a number of features or 'cv', got 'all'"),
        ({"k": 3, "ks": [1]}, "ks is for k='cv'"),
        ({"effects": "wiggly"}, "effects must be one of 'smooth', 'linear'"),
        ({"effects": {"z": "linear"}}, "effects names column 'z', which X does not have"),
        ({"effects": {9: "linear"}}, "column indices from 0 to 2"),
        ({"effects": {0: "up"}}, r"effects\[0\] must be one of"),
        ({"effects": 3}, "effects must be"),
        ({"n_knots": 2}, "n_knots must be None or a whole number from 3 to 7, got 2"),
        ({"include": [7]}, "include must hold column indices from 0 to 2, got 7"),
        ({"include": [0], "exclude": [0]}, "include and exclude overlap"),
        ({"effects": {1: "linear"}, "exclude": [1]}, "effects describes column 1, which exclude leaves out"),
    ],
)
def test_wrong_parameters_are_named(parameters, words):
    X, y = friedman(40, 3)
    with pytest.raises((TypeError, ValueError), match=words):
        SparseAdditiveRegressor(**parameters).fit(X, y)


@pytest.mark.parametrize(("rows", "more"), [(150, 2), (250, 1)])
def test_below_200_rows_curves_have_three_knots_and_lines_are_candidates_too(rows, more):
    X, y = friedman(rows, 3)
    smooth, bent = (
        SparseAdditiveRegressor(effects=kind, ks=[0, 1, 2], cv=2).fit(X, y).model_
        for kind in ("smooth", {0: "smooth"})  # a dict says what each effect is
    )
    assert len(smooth.cv_results_["k"]) == more * len(bent.cv_results_["k"])
    assert {len(column.knots) for column in smooth.basis_.columns} == {3 if rows < 200 else 5}


def test_wrong_data_are_named():
    X, y = friedman(40, 3)
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN or infinity in column 1"):
        SparseAdditiveRegressor(k=1).fit(X, y)
