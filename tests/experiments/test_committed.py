"""The committed results bear out their verdicts, and the pages are what the verdicts give."""

import json
from pathlib import Path

import pytest

from pursuit_experiments.catalogue import catalogue
from pursuit_experiments.claims import read_verdict
from pursuit_experiments.folders import read_table
from pursuit_experiments.pages import readme, reproduction

CLONE = Path(__file__).parents[2]
ROOT, PAGE = CLONE / "experiments", CLONE / "docs" / "reproduction.md"


def test_every_claim_has_a_full_verdict_or_an_explanation(committed):
    assert committed.open == []


def test_no_folder_without_an_experiment():
    assert {path.parent.relative_to(ROOT).as_posix() for path in ROOT.rglob("verdict.json")} == set(catalogue())


@pytest.mark.parametrize("name", catalogue())
def test_the_page_of_an_experiment(name):
    folder, experiment = ROOT / name, catalogue()[name]
    table = read_table(folder / "table.csv")
    assert (folder / "README.md").read_text() == readme(experiment, read_verdict(folder / "verdict.json"), table)
    assert json.loads((folder / "expected.json").read_text()) == experiment.expected
    assert (folder / "figure.png").exists()


def test_the_page_of_all():
    assert PAGE.read_text() == reproduction(catalogue().values(), ROOT, PAGE), "run pursuit-experiments report"
