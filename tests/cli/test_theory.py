"""``pursuit theory``."""

import csv

import numpy as np
import pytest


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    X = np.linalg.qr(rng.standard_normal((80, 8)))[0] * 9
    path = tmp_path / "data.csv"
    y = 3 * X[:, 0] - 2 * X[:, 3] + 0.1 * rng.standard_normal(80)
    header = ",".join([*"abcdefgh", "y"])
    np.savetxt(path, np.column_stack([X, y]), delimiter=",", header=header, comments="")
    return path


def test_verdicts_are_printed_and_written(run, table, tmp_path):
    out = tmp_path / "theory.csv"
    code, text, _ = run("theory", str(table), "-t", "y", "-k", "2", "--out", str(out))
    assert code == 0
    assert "GraHTP Theorem" in text
    assert "target: the solution with 2 features" in text
    assert "conditions that can be checked here: certified" in text
    assert "With 6 columns at a time the curvature varies by a factor of 1" in text
    rows = list(csv.DictReader(out.read_text().splitlines()))
    found = {row["citation"]: row["verdict"] for row in rows}
    assert found["GraHTP Theorem 2(a)"] == "certified"
    assert found["GraHTP Theorem 8"] == "refuted"


def test_without_a_solution_the_largest_target_is_told(run, table):
    code, text, _ = run("theory", str(table), "-t", "y", "-k", "3", "--no-solve")
    assert code == 0
    assert "k* at most" in text
