"""Two columns of one name: a ValueError that names them, by every door. pandas would rename one, or take both."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

import pursuit
from pursuit import (
    GLM,
    InParts,
    LogDet,
    MultiGLM,
    SparseClassifier,
    SparseClassifierCV,
    SparseLDA,
    SparsePrecision,
    SparsePrecisionCV,
    SparseRegressor,
    SparseRegressorCV,
)
from pursuit.cli import main

N = 30
VALUES = np.random.default_rng(3).standard_normal((N, 4))
Y = VALUES[:, 0] - VALUES[:, 2]
C = Y > 0
TWICE = pd.DataFrame(VALUES, columns=["bmi", "age", "bmi", "sex"])
GOOD = pd.DataFrame(VALUES, columns=["bmi", "age", "bp", "sex"])
COVARIANCE = np.cov(VALUES.T)
FITTED = SparseRegressor(2).fit(GOOD, Y)
DOORS = {
    "GLM": lambda: GLM(TWICE, Y),
    "MultiGLM": lambda: MultiGLM(TWICE, C),
    "InParts": lambda: InParts([(GOOD, Y), (TWICE, Y)]),
    "best_subsets": lambda: pursuit.best_subsets(TWICE, Y, 2),
    "as_design": lambda: pursuit.as_design(TWICE),
    "LogDet": lambda: LogDet(pd.DataFrame(COVARIANCE, columns=TWICE.columns)),
    "LogDet names": lambda: LogDet(COVARIANCE, names=list(TWICE.columns)),
    "from_covariance": lambda: SparsePrecision(2).from_covariance(COVARIANCE, names=list(TWICE.columns)),
    "regressor": lambda: SparseRegressor(2).fit(TWICE, Y),
    "classifier": lambda: SparseClassifier(2).fit(TWICE, C),
    "regressor cv": lambda: SparseRegressorCV().fit(TWICE, Y),
    "classifier cv": lambda: SparseClassifierCV().fit(TWICE, C),
    "lda": lambda: SparseLDA(2).fit(TWICE, C),
    "precision": lambda: SparsePrecision(2).fit(TWICE),
    "precision cv": lambda: SparsePrecisionCV().fit(TWICE),
    "stability": lambda: pursuit.stability(SparseRegressor(2), TWICE, Y),
    "bootstrap": lambda: pursuit.bootstrap_intervals(SparseRegressor(2), TWICE, Y),
    "split": lambda: pursuit.split_intervals(SparseRegressor(2), TWICE, Y),
    "predict": lambda: FITTED.predict(TWICE),
    "score": lambda: FITTED.score(TWICE, Y),
    "transform": lambda: FITTED.transform(TWICE),
}


@pytest.mark.parametrize("door", DOORS)
def test_frames(door):
    with pytest.raises(ValueError, match=r"has several columns named 'bmi'; give every column its own name"):
        DOORS[door]()


def test_names_that_are_numbers():
    with pytest.raises(ValueError, match="X has several columns named 1, 3; give"):
        SparseRegressor(2).fit(TWICE.set_axis([1, 1, 3, 3], axis=1), Y)


def test_saved_models(tmp_path):
    model = pursuit.load_model(pursuit.save_model(FITTED, tmp_path / "m.json"))
    with pytest.raises(ValueError, match="X has several columns named 'bmi'"):
        model.predict(TWICE)


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "\n".join(",".join(f"{value:.6f}" for value in (*row, y)) for row, y in zip(VALUES, Y, strict=True))
    (tmp_path / "t.csv").write_text(f"bmi,age,bmi,sex,y\n{rows}\n")
    (tmp_path / "t.tsv").write_text(f"bmi,age,bmi,sex,y\n{rows}\n".replace(",", "\t"))
    table = pa.table([pa.array(column) for column in (*VALUES.T, Y)], names=["bmi", "age", "bmi", "sex", "y"])
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    np.savez(tmp_path / "t.npz", X=VALUES, y=Y, feature_names=np.array(TWICE.columns, dtype=str))
    pursuit.save_model(FITTED, tmp_path / "m.json")


COMMANDS = {
    "fit": ("fit", "{}", "--target", "y", "-k", "2", "--out", "out.json"),
    "path": ("path", "{}", "--target", "y"),
    "stability": ("stability", "{}", "--target", "y"),
    "graph": ("graph", "{}"),
    "convert": ("convert", "{}", "out.pursuit", "--target", "y"),
    "predict": ("predict", "m.json", "{}"),
}


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "npz"])
@pytest.mark.parametrize("command", COMMANDS)
def test_files(files, capsys, command, kind):
    assert main([word.format(f"t.{kind}") for word in COMMANDS[command]]) == 2
    said = capsys.readouterr().err
    assert said == f"pursuit: t.{kind} has several columns named 'bmi'; give every column its own name\n"


def test_parquet_that_is_read_in_parts(files):
    with pytest.raises(ValueError, match=r"t\.parquet has several columns named 'bmi'"):
        pursuit.open_data("t.parquet", target="y")
