"""A few of the problems that ``make fuzz-proofs`` runs by the thousand: nothing the library says may be wrong."""

import numpy as np
import pytest

from fuzz.judge import judge
from fuzz.problems import Problem, draw
from fuzz.referee import Referee

CHUNK = 5


@pytest.mark.parametrize("first", range(0, 195, CHUNK))
def test_nothing_wrong_is_said(first):
    with np.errstate(all="ignore"):
        found = {seed: judge(draw(seed)) for seed in range(first, first + CHUNK)}
    assert {seed: complaints for seed, complaints in found.items() if complaints} == {}


@pytest.mark.parametrize("seed", [117, 4, 9, 21, 30])
def test_nothing_wrong_is_said_about_more_columns(seed):
    with np.errstate(all="ignore"):
        assert judge(draw(seed, most=12)) == []


@pytest.mark.parametrize(
    "seed", [5414, 8957, 1705, 2447, 5424, 399, 1114, 3778, 11844, 2939, 3834, 4596, 18498, 9982, 9315, 491]
)
def test_problems_that_once_went_wrong(seed):
    with np.errstate(all="ignore"):
        assert judge(draw(seed)) == []


def test_the_referee_knows_least_squares_in_closed_form():
    """Near-duplicates, a large mean and a bad scale change the minimum by nothing that they should not."""
    rng = np.random.default_rng(0)
    a, e, y = rng.standard_normal((3, 30))
    near = np.column_stack([a, a + 1e-8 * e])
    far = np.column_stack([1e7 * a, (near[:, 1] - near[:, 0]) * 1e8 + 3.0])  # the same span, with the ones
    values = [
        Referee(Problem(0, X, y, "squared", 0.0, 0.0, None, None, True, False, 2)).minimum((0, 1)).value
        for X in (near, far)
    ]
    A = np.column_stack([np.ones(30), a, far[:, 1] - 3.0])
    r = y - A @ np.linalg.lstsq(A, y, rcond=None)[0]
    np.testing.assert_allclose(values, float(r @ r) / 60, rtol=1e-12)
