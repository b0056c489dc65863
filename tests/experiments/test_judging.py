"""Outcomes by a difference and its standard error, and rows that are no claims of a paper."""

from dataclasses import replace
from pathlib import Path

import pytest

from pursuit_experiments.catalogue import catalogue
from pursuit_experiments.claims import KINDS, PAPER, judged, kind_of, read_verdict, same_judgements, verify
from pursuit_experiments.experiment import (
    AGREES,
    DIFFERS,
    FAILED,
    UNDECIDED,
    Comparison,
    Judgement,
    Size,
    weakest,
)
from pursuit_experiments.folders import TABLE, VERDICT, folder_of, read_table
from pursuit_experiments.reproduce import reproduce

from .toy import Toy

ROOT = Path(__file__).parents[2] / "experiments"


def comparison(lead, se, about="one over another"):
    return Comparison(about, lead, se, 10)


@pytest.mark.parametrize(
    ("lead", "se", "outcome", "needed"),
    [(0.3, 0.1, AGREES, None), (-0.3, 0.1, FAILED, None), (0.1, 0.1, UNDECIDED, 40), (-0.05, 0.1, UNDECIDED, 160)],
)
def test_two_standard_errors_decide(lead, se, outcome, needed):
    found = Judgement.by_leads("it", [comparison(lead, se)], "measured", "a cause", FAILED)
    assert (found.outcome, found.needed) == (outcome, needed)
    assert (found.why == "") == (outcome == AGREES)
    assert "10 replications" in found.evidence
    assert "one over another" in found.evidence
    assert ("would decide" in found.evidence) == (outcome == UNDECIDED)


def test_a_claim_needs_every_lead():
    sure, close, behind = comparison(0.3, 0.1), comparison(0.1, 0.1, "close"), comparison(-0.3, 0.1, "behind")
    assert Judgement.by_leads("it", [sure, sure], "measured").outcome == AGREES
    found = Judgement.by_leads("it", [sure, close], "measured")
    assert (found.outcome, found.about, found.needed) == (UNDECIDED, "close", 40)
    found = Judgement.by_leads("it", [sure, behind, close], "measured", "a cause")
    assert (found.outcome, found.about) == (DIFFERS, "behind")


def test_an_undecided_claim_counts_the_replications_that_would_refute_or_confirm_it():
    behind, ahead, close = comparison(-0.1, 0.1), comparison(0.1, 0.1), comparison(0.01, 0.1)
    assert Judgement.by_leads("it", [behind, close], "measured").needed == 40  # one sure lead below zero is enough
    assert Judgement.by_leads("it", [ahead, close], "measured").needed == 4000  # all must be sure


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({"lead": 0.1 + 2e-17}, True),  # the logarithm of another processor
        ({"lead": 0.1001}, False),
        ({"se": None}, False),
        ({"needed": 41}, True),
        ({"needed": 45}, False),
        ({"measured": "p=30 2.06, over 10 copies, 1.2e-05"}, True),  # rounded the other way
        ({"measured": "p=30 2.05, over 10 copies, 1.2e-05"}, False),
        ({"measured": "p=30 2.07, over 11 copies, 1.2e-05"}, False),
        ({"measured": "p=30 2.07, of 10 copies, 1.2e-05"}, False),
        ({"measured": "p=30 2.07, over 10 copies, 1.3e-05"}, True),
        ({"measured": "p=30 2.07, over 10 copies, 1.2e-04"}, False),
        ({"outcome": AGREES}, False),
    ],
)
def test_another_machine_may_differ_in_the_last_bits_only(change, same):
    ours = Judgement("it", UNDECIDED, "p=30 2.07, over 10 copies, 1.2e-05", "a cause", 0.1, 0.1, 10, 40, "one")
    assert same_judgements((replace(ours, **change),), (ours,)) == same
    assert not same_judgements((ours, ours), (ours,))


def test_no_difference_at_all_says_so_without_a_number():
    assert Judgement.by_leads("it", [comparison(0.0, 0.1)], "measured").needed is None


def test_equal_means_are_equal_but_for_rounding():
    """Seen in table 4: a lead of 7e-18, which 1e33 replications would have decided."""
    found = Judgement.by_leads("it", [comparison(0.3, 0.1), comparison(7e-18, 0.04)], "measured", "a cause")
    assert (found.outcome, found.lead, found.needed, found.tied) == (UNDECIDED, 0.0, None, True)
    assert "no number would decide" in found.evidence
    found = Judgement.by_leads("it", [comparison(-0.1, 0.1), comparison(-7e-18, 0.04)], "measured", "a cause")
    assert (found.needed, found.tied) == (40, False)


def test_without_noise_the_sign_decides():
    assert weakest([comparison(1e-9, 0.0), comparison(0.3, 0.1)]).lead == 0.3
    assert Judgement.by_leads("it", [comparison(1e-9, 0.0)], "measured").outcome == AGREES
    assert Judgement.by_leads("it", [comparison(-1e-9, 0.0)], "measured").outcome == DIFFERS


def test_a_replicated_claim_without_a_standard_error_is_open(tmp_path):
    experiment = Toy()
    reproduce(experiment, Size(replications=3), tmp_path)
    assert not any("standard error" in line for line in verify([experiment], tmp_path).open)
    experiment.compares = False
    reproduce(experiment, Size(replications=3), tmp_path)
    assert sum("has no standard error" in line for line in verify([experiment], tmp_path).open) == 2


def test_every_replicated_claim_of_the_papers_has_a_standard_error():
    for experiment in catalogue().values():
        folder = folder_of(experiment, ROOT)
        if read_verdict(folder / VERDICT).replications > 1:
            for one in judged(experiment, read_table(folder / TABLE)):
                exact = experiment.expected["claims"][one.claim].get("exact", False)
                assert exact == (one.se is None), f"{experiment.name}: {one.claim}"


def test_aims_slips_and_other_data_are_not_counted_among_the_papers_claims(committed):
    found = [(one.name, kind_of(one, claim)) for one in catalogue().values() for claim in one.expected["claims"]]
    assert {kind for _, kind in found} == set(KINDS)
    assert sum(committed.outcomes.values()) == sum(kind == PAPER for _, kind in found)
    assert sum(committed.beside.values()) == sum(kind != PAPER for _, kind in found)
