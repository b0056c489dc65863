"""Complementary pairs of half-samples."""

import numpy as np

from .._utils.types import Array, Columns, Seed
from ..solvers.base import generator

MIN_ROWS = 4  # rows: two in each half


def complementary_halves(rows: Columns, pairs: int, random_state: Seed, labels: Columns | None = None) -> list[Columns]:
    """``pairs`` times two disjoint halves of the rows, one after the other, each sorted.

    With ``labels``, one per row, every class is halved; classes of odd size give the odd row to either half. Without
    them both halves have floor(n/2) rows, and of an odd number one row is in neither.
    """
    rng, halves = generator(random_state), []
    for _ in range(pairs):
        order = rng.permutation(len(rows))
        order = order[: len(rows) // 2 * 2] if labels is None else order[np.argsort(labels[order], kind="stable")]
        halves += [np.sort(rows[order[::2]]), np.sort(rows[order[1::2]])]
    return halves


def check_halves(rows: Columns, labels: Columns | None = None, classes: Array | None = None) -> None:
    """Raise, in a sentence, where there is too little to be halved."""
    if len(rows) < MIN_ROWS:
        raise ValueError(
            f"X has {len(rows)} rows with a weight, and stability needs at least {MIN_ROWS}: two in each half"
        )
    if labels is None or classes is None:
        return
    counts = np.bincount(labels, minlength=len(classes))
    if counts.min() < 2:
        rare = int(np.argmin(counts))
        often = "once" if counts[rare] == 1 else "in no row with a weight"
        raise ValueError(f"y holds class {classes[rare]} {often}, and stability needs every class in both halves")
