"""The committed results bear out their verdicts, and the pages are what the verdicts give."""

import json
from pathlib import Path

import pytest

from pursuit_experiments.catalogue import PAPERS, catalogue
from pursuit_experiments.claims import OUTCOMES, read_verdict, verify
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


def test_the_page_opens_with_a_line_for_each_paper_whose_counts_are_those_of_verify(committed):
    rows = [line.split(" | ") for line in PAGE.read_text().splitlines()[4:9]]
    assert [row[0].removeprefix("| ") for row in rows] == list(PAPERS.values())
    for paper, row in zip(PAPERS, rows, strict=True):
        own = [one for name, one in catalogue().items() if name.startswith(f"{paper}/")]
        outcomes = verify(own, ROOT).outcomes
        counts = [sum(outcomes.values()), *(outcomes[outcome] for outcome in OUTCOMES)]
        assert [int(cell.removesuffix(" |")) for cell in row[1:]] == counts
    sums = [sum(int(row[place].removesuffix(" |")) for row in rows) for place in range(2, 6)]
    assert sums == [committed.outcomes[outcome] for outcome in OUTCOMES]
