"""``fit`` and ``predict`` on tables as they come: what was done is printed, stored, and done again on raw rows."""

import io
import json
import os
import sys

import numpy as np
import pandas as pd
import pytest

from pursuit import SparseClassifier, SparseRegressor, load_model, save_model, table_pipeline
from table_preparation.messy import messy_table


@pytest.fixture(scope="module")
def messy(tmp_path_factory):
    """A folder with 800 rows to fit and 200 to predict, which have neither target nor id and lack unused columns."""
    folder = tmp_path_factory.mktemp("messy")
    table, y = messy_table(1000, seed=4)
    table[:800].assign(churned=y[:800]).to_csv(folder / "data.csv", index=False)
    return folder, table, y


def test_two_commands(run, messy, tmp_path, monkeypatch):
    folder, table, y = messy
    monkeypatch.chdir(tmp_path)
    code, out, err = run("fit", folder / "data.csv", "--target", "churned", "-k", 4, "--include", "city")
    assert (code, err) == (0, "")
    assert "800 rows, 20 columns as 29 features; classification with the logistic loss, at most 4 columns" in out
    assert "left out: customer_id (an id), country (constant)" in out
    new = table[800:].drop(columns=["customer_id"]).assign(name=[f"n{i}" for i in range(200)])
    new.to_csv("new.csv", index=False)
    code, _, err = run("predict", "model.json", "new.csv", "--proba", "--keep", "name", "--out", "p.csv")
    assert (code, err) == (0, "")
    found = pd.read_csv("p.csv")
    assert list(found) == ["name", "prediction", "probability_0", "probability_1"]
    pipeline = table_pipeline(SparseClassifier(k=4, include=["city=Oslo"])).fit(table[:800], y[:800])
    with pytest.warns(UserWarning, match="'street' has levels that were not there"):  # which the model does not use
        shares = pipeline.predict_proba(table[800:])
    np.testing.assert_allclose(found[["probability_0", "probability_1"]], shares, atol=1e-8)
    new.assign(city="Paris").to_csv("new.csv", index=False)
    code, out, err = run("predict", "model.json", "new.csv", "--keep", "nam")
    assert (code, out) == (2, "")
    assert "--keep: new.csv has no column 'nam'; did you mean 'name'?" in err
    code, out, err = run("predict", "model.json", "new.csv")
    assert (code, out.count("\n")) == (0, 201)
    assert "pursuit: warning: the table differs from the one at fit: 'city' has levels that were not there" in err
    assert "in 200 rows ('Paris')" in err


def test_the_command_line_is_the_pipeline(run, tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"city": rng.choice(["a", "b", "c"], 120), "when": [f"2020-01-{1 + i % 28:02}" for i in range(120)]}
    ).assign(x=np.where(rng.random(120) < 0.2, np.nan, rng.normal(size=120)), z=rng.normal(size=120))
    y = 2 * (table["city"] == "a") + table["x"].fillna(0.5) + rng.normal(size=120) * 0.1
    table.assign(Target=y).to_csv(tmp_path / "t.csv", index=False)
    assert run("fit", tmp_path / "t.csv", "-k", 2, "--out", tmp_path / "m.json")[0] == 0
    pipeline = table_pipeline(SparseRegressor(k=2)).fit(table, y)
    loaded = load_model(tmp_path / "m.json")
    np.testing.assert_allclose(loaded.predict(table), pipeline.predict(table), atol=1e-10)
    np.testing.assert_allclose(
        load_model(save_model(pipeline, tmp_path / "p.json")).predict(table), pipeline.predict(table), atol=1e-10
    )
    assert set(loaded.preparation.names) == {"city", "x"}
    assert run("predict", tmp_path / "m.json", tmp_path / "t.csv")[1].count("\n") == 121
    table.drop(columns="city").to_csv(tmp_path / "less.csv", index=False)
    code, _, err = run("predict", tmp_path / "m.json", tmp_path / "less.csv")
    assert code == 2
    assert "less.csv has no column 'city'" in err
    with pytest.raises(ValueError, match="X has no column 'city', which the model needs"):
        loaded.predict(table.drop(columns="city"))
    with pytest.raises(ValueError, match="X must be a data frame with the raw columns of the table, got ndarray"):
        loaded.predict(np.zeros((2, 4)))


def test_a_numeric_table_gives_the_same_model(run, tmp_path):
    for name, more in (("a", ()), ("b", ("--no-prepare",))):
        assert run("fit", "diabetes.parquet", "-k", 4, *more, "--out", tmp_path / f"{name}.json")[0] == 0
    prepared, plain = (json.loads((tmp_path / f"{name}.json").read_text()) for name in "ab")
    assert prepared.pop("preparation")["notes"] == []
    assert (prepared.pop("version"), plain.pop("version")) == (3, 1)
    np.testing.assert_allclose(prepared.pop("coef"), plain.pop("coef"), rtol=1e-10)
    for name in ("intercept", "value"):
        assert prepared.pop(name) == pytest.approx(plain.pop(name), rel=1e-10)
    assert prepared == plain


def test_the_card(run, tmp_path):
    assert run("fit", "diabetes.parquet", "--ks", "1-3", "--cv", 3, "--out", tmp_path / "m.json")[0] == 0
    card = load_model(tmp_path / "m.json").card
    assert set(card) == {
        "pursuit",
        "date",
        "rows",
        "fingerprint",
        "held_out",
        "features",
        "unit",
        "optimality",
    }
    assert card["rows"] == 442
    held = json.loads((tmp_path / "m.json").read_text())
    del held["card"], held["preparation"]
    (tmp_path / "old.json").write_text(json.dumps({**held, "version": 1}))
    assert load_model(tmp_path / "old.json").card == {}


@pytest.mark.parametrize("suffix", ["feather", "npy", "tsv", "csv.gz", "-"])
def test_formats(run, files, tmp_path, monkeypatch, suffix):
    frame = pd.read_parquet(files / "diabetes.parquet")
    data = tmp_path / f"t.{suffix}"
    if suffix == "feather":
        frame.to_feather(data)
    elif suffix == "npy":
        np.save(data, frame.to_numpy())
    elif suffix == "-":
        data = "-"
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(frame.to_csv(index=False).encode())))
    else:
        frame.to_csv(data, index=False, sep="\t" if suffix == "tsv" else ",")
    target = "x10" if suffix == "npy" else "y"
    code, _, err = run("fit", data, "--target", target, "-k", 3, "--out", tmp_path / "m.json")
    assert (code, err) == (0, "")
    own = SparseRegressor(k=3).fit(frame.drop(columns="y").to_numpy(), frame["y"])
    np.testing.assert_allclose(load_model(tmp_path / "m.json").coef, own.coef_[own.support_], rtol=1e-8)


def test_excel(run, tmp_path, monkeypatch):
    (tmp_path / "t.xlsx").write_bytes(b"not really")
    monkeypatch.setattr(pd, "read_excel", lambda path: pd.DataFrame({"a": [1.0, 2, 4, 3], "y": [1.0, 2, 3, 5]}))
    assert run("fit", tmp_path / "t.xlsx", "-k", 1, "--out", tmp_path / "m.json")[0] == 0

    def missing(path):
        raise ImportError("Missing optional dependency 'openpyxl'")

    monkeypatch.setattr(pd, "read_excel", missing)
    code, _, err = run("fit", tmp_path / "t.xlsx", "-k", 1, "--out", tmp_path / "m.json")
    assert code == 2
    assert "needs a package that reads Excel: pip install openpyxl" in err


def test_row_numbers_without_a_name(run, files, tmp_path):
    pd.read_parquet(files / "diabetes.parquet").to_csv(tmp_path / "t.csv")  # with its index
    assert run("fit", tmp_path / "t.csv", "-k", 2, "--out", tmp_path / "m.json")[0] == 0
    assert load_model(tmp_path / "m.json").n_features == 10


def test_other_commands_take_tables_too(run, messy, tmp_path):
    folder, _, _ = messy
    code, out, err = run("path", folder / "data.csv", "-t", "churned", "--ks", "1-3", "--include", "city,plan")
    assert (code, out) == (2, "")
    assert "include names 2" in err
    code, out, err = run("path", folder / "data.csv", "-t", "churned", "--include", "city,plan", "--ks", "2-3")
    assert (code, err) == (0, "")
    assert "city, plan" in out
    code, out, err = run("stability", folder / "data.csv", "-t", "churned", "--ks", "1-2", "--pairs", 2)
    assert (code, err) == (0, "")
    assert "20 columns as 29 features" in out


def test_include_a_category_by_its_column(run, messy, tmp_path):
    folder, _, _ = messy
    options = ("-t", "churned", "-k", 1, "--include", "channel")
    assert run("fit", folder / "data.csv", *options, "--out", tmp_path / "m.json")[0] == 0
    assert load_model(tmp_path / "m.json").preparation.names == ("channel",)


def test_model_json_is_not_overwritten_unless_it_is_a_model(run, files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.json").write_text("{}")
    code, _, err = run("fit", files / "diabetes.parquet", "-k", 2)
    assert code == 2
    assert "model.json is there and no model of pursuit; name the model to write with --out" in err
    assert (tmp_path / "model.json").read_text() == "{}"
    (tmp_path / "model.json").unlink()
    for _ in range(2):
        assert run("fit", files / "diabetes.parquet", "-k", 2)[0] == 0


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="the super-user may write everywhere")
def test_an_unwritable_folder_is_named_before_the_work(run, tmp_path):
    (tmp_path / "closed").mkdir(mode=0o500)
    code, out, err = run("fit", "diabetes.parquet", "-k", 2, "--out", tmp_path / "closed" / "m.json")
    assert (code, out) == (2, "")
    assert "no permission to write there" in err


def test_hostile_names_and_fields(run, tmp_path):
    table = pd.DataFrame(
        {
            "=cmd()": ["a", 'b"\n', "c,d"] * 20,
            "[red]": np.arange(60) % 7,
            "x=1": np.arange(60) % 5,
            "é\t": [0.5, 1, 2] * 20,
        }
    )
    table.assign(y=np.arange(60) % 7 + (np.arange(60) % 3 == 0)).to_csv(tmp_path / "t.csv", index=False)
    code, out, err = run("fit", tmp_path / "t.csv", "-k", 3, "--out", tmp_path / "m.json")
    assert (code, err) == (0, "")
    assert "[red]" in out
    code, out, err = run("predict", tmp_path / "m.json", tmp_path / "t.csv")
    assert (code, err) == (0, "")
    held = json.loads((tmp_path / "m.json").read_text())
    for wrong in (
        {"columns": 1},
        {"columns": [{"kind": "code"}]},
        {"columns": []},
        [],
        {"columns": [{"kind": "number"}]},
    ):
        (tmp_path / "x.json").write_text(json.dumps({**held, "preparation": wrong}))
        with pytest.raises(ValueError, match="preparation"):
            load_model(tmp_path / "x.json")
