"""``fit`` without -k: what Python's estimators choose, said in words, and a model that predicts as they do."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import GroupKFold

from pursuit import SparseClassifierCV, SparseRegressorCV, load_model
from pursuit.cli import progress
from pursuit.cli.sizes import parse_sizes
from pursuit.estimators.base_cv import SparseModelCV


def column(text, name="prediction"):
    return [row[name] for row in csv.DictReader(io.StringIO(text))]


@pytest.fixture
def diabetes(files):
    frame = pd.read_parquet(files / "diabetes.parquet")
    return frame.drop(columns="y"), frame["y"]


@pytest.mark.parametrize(
    ("options", "parameters"),
    [
        ((), {}),
        (("-k", "auto", "--ks", "1-4,6", "--cv", 5), {"ks": [1, 2, 3, 4, 6], "cv": 5}),
        (("-k", "AUTO", "--rule", "1SE", "--combine", "none"), {"rule": "1se", "combine": "none"}),
        (("--rule", "bic"), {"rule": "bic"}),
        (("--goal", "Explain"), {"goal": "explain"}),
        (("--combine", "average", "--l2", 0.5), {"combine": "average", "l2": 0.5}),
    ],
)
def test_it_is_python_s(run, diabetes, tmp_path, options, parameters):
    X, y = diabetes
    model = tmp_path / "m.json"
    code, out, err = run("fit", "diabetes.csv", "-t", "y", "--exclude", "town", *options, "--out", model)
    assert (code, err) == (0, "")
    estimator = SparseRegressorCV(**parameters).fit(X, y)
    assert estimator.reason_ in out
    assert load_model(model).selected == tuple(estimator.get_feature_names_out())
    predicted = column(run("predict", model, "diabetes.csv")[1])
    assert np.allclose(np.array(predicted, float), estimator.predict(X), rtol=0, atol=1e-10)
    seen = estimator.held_out_
    assert ("held out" in out) == (seen is not None)
    if seen is not None:
        assert f"{seen.name} {seen.score:.4g}, standard error {seen.error:.2g} over {seen.folds} folds" in out


def test_what_was_held_out_is_what_the_table_says(diabetes):
    X, y = diabetes
    estimator = SparseRegressorCV(ks=range(5), cv=5).fit(X, y)
    seen, table = estimator.held_out_, estimator.sizes_
    at, variance = list(table["k"]).index(estimator.k_), y.var(ddof=0) / 2
    assert seen[1::2] == ("R2", 5)
    assert seen.score == pytest.approx(1 - table["mean_loss"][at] / variance)
    assert seen.error == pytest.approx(table["std_error"][at] / variance)
    scored = SparseRegressorCV(ks=range(5), cv=5, scoring="r2").fit(X, y).held_out_
    assert scored[1::2] == ("score", 5)
    assert abs(scored.score - seen.score) < 0.03
    assert SparseRegressorCV(rule="aic").fit(X, y).held_out_ is None
    dense = SparseRegressorCV(combine="average").fit(X, y)
    assert dense.held_out_ is None
    assert "held out" not in str(dense.summary())


@pytest.mark.parametrize("target", ["y", "high"])
def test_what_explains_is_said_to_be_one_refitted_subset(run, diabetes, tmp_path, target):
    X, y = diabetes
    frame = X.assign(y=y, high=np.where(y > y.median(), "yes", "no")).drop(columns={"y": "high", "high": "y"}[target])
    frame.to_csv(tmp_path / "t.csv", index=False)
    how = ("-k", "auto", "--goal", "explain", "--ks", "0-6", "--cv", 4)
    code, out, err = run("fit", tmp_path / "t.csv", "-t", target, *how, "--out", tmp_path / "m.json")
    assert (code, err) == (0, "")
    kind = SparseRegressorCV if target == "y" else SparseClassifierCV
    model = kind(range(7), goal="explain", cv=4).fit(X, frame[target])
    assert load_model(tmp_path / "m.json").selected == tuple(model.get_feature_names_out())
    assert np.allclose(load_model(tmp_path / "m.json").coef, model.refit_coef_.ravel()[model.support_])
    words = "refitted without a ridge" if target == "y" else "refitted with l2 0.00025"
    assert "one subset, selected" in out
    assert words in out
    assert "shrunk" not in out


def test_several_classes(run, tmp_path):
    iris = load_iris(as_frame=True)
    iris.data.assign(species=iris.target_names[iris.target]).to_csv(tmp_path / "iris.csv", index=False)
    options = ("-t", "species", "--cv", 3, "--ks", "0-4", "--out", tmp_path / "m.json", "--summary")
    code, out, err = run("fit", tmp_path / "iris.csv", *options)
    assert (code, err) == (0, "")
    assert "k chosen by 3-fold cross-validation" in out
    assert "closest rival" in out
    estimator = SparseClassifierCV(ks=range(5), cv=3).fit(iris.data, iris.target_names[iris.target])
    text = run("predict", tmp_path / "m.json", tmp_path / "iris.csv", "--proba")[1]
    shares = np.column_stack([column(text, f"probability_{name}") for name in iris.target_names]).astype(float)
    assert np.allclose(shares, estimator.predict_proba(iris.data), rtol=0, atol=1e-10)
    assert column(text) == estimator.predict(iris.data).tolist()


@pytest.mark.parametrize("suffix", ["csv", "parquet", "npz"])
def test_rows_of_one_group_stay_together(run, diabetes, tmp_path, suffix):
    X, y = diabetes
    clinic, data, model = np.arange(len(y)) % 7, tmp_path / f"t.{suffix}", tmp_path / "m.json"
    names = np.array([f"clinic {c}" for c in clinic])
    if suffix == "npz":
        np.savez(data, X=X.to_numpy(), y=y.to_numpy(), clinic=names)
    else:
        frame = X.assign(y=y, clinic=names)
        frame.to_csv(data, index=False) if suffix == "csv" else frame.to_parquet(data)
    code, out, err = run("fit", data, "-t", "y", "--cv-groups", "clinic", "--ks", "1-6", "--out", model)
    assert (code, err) == (0, "")
    assert "7-fold cross-validation that keeps rows of one clinic together" in out
    assert load_model(model).n_features == 10
    splitter = GroupKFold(7, shuffle=True, random_state=0)
    estimator = SparseRegressorCV(range(1, 7), cv=splitter).fit(X, y, cv_groups=clinic)
    assert f"R2 {estimator.held_out_.score:.4g}," in out


def test_groups_of_classes(run, tmp_path):
    rng = np.random.default_rng(0)
    X, who = rng.normal(size=(90, 5)), np.arange(90) // 9
    kind = np.where(X[:, 1] + 0.5 * rng.normal(size=90) > 0, "yes", "no")
    frame = pd.DataFrame(X, columns=list("abcde")).assign(kind=kind, who=who)
    frame.to_csv(tmp_path / "t.csv", index=False)
    code, out, err = run(
        "fit", tmp_path / "t.csv", "-t", "kind", "--cv-groups", "who", "--cv", 4, "--ks", "0-3", "-o", tmp_path / "m"
    )
    assert (code, err) == (0, "")
    assert "4-fold cross-validation that keeps rows of one who together" in out
    assert "b" in load_model(tmp_path / "m").selected


def test_a_target_that_nothing_explains(run, tmp_path):
    rng = np.random.default_rng(5)
    np.savez(tmp_path / "t.npz", X=rng.normal(size=(80, 6)), y=rng.normal(size=80))
    code, out, _ = run("fit", tmp_path / "t.npz", "--rule", "ebic", "--out", tmp_path / "m.json")
    assert code == 0
    assert "the null model is best, and no feature is used" in out
    assert json.loads((tmp_path / "m.json").read_text())["support"] == []


def test_an_interrupt_while_k_is_chosen_writes_nothing(run, tmp_path, monkeypatch):
    def stop(*progress_arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(SparseModelCV, "_choose", stop)
    code, out, err = run("fit", "diabetes.parquet", "-t", "y", "--out", tmp_path / "m.json")
    assert (code, out, err) == (130, "", "pursuit: interrupted\n")
    assert not list(tmp_path.iterdir())


def test_folds_are_shown_as_they_are_done(run, tmp_path, monkeypatch):
    shown = []

    class Bar(progress.Progress):
        def __call__(self, done, other=None):
            shown.append((done, other))

    monkeypatch.setattr(progress, "Progress", Bar)
    assert run("fit", "diabetes.parquet", "-t", "y", "--cv", 4, "--ks", "1-3", "--out", tmp_path / "m.json")[0] == 0
    assert shown == [(0, None), (1, 4), (2, 4), (3, 4), (4, 4)]


def test_sizes_as_they_are_typed():
    assert parse_sizes("1-4") == [1, 2, 3, 4]
    assert parse_sizes("5, 1-2,2 - 3") == [1, 2, 3, 5]
    assert parse_sizes("0") == [0]
