"""``read_table``: one function for every file format, chosen by the file's suffix."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pursuit._utils.column_names import column_label, non_finite_columns
from pursuit._utils.types import Array, StoredMatrix
from pursuit._utils.validation import format_list
from pursuit.designs.make import MAX_COLUMNS
from pursuit.io import _arrays, _frames
from pursuit.io._columns import Reader, RequestedColumns


@dataclass(frozen=True, eq=False)
class Table:
    """Features, and the target and column names where the file has them."""

    X: StoredMatrix  # a dense array, or a sparse one where the file is sparse
    y: Array | None
    feature_names: tuple[str, ...] | None


_READERS: dict[str, Reader] = {
    **dict.fromkeys(_frames.LOADERS, _frames.read_named),
    ".npz": _arrays.read_npz,
    **{
        kind + packed: _arrays.read_libsvm
        for kind in (".libsvm", ".svm", ".svmlight")
        for packed in ("", ".gz", ".bz2")
    },
}


def read_table(
    path: str | Path,
    target: str | None = None,
    *,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    n_features: int | None = None,
    names: str | None = None,
) -> Table:
    """Read features, and a target where there is one.

    Parameters
    ----------
    path
        CSV, TSV, Parquet, Feather, Excel, npy, LIBSVM or npz, by the suffix. An npz holds ``X`` or CSR parts
        (``data``, ``indices``, ``indptr``, ``shape``), and ``y``. LIBSVM indices count from one.
    target
        The target column of a CSV, TSV or Parquet file (``None``: all columns are features), or the name of the
        target array in an npz (``None``: ``y`` if it is there).
    columns, drop
        Features to keep, in this order, and features to leave out; for files with column names.
    n_features
        The number of columns of a LIBSVM file, where the last ones may be empty.
    names
        The array of an npz that holds the names of its columns (``None``: ``feature_names`` if it is there).

    """
    path = Path(path)
    reader = _reader(path)
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}")
    if not path.is_file():
        raise ValueError(f"{path} is not a file")
    if names is not None and reader is not _arrays.read_npz:
        raise ValueError(f"{path} is no npz file, so no array {names!r} of it can hold names")
    X, y, own = reader(path, RequestedColumns(target, columns, drop, n_features, names=names))
    if X.shape[0] == 0:
        raise ValueError(f"{path} has no rows")
    if X.shape[1] > MAX_COLUMNS:
        raise ValueError(
            f"{path} has {X.shape[1]} columns, and at most {MAX_COLUMNS} can be handled; number those that are used"
        )
    if X.shape[1] == 0 and columns is None:
        raise ValueError(f"{path} has no feature columns")
    check_finite(path, X, own)
    if y is not None:
        check_target(path, X, y)
    return Table(X, y, None if own is None else tuple(own))


def read_column(path: str | Path, name: str) -> Array:
    """One column of a file with column names, or one array of an npz."""
    path = Path(path)
    reader = _reader(path)
    if reader is _arrays.read_libsvm:
        raise ValueError(f"{path} has no column names, so there is no column {name!r}")
    if reader is not _arrays.read_npz:
        return np.asarray(read_table(path, columns=[name]).X[:, 0])
    y = read_table(path, name).y
    assert y is not None
    return y


def read_labels(path: str | Path, name: str, role: str) -> Array:
    """One column of a file with column names, text or numbers, or one array of an npz; messages call it by its role."""
    path = Path(path)
    reader = _reader(path)
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    if reader is _arrays.read_libsvm:
        raise ValueError(f"{path} has no column names, so there is no {role} column {name!r}")
    y = reader(path, RequestedColumns(name, (), (), None, role))[1]
    assert y is not None
    return y


def _reader(path: Path) -> Reader:
    name = path.name.lower()
    for suffix in sorted(_READERS, key=len, reverse=True):
        if name.endswith(suffix):
            return _READERS[suffix]
    raise ValueError(f"{path} has no known suffix; what can be read: {format_list(_READERS, limit=99)}")


def kind_of(path: Path) -> str:
    """csv (or TSV), parquet, npz or libsvm."""
    reader = _reader(path)
    if reader is not _frames.read_named:
        return "npz" if reader is _arrays.read_npz else "libsvm"
    kinds: dict[object, str] = {_frames.load_csv: "csv", _frames.load_parquet: "parquet"}
    kind = next(kinds.get(load) for suffix, load in _frames.LOADERS.items() if path.name.lower().endswith(suffix))
    if kind is None:
        raise ValueError(f"{path} cannot be converted; write it as CSV, Parquet, LIBSVM or npz")
    return kind


def check_finite(path: Path, X: StoredMatrix, names: Sequence[str] | None) -> None:
    """Raise where features are missing or infinite."""
    missing, infinite = non_finite_columns(X)
    what, columns = ("missing values", missing) if len(missing) else ("infinite values", infinite)
    if len(columns):
        have, column = ("has", "column") if len(columns) == 1 else ("have", "columns")
        cure = f"fill them in, drop those rows, or leave the {column} out"
        raise ValueError(f"{column_label(columns, names)} of {path} {have} {what}; {cure}")


def check_target(path: Path, X: StoredMatrix, y: Array, several: bool = False) -> None:
    """Raise where the target is no vector of finite numbers or words (``several``: nor a column per response)."""
    if y.ndim > 1 + several or len(y) != X.shape[0]:
        raise ValueError(f"the target in {path} has shape {y.shape}, but there are {X.shape[0]} rows")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError(f"the target in {path} has missing or infinite values; drop those rows")
    if y.dtype.kind not in "fiubU":
        raise ValueError(f"the target in {path} must be numbers, booleans or strings, not {y.dtype}")
