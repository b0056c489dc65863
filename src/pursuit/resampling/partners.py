"""Features that replace each other: some half-samples select the one, others the other, hardly any both.

Where the selection of two is independent, a share a b of the half-samples selects both at some size, a and b the shares
that select each. Two are partners if far fewer (``RARE`` of it) have them together in a model of any size, fewer than
chance explains, and one or the other is selected often enough to be called stable. Together, they may also be in the
model one size beyond the largest: two that only compete for the last place are both in that one.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import hypergeom

from .._utils.types import Columns, Flags

MAX_JOINT_SHARE = 0.25  # of what independence expects
SIGNIFICANCE = 1e-3  # that some pair of independent features looks like this


class Partner(NamedTuple):
    """Two features that replace each other.

    ``either`` is the share of half-samples that select at least one of them, ``both`` of those that have both in one
    model, ``expected`` what this would be if they were independent; ``exclusive`` = 1 - both / expected.
    """

    i: int
    j: int
    names: tuple[str, str]
    either: float
    both: float
    expected: float

    @property
    def exclusive(self) -> float:
        return 1.0 - self.both / self.expected

    def __str__(self) -> str:
        return (
            f"{self.names[0]} or {self.names[1]}: one of them in {self.either:.0%}, both in {self.both:.0%} of the "
            f"half-samples, where {self.expected:.0%} would be chance"
        )


def partners(
    supports: Sequence[Sequence[Columns]], units: int, forced: Columns, threshold: float, called: Any
) -> list[Partner]:
    """Of the supports of half-samples, one per size and one beyond; ``called`` names a unit. Most exclusive first."""
    n = len(supports)
    if n == 0:
        return []
    ever = [np.unique(np.concatenate(sizes[:-1])) for sizes in supports]
    count = np.bincount(np.concatenate(ever), minlength=units)
    count[forced] = 0
    few = np.flatnonzero(count >= -np.log(SIGNIFICANCE))  # with fewer, no pair is beyond chance
    if len(few) < 2:
        return []
    either, both = _counts(supports, ever, few)
    here, there = np.triu_indices(len(few), 1)
    a, b, either, both = count[few[here]], count[few[there]], either[here, there], both[here, there]
    expected = a * b / n
    rare = (both <= MAX_JOINT_SHARE * expected) & (either >= threshold * n - 1e-9)
    chance = np.ones(len(here))
    chance[rare] = hypergeom.cdf(both[rare], n, a[rare], b[rare])
    found = np.flatnonzero(rare & (chance * len(here) <= SIGNIFICANCE))
    order = sorted(found, key=lambda at: (both[at] / expected[at] - either[at] / n, at))
    pairs = [(int(few[here[at]]), int(few[there[at]]), at) for at in order]
    return [
        Partner(i, j, (called(i), called(j)), float(either[at] / n), float(both[at] / n), float(expected[at] / n))
        for i, j, at in pairs
    ]


def _counts(supports: Sequence[Sequence[Columns]], ever: Sequence[Columns], few: Columns) -> tuple[Columns, Columns]:
    """In how many half-samples one of two units is selected, and in how many both in one model."""
    either, both = np.zeros((len(few), len(few)), np.int64), np.zeros((len(few), len(few)), np.int64)
    for sizes, seen in zip(supports, ever, strict=True):
        some = np.isin(few, seen)
        either += some[:, None] | some
        models = np.array([np.isin(few, support) for support in sizes])
        at = np.flatnonzero(models.any(axis=0))
        both[np.ix_(at, at)] += _joint_counts(models[:, at])
    return either, both


def _joint_counts(models: Flags) -> Flags:
    """Which units are in one model, of a row for each model."""
    each = models.astype(np.float64)
    return each.T @ each > 0
