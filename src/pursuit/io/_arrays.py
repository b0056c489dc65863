"""Files without column names: npz and LIBSVM."""

import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
from scipy import sparse

from pursuit._utils.types import Array, StoredMatrix, Vector
from pursuit._utils.validation import first_line, format_list, suggestion_clause
from pursuit.io._columns import Parts, RequestedColumns

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_CSR = ("data", "indices", "indptr", "shape")
#: What reading an npz may raise whose bytes were altered, beside what NumPy and zipfile say of files that are none.
UNREADABLE: tuple[type[Exception], ...] = (
    ValueError,
    OSError,
    EOFError,
    KeyError,
    TypeError,
    OverflowError,
    MemoryError,
    RuntimeError,
    SyntaxError,
    zipfile.BadZipFile,
    zlib.error,
)


def read_npz(path: Path, requested: RequestedColumns) -> Parts:
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
            keys = arrays.files
            dense = "X" in keys
            if not dense and not set(_CSR) <= set(keys):
                raise ValueError(f"it holds {format_list(keys) or 'nothing'}, not X or {', '.join(_CSR)}")
            target = requested.target if requested.target is not None else "y"
            if requested.target is not None and target not in keys:
                raise ValueError(f"it has no {requested.role} array {target!r}{suggestion_clause(target, keys)}")
            y = arrays[target] if target in keys else None
            X = arrays["X"] if dense else _sparse({key: arrays[key] for key in (*_CSR, "format") if key in keys})
            called = requested.names or "feature_names"
            if requested.names is not None and called not in keys:
                raise ValueError(f"it has no array {called!r} of names{suggestion_clause(called, keys)}")
            names = [str(name) for name in arrays[called].ravel()] if called in keys else None
    except UNREADABLE as error:
        raise ValueError(f"{path} cannot be used: {_sentence(error)}") from error
    if X.ndim != 2:
        raise ValueError(f"X in {path} must have two dimensions, not {X.ndim}")
    if X.dtype.kind not in "fiub":
        raise ValueError(f"X in {path} must be numeric, not {X.dtype}")
    if names is not None and len(names) != X.shape[1]:
        raise ValueError(f"{path} has {len(names)} {requested.names or 'feature_names'} for {X.shape[1]} columns")
    X = X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
    return _select(path, X, y, names, requested)


def read_libsvm(path: Path, requested: RequestedColumns) -> Parts:
    if requested.target is not None:
        raise ValueError(f"the target of {path} is its first column, so it takes no target name")
    if path.stat().st_size == 0:
        raise ValueError(f"{path} has no rows")
    X, y = parse_libsvm(path, str(path), requested.n_features)
    return _select(path, X, y, None, requested)


def parse_libsvm(path: Path, stream: str | BinaryIO, n_features: int | None) -> "tuple[csr_array, Vector]":
    """X and y from a name or a stream; messages call it ``path``."""
    from sklearn.datasets import load_svmlight_file

    try:
        X, y = load_svmlight_file(stream, n_features=n_features, zero_based=False)
    except OverflowError as error:
        raise ValueError(f"{path} cannot be read as LIBSVM: it has an index above {np.iinfo(np.int32).max}") from error
    except (ValueError, OSError, EOFError) as error:
        reason = _sentence(error)
        if "index 0" in reason:
            reason = "its indices start at 0, and LIBSVM counts from 1"
        raise ValueError(f"{path} cannot be read as LIBSVM: {reason}") from error
    return sparse.csr_array(X), y


def _sparse(parts: dict[str, Array]) -> "csr_array":
    """CSR, or CSC where the file (as written by ``scipy.sparse.save_npz``) says so."""
    kind = parts["format"].item() if "format" in parts else "csr"
    kind = kind.decode() if isinstance(kind, bytes) else str(kind)
    make = {"csr": sparse.csr_array, "csc": sparse.csc_array}.get(kind)
    if make is None:
        raise ValueError(f"its sparse format is {kind!r}, not csr or csc")
    shape = parts["shape"].ravel().tolist()
    if len(shape) != 2:
        raise ValueError(f"its shape has {len(shape)} entries, not two")
    X = make((parts["data"], parts["indices"], parts["indptr"]), shape=tuple(shape))
    X.check_format(full_check=True)
    return X


def _select(
    path: Path, X: StoredMatrix, y: Array | None, names: list[str] | None, requested: RequestedColumns
) -> Parts:
    if names is None:
        if requested.drop:
            raise ValueError(
                f"{path} has no column names, so {format_list(map(repr, requested.drop))} cannot be left out"
            )
        return X, y, None
    keep = requested.features(path, names)
    place = {name: i for i, name in enumerate(names)}
    return (X if keep == names else X[:, [place[name] for name in keep]]), y, keep


def _sentence(error: Exception) -> str:
    line = first_line(error)
    return "it holds Python objects, which are never loaded" if "allow_pickle" in line else line
