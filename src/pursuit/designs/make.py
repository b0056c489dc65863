"""From whatever a user calls X to a Design, or to one sentence about what is wrong with it."""

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator

from .._utils.arrays import ensure_aligned
from .._utils.column_names import get_column_names, iterate_columns, refuse_kinds, refuse_text
from .._utils.types import Array, MatrixLike
from .._utils.validation import check_mask, first_line
from .base import Design
from .dense import Dense
from .operator import Operator
from .sparse import Sparse

MAX_COLUMNS = 10**8  # every vector over the columns is dense
FLOAT_DTYPES = (np.dtype(np.float64), np.dtype(np.float32))


def as_design(X: MatrixLike, names: Sequence[str] | None = None) -> Design:
    """Make a design over X, without a copy where X is float32 or float64 with one unit stride.

    Parameters
    ----------
    X : array, data frame, SciPy sparse matrix or LinearOperator
        The columns.
    names : sequence of str or None, default None
        Names of the columns; None: a data frame's own.

    Returns
    -------
    Design
        What objectives read X through.

    Raises
    ------
    ValueError
        Where X is not a matrix of real numbers, has no rows or columns, or is a broken sparse matrix.

    See Also
    --------
    GLM : An objective on such a matrix.

    Notes
    -----
    Other real dtypes (integers, booleans, half floats, big-endian) become float64; arrays that are not aligned (fields
    of packed records) become aligned; arrays with no unit stride become C-order; sparse formats other than CSR and CSC
    become CSR; duplicated or unsorted sparse indices are merged and sorted. Each of these is a copy.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> pursuit.as_design(np.eye(3)).shape
    (3, 3)
    """
    if isinstance(X, Design):
        return X
    own = get_column_names(X) if names is None else tuple(str(name) for name in names)
    design = _design(X)
    design.names = own
    return design


def _design(X: MatrixLike) -> Design:
    if isinstance(X, LinearOperator):
        if X.dtype is not None and np.dtype(X.dtype).kind == "c":
            raise ValueError("Complex data not supported: X is a complex LinearOperator")
        _check_shape(X.shape)
        return Operator(X)
    if sp.issparse(X):
        return Sparse(_sparse(X))
    return Dense(_dense(X))


def _check_shape(shape: tuple[int, ...]) -> None:
    if len(shape) != 2:
        raise ValueError(f"X must be a 2-D array (rows are samples, columns are features), got shape {shape}")
    if shape[1] > MAX_COLUMNS:
        raise ValueError(
            f"X has {shape[1]} columns, and at most {MAX_COLUMNS} can be handled; number the columns that are used"
        )
    if shape[0] == 0 or shape[1] == 0:
        raise ValueError(f"X must have at least one row and one column, got shape {shape}")


def _real(dtype: np.dtype) -> np.dtype:
    """The dtype that the core works on, or an error."""
    if dtype.kind == "c":
        raise ValueError("Complex data not supported: X must be real")
    if dtype.kind not in "fiub":
        raise ValueError(f"X must be numeric, got dtype {dtype}; encode strings and categories as numbers first")
    native = dtype.newbyteorder("=")
    return native if native in FLOAT_DTYPES else np.dtype(np.float64)


def _dense(X: MatrixLike) -> Array:
    check_mask(X, "X")
    refuse_kinds(X)
    array = _array(X)
    if array.dtype.kind not in "fiubc" and hasattr(X, "columns"):
        refuse_text(X)
        array = np.column_stack([values.astype(np.float64) for _, values in iterate_columns(X)])  # each its own dtype
    if array.dtype.kind == "O":
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"X must be numeric, got objects that are not numbers ({error})") from None
    _check_shape(array.shape)
    array = ensure_aligned(array.astype(_real(array.dtype), copy=False))
    item = array.itemsize
    whole = all(s > 0 and s % item == 0 for s in array.strides)
    rows_like = array.strides[1] == item or array.shape[1] == 1
    columns_like = array.strides[0] == item or array.shape[0] == 1
    return array if whole and (rows_like or columns_like) else np.ascontiguousarray(array)


def _array(X: MatrixLike) -> Array:
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise ValueError(f"X must have rows of the same length, one entry per column ({first_line(error)})") from None
    if array.ndim == 0:
        kinds = "X must be a 2-D array (rows are samples, columns are features), a data frame or a sparse matrix"
        raise ValueError(f"{kinds}, got shape (), a {type(X).__name__}")
    return array


def _check_indices(X: csr_array) -> None:
    """Raise where the arrays of a CSR or CSC matrix point outside it: nothing below looks again."""
    lines, length = X.shape if X.format == "csr" else X.shape[::-1]
    if len(X.indptr) != lines + 1 or X.indptr[0] != 0 or (X.indptr[1:] < X.indptr[:-1]).any():
        raise ValueError(f"X is a broken sparse matrix: indptr must rise from 0 in {lines} steps")
    if len(X.indices) != len(X.data):
        raise ValueError("X is a broken sparse matrix: indices and data differ in length")
    if X.indptr[-1] > len(X.data):
        raise ValueError("X is a broken sparse matrix: indptr points past the end of its indices and data")
    used = X.indices[: X.indptr[-1]]
    if len(used) and (used.min() < 0 or used.max() >= length):
        raise ValueError(f"X is a broken sparse matrix: indices must lie between 0 and {length - 1}")


def _sparse(X: csr_array) -> csr_array:
    _check_shape(X.shape)
    if X.format not in ("csr", "csc"):
        X = X.tocsr()
    _check_indices(X)
    dtype = _real(X.dtype)
    if X.dtype != dtype:
        X = X.astype(dtype)
    if X.indices.dtype != X.indptr.dtype or X.indices.dtype not in (np.int32, np.int64):
        wide = type(X)((X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)), shape=X.shape)
        X = wide if wide.indices.dtype == wide.indptr.dtype else X.copy()
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return ensure_aligned(X)
