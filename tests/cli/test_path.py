"""``path`` and ``stability``: Python's numbers in tables, files and pictures; what was found is never thrown away."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import pursuit
from pursuit import GLM, SparseClassifier, SparseRegressor
from pursuit.cli import path as path_module
from pursuit.cli import stability as stability_module

PATH = ("path", "diabetes.csv", "-t", "y", "--exclude", "town")


@pytest.fixture
def found(files):
    frame = pd.read_parquet(files / "diabetes.parquet")
    return pursuit.path(GLM(frame.drop(columns="y"), frame["y"], standardize=True), range(1, 7))


def stopping(kind, after):
    class Stops(kind):
        def __call__(self, done, other=None):
            if done >= after:
                raise KeyboardInterrupt

    return Stops


def test_the_table(run, found):
    code, out, err = run(*PATH, "--ks", "1-6")
    assert (code, err) == (0, "")
    rows = [line.split() for line in out.splitlines() if line.strip()[:1].isdigit()]
    assert [row[0] for row in rows] == list("123456")
    assert [float(row[1]) for row in rows] == pytest.approx(found.values, rel=1e-4)
    assert [float(row[2]) for row in rows] == pytest.approx(found.explained, abs=1e-4)
    assert rows[4][3:] == ["sex,", "s3", "s1"]  # two come, one goes
    assert found.reason in out


def test_the_files(run, found, tmp_path):
    for name in ("p.json", "p.csv"):
        code, out, _ = run(*PATH, "--ks", "1-6", "--out", tmp_path / name)
        assert code == 0
        assert str(tmp_path / name) in out
    held = json.loads((tmp_path / "p.json").read_text())
    assert (held["status"], held["l2"], held["classes"]) == ("converged", 0.0, None)
    table = pd.read_csv(tmp_path / "p.csv")
    for i, (size, result) in enumerate(zip(held["sizes"], found, strict=True)):
        assert (size["k"], size["optimality"]) == (i + 1, result.optimality)
        assert list(size["coef"]) == list(result.names)
        np.testing.assert_allclose(list(size["coef"].values()), result.coef)
        np.testing.assert_allclose([table[f"coef[{name}]"][i] for name in result.names], result.coef)
        assert table["value"][i] == pytest.approx(result.value)
        assert table["intercept"][i] == pytest.approx(result.intercept)


def test_several_classes(run, tmp_path):
    iris = load_iris(as_frame=True)
    iris.data.assign(species=iris.target_names[iris.target]).to_csv(tmp_path / "iris.csv", index=False)
    estimator = SparseClassifier(k=1).fit(iris.data, iris.target)
    expected = pursuit.path(estimator.objective_, [1, 2])
    for name in ("p.json", "p.csv"):
        assert run("path", tmp_path / "iris.csv", "-t", "species", "--ks", "1-2", "--out", tmp_path / name)[0] == 0
    held = json.loads((tmp_path / "p.json").read_text())
    assert held["classes"] == iris.target_names.tolist()
    assert held["l2"] == estimator.l2_
    np.testing.assert_allclose(list(held["sizes"][1]["coef"].values()), expected[1].coef, rtol=1e-6)
    row = next(csv.DictReader(io.StringIO((tmp_path / "p.csv").read_text())))
    assert float(row["intercept[virginica]"]) == pytest.approx(expected[0].intercept[2], rel=1e-6)
    assert any(head.endswith(",setosa]") for head in row)


def test_pictures(run, tmp_path):
    for command, more in (("path", ()), ("stability", ("--pairs", 2))):
        picture = tmp_path / f"{command}.png"
        code, out, err = run(command, "diabetes.parquet", "-t", "y", "--ks", "1-3", *more, "--picture", picture)
        assert (code, err) == (0, "")
        assert picture.read_bytes().startswith(b"\x89PNG")
        assert str(picture) in out


def test_sizes_by_default(run, tmp_path):
    assert "sizes 1 to 10" in run(*PATH)[1]
    assert "sizes 2 to 10" in run(*PATH, "--include", "age,s2")[1]
    code, out, _ = run(*PATH, "--ks", "8-12")
    assert code == 0
    assert "sizes 8 to 10" in out
    np.savez(tmp_path / "t.npz", X=np.random.default_rng(0).normal(size=(30, 3)), y=np.arange(30.0))
    code, out, _ = run("path", tmp_path / "t.npz", "--exclude", "x1")
    assert code == 0
    assert "x1" not in out


def test_an_interrupt_leaves_the_sizes_so_far(run, tmp_path, monkeypatch):
    monkeypatch.setattr(path_module, "Progress", stopping(path_module.Progress, 4))
    code, out, err = run(*PATH, "--out", tmp_path / "p.json", "--picture", tmp_path / "p.png")
    assert (code, err) == (130, "pursuit: interrupted\n")
    assert "interrupted by the user after size" in out
    held = json.loads((tmp_path / "p.json").read_text())
    assert held["status"] == "interrupted"
    assert [size["k"] for size in held["sizes"]][:3] == [1, 2, 3]
    assert (tmp_path / "p.png").exists()


def test_the_effort_is_the_path_s(run, tmp_path):
    claims = {}
    for effort in ("fast", "thorough"):
        code, _, err = run(*PATH, "--ks", "1-3", "--effort", effort, "--out", tmp_path / "p.json")
        assert (code, err) == (0, "")
        sizes = json.loads((tmp_path / "p.json").read_text())["sizes"]
        claims[effort] = {size["optimality"] for size in sizes}
    assert claims["thorough"] == {"swap_optimal"}
    assert "swap_optimal" not in claims["fast"]


def test_a_limit_has_its_exit_code(run, tmp_path):
    code, out, _ = run(*PATH, "--time-limit", 0, "--out", tmp_path / "p.json")
    assert code == 3
    assert "the time limit of 0 s was reached" in out


def test_stability_is_python_s(run, files, tmp_path):
    frame = pd.read_parquet(files / "diabetes.parquet")
    expected = pursuit.stability(SparseRegressor(k=4), frame.drop(columns="y"), frame["y"], n_pairs=5, random_state=3)
    options = ("--ks", "1-4", "--pairs", 5, "--seed", 3, "--out", tmp_path / "s.csv")
    code, out, err = run("stability", "diabetes.csv", "-t", "y", "--exclude", "town", *options)
    assert (code, err) == (0, "")
    assert str(expected) in out
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "s.csv"), expected.to_frame(), check_dtype=False)


def test_an_interrupt_leaves_the_pairs_so_far(run, tmp_path, monkeypatch):
    monkeypatch.setattr(stability_module, "Progress", stopping(stability_module.Progress, 2))
    code, out, err = run("stability", "cancer.npz", "--ks", "1-2", "--pairs", 4, "--out", tmp_path / "s.csv")
    assert (code, err) == (130, "pursuit: interrupted\n")
    assert "2 of 4 complementary pairs" in out
    assert (tmp_path / "s.csv").exists()
