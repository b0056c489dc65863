"""Outcomes by a difference and its standard error, and rows that are no claims of a paper."""

from pathlib import Path

import pytest

from pursuit_experiments.catalogue import catalogue
from pursuit_experiments.claims import KINDS, PAPER, kind_of, verify
from pursuit_experiments.experiment import AGREES, FAILED, UNDECIDED, Judgement

ROOT = Path(__file__).parents[2] / "experiments"


@pytest.mark.parametrize(
    ("lead", "se", "outcome", "needed"),
    [(0.3, 0.1, AGREES, None), (-0.3, 0.1, FAILED, None), (0.1, 0.1, UNDECIDED, 40), (-0.05, 0.1, UNDECIDED, 160)],
)
def test_two_standard_errors_decide(lead, se, outcome, needed):
    found = Judgement.by_lead("it", lead, se, 10, "measured", "a cause", FAILED)
    assert (found.outcome, found.needed) == (outcome, needed)
    assert (found.why == "") == (outcome == AGREES)
    assert "10 replications" in found.evidence
    assert ("would decide" in found.evidence) == (outcome == UNDECIDED)


def test_no_difference_at_all_says_so_without_a_number():
    assert Judgement.by_lead("it", 0.0, 0.1, 10, "measured").needed is None


def test_aims_slips_and_other_data_are_not_counted_among_the_papers_claims():
    found = [(one.name, kind_of(one, claim)) for one in catalogue().values() for claim in one.expected["claims"]]
    assert {kind for _, kind in found} == set(KINDS)
    account = verify(catalogue().values(), ROOT)
    assert sum(account.outcomes.values()) == sum(kind == PAPER for _, kind in found)
    assert sum(account.beside.values()) == sum(kind != PAPER for _, kind in found)
