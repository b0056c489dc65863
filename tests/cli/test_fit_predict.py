"""``fit`` and ``predict`` do what Python does, to 1e-10, from every format."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import r2_score

from pursuit import Auto, SparseClassifier, SparseRegressor, load_model, save_model
from pursuit.cli import fit as fit_module
from pursuit.io import read_table


def read(text):
    header, *rows = csv.reader(io.StringIO(text))
    return {name: [row[i] for row in rows] for i, name in enumerate(header)}


def test_regression_end_to_end(run, files, tmp_path):
    model = tmp_path / "m.json"
    code, out, err = run("fit", "diabetes.csv", "--target", "y", "-k", 3, "--exclude", "town", "--out", model)
    assert (code, err) == (0, "")
    frame = pd.read_csv("diabetes.csv").drop(columns="town")
    X, y = frame.drop(columns="y"), frame["y"]
    estimator = SparseRegressor(k=3).fit(X, y)
    for name in (
        *estimator.get_feature_names_out(),
        "(intercept)",
        "R2 on these rows",
        estimator.result_.reason,
        str(model),
    ):
        assert name in out
    assert f"{estimator.score(X, y):.5g}" in out
    code, out, err = run("predict", model, "diabetes.csv")
    assert (code, err) == (0, "")
    assert np.allclose(np.array(read(out)["prediction"], float), estimator.predict(X), rtol=0, atol=1e-10)


def test_classification_end_to_end(run, tmp_path):
    model, to = tmp_path / "m.json", tmp_path / "p.csv"
    code, out, _ = run("fit", "cancer.csv", "-t", "kind", "-k", 4, "--l2", 0.001, "--out", model)
    assert code == 0
    assert "classification with the logistic loss" in out
    assert "accuracy on these rows" in out
    table = read_table("cancer.csv", target="kind")
    X = table.X
    estimator = SparseClassifier(k=4, l2=0.001).fit(X, table.y)
    code, out, _ = run("predict", model, "cancer.csv", "--proba", "--out", to)
    assert code == 0
    assert out == f"569 predictions written to {to}\n"
    held = read(to.read_text())
    assert held["prediction"] == estimator.predict(X).tolist()
    shares = np.column_stack([held["probability_benign"], held["probability_malignant"]]).astype(float)
    assert np.allclose(shares, estimator.predict_proba(X), rtol=0, atol=1e-10)


def test_several_classes(run, tmp_path):
    iris = load_iris(as_frame=True)
    iris.data.assign(species=iris.target_names[iris.target]).to_csv(tmp_path / "iris.csv", index=False)
    code, out, _ = run(
        "fit", tmp_path / "iris.csv", "-t", "species", "-k", 2, "--l2", 0.01, "--out", tmp_path / "m.json"
    )
    assert code == 0
    assert "setosa   versicolor   virginica" in out
    estimator = SparseClassifier(k=2, l2=0.01).fit(iris.data, iris.target)
    held = read(run("predict", tmp_path / "m.json", tmp_path / "iris.csv", "--proba")[1])
    assert held["prediction"] == iris.target_names[estimator.predict(iris.data)].tolist()
    shares = np.column_stack([held[f"probability_{name}"] for name in iris.target_names]).astype(float)
    assert np.allclose(shares, estimator.predict_proba(iris.data), rtol=0, atol=1e-10)


def test_several_responses(run, files, tmp_path):
    frame = pd.read_parquet(files / "diabetes.parquet")
    estimator = SparseRegressor(k=2).fit(frame.drop(columns=["y", "s6"]), frame[["y", "s6"]])
    save_model(estimator, tmp_path / "m.json")
    held = read(run("predict", tmp_path / "m.json", "diabetes.csv")[1])
    mine = np.column_stack([held["prediction_0"], held["prediction_1"]]).astype(float)
    assert np.allclose(mine, estimator.predict(frame.drop(columns=["y", "s6"])), rtol=0, atol=1e-10)


def test_formats_give_one_model(run, tmp_path):
    models = []
    for i, (data, target) in enumerate(
        [("cancer.csv", ("--target", "kind")), ("cancer.npz", ()), ("cancer.libsvm", ())]
    ):
        path = tmp_path / f"{i}.json"
        assert run("fit", data, *target, "-k", 3, "--out", path)[0] == 0
        models.append(load_model(path))
    named, dense, sparse = models
    assert named.support.tolist() == dense.support.tolist() == sparse.support.tolist()
    assert np.allclose(dense.coef, sparse.coef, rtol=1e-6)
    assert np.allclose(named.coef, -dense.coef, rtol=1e-6)  # the csv has malignant, the others benign as second label
    assert named.selected[0] != dense.selected[0] == f"x{dense.support[0]}"
    predictions = [read(run("predict", tmp_path / f"{i}.json", "cancer.libsvm")[1])["prediction"] for i in (1, 2)]
    assert predictions[0] == [str(int(float(label))) for label in predictions[1]]


def test_parquet_and_csv_agree(run, tmp_path):
    for name in ("diabetes.csv", "diabetes.parquet"):
        more = ("--exclude", "town") if name.endswith("csv") else ()
        assert run("fit", name, "-t", "y", "-k", 4, *more, "--out", tmp_path / f"{name}.json")[0] == 0
    assert (tmp_path / "diabetes.csv.json").read_text() == (tmp_path / "diabetes.parquet.json").read_text()


def test_options_reach_the_estimator(run, tmp_path):
    path = tmp_path / "m.json"
    options = ["--loss", "huber", "--l2", 0.25, "--solver", "omp", "--no-standardize", "--no-intercept", "--threads", 1]
    code, out, _ = run(
        "fit",
        "diabetes.parquet",
        "-t",
        "y",
        "-k",
        3,
        "--include",
        "age,s2",
        "--exclude",
        "bmi, s5",
        *options,
        "--out",
        path,
    )
    assert code == 0
    held = json.loads(path.read_text())
    assert held["loss"] == {"name": "huber", "parameters": {"delta": 1.35}}
    assert (held["l2"], held["solver"], held["standardize"], held["intercept"]) == (0.25, "omp", False, 0.0)
    assert {"age", "s2"} <= set(load_model(path).selected)
    assert not {"bmi", "s5"} & set(held["feature_names"])
    assert "(intercept)" not in out


@pytest.mark.parametrize("k", [3, "auto"])
@pytest.mark.parametrize("effort", [None, "fast", "default", "thorough"])
def test_the_effort_reaches_the_search(run, tmp_path, monkeypatch, k, effort):
    seen = set()
    for name in ("iterate", "at_once"):

        def watched(solver, *given, method=getattr(Auto, name)):
            seen.add(solver.effort)
            return method(solver, *given)

        monkeypatch.setattr(Auto, name, watched)
    options = () if effort is None else ("--effort", effort)
    few = ("--ks", "1-2", "--cv", 2) if k == "auto" else ()
    code, _, err = run("fit", "diabetes.parquet", "-t", "y", "-k", k, *few, *options, "--out", tmp_path / "m.json")
    assert (code, err) == (0, "")
    assert seen <= {effort}
    assert seen or k == "auto"  # which may follow paths instead


def test_options_that_are_repeated_add_up(run, tmp_path):
    path = tmp_path / "m.json"
    options = ("--include", "age", "--include", "s2,s3", "--exclude", "town", "--exclude", "bmi", "--exclude", "s5,s6")
    assert run("fit", "diabetes.csv", "-t", "y", "-k", 4, *options, "--out", path)[0] == 0
    model = load_model(path)
    assert {"age", "s2", "s3"} <= set(model.selected)
    assert not {"town", "bmi", "s5", "s6"} & set(model.feature_names)


def test_names_of_losses_and_solvers_in_any_case(run, tmp_path):
    path = tmp_path / "m.json"
    options = ("--loss", "Huber", "--solver", "OMP", "-k", 2)
    code, out, _ = run("fit", "diabetes.parquet", "-t", "y", *options, "--out", path)
    assert code == 0
    assert "with the huber loss" in out
    held = json.loads(path.read_text())
    assert (held["loss"]["name"], held["solver"]) == ("huber", "omp")


def test_the_next_best_exchange_is_printed(run, tmp_path):
    out = run("fit", "diabetes.parquet", "-t", "y", "-k", 3, "--out", tmp_path / "m.json")[1]
    assert "column 's1' instead of column 'bp' would raise the value by about" in out


def test_columns_without_names_are_called_by_number(run, tmp_path):
    path = tmp_path / "m.json"
    options = ("--include", "x0", "--exclude", "x27,x22", "--l2", 0.01)
    assert run("fit", "cancer.npz", "-k", 3, *options, "--out", path)[0] == 0
    support = load_model(path).support.tolist()
    assert 0 in support
    assert not {22, 27} & set(support)


@pytest.mark.parametrize(
    ("labels", "options", "task", "loss"),
    [
        (["a", "b"], (), "classification", "logistic"),
        ([True, False], (), "classification", "logistic"),
        ([3, 7], (), "classification", "logistic"),
        ([3, 7], ("--task", "regression"), "regression", "squared"),
        ([3, 7], ("--loss", "poisson"), "regression", "poisson"),
        ([3, 7], ("--loss", "squared_hinge"), "classification", "squared_hinge"),
        ([0, 1, 2], (), "regression", "squared"),
    ],
)
def test_the_task_follows_from_loss_and_target(run, tmp_path, labels, options, task, loss):
    rows = np.random.default_rng(0).normal(size=(60, 4))
    y = [labels[i % len(labels)] for i in range(60)]
    pd.DataFrame(rows, columns=list("abcd")).assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    code, out, err = run("fit", tmp_path / "t.csv", "-t", "y", "-k", 2, *options, "--out", tmp_path / "m.json")
    assert (code, err) == (0, "")
    assert f"{task} with the {loss} loss" in out


@pytest.mark.parametrize("suffix", ["csv", "parquet", "npz"])
def test_an_offset_column(run, tmp_path, suffix):
    rng = np.random.default_rng(1)
    X, time = rng.normal(size=(200, 4)), rng.uniform(0.5, 9, 200)
    y, data, path = rng.poisson(time * np.exp(0.5 * X[:, 2])), tmp_path / f"t.{suffix}", tmp_path / "m.json"
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y, log_time=np.log(time))
    if suffix == "npz":
        np.savez(data, X=X, y=y, log_time=np.log(time))
    else:
        frame.to_csv(data, index=False) if suffix == "csv" else frame.to_parquet(data)
    options = ("-t", "y", "-k", 1, "--loss", "poisson", "--offset", "log_time")
    code, out, _ = run("fit", data, *options, "--out", path)
    assert code == 0
    estimator = SparseRegressor(k=1, loss="poisson").fit(X, y, offset=np.log(time))
    expected = estimator.predict(X, np.log(time))
    assert f"{r2_score(y, expected):.5g}" in out
    assert load_model(path).n_features == 4
    assert np.allclose(np.array(read(run("predict", path, data)[1])["prediction"], float), expected, rtol=1e-9)
    frame.drop(columns="log_time").to_csv(tmp_path / "less.csv", index=False)
    code, _, err = run("predict", path, tmp_path / "less.csv")
    assert code == 2
    assert "has no column 'log_time'" in err


def test_predict_needs_only_the_chosen_columns(run, tmp_path):
    path = tmp_path / "m.json"
    assert run("fit", "diabetes.parquet", "-t", "y", "-k", 2, "--out", path)[0] == 0
    frame = pd.read_parquet("diabetes.parquet")
    chosen = list(load_model(path).selected)
    frame[chosen[::-1]].assign(note="text").to_csv(tmp_path / "few.csv", index=False)
    assert run("predict", path, tmp_path / "few.csv")[1] == run("predict", path, "diabetes.parquet")[1]


def test_a_limit_writes_a_model_and_says_so(run, tmp_path):
    path = tmp_path / "m.json"
    code, out, _ = run("fit", "diabetes.parquet", "-t", "y", "-k", 3, "--time-limit", 0, "--out", path)
    assert code == 3
    assert "time_limit: the time limit of 0 s was reached" in out
    assert load_model(path).status == "time_limit"
    assert (
        len(set(read(run("predict", path, "diabetes.parquet")[1])["prediction"])) == 1
    )  # the mean: nothing was chosen


def test_an_interrupt_writes_the_best_so_far(run, tmp_path, monkeypatch):
    def interrupted(estimator, X, y):
        def stop(record):
            raise KeyboardInterrupt

        return estimator.fit(X, y, callback=stop)

    monkeypatch.setattr(fit_module, "fit_with_progress", interrupted)
    code, _, err = run("fit", "diabetes.parquet", "-t", "y", "-k", 3, "--out", tmp_path / "m.json")
    assert code == 130
    assert err == "pursuit: interrupted\n"
    assert load_model(tmp_path / "m.json").status == "interrupted"


def test_long_models_are_cut_on_screen_only(run, tmp_path):
    rows = np.random.default_rng(0).normal(size=(90, 60))
    np.savez(tmp_path / "t.npz", X=rows, y=rows @ np.arange(1, 61))
    code, out, _ = run("fit", tmp_path / "t.npz", "-k", 50, "--out", tmp_path / "m.json")
    assert code == 0
    assert "... 10 more in" in out
    assert len(load_model(tmp_path / "m.json").support) == 50
