"""Arrays in the memory layout that the kernels read, and set operations on sorted index arrays.

These do without the sorting (and the time) of NumPy's general ones.
"""

from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

from .types import Columns, Flags

T = TypeVar("T")


def ensure_aligned(values: T) -> T:
    """The same, as a copy where an array does not begin, or step, at multiples of its item's alignment.

    Fields of packed records, views of byte buffers and arrays inside the messages of other processes may begin
    anywhere. NumPy reads those; in C++ that is undefined. Of a CSR or CSC matrix its three arrays count.
    """
    given: Any = values  # a copy has the type of what it copies
    if isinstance(values, np.ndarray):
        return values if values.flags.aligned else given.copy(order="K")
    if sp.issparse(values) and given.format in ("csr", "csc"):
        arrays = (given.data, given.indices, given.indptr)
        return values if all(array.flags.aligned for array in arrays) else given.copy()
    return values


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
