"""Every experiment in its quick form, from its pieces to its page."""

import pytest

from pursuit_experiments import Size
from pursuit_experiments.catalogue import catalogue
from pursuit_experiments.claims import OUTCOMES, read_verdict
from pursuit_experiments.reproduce import reproduce
from pursuit_experiments.sources import present

LASSO = [name for name in catalogue() if name.startswith("grasp/")]  # skglm compiles for seconds in every process


def quick(name, root):
    experiment = catalogue()[name]
    needed = experiment.data if experiment.quick_data is None else experiment.quick_data
    absent = [one for one in needed if not present(one)]
    if absent:
        pytest.skip(f"{', '.join(absent)} not in $PURSUIT_DATA or ../shared/data")
    verdict = reproduce(experiment, Size(quick=True), root)
    assert verdict.mode == "quick"
    assert [one.claim for one in verdict.judgements] == list(experiment.expected["claims"]), "every claim is judged"
    assert {one.outcome for one in verdict.judgements} <= set(OUTCOMES)
    assert all(one.measured for one in verdict.judgements)
    folder = root / name
    page = (folder / "README.md").read_text()
    for claim in experiment.expected["claims"].values():
        assert " ".join(claim["says"].split()).replace("|", "\\|") in page
    assert read_verdict(folder / "verdict.json") == verdict
    assert (folder / "figure.png").stat().st_size > 5000
    assert (folder / "table.csv").read_text().count("\n") > 1


@pytest.mark.parametrize("name", [one for one in catalogue() if one not in LASSO])
def test_quick(name, tmp_path):
    quick(name, tmp_path)


@pytest.mark.parametrize("names", [LASSO], ids=["lasso"])
def test_quick_with_the_lasso(names, tmp_path):
    for name in names:
        quick(name, tmp_path)
