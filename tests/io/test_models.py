"""The JSON model predicts like the estimator, keeps every bit, and refuses whatever is not a model."""

import dataclasses
import errno
import json
import os

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pursuit import Huber, Loss, SmoothedHinge, SparseClassifier, SparseRegressor, list_losses, load_model, save_model

rng = np.random.default_rng(7)
X = rng.normal(size=(80, 12))
ETA = X[:, 3] - 2 * X[:, 8] + 0.5
NAMES = [f"n {j}" for j in range(12)]
REGRESSION = {"squared": ETA + 0.1 * X[:, 0], "huber": ETA + 0.1 * X[:, 0], "poisson": rng.poisson(np.exp(ETA / 2))}
finite = st.floats(allow_nan=False, allow_infinity=False)


def fitted(loss, **parameters):
    if loss in REGRESSION:
        return SparseRegressor(k=3, loss=loss, **parameters).fit(X, REGRESSION[loss])
    labels = np.where(ETA + rng.normal(size=80) > 0, "yes", "no")
    return SparseClassifier(k=3, loss=loss, l2=0.01, **parameters).fit(X, labels)


@pytest.fixture(scope="module")
def regressor():
    return fitted("squared")


@pytest.mark.parametrize("loss", list_losses())
def test_every_loss_predicts_alike(tmp_path, loss):
    estimator = fitted(loss)
    model = load_model(save_model(estimator, tmp_path / "m.json"))
    new = np.random.default_rng(1).normal(size=(50, 12))
    for rows in (new, sparse.csr_array(new), sparse.csc_array(new), new.tolist()):
        mine, theirs = model.predict(rows), estimator.predict(new)
        assert np.array_equal(mine, theirs) if mine.dtype.kind == "U" else np.allclose(mine, theirs, rtol=0, atol=1e-10)
    assert (model.loss.name, model.k, model.n_features) == (loss, 3, 12)
    assert model.value == estimator.result_.value
    assert (model.status, model.reason) == (estimator.result_.status, estimator.result_.reason)
    if hasattr(estimator, "decision_function"):
        assert np.allclose(model.decision_function(new), estimator.decision_function(new), rtol=0, atol=1e-10)
    if loss == "logistic":
        assert np.allclose(model.predict_proba(new), estimator.predict_proba(new), rtol=0, atol=1e-10)
    else:
        with pytest.raises(ValueError, match=f"with the {loss} loss gives no probabilities"):
            model.predict_proba(new)


@pytest.mark.parametrize("labels", [("no", "yes"), (False, True), (3, 7), (-1.0, 1.0), ("été", 'a "b"\n')])
def test_classes_keep_their_type(tmp_path, labels):
    y = np.array(labels)[(ETA > 0).astype(int)]
    estimator = SparseClassifier(k=2, l2=0.1).fit(X, y)
    model = load_model(save_model(estimator, tmp_path / "m.json"))
    assert model.classes.tolist() == sorted(labels)
    assert type(model.classes.tolist()[0]) is type(labels[0])
    assert np.array_equal(model.predict(X), estimator.predict(X))


@pytest.mark.parametrize("loss", [Huber(delta=0.1), SmoothedHinge(gamma=1 / 3)])
def test_parameters_of_a_loss_are_kept(tmp_path, loss):
    y = ETA if isinstance(loss, Huber) else ETA > 0
    kind = SparseRegressor if isinstance(loss, Huber) else SparseClassifier
    model = load_model(save_model(kind(k=2, loss=loss, l2=0.1).fit(X, y), tmp_path / "m.json"))
    assert model.loss == loss
    assert model.l2 == 0.1


def test_several_classes_and_responses(tmp_path):
    labels = np.array(["low", "mid", "top"])[np.digitize(ETA, [-1, 1])]
    classifier = SparseClassifier(k=3, l2=0.01).fit(X, labels)
    model = load_model(save_model(classifier, tmp_path / "m.json"))
    assert np.array_equal(model.predict(X), classifier.predict(X))
    assert np.allclose(model.predict_proba(X), classifier.predict_proba(X), rtol=0, atol=1e-10)
    assert np.allclose(
        model.decision_function(sparse.csr_array(X)), classifier.decision_function(X), rtol=0, atol=1e-10
    )
    regressor = SparseRegressor(k=3).fit(X, np.column_stack([ETA, X[:, 1]]))
    model = load_model(save_model(regressor, tmp_path / "m.json"))
    assert model.predict(X).shape == (80, 2)
    assert np.allclose(model.predict(X), regressor.predict(X), rtol=0, atol=1e-10)


@pytest.mark.parametrize("loss", ["poisson", "logistic"])
def test_an_offset_at_prediction(tmp_path, loss):
    estimator, shift = fitted(loss), np.linspace(-1, 2, 80)
    model = load_model(save_model(estimator, tmp_path / "m.json", offset="exposure"))
    assert model.offset == "exposure"
    for predict in ("predict", "predict_proba") if loss == "logistic" else ("predict",):
        mine, theirs = getattr(model, predict)(X, shift), getattr(estimator, predict)(X, shift)
        assert np.array_equal(mine, theirs) if mine.dtype.kind == "U" else np.allclose(mine, theirs, rtol=1e-12)
    with pytest.raises(ValueError, match="offset must have one entry per row"):
        model.predict(X, shift[:3])


def test_a_model_without_an_offset_can_be_read_by_older_versions(tmp_path, regressor):
    held = json.loads(save_model(regressor, tmp_path / "m.json").read_text())
    assert held["version"] == 1
    assert "offset" not in held
    held = json.loads(save_model(regressor, tmp_path / "m.json", offset="o").read_text())
    assert (held["version"], held["offset"]) == (2, "o")


def test_names_choose_the_columns(tmp_path):
    frame = pd.DataFrame(X, columns=NAMES)
    estimator = SparseRegressor(k=2).fit(frame, ETA)
    model = load_model(save_model(estimator, tmp_path / "m.json"))
    assert model.selected == ("n 3", "n 8")
    shuffled = frame[[*reversed(NAMES)]].drop(columns="n 5").assign(town="Rome")
    expected = estimator.predict(frame)
    for rows in (shuffled, pl.from_pandas(shuffled.drop(columns="town")), X):
        assert np.allclose(model.predict(rows), expected, rtol=0, atol=1e-10)
    with pytest.raises(ValueError, match="X has no column 'n 8', which the model needs"):
        model.predict(frame.drop(columns="n 8"))
    with pytest.raises(ValueError, match=r"X has shape \(80, 11\), but the model needs 12 columns"):
        model.predict(X[:, 1:])


def test_float32_models_keep_float64_coefficients(tmp_path):
    estimator = SparseRegressor(k=2).fit(X.astype(np.float32), ETA.astype(np.float32))
    model = load_model(save_model(estimator, tmp_path / "m.json"))
    assert np.array_equal(model.coef, estimator.result_.coef)
    assert np.allclose(model.predict(X), estimator.predict(X), atol=1e-5)


def test_an_empty_support_predicts_the_intercept(tmp_path):
    estimator = SparseRegressor(k=2).fit(X, np.full(80, 2.5))
    model = load_model(save_model(estimator, tmp_path / "m.json"))
    assert len(model.support) == 0
    for rows in (X, sparse.csr_array(X), pd.DataFrame(X)):
        assert model.predict(rows) == pytest.approx(np.full(80, 2.5))


@given(coef=st.tuples(finite, finite, finite), intercept=finite, value=finite)
@settings(deadline=None, max_examples=60)
def test_floats_survive_to_the_last_bit(tmp_path_factory, regressor, coef, intercept, value):
    path = tmp_path_factory.getbasetemp() / "floats.json"
    before = regressor.result_
    try:
        regressor.result_ = dataclasses.replace(before, coef=np.array(coef), intercept=intercept, value=value)
        model = load_model(save_model(regressor, path))
    finally:
        regressor.result_ = before
    for kept, given_ in zip([*model.coef, model.intercept, model.value], [*coef, intercept, value], strict=True):
        assert np.float64(kept).tobytes() == np.float64(given_).tobytes()  # also the sign of zero


@given(
    names=st.lists(st.text(alphabet=st.characters(exclude_categories=["Cs"])), min_size=12, max_size=12, unique=True)
)
@settings(deadline=None, max_examples=40)
def test_any_names_survive(tmp_path_factory, regressor, names):
    path = tmp_path_factory.getbasetemp() / "names.json"
    assert load_model(save_model(regressor, path, feature_names=names)).feature_names == tuple(names)


def test_what_cannot_be_saved(tmp_path, regressor):
    class Mine(Loss):
        name = "mine"

    path = tmp_path / "m.json"
    with pytest.raises(ValueError, match="fitted before it is saved"):
        save_model(SparseRegressor(), path)
    pipeline = make_pipeline(StandardScaler(), SparseRegressor(k=2)).fit(X, ETA)
    with pytest.raises(TypeError, match=r"got Pipeline: hand over its last step, pipeline\[-1\]"):
        save_model(pipeline, path)
    search = GridSearchCV(SparseRegressor(), {"k": [1, 2]}, cv=2).fit(X, ETA)
    with pytest.raises(TypeError, match="got GridSearchCV: hand over its best_estimator_"):
        save_model(search, path)
    with pytest.raises(TypeError, match="must be a SparseRegressor, a SparseClassifier or a SparseLDA, got str"):
        save_model("model", path)
    with pytest.raises(ValueError, match="feature_names has 1 names, but the estimator has 12 features"):
        save_model(regressor, path, feature_names=["a"])
    with pytest.raises(ValueError, match="12 different names"):
        save_model(regressor, path, feature_names=["a"] * 12)
    before = regressor.result_
    try:
        regressor.result_ = dataclasses.replace(before, value=np.nan)
        with pytest.raises(ValueError, match="value must be finite"):
            save_model(regressor, path)
        regressor.result_, regressor.loss = before, Mine()
        with pytest.raises(ValueError, match=r"loss Mine is not registered.*pursuit.losses.register gives it a name"):
            save_model(regressor, path)
    finally:
        regressor.result_, regressor.loss = before, "squared"
    assert not list(tmp_path.iterdir())


def test_the_last_step_of_a_pipeline_is_saved(tmp_path):
    pipeline = make_pipeline(StandardScaler(), SparseRegressor(k=2)).fit(X, ETA)
    model = load_model(save_model(pipeline[-1], tmp_path / "m.json"))
    np.testing.assert_allclose(model.predict(pipeline[:-1].transform(X)), pipeline.predict(X), rtol=1e-12)


def test_a_model_is_frozen(tmp_path, regressor):
    model = load_model(save_model(regressor, tmp_path / "m.json"))
    with pytest.raises(dataclasses.FrozenInstanceError):
        model.intercept = 0.0
    with pytest.raises(ValueError, match="read-only"):
        model.coef[0] = 0.0


BAD = {
    "format": ({"format": "other"}, "its format is not 'pursuit-model'"),
    "version": ({"version": 5}, "its version is 5, and this pursuit reads up to 4"),
    "offset": ({"offset": 3}, "offset must be a string"),
    "version type": ({"version": True}, "version must be a whole number"),
    "kind": ({"kind": "ranker"}, "kind is 'ranker'"),
    "k": ({"k": -1}, "k must be a whole number, 0 or more"),
    "l2": ({"l2": "0"}, "l2 must be a number"),
    "standardize": ({"standardize": 1}, "standardize must be true or false"),
    "support order": ({"support": [3, 2, 8]}, "support is not a rising list"),
    "support range": ({"support": [3, 8, 12]}, "support is not a rising list of columns below 12"),
    "support type": ({"support": [3, 8.0, 9]}, "support must be a list, each entry a whole number"),
    "coef length": ({"coef": [1.0]}, "coef has 1 entries for 3 columns"),
    "coef type": ({"coef": None}, "coef must be a list"),
    "coef size": ({"coef": [10**400, 1, 1]}, "coef must be a list, each entry finite"),
    "names": ({"feature_names": ["a"]}, "feature_names must be 12 different names"),
    "name type": ({"feature_names": [1] * 12}, "feature_names must be a list, each entry a string"),
    "classes": ({"classes": ["a", "b"]}, "classes must be null for a regressor"),
    "no classes": (
        {"kind": "classifier", "loss": {"name": "logistic", "parameters": {}}},
        "classes must be a list of 2 labels",
    ),
    "mixed classes": (
        {"kind": "classifier", "loss": {"name": "logistic", "parameters": {}}, "classes": [1, "a"]},
        "all strings, all numbers or all booleans",
    ),
    "same classes": (
        {"kind": "classifier", "loss": {"name": "logistic", "parameters": {}}, "classes": [1, 1]},
        "classes must be different",
    ),
    "outputs": ({"intercept": [1.0, 2.0], "coef": [[1, 2], [1, 2], [3]]}, "coef must have 2 numbers per column"),
    "no outputs": ({"intercept": []}, "intercept must be a number, or a list with one number per output"),
    "flat outputs": ({"intercept": [1.0, 2.0]}, "coef must be a list, each entry a list"),
    "loss": ({"loss": {"name": "sqared", "parameters": {}}}, "did you mean 'squared'"),
    "loss kind": ({"loss": {"name": "logistic", "parameters": {}}}, "the logistic loss is not one of a regressor"),
    "loss shape": ({"loss": "squared"}, "loss must be an object with a name and parameters"),
    "loss parameter": ({"loss": {"name": "huber", "parameters": {"gamma": 1}}}, "whose parameters fit the huber loss"),
    "loss value": (
        {"loss": {"name": "huber", "parameters": {"delta": -1}}},
        "delta must be a finite number greater than 0",
    ),
    "reason": ({"reason": None}, "reason must be a string"),
}


@pytest.mark.parametrize("case", BAD)
def test_every_field_is_checked(tmp_path, regressor, case):
    changes, message = BAD[case]
    path = save_model(regressor, tmp_path / "m.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    with pytest.raises(ValueError, match=message) as caught:
        load_model(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_every_field_is_needed(tmp_path, regressor):
    path = save_model(regressor, tmp_path / "m.json")
    held = json.loads(path.read_text())
    for name in held.keys() - {"classes", "card"}:
        path.write_text(json.dumps({key: value for key, value in held.items() if key != name}))
        with pytest.raises(ValueError, match=f"{name} is (missing|not)"):
            load_model(path)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_numbers_that_are_not_finite(tmp_path, regressor, number):
    path = save_model(regressor, tmp_path / "m.json")
    text = path.read_text()
    path.write_text(text.replace(json.dumps(regressor.result_.intercept), number))
    with pytest.raises(ValueError, match=r"(which is not a number|intercept must be finite)$"):
        load_model(path)


def test_files_that_are_no_models(tmp_path, regressor):
    path = save_model(regressor, tmp_path / "m.json")
    text = path.read_text()
    for length in range(0, len(text) - 2, 40):
        path.write_text(text[:length])
        with pytest.raises(ValueError, match="is not complete JSON"):
            load_model(path)
    for content in ("[]", "3", '"x"', "{}", "[" * 100_000 + "]" * 100_000):
        path.write_text(content)
        with pytest.raises(ValueError, match="is not a pursuit model"):
            load_model(path)
    path.write_bytes(b"\x80\x04\x95pickle")
    with pytest.raises(ValueError, match="it is not text"):
        load_model(path)
    with pytest.raises(FileNotFoundError, match="there is no file"):
        load_model(tmp_path / "none.json")
    with pytest.raises(ValueError, match="is a folder, not a pursuit model"):
        load_model(tmp_path)


def test_a_failed_write_leaves_the_old_model(tmp_path, regressor, monkeypatch):
    path = save_model(regressor, tmp_path / "m.json")
    before = path.read_bytes()

    def full(handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left") as raised:
        save_model(regressor, path, feature_names=NAMES)
    assert raised.value.filename == str(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["m.json"]
