"""The published schema of model files: every kind of file fits it, and a file that it refuses cannot be read."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pursuit import (
    SparseAdditiveRegressor,
    SparseClassifier,
    SparseClassifierCV,
    SparseLDA,
    SparseRegressor,
    SparseRegressorCV,
    load_model,
    save_model,
    table_pipeline,
)

jsonschema = pytest.importorskip("jsonschema")
SCHEMA = Path(__file__).parents[2] / "docs" / "model.schema.json"
RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 4))
FRAME = pd.DataFrame(X, columns=list("abcd"))
Y = X[:, 1] - X[:, 2] + 0.1 * RNG.standard_normal(60)
RAW = FRAME.assign(
    city=RNG.choice(np.array(["Rome", "Oslo", None], dtype=object), 60),
    day=pd.date_range("2020-01-01", periods=60),
    age=np.where(RNG.random(60) < 0.2, np.nan, X[:, 0]),
)
MODELS = {
    "regressor": lambda: SparseRegressor(k=2).fit(X, Y),
    "cv": lambda: SparseRegressorCV(ks=[1, 2]).fit(FRAME, Y),
    "no feature": lambda: SparseRegressorCV(ks=[0]).fit(FRAME, Y),
    "two responses": lambda: SparseRegressor(k=2).fit(X, np.column_stack([Y, -Y])),
    "huber": lambda: SparseRegressor(k=2, loss="huber").fit(X, Y),
    "poisson": lambda: SparseRegressor(k=2, loss="poisson").fit(X, np.round(np.exp(Y)), offset=X[:, 0]),
    "classifier": lambda: SparseClassifier(k=2).fit(FRAME, Y > 0),
    "text labels": lambda: SparseClassifierCV(ks=[2]).fit(FRAME, np.where(Y > 0, "yes", "no")),
    "three classes": lambda: SparseClassifier(k=2).fit(FRAME, np.digitize(Y, [-1, 1])),
    "hinge": lambda: SparseClassifier(k=2, loss="hinge").fit(FRAME, Y > 0),
    "lda": lambda: SparseLDA(n_edges=2).fit(FRAME, Y > 0),
    "additive": lambda: SparseAdditiveRegressor(k=2).fit(FRAME, Y),
    "raw table": lambda: table_pipeline(SparseRegressor(k=6, include=[0, 1, 2, 3, 4, 5, 6])).fit(RAW, Y),
}


@pytest.fixture(scope="module")
def schema():
    held = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(held)
    return jsonschema.Draft202012Validator(held)


@pytest.mark.parametrize("name", MODELS)
def test_model_files_fit_the_schema(name, schema, tmp_path):
    more = {"offset": "log exposure"} if name == "poisson" else {}
    file = save_model(MODELS[name](), tmp_path / "model.json", **more)
    schema.validate(json.loads(file.read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", ["raw table", "text labels", "poisson"])
def test_what_the_schema_refuses_cannot_be_read(name, schema, tmp_path):
    more = {"offset": "log exposure"} if name == "poisson" else {}
    file = save_model(MODELS[name](), tmp_path / "model.json", **more)
    held = json.loads(file.read_text(encoding="utf-8"))
    needed = json.loads(SCHEMA.read_text(encoding="utf-8"))["required"]
    for field in needed:
        if field == "classes" and held["kind"] == "regressor":
            continue  # null is what a regressor's missing classes are read as
        for wrong in ({key: value for key, value in held.items() if key != field}, held | {field: {"x": []}}):
            assert not schema.is_valid(wrong)
            file.write_text(json.dumps(wrong), encoding="utf-8")
            with pytest.raises(ValueError, match=r"model\.json is not a pursuit model"):
                load_model(file)
