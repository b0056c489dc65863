"""How many different rows X has: no model needs more features than that, and any so large fits its rows exactly."""

from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from .._types import Columns
from ..designs import Design
from ..designs.base import Taken

SAMPLED = 256  # columns that are compared first: rows that differ there differ
BYTES = 1 << 24  # of rows that are compared at a time


def sampled(p: int) -> Columns:
    """Some columns, spread over all."""
    return np.unique(np.linspace(0, p - 1, min(p, SAMPLED)).astype(np.int64))


def row_keys(design: Design, rows: Columns, cols: Columns, limit: int) -> NDArray[np.uint64]:
    """Digests of the different rows among these, in some columns; reading ends where there are ``limit`` of them.

    Rows from all over come first, since neighbours are often alike. Of designs whose rows cannot be read (operators)
    all are taken to differ.
    """
    if not len(rows) or isinstance(design.take(rows[:1]), Taken):
        return np.column_stack([rows[:limit], np.zeros_like(rows[:limit])]).astype(np.uint64)
    size = max(1, BYTES // (8 * max(1, len(cols))))
    blocks = [rows[:: -(-len(rows) // (2 * limit))], *(rows[low : low + size] for low in range(0, len(rows), size))]
    found = set[bytes]()
    for block in blocks:
        for low in range(0, len(block), size):
            A = design.take(block[low : low + size]).block(cols).dense()
            text = (np.ascontiguousarray(A, dtype=np.float64) + 0.0).tobytes()  # -0 is 0
            width = 8 * len(cols)
            found.update(blake2b(text[i : i + width], digest_size=16).digest() for i in range(0, len(text), width))
            if len(found) >= limit:
                return _array(found)
    return _array(found)


def _array(keys: set[bytes]) -> NDArray[np.uint64]:
    """One row of two numbers each: arrays travel."""
    return np.frombuffer(b"".join(sorted(keys)), dtype=np.uint64).reshape(-1, 2)
