"""Arrays in the memory layout that the kernels read."""

from typing import Any

import numpy as np
import scipy.sparse as sp


def ensure_aligned(values: Any) -> Any:
    """The same, as a copy where an array does not begin, or step, at multiples of its item's alignment.

    Fields of packed records, views of byte buffers and arrays inside the messages of other processes may begin
    anywhere. NumPy reads those; in C++ that is undefined. Of a CSR or CSC matrix its three arrays count.
    """
    if isinstance(values, np.ndarray):
        return values if values.flags.aligned else values.copy(order="K")
    if sp.issparse(values) and values.format in ("csr", "csc"):
        arrays = (values.data, values.indices, values.indptr)
        return values if all(array.flags.aligned for array in arrays) else values.copy()
    return values
