"""Models in other forms: scikit-learn, ONNX, skops, SQL. Predictions are those of the estimator."""

import sqlite3

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_classifier
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor
from sklearn.svm import LinearSVC

from pursuit import (
    SmoothEffects,
    SparseAdditiveClassifier,
    SparseAdditiveRegressor,
    SparseClassifier,
    SparseClassifierCV,
    SparseRegressor,
    SparseRegressorCV,
    load_model,
    save_model,
    table_pipeline,
)

RNG = np.random.default_rng(4)
NAMES = ["size", 'a "b"', "c; DROP TABLE rows", "größe", "select"]
X = pd.DataFrame(RNG.standard_normal((90, 5)) * [1, 1e3, 1e-3, 1, 1], columns=NAMES)
ETA = X["size"] + 2e-3 * X['a "b"'] - 700 * X["c; DROP TABLE rows"]
Y = ETA + 0.1 * RNG.standard_normal(90)
COUNTS = RNG.poisson(np.exp(0.5 * ETA)).astype(float)
LABELS = np.where(Y > 0, "it's", "no")
THREE = np.digitize(Y, [-1, 1])
MODELS = {
    "squared": (SparseRegressor(k=3), Y, LinearRegression),
    "squared without intercept": (SparseRegressor(k=2, fit_intercept=False), Y, LinearRegression),
    "cv": (SparseRegressorCV(ks=[2, 3]), Y, LinearRegression),
    "huber": (SparseRegressor(k=3, loss="huber"), Y, LinearRegression),
    "two responses": (SparseRegressor(k=3), np.column_stack([Y, -Y + 1]), LinearRegression),
    "poisson": (SparseRegressor(k=3, loss="poisson"), COUNTS, PoissonRegressor),
    "logistic": (SparseClassifier(k=3), LABELS, LogisticRegression),
    "logistic cv": (SparseClassifierCV(ks=[2, 3]), LABELS, LogisticRegression),
    "three classes": (SparseClassifier(k=3), THREE, LogisticRegression),
    "hinge": (SparseClassifier(k=3, loss="hinge"), LABELS, LinearSVC),
    "squared_hinge": (SparseClassifier(k=3, loss="squared_hinge"), LABELS, LinearSVC),
}
ONE_OUTPUT = [name for name in MODELS if name not in ("two responses", "three classes")]


@pytest.fixture(scope="module")
def fitted():
    cache = {}

    def get(name):
        if name not in cache:
            estimator, y, _ = MODELS[name]
            cache[name] = estimator.fit(X, y)
        return cache[name]

    return get


def numbers(model, rows):
    """The numbers behind a model's predictions."""
    found = model.decision_function(rows) if is_classifier(model) else model.predict(rows)
    return np.asarray(found, dtype=np.float64)


CURVES = {
    "k": (SparseAdditiveRegressor(k=3, effects={"size": "increasing", "größe": "linear"}, include=["größe"]), Y),
    "cv": (SparseAdditiveRegressor(ks=[2, 3], cv=2), Y),
    "poisson": (SparseAdditiveRegressor(k=2, loss="poisson"), COUNTS),
    "two responses": (SparseAdditiveRegressor(k=2), np.column_stack([Y, -Y + 1])),
    "logistic": (SparseAdditiveClassifier(k=2), LABELS),
    "three classes": (SparseAdditiveClassifier(k=2), THREE),
}


@pytest.mark.parametrize("name", CURVES)
@pytest.mark.parametrize("through", ["estimator", "file"])
def test_an_additive_model_becomes_a_pipeline(name, through, tmp_path):
    estimator, y = CURVES[name]
    model = estimator.fit(X, y)
    source = model if through == "estimator" else load_model(save_model(model, tmp_path / "model.json"))
    found = source.to_sklearn()
    assert type(found[0]) is SmoothEffects
    rows = 1.5 * X  # beyond the outer knots too
    expected = numbers(model, rows)
    np.testing.assert_allclose(numbers(found, rows), expected, rtol=0, atol=1e-10 * np.abs(expected).max())
    if is_classifier(model):
        np.testing.assert_array_equal(found.predict(rows), model.predict(rows))
        np.testing.assert_allclose(found.predict_proba(rows), model.predict_proba(rows), atol=1e-10)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("through", ["estimator", "file"])
def test_scikit_learn_predicts_the_same(fitted, name, through, tmp_path):
    model = fitted(name)
    source = model if through == "estimator" else load_model(save_model(model, tmp_path / "model.json"))
    found = source.to_sklearn()
    assert type(found) is MODELS[name][2]
    expected = numbers(model, X)
    np.testing.assert_allclose(numbers(found, X), expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    np.testing.assert_array_equal(found.feature_names_in_, NAMES)
    if is_classifier(model):
        np.testing.assert_array_equal(found.predict(X), model.predict(X))
    if "logistic" in name or name == "three classes":
        np.testing.assert_allclose(found.predict_proba(X), model.predict_proba(X), atol=1e-12)


def test_what_scikit_learn_cannot_express(tmp_path):
    poisson = SparseRegressor(k=1, loss="poisson").fit(X, COUNTS, offset=np.zeros(90))
    with pytest.raises(ValueError, match="no offset, and this one adds the column 'exposure'"):
        load_model(save_model(poisson, tmp_path / "o.json", offset="exposure")).to_sklearn()
    city = np.array(["Rome", "Oslo", "Bern"] * 30)
    pipeline = table_pipeline(SparseRegressor(k=1)).fit(X.assign(city=city), Y + 99 * (city == "Oslo"))
    with pytest.raises(ValueError, match="last step"):
        load_model(save_model(pipeline, tmp_path / "t.json")).to_sklearn()
    assert isinstance(pipeline[-1].to_sklearn(), LinearRegression)
    with pytest.raises(AttributeError, match="not fitted"):
        SparseRegressor().to_sklearn()


@pytest.mark.parametrize("name", ["squared", "poisson", "logistic", "three classes", "hinge"])
def test_skops_needs_no_trusted_types(fitted, name):
    skops = pytest.importorskip("skops.io", reason="skops is not installed")
    model = fitted(name)
    held = skops.dumps(model.to_sklearn())
    assert skops.get_untrusted_types(data=held) == []
    np.testing.assert_allclose(numbers(skops.loads(held, trusted=[]), X), numbers(model, X), atol=1e-9)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("name", ["squared", "poisson", "logistic", "three classes", "hinge"])
def test_onnx_predicts_the_same(fitted, name):
    skl2onnx = pytest.importorskip("skl2onnx", reason="skl2onnx is not installed")
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    model = fitted(name)
    rows = X.to_numpy(dtype=np.float32)
    twin = model.to_sklearn()
    options = {id(twin): {"zipmap": False}} if name in ("logistic", "three classes") else None
    graph = skl2onnx.to_onnx(twin, rows[:1], options=options)
    session = runtime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    found = session.run(None, {session.get_inputs()[0].name: rows})
    if is_classifier(model):
        clear = np.abs(np.atleast_2d(numbers(model, X).T)).min(axis=0) > 1e-3  # single precision decides the others
        assert (np.asarray(found[0]) == model.predict(X))[clear].all()
        if hasattr(model, "predict_proba"):
            np.testing.assert_allclose(found[1], model.predict_proba(X), atol=1e-4)
    else:
        np.testing.assert_allclose(np.ravel(found[0]), model.predict(X), rtol=1e-4, atol=1e-4)


def select(expression, table):
    """A column that SQLite computes from the rows of a data frame."""
    with sqlite3.connect(":memory:") as base:
        base.create_function("EXP", 1, lambda v: None if v is None else float(np.exp(v)))
        table.to_sql("rows", base, index=False)
        found = [value for (value,) in base.execute(f"SELECT {expression} FROM rows")]
    base.close()
    return np.array(found)


@pytest.mark.parametrize("name", ONE_OUTPUT)
def test_sql_predicts_the_same(fitted, name):
    model = fitted(name)
    predicted = select(model.to_sql(), X)
    if is_classifier(model):
        assert predicted.tolist() == model.predict(X).tolist()
        np.testing.assert_allclose(select(model.to_sql("decision"), X), model.decision_function(X), atol=1e-10)
    else:
        np.testing.assert_allclose(predicted, model.predict(X), rtol=1e-10, atol=1e-10)
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(select(model.to_sql("probability"), X), model.predict_proba(X)[:, 1], atol=1e-12)


def test_sql_of_a_raw_table(tmp_path):
    levels = np.array(["Rome", "O'slo", "Bern", "rare 1", "rare 2", None], dtype=object)
    city = RNG.choice(levels, 400, p=[0.4, 0.3, 0.27, 0.005, 0.005, 0.02])
    age = np.where(RNG.random(400) < 0.1, np.nan, RNG.normal(40, 10, 400))
    table = pd.DataFrame({"city": city, "age": age, "x": RNG.standard_normal(400)})
    y = 3 * (city == "O'slo") - (city == "Bern") + 0.1 * np.nan_to_num(age, nan=60) + 0.1 * RNG.standard_normal(400)
    model = load_model(save_model(table_pipeline(SparseRegressor(k=2)).fit(table, y), tmp_path / "model.json"))
    rows = pd.concat([table, pd.DataFrame({"city": ["  Bern ", "", "new"], "age": [1.0, np.nan, 2.0], "x": [0.0] * 3})])
    rows["city"] = rows["city"].astype(object).where(rows["city"].notna(), None)
    with pytest.warns(UserWarning, match="levels that were not there"):
        expected = model.predict(rows)
    np.testing.assert_allclose(select(model.to_sql(), rows), expected, atol=1e-10)


def test_what_sql_cannot_express(fitted, tmp_path):
    for name in ("two responses", "three classes"):
        with pytest.raises(ValueError, match="several outputs"):
            fitted(name).to_sql()
    with pytest.raises(ValueError, match="no probabilities"):
        fitted("hinge").to_sql("probability")
    with pytest.raises(ValueError, match="output 'proba' is unknown"):
        fitted("squared").to_sql("proba")
    with pytest.raises(ValueError, match="curves"):
        load_model(save_model(SparseAdditiveRegressor(k=1).fit(X, Y), tmp_path / "a.json")).to_sql()
    days = pd.DataFrame({"day": pd.date_range("2020-01-01", periods=90)})
    pipeline = table_pipeline(SparseRegressor(k=1)).fit(days, np.arange(90.0))
    with pytest.raises(ValueError, match=r"cannot read dates.*'day'"):
        load_model(save_model(pipeline, tmp_path / "d.json")).to_sql()
