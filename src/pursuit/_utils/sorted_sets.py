"""Set operations on sorted index arrays, without the sorting (and the time) of NumPy's general ones."""

import numpy as np

from .types import Columns, Flags


def inside(a: Columns, b: Columns) -> Flags:
    """Which entries of a are in the sorted array b."""
    if len(b) == 0:
        return np.zeros(len(a), dtype=bool)
    at = b.searchsorted(a)
    at[at == len(b)] = 0
    return np.asarray(b[at] == a)


def common(a: Columns, b: Columns) -> tuple[Columns, Columns]:
    """Positions in a and in b (sorted) of what they share."""
    here = np.flatnonzero(inside(a, b))
    return here, b.searchsorted(a[here])


def without(a: Columns, b: Columns) -> Columns:
    """The entries of a that are not in the sorted array b."""
    return a[~inside(a, b)]
