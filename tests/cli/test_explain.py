"""``pursuit explain``: contributions add up to what ``pursuit predict`` gives."""

import re

import pytest

from pursuit import load_model


@pytest.fixture(scope="module")
def model_file(files, tmp_path_factory):
    from pursuit.cli import main

    out = tmp_path_factory.mktemp("explain") / "model.json"
    assert main(["fit", str(files / "diabetes.csv"), "--target", "y", "-k", "3", "--out", str(out)]) == 0
    return out


def test_features_and_why(run, model_file):
    code, out, err = run("explain", model_file)
    assert (code, err) == (0, "")
    for words in (*load_model(model_file).selected, "R2 lost if dropped", "closest rival", "No exchange of one"):
        assert words in out


def test_contributions_add_up(run, files, model_file):
    code, out, _ = run("explain", model_file, files / "diabetes.csv", "--row", "5")
    assert code == 0
    wanted = float(run("predict", model_file, files / "diabetes.csv")[1].splitlines()[5].split(",")[0])
    assert float(re.search(r"^sum\s+(\S+)$", out, re.M).group(1)) == pytest.approx(wanted, rel=1e-3)


def test_a_row_that_is_not_there(run, files, model_file):
    code, _, err = run("explain", model_file, files / "diabetes.csv", "--row", "9999")
    assert code == 2
    assert "--row 9999" in err
    assert "has 442 rows" in err


def test_a_file_without_a_card(run, model_file, tmp_path):
    import json

    held = json.loads(model_file.read_text())
    del held["card"]
    (tmp_path / "old.json").write_text(json.dumps(held))
    code, out, _ = run("explain", tmp_path / "old.json")
    assert code == 0
    assert "an older pursuit wrote it" in out
