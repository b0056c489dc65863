"""``pursuit convert``, and fits and paths of what it wrote."""

import json
import os

import numpy as np
import pandas
import pytest

from pursuit.cli import main


@pytest.fixture
def files(tmp_path, monkeypatch, table, small_blocks):
    X, y, names = table
    frame = pandas.DataFrame(X, columns=names).assign(t=y, c=np.where(y > np.median(y), "high", "low"))
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_parquet(tmp_path / "a.parquet", row_group_size=100)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def model(path="m.json"):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def test_a_converted_table_fits_as_it_does_without(files, capsys):
    assert main(["convert", "a.csv", "a.pursuit", "--target", "t", "--exclude", "c"]) == 0
    assert "a.pursuit: 500 rows, 6 features, dense float64 in" in capsys.readouterr().out
    assert main(["fit", "a.pursuit", "-k", "2", "-o", "m.json"]) == 0
    there = capsys.readouterr().out
    assert main(["fit", "a.csv", "--target", "t", "--exclude", "c", "-k", "2", "-o", "n.json"]) == 0
    here = capsys.readouterr().out
    a, b = model("m.json"), model("n.json")
    assert a["support"] == b["support"] == [1, 4]
    assert a["feature_names"] == b["feature_names"]
    np.testing.assert_allclose(a["coef"], b["coef"], rtol=1e-10)
    line = next(line for line in here.splitlines() if line.startswith("R2"))
    assert line in there.splitlines()


def test_words_are_classes(files, capsys):
    assert main(["convert", "a.csv", "c.pursuit", "--target", "c", "--exclude", "t"]) == 0
    assert "classes  high, low" in capsys.readouterr().out
    assert main(["fit", "c.pursuit", "-k", "2", "-o", "m.json"]) == 0
    assert main(["fit", "a.csv", "--target", "c", "--exclude", "t", "-k", "2", "-o", "n.json"]) == 0
    a, b = model("m.json"), model("n.json")
    assert a["classes"] == b["classes"] == ["high", "low"]
    np.testing.assert_allclose(a["coef"], b["coef"], rtol=1e-6)


def test_k_is_chosen_and_paths_are_followed(files, capsys):
    main(["convert", "a.csv", "a.pursuit", "--target", "t", "--exclude", "c"])
    assert main(["fit", "a.pursuit", "--cv", "4", "-o", "m.json"]) == 0
    assert set(model()["support"]) >= {1, 4}
    assert main(["path", "a.pursuit", "--ks", "1-4", "-o", "p.json"]) == 0
    assert main(["path", "a.csv", "--target", "t", "--exclude", "c", "--ks", "1-4", "-o", "q.json"]) == 0
    values = [[size["value"] for size in model(name)["sizes"]] for name in ("p.json", "q.json")]
    np.testing.assert_allclose(*values, rtol=1e-9)


def test_a_large_parquet_file_is_not_loaded(files, monkeypatch, capsys):
    from pursuit.cli import inputs

    monkeypatch.setattr(inputs, "read_table", None)
    monkeypatch.setattr(inputs, "MAX_LOADED_SHARE", 0.0)
    assert main(["fit", "a.parquet", "--target", "t", "--exclude", "c", "-k", "2", "-o", "m.json"]) == 0
    assert model()["support"] == [1, 4]
    assert main(["fit", "a.parquet", "--target", "t", "-k", "2", "-o", "m.json"]) == 2
    assert "column 'c' of a.parquet is not numeric" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("fit a.pursuit --target v1 -o m.json", "--target v1: a.pursuit was converted with t, and knows it"),
        ("fit a.pursuit --offset v1 -o m.json", "--offset v1: a.pursuit was converted with none"),
        ("fit a.pursuit --cv-groups v1 -o m.json", "no column for --cv-groups"),
        ("fit a.pursuit --memory 1MB -k 2 -o m.json", "memory=1 MB is too little"),
        ("fit . --target t -o ../m.json", "is not a data set: it has no manifest.json"),
        ("convert a.csv a.pursuit --target t", "a.pursuit is there already"),
        ("convert a.csv b.pursuit --target t --dtype int8", "--dtype must be float32 or float64"),
        ("convert a.csv b.pursuit --target t", "column 'c' of a.csv is not numeric"),
        ("convert none.csv b.pursuit --target t", "there is no file none.csv"),
        ("convert a.csv no/b.pursuit --target t", "there is no folder"),
        ("convert a.xls b.pursuit --target t", "a.xls cannot be converted; write it as CSV"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(files, capsys, command, words):
    main(["convert", "a.csv", "a.pursuit", "--target", "t", "--exclude", "c"])
    capsys.readouterr()
    assert main(command.split()) == 2
    message = capsys.readouterr().err
    assert words in message
    assert message.count("\n") == 1
    assert not os.path.exists("b.pursuit")
