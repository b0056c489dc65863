"""Arrays in the memory layout that the kernels read."""

from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

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
