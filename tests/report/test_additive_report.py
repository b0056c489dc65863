"""The report of an additive model: its curves, and features in place of the columns of splines."""

import json
import pickle
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from typer.testing import CliRunner

import pursuit
from pursuit import SparseAdditiveClassifier, SparseAdditiveRegressor
from pursuit.cli.app import app

HOSTILE = "</script><img src=x onerror=alert(1)>"  # a column of the fixtures is called that


def content(page):
    block = re.search(r'<script type="application/json" id="content">(.*?)</script>', page.read_text(), re.S)
    return json.loads(block.group(1))


def test_curves_are_the_model_s(additive_page, additive):
    model, X = additive
    shown = content(additive_page)
    assert {curve["name"] for curve in shown["curves_of_features"]} == set(model.effects_)
    for curve in shown["curves_of_features"]:
        effect = model.effects_[curve["name"]]
        assert curve["y"] == pytest.approx(effect(np.array(curve["x"])), rel=1e-5, abs=1e-5)
        low, high = np.array(curve["band"])
        assert (low <= high).all()
        inside = np.array(curve["y"][1:-1])
        assert ((low <= inside) & (inside <= high)).mean() > 0.7
        values = X[curve["name"]].to_numpy()
        assert all(np.abs(values - tick).min() < 1e-6 for tick in curve["rug"])
    few = next(curve for curve in shown["curves_of_features"] if curve["name"] == "few")
    assert few["few"] == [0, 1, 2]
    assert few["kind"] == "linear"


def test_the_page_speaks_of_the_user_s_columns(additive_page, additive):
    model, X = additive
    shown, text = content(additive_page), additive_page.read_text()
    columns = set(X.columns)
    assert {row["name"] for row in shown["features"]} == set(model.effects_)
    assert {row["rival"] for row in shown["features"]} <= columns | {""}
    assert {name for size in shown["path"]["sizes"] for name, _ in size["features"]} <= columns
    assert {row[0] for row in shown["stability"]["rows"]} <= columns
    assert ":2" not in text.partition("<section>")[2].partition("How to reproduce it")[0]
    assert HOSTILE not in text
    assert shown["question"]["columns"] == X.shape[1]
    assert shown["cv"]["chosen"] == model.k_
    assert "curve" in " ".join(shown["caveats"])
    for size in shown["path"]["sizes"]:
        assert len(size["features"]) == size["k"]


def test_the_size_of_a_curve_on_the_path_is_its_standard_deviation(tmp_path):
    X = np.random.default_rng(0).normal(size=(250, 4))
    model = SparseAdditiveRegressor(k=2).fit(X, np.sin(2 * X[:, 0]) + X[:, 2])
    shown = content(model.report(tmp_path / "curves.html", n_pairs=2))
    sizes = dict(next(size for size in shown["path"]["sizes"] if size["k"] == 2)["features"])
    spread = model.contributions(X).std(axis=0)
    assert sizes == pytest.approx(dict(zip(model.effects_, spread, strict=True)), rel=1e-5)
    assert shown["certificate"]["status"] == "proved"
    assert "the best additive model with at most 2 features" in shown["optimality"][0]


def test_held_out_rows_are_predicted_by_additive_models(additive_page, additive):
    rows = content(additive_page)["held_out"]["rows"]
    assert [row["name"] for row in rows] == ["pursuit", "lasso", "no features"]
    assert rows[0]["loss"] < rows[1]["loss"]  # one effect is a wave


def test_classes(additive_class_page):
    shown = content(additive_class_page)
    assert shown["effect_unit"] == "log-odds of yes"
    assert any("the odds of answer = yes" in sentence for sentence in shown["words"])
    assert sum(map(sum, shown["confusion"]["counts"])) == 120


def test_several_classes_have_a_line_each(tmp_path):
    X, y = load_iris(return_X_y=True, as_frame=True)
    page = SparseAdditiveClassifier(k=2).fit(X, y).report(tmp_path / "iris.html", n_pairs=2)
    shown = content(page)
    assert [len(curve["y"]) for curve in shown["curves_of_features"]] == [3, 3]
    assert shown["outputs"] == ["0", "1", "2"]
    assert any("Bands of the curves" in sentence for sentence in shown["left_out"])
    assert page.read_text().count('aria-label="What ') == 2


def test_null_models_weights_and_monotone_effects(tmp_path):
    g = np.random.default_rng(1)
    X, noise = g.normal(size=(210, 4)), g.normal(size=210)
    null = SparseAdditiveRegressor(cv=3, goal="explain").fit(X, noise)
    assert null.k_ == 0
    assert "No feature is used" in null.report(tmp_path / "null.html", n_pairs=2).read_text()
    model = SparseAdditiveRegressor(k=2, effects={0: "increasing"}, loss="squared")
    model.fit(X, np.exp(X[:, 0]) + noise, sample_weight=g.uniform(0.5, 2, 210))
    shown = content(model.report(tmp_path / "monotone.html", n_pairs=2, baseline=False))
    curve = next(curve for curve in shown["curves_of_features"] if curve["name"] == "x0")
    assert (np.diff(curve["y"]) >= 0).all()
    plain = content(model.report(tmp_path / "short.html", stability=False, intervals=False, certificate=False))
    assert plain["curves_of_features"][0]["band"] is None
    assert "certificate" not in plain


def test_a_pickled_model_takes_its_rows_again(tmp_path):
    g = np.random.default_rng(2)
    X = pd.DataFrame(g.normal(size=(210, 3)), columns=list("abc"))
    y = np.abs(X["a"]) + 0.1 * g.normal(size=210)
    copy = pickle.loads(pickle.dumps(SparseAdditiveRegressor(k=1).fit(X, y)))
    with pytest.raises(ValueError, match=r"the model no longer refers to its data"):
        copy.report(tmp_path / "model.html")
    shown = content(copy.report(tmp_path / "model.html", X, y, n_pairs=2))
    assert shown["features"][0]["name"] == "a"
    model = SparseAdditiveRegressor(k=1).fit(X, y)
    with pytest.raises(ValueError, match=r"the model's loss on X and y is"):
        model.report(tmp_path / "other.html", X + 1.0, y)


def test_the_command_writes_the_page_and_explains_the_model(tmp_path):
    g = np.random.default_rng(3)
    X = pd.DataFrame(g.normal(size=(120, 3)), columns=["age", "size", "price"])
    data, out, page = (tmp_path / name for name in ("data.csv", "model.json", "page.html"))
    X.assign(y=np.abs(X["age"]) + X["size"] + 0.1 * g.normal(size=120)).to_csv(data, index=False)
    fit = ["fit", str(data), "--target", "y", "-k", "2", "--effects", "smooth", "--out", str(out)]
    done = CliRunner().invoke(app, [*fit, "--report", str(page)])
    assert done.exit_code == 0, done.output
    assert content(page)["reproduction"]["command"]
    shown = CliRunner().invoke(app, ["explain", str(out), str(data), "--row", "2"])
    assert shown.exit_code == 0, shown.output
    assert "rises" in shown.output
    assert "age:2" not in shown.output
    loaded = pursuit.load_model(out)
    row = X.iloc[[1]]
    explanation = loaded.explain(row)
    assert explanation.names == ("age", "size")
    assert explanation.eta == pytest.approx(float(loaded.predict(row)[0]), rel=1e-12)
