"""What is tried: sizes k, ridges l2, and gamma, the share of the ridge fit (the rest is the refit)."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._utils.types import ArrayLike, Columns, Vector
from .._utils.validation import check_number, check_sizes

DEFAULT_SIZES: tuple[int, ...] = (0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50)
PROJECTED_SIZES: tuple[int, ...] = (
    *range(11),
    12,
    14,
    16,
    18,
    20,
    25,
    30,
    40,
    50,
    60,
    75,
    100,
)  # sizes that an average is projected onto
RIDGES = (0.1, 1.0, 10.0)  # in units of h
MAX_DEFAULT_SIZE = 100  # the largest size that is tried by default
EXTENSION_FACTORS = (1.2, 1.5, 2.0)  # where a grid ends too early, it goes on at these multiples of its end


@dataclass(frozen=True)
class Grid:
    """Candidates are all (k, l2, gamma), k slowest; ``onto``: sizes of a projection; ``end``: no size is above it."""

    ks: tuple[int, ...]
    ridges: tuple[float, ...]
    gammas: tuple[float, ...]
    refit: float
    h: float  # the unit of ridges
    onto: tuple[int, ...]
    end: int
    open: bool  # whether it may go on: the sizes are the default
    more: bool  # whether there could be larger sizes than ``end``
    notes: tuple[str, ...] = ()
    variants: int = 1  # of ``Problem.variants``: every one has all ridges, one variant after the other

    @property
    def columns(self) -> tuple[Columns, Vector, Vector]:
        """k, l2 and gamma of every candidate."""
        k, l2, gamma = np.meshgrid(self.ks, self.variants * self.ridges, self.gammas, indexing="ij")
        return k.ravel().astype(np.int64), l2.ravel(), gamma.ravel()

    @property
    def variant(self) -> Columns:
        """The variant of every candidate, by its number."""
        of_ridge = np.repeat(np.arange(self.variants), len(self.ridges) * len(self.gammas))
        return np.tile(of_ridge, len(self.ks)).astype(np.int64)

    def further(self) -> "Grid":
        """The same with candidates up to twice as large."""
        sizes = {*self.ks, *(min(self.end, int(times * self.ks[-1])) for times in EXTENSION_FACTORS)}
        return replace(self, ks=tuple(sorted(sizes)))


def make_grid(
    ks: Iterable[int] | int | None,
    l2: ArrayLike | None,
    gamma: Any,
    *,
    h: float,
    refit: float,
    first: int,
    end: int,
    refits: bool = False,
) -> Grid:
    """The grid of a user's ks, l2 and gamma, or of none; ``first``: what is forced in, ``end``: the largest size.

    ``refits``: candidates are refits, of features that were selected with a ridge or without.
    """
    notes = []
    ridges = tuple(h * share for share in RIDGES) if l2 is None else (check_number(l2, "l2"),)
    if refits and l2 is None:
        ridges = (refit, *ridges)
    gammas = ((0.0,) if refits else (0.0, 1.0)) if gamma is None else (_share(gamma),)
    if gamma is None and ridges == (refit,):
        gammas = (1.0,)  # the refit is the fit
    more = ks is None and end > max(first, MAX_DEFAULT_SIZE)
    if ks is None:
        sizes, onto, end = DEFAULT_SIZES, PROJECTED_SIZES, min(end, max(first, MAX_DEFAULT_SIZE))
    else:
        sizes = onto = tuple(check_sizes(ks))
        if sizes[-1] > end:
            notes.append(
                f"ks above {end} were capped there, by the columns there are or 0.8 times the rows that differ"
            )
        if sizes[0] < first:
            notes.append(f"ks below {first} were raised to it, since include names {first}")
    ours, theirs = _within(sizes, first, end), _within(onto, first, end)
    return Grid(ours, ridges, gammas, refit, h, theirs, end, ks is None, more, tuple(notes))


def largest(ks: Iterable[int] | int | None) -> int:
    """The largest size that may be tried."""
    return MAX_DEFAULT_SIZE if ks is None else max(check_sizes(ks))


def _share(gamma: Any) -> float:
    if check_number(gamma, "gamma") > 1:
        raise ValueError(f"gamma must be a number from 0 (the refit) to 1 (the ridge fit), got {gamma!r}")
    return float(gamma)


def _within(sizes: tuple[int, ...], first: int, end: int) -> tuple[int, ...]:
    return tuple(sorted({min(max(k, first), end) for k in sizes}))
