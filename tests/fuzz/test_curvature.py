"""Brackets and verdicts against enumeration; ``tools/fuzz_curvature.py`` looks at thousands."""

import pytest

from fuzz.curvature import judge


@pytest.mark.parametrize("first", range(0, 24, 8))
def test_no_bound_and_no_verdict_is_false(first):
    for seed in range(first, first + 8):
        complaints, _ = judge(seed, most=9)
        assert complaints == [], f"seed {seed}"
