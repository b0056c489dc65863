"""How many different rows X has: no model needs more features than that, and any so large fits its rows exactly."""

from functools import partial
from hashlib import blake2b
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from .._utils.types import Columns, Vector
from ..designs import Design
from ..designs.base import Taken
from .batch import row_chunks

SAMPLED_COLUMNS = 256  # columns that are compared first: rows that differ there differ
ROWS_AT_A_TIME = 1 << 16  # rows of which a few are taken at a time
BYTES_AT_A_TIME = 1 << 24  # of rows that are compared at a time


def sampled(p: int) -> Columns:
    """Some columns, spread over all."""
    return np.unique(np.linspace(0, p - 1, min(p, SAMPLED_COLUMNS)).astype(np.int64))


def row_keys(design: Design, c: Vector, cols: Columns, limit: int) -> NDArray[np.uint64]:
    """Digests of the different rows with a weight, in some columns; reading ends where there are ``limit`` of them.

    Rows from all over come first, since neighbours are often alike. Of designs whose rows cannot be read (operators)
    all are taken to differ.
    """
    n, p, count = *design.shape, int(np.count_nonzero(c))
    if not count or isinstance(design.take(np.zeros(1, np.int64)), Taken):
        rows = np.flatnonzero(c)[:limit]
        return np.column_stack([rows, np.zeros_like(rows)]).astype(np.uint64)
    size = max(1, BYTES_AT_A_TIME // (8 * max(1, p)))  # whole rows are copied
    chunks, step = partial(row_chunks, n, count, chosen=lambda some: c[some] != 0), -(-count // (2 * limit))
    spread = np.concatenate([rows[::step] for rows in chunks(ROWS_AT_A_TIME)])
    found = set[bytes]()
    for rows in chain((spread[low : low + size] for low in range(0, len(spread), size)), chunks(size)):
        A = design.take(rows).block(cols).dense()
        text = (np.ascontiguousarray(A, dtype=np.float64) + 0.0).tobytes()  # -0 is 0
        width = 8 * len(cols)
        found.update(blake2b(text[i : i + width], digest_size=16).digest() for i in range(0, len(text), width))
        if len(found) >= limit:
            return _array(found)
    return _array(found)


def _array(keys: set[bytes]) -> NDArray[np.uint64]:
    """One row of two numbers each: arrays travel."""
    return np.frombuffer(b"".join(sorted(keys)), dtype=np.uint64).reshape(-1, 2)
