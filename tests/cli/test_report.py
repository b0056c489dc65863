"""``--report`` of ``pursuit fit`` and ``pursuit graph``."""

import pytest

from pursuit.cli import main


@pytest.fixture
def table(tmp_path):
    from sklearn.datasets import load_diabetes

    X, y = load_diabetes(return_X_y=True, as_frame=True)
    X.iloc[:150].assign(progression=y[:150]).to_csv(tmp_path / "data.csv", index=False)
    return tmp_path / "data.csv"


def test_a_page_beside_the_model(table, tmp_path, capsys):
    page = tmp_path / "model.html"
    options = ["--target", "progression", "-k", "2", "--out", str(tmp_path / "model.json"), "--report", str(page)]
    assert main(["fit", str(table), *options]) == 0
    text = page.read_text()
    assert "progression: a model with 2 features" in text
    assert "goes with" in text
    assert str(page) in capsys.readouterr().out


def test_a_page_of_a_graph(table, tmp_path):
    assert main(["graph", str(table), "--edges", "3", "--report", str(tmp_path / "graph.html")]) == 0
    assert "with 3 edges" in (tmp_path / "graph.html").read_text()


def test_places_are_checked_before_the_work(table, tmp_path, capsys):
    for place, sentence in (("page.pdf", "must end in .html"), ("nowhere/page.html", "there is no folder")):
        options = ["--target", "progression", "--out", str(tmp_path / "m.json"), "--report", str(tmp_path / place)]
        assert main(["fit", str(table), *options]) == 2
        assert sentence in capsys.readouterr().err
    assert not (tmp_path / "m.json").exists()
