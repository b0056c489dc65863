"""What is built on additive models: automatic and monotone effects, proofs, stability, files, pictures, commands."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from typer.testing import CliRunner

import pursuit
from pursuit import SparseAdditiveClassifier, SparseAdditiveRegressor
from pursuit.cli.app import app
from pursuit.estimators.additive.bands import bootstrap_bands
from pursuit.plots import EffectDisplay


@pytest.fixture(scope="module")
def table():
    g = np.random.default_rng(0)
    X = pd.DataFrame(g.normal(size=(200, 6)), columns=list("abcdef"))
    return X, np.exp(X["a"]) - X["b"] ** 2 + X["c"] + g.normal(size=200)


def test_auto_is_linear_where_effects_are_lines_and_curved_where_they_bend(table):
    X, y = table
    bent = SparseAdditiveRegressor(effects="auto", ks=[0, 1, 2, 3, 4]).fit(X, y)
    grid = np.linspace(-1.5, 1.5, 50)
    assert np.ptp(np.diff(bent.effects_["b"](grid))) > 0.05
    line = X["a"] + 2 * X["b"] - X["c"] + 0.5 * np.random.default_rng(1).normal(size=200)
    auto, smooth = (SparseAdditiveRegressor(effects=kind).fit(X, line) for kind in ("auto", "smooth"))

    def curvature(model):
        return sum(np.abs(np.diff(effect(grid), 2)).sum() for effect in model.effects_.values())

    assert curvature(auto) < 0.7 * curvature(smooth)
    found = auto.model_.cv_results_
    assert len(found["k"]) == 2 * len(smooth.model_.cv_results_["k"])


@pytest.mark.parametrize("k", [3, "cv"])
def test_monotone_effects_are_monotone_everywhere(table, k):
    X, y = table
    more = {} if k == 3 else {"ks": [1, 2, 3], "cv": 3, "l2": 0.05}
    model = SparseAdditiveRegressor(k=k, effects={"a": "increasing", "c": "decreasing"}, **more).fit(X, y)
    grid = np.linspace(-9, 9, 400)
    assert (np.diff(model.effects_["a"](grid)) >= -1e-12).all()
    if "c" in model.effects_:
        assert (np.diff(model.effects_["c"](grid)) <= 1e-12).all()
    plain = SparseAdditiveRegressor(k=k, **more).fit(X, y)
    if k == 3:  # fewer curves are allowed, so none is better
        assert model.result_.value >= plain.result_.value - 0.05 * plain.result_.value


def test_monotone_effects_are_refused_where_they_cannot_be_had(table):
    X, y = table
    with pytest.raises(ValueError, match="need one output"):
        SparseAdditiveRegressor(k=1, effects={"a": "increasing"}).fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="cannot be combined with groups"):
        SparseAdditiveRegressor(k=1, effects={"a": "increasing"}, groups=list("aabbcc")).fit(X, y)


def test_proofs_are_printed_once_they_are_made(table):
    X, y = table
    model = SparseAdditiveRegressor(k=3).fit(X, y)
    assert "Proved" not in str(model.summary())
    assert pursuit.certify(model, time_limit=10).status == "proved"
    assert model.certify().status == "proved"
    assert "the best additive model with at most 3 features" in str(model.summary())
    classes = SparseAdditiveClassifier(k=1).fit(X, (y > 0).astype(int))
    assert classes.certify(20).status == "proved"
    with pytest.raises(NotFittedError, match="this SparseAdditiveRegressor is not fitted"):
        pursuit.certify(SparseAdditiveRegressor(k=3))
    subsets = pursuit.best_subsets(model.objective_, kmax=2, groups=model.model_.groups)
    assert len(subsets.rows if hasattr(subsets, "rows") else list(subsets)) >= 2


def test_stability_counts_features(table):
    X, y = table
    found = pursuit.stability(SparseAdditiveRegressor(k=3), X, y, n_pairs=4, random_state=0)
    assert found.units == 6
    assert list(found.names) == list("abcdef")
    assert "'b'" in repr(found) or "b" in str(found)


def test_a_model_file_predicts_without_the_estimator(table, tmp_path):
    X, y = table
    X = X.assign(few=np.arange(200) % 3)
    regressor = SparseAdditiveRegressor(k=4, effects={"c": "increasing"}, include=["few"]).fit(X, y)
    classifier = SparseAdditiveClassifier(k=2).fit(X, np.digitize(y, [-1, 1]))
    for i, model in enumerate((regressor, classifier)):
        path = pursuit.save_model(model, tmp_path / f"{i}.json")
        loaded = pursuit.load_model(path)
        assert loaded.selected == tuple(model.get_feature_names_out())
        far = X * 1.5
        assert np.allclose(loaded.decision_function(far), model.model_._eta(far), rtol=1e-12)
    held = json.loads((tmp_path / "0.json").read_text())
    assert held["version"] == 4
    held["effects"][0]["knots"] = [3.0, 2.0, 1.0]
    (tmp_path / "broken.json").write_text(json.dumps(held))
    with pytest.raises(ValueError, match="effects must be"):
        pursuit.load_model(tmp_path / "broken.json")


def test_effects_are_drawn_with_a_band_that_holds_the_curve(table):
    pytest.importorskip("matplotlib").use("Agg")
    X, y = table
    model = SparseAdditiveRegressor(k=3).fit(X, y)
    display = EffectDisplay.from_estimator(model, X, y, n_bootstrap=30)
    assert display.names == tuple(model.get_feature_names_out())
    assert set(display.axes_) == set(display.names)
    inside = slice(20, -20)
    low, high = display.bands["a"][:, inside]
    curve = display.curves["a"][inside]
    assert ((low <= curve) & (curve <= high)).mean() > 0.8
    assert (high - low > 0).all()
    with pytest.raises(ValueError, match="features names 'z', which was not chosen"):
        EffectDisplay.from_estimator(model, features=["z"])
    with pytest.raises(TypeError, match="additive model"):
        EffectDisplay.from_estimator(pursuit.SparseRegressor())
    with pytest.raises(ValueError, match="n_bootstrap needs X and y"):
        EffectDisplay.from_estimator(model, n_bootstrap=3)


def test_the_command_fits_writes_and_predicts(table, tmp_path):
    X, y = table
    data, out = tmp_path / "data.csv", tmp_path / "model.json"
    X.assign(kind=np.where(np.arange(200) % 2, "left", "right"), y=y).to_csv(data, index=False)
    run = CliRunner()
    done = run.invoke(app, ["fit", str(data), "--target", "y", "-k", "3", "--effects", "smooth", "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert "rises" in done.output
    assert "at most 3 features with smooth effects" in done.output
    again = run.invoke(app, ["predict", str(out), str(data)])
    assert again.exit_code == 0, again.output
    wrong = run.invoke(app, ["fit", str(data), "--target", "y", "--effects", "wiggly", "--out", str(out)])
    assert wrong.exit_code != 0


@pytest.mark.parametrize("seed", range(3))
def test_the_true_features_are_found_as_by_selection_on_their_true_curves(seed):
    g = np.random.default_rng(seed)
    X = g.uniform(size=(250, 8))
    known = np.column_stack([np.sin(2 * np.pi * X[:, 0]), 4 * (X[:, 1] - 0.5) ** 2, X[:, 2], X[:, 3:]])
    y = known[:, 0] + 2 * known[:, 1] + 2 * known[:, 2] + 0.5 * g.normal(size=250)
    model = SparseAdditiveRegressor(k=3).fit(X, y)
    assert model.support_.tolist() == pursuit.SparseRegressor(k=3).fit(known, y).support_.tolist() == [0, 1, 2]
    grid = np.linspace(0.1, 0.9, 30)
    wave = model.effects_["x0"](grid) - np.sin(2 * np.pi * grid)
    assert np.abs(wave - wave.mean()).max() < 0.5


def test_summary_explanation_and_certificate_speak_of_features(table):
    X, y = table
    model = SparseAdditiveRegressor(k=3).fit(X, y)
    summary = model.summary()
    assert set(summary.rivals) <= set("abcdef")
    assert "exchange of one feature" in str(summary)
    assert ":2" not in str(summary)
    assert "rival" in summary.to_frame().columns
    proof = pursuit.certify(model, time_limit=10)
    assert set(proof.always) <= set(model.support_)
    assert set(proof.never) <= set(range(6)) - set(model.support_)
    row = X.iloc[[4]]
    explanation = model.explain(row)
    assert explanation.names == tuple(model.get_feature_names_out())
    assert explanation.values == pytest.approx(row[list(explanation.names)].to_numpy()[0])
    assert explanation.eta == pytest.approx(model.predict(row)[0], rel=1e-12)
    classes = SparseAdditiveClassifier(k=2).fit(X, np.digitize(y, [-1, 1]))
    assert classes.explain(row).contributions.shape == (2, 3)
    with pytest.raises(ValueError, match="row must be one row, got 2"):
        model.explain(X.iloc[:2])
    with pytest.raises(ValueError, match=r"row must be one row, got an array of shape \(\)"):
        model.explain(3.0)
    plain = SparseAdditiveRegressor(k=2).fit(X.to_numpy(), y)
    assert plain.explain(row.to_numpy().tolist()).eta == plain.explain(row.to_numpy()[0]).eta


def test_a_proof_of_the_plain_fit_is_not_said_of_an_average(table):
    X, y = table
    model = SparseAdditiveRegressor(ks=[1, 2, 3]).fit(X, y)
    assert model.certify().status == "proved"
    assert "Proved: without averaging, the best additive model" in str(model.summary())


def test_bands_of_a_chosen_model_lie_around_its_curves(table):
    X, y = table
    model = SparseAdditiveRegressor(ks=[3]).fit(X, y)
    grids = {name: effect.grid(40) for name, effect in model.effects_.items()}
    bands = bootstrap_bands(model, X.to_numpy(), y, grids, 20)
    for name, (low, high) in bands.items():
        curve = model.effects_[name](grids[name])
        assert ((low <= curve) & (curve <= high)).mean() > 0.7


def test_a_category_of_a_table_is_one_group():
    g = np.random.default_rng(0)
    table = pd.DataFrame({"age": g.normal(50, 10, 200), "city": g.choice(list("abcd"), 200), "z": g.normal(size=200)})
    y = np.sin(table["age"] / 8) + 2.0 * (table["city"] == "b") - (table["city"] == "c") + 0.2 * g.normal(size=200)
    table.loc[:9, "z"] = np.nan
    pipeline = pursuit.table_pipeline(SparseAdditiveRegressor(k=2)).fit(table, y)
    model = pipeline[-1]
    names = model.get_feature_names_out().tolist()
    assert model.k_ == 2
    assert names[0] == "age"
    assert len(names) > 2
    assert all(name.startswith("city=") for name in names[1:])
    assert pipeline.score(table, y) > 0.9
