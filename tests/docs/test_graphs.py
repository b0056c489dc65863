"""What docs/graphs.md shows is so, and examples/graph.py runs."""

import doctest
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "graphs.md"


@pytest.fixture(autouse=True)
def aside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")


def test_the_examples(tmp_path):
    text = PAGE.read_text().replace("```", "")
    test = doctest.DocTestParser().get_doctest(text, {}, "graphs.md", str(PAGE), 0)
    assert len(test.examples) > 20
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0
    assert {path.name for path in tmp_path.glob("*.png")} == {"graph.png", "frequencies.png", "edges.png"}


def test_the_example(tmp_path, capsys):
    runpy.run_path(str(ROOT / "examples" / "graph.py"))["main"](pairs=2)
    said = capsys.readouterr().out
    for words in ("partial_correlation", "edges, shrinkage", "complementary pairs"):
        assert words in said
    pictures = sorted(path.name for path in (tmp_path / "example").glob("*.png"))
    assert pictures == ["edge_votes.png", "edges.png", "graph.png"]
