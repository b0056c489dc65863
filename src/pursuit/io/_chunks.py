"""Readers of files in chunks of bounded size, for ``convert``: CSV, Parquet, LIBSVM, npz."""

import bz2
import gzip
import io
import shutil
import warnings
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from pursuit._utils.column_names import refuse_duplicates
from pursuit._utils.parquet import open_parquet, parquet_errors
from pursuit._utils.types import Array, StoredMatrix
from pursuit._utils.validation import first_line, format_list, require_package, suggestion_clause
from pursuit.data.disk.write import DISK_FULL_ERRORS
from pursuit.io import _arrays, _frames
from pursuit.io._columns import RequestedColumns

if TYPE_CHECKING:
    from pandas import DataFrame

CHUNK_BYTES = 1 << 24  # bytes of numbers at a time
TEXT_CHUNK_BYTES = 1 << 23  # bytes of LIBSVM text at a time


class Chunk(NamedTuple):
    """Some rows, and how much of the file has been read."""

    X: StoredMatrix
    y: Array
    weights: Array | None
    offset: Array | None
    done: int


@dataclass(frozen=True)
class ColumnRoles:
    """The roles of columns (npz: arrays): target, weights, offset, and those that are dropped."""

    target: str | None
    weights: str | None
    offset: str | None
    drop: Sequence[str] = ()

    @property
    def apart(self) -> dict[str, str]:
        """The columns that are neither feature nor target, by role."""
        roles = {"weights": self.weights, "offset": self.offset}
        return {role: name for role, name in roles.items() if name is not None}


class ChunkedFile(NamedTuple):
    """A file in chunks: the names of its features, its length, and the iterator over its chunks."""

    names: list[str] | None
    total: int
    chunks: Iterator[Chunk]


def csv_chunks(path: Path, roles: ColumnRoles, room: Path) -> ChunkedFile:
    pandas = require_package("pandas", "io", f"reading {path}")
    plain: dict[str, Any] = {"sep": "\t" if ".tsv" in path.name.lower() else ",", "index_col": False}
    plain |= {"low_memory": False, **_frames.exact_floats(pandas)}
    try:
        _frames.check_header(pandas, path, plain["sep"], str(path))
        header = [str(name) for name in pandas.read_csv(path, nrows=0, **plain).columns]
        requested = _requested_columns(path, header, roles)
    except pandas.errors.EmptyDataError as error:
        raise ValueError(f"{path} is empty") from error
    except (pandas.errors.ParserError, UnicodeDecodeError, EOFError, OSError) as error:
        raise ValueError(f"{path} cannot be read as CSV: {first_line(error)}") from error
    features = _frames.choose_columns(path, header, requested)
    rows = max(1, CHUNK_BYTES // (8 * len(header)))

    def chunks() -> Iterator[Chunk]:
        try:
            with path.open("rb") as raw, _decompressed(path, raw) as stream, warnings.catch_warnings():
                warnings.simplefilter("error", pandas.errors.ParserWarning)  # rows longer than the header
                with pandas.read_csv(stream, chunksize=rows, **plain) as frames:
                    for frame in frames:
                        yield _chunk_from_frame(path, frame, features, requested, roles, raw.tell())
        except (pandas.errors.ParserError, pandas.errors.ParserWarning, UnicodeDecodeError, EOFError, OSError) as error:
            raise ValueError(f"{path} cannot be read as CSV: {first_line(error)}") from error

    return ChunkedFile(features, path.stat().st_size, chunks())


def parquet_chunks(path: Path, roles: ColumnRoles, room: Path) -> ChunkedFile:
    require_package("pandas", "io", f"reading {path}")
    file, header = open_parquet(path)
    requested = _requested_columns(path, header, roles)
    features = _frames.choose_columns(path, header, requested)
    used = [name for name in header if name in {*features, *roles.apart.values(), requested.target}]

    def chunks() -> Iterator[Chunk]:
        done = 0
        with parquet_errors(path):
            for batch in file.iter_batches(max(1, CHUNK_BYTES // (8 * max(1, len(used)))), columns=used):
                done += batch.num_rows
                frame = batch.to_pandas()
                yield _chunk_from_frame(path, frame, features, requested, roles, done)

    return ChunkedFile(features, file.metadata.num_rows, chunks())


def libsvm_chunks(path: Path, roles: ColumnRoles, room: Path) -> ChunkedFile:
    for role, name in (("target", roles.target), *roles.apart.items()):
        if name is not None:
            raise ValueError(f"{path} has no column names, so there is no {role} column {name!r}")
    if roles.drop:
        raise ValueError(f"{path} has no column names, so {format_list(map(repr, roles.drop))} cannot be left out")

    def chunks() -> Iterator[Chunk]:
        try:
            with path.open("rb") as raw, _decompressed(path, raw) as stream:
                while text := stream.read(TEXT_CHUNK_BYTES) + stream.readline():
                    X, y = _arrays.parse_libsvm(path, io.BytesIO(text), None)
                    if len(y):
                        yield Chunk(X, y, None, None, raw.tell())
        except (EOFError, OSError) as error:
            raise ValueError(f"{path} cannot be read as LIBSVM: {first_line(error)}") from error

    return ChunkedFile(None, path.stat().st_size, chunks())


def npz_chunks(path: Path, roles: ColumnRoles, room: Path) -> ChunkedFile:
    """Arrays of an npz are packed one after the other: those that are long go to the disk first, as they are."""
    try:
        with zipfile.ZipFile(path) as packed:
            keys = [name.removesuffix(".npy") for name in packed.namelist() if name.endswith(".npy")]
            target = roles.target if roles.target is not None else "y"
            for role, name in {"target": target, **roles.apart}.items():
                if name not in keys:
                    raise ValueError(f"it has no {role} array {name!r}{suggestion_clause(name, keys)}")
            dense = "X" in keys
            if not dense and not set(_arrays._CSR) <= set(keys):
                raise ValueError(f"it holds {format_list(keys)}, not X or {', '.join(_arrays._CSR)}")
            used = [*(["X"] if dense else _arrays._CSR), *(["format"] if "format" in keys and not dense else [])]
            used += [target, *roles.apart.values(), *(["feature_names"] if "feature_names" in keys else [])]
            arrays: dict[str, Any] = {key: _unpack(packed, key, room) for key in dict.fromkeys(used)}
        X = (
            arrays["X"]
            if dense
            else _arrays._sparse({key: arrays[key] for key in (*_arrays._CSR, "format") if key in arrays})
        )
    except _arrays.UNREADABLE as error:
        if isinstance(error, OSError) and error.errno in DISK_FULL_ERRORS:  # where it is unpacked to, and not the file
            raise
        raise ValueError(f"{path} cannot be used: {_arrays._sentence(error)}") from error
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise ValueError(f"X in {path} must be a matrix of numbers, not {X.dtype} of shape {X.shape}")
    apart = {role: arrays[name] for role, name in {"target": target, **roles.apart}.items()}
    for role, values in apart.items():
        several = role == "target" and values.ndim == 2 and values.shape[1] > 0 and values.dtype.kind in "fiub"
        if values.shape != (X.shape[0],) and not (several and len(values) == X.shape[0]):
            raise ValueError(f"the {role} in {path} has shape {values.shape}, but there are {X.shape[0]} rows")
    names = [str(name) for name in arrays["feature_names"].ravel()] if "feature_names" in arrays else None
    if names is not None and len(names) != X.shape[1]:
        raise ValueError(f"{path} has {len(names)} feature_names for {X.shape[1]} columns")
    refuse_duplicates(names or (), str(path))
    if roles.drop:
        raise ValueError(
            f"columns of an npz cannot be left out, such as {format_list(map(repr, roles.drop))} of {path}"
        )
    if sparse.issparse(X):
        X = sparse.csr_array(X)
    dtype = X.dtype if X.dtype in (np.float32, np.float64) else np.dtype(np.float64)

    def chunks() -> Iterator[Chunk]:
        width = max(1.0, X.nnz / max(1, X.shape[0]) if sparse.issparse(X) else X.shape[1])
        rows = max(1, int(CHUNK_BYTES // (8 * width)))
        for low in range(0, X.shape[0], rows):
            some = slice(low, min(X.shape[0], low + rows))
            part = X[some].astype(dtype) if sparse.issparse(X) else np.array(X[some], dtype=dtype, order="C")
            y, weights, offset = (
                None if apart.get(role) is None else np.array(apart[role][some])
                for role in ("target", "weights", "offset")
            )
            assert y is not None
            yield Chunk(part, y, weights, offset, some.stop)

    return ChunkedFile(names, X.shape[0], chunks())


Opener = Callable[[Path, ColumnRoles, Path], ChunkedFile]


def _requested_columns(path: Path, header: Sequence[str], roles: ColumnRoles) -> RequestedColumns:
    if roles.target is None:
        raise ValueError(f"{path} has no target: name its column; its columns are {format_list(header)}")
    for role, name in roles.apart.items():
        if name not in header:
            raise ValueError(f"{path} has no {role} column {name!r}{suggestion_clause(name, header)}")
        if name == roles.target:
            raise ValueError(f"{role} and target are both {name!r}; {role} is a column of its own")
    return RequestedColumns(roles.target, None, [*roles.drop, *roles.apart.values()], None)


def _chunk_from_frame(
    path: Path, frame: "DataFrame", features: list[str], requested: RequestedColumns, roles: ColumnRoles, done: int
) -> Chunk:
    X, y, _ = _frames.split_frame(path, frame, features, requested)
    assert y is not None
    apart = {}
    for role, name in roles.apart.items():
        column, _, _ = _frames.split_frame(path, frame, [name], RequestedColumns(None, [name], (), None))
        apart[role] = column[:, 0].astype(np.float64)
    return Chunk(X, y, apart.get("weights"), apart.get("offset"), done)


def _decompressed(path: Path, raw: io.BufferedReader) -> io.BufferedIOBase:
    """The stream of what is in a file, which may be packed."""
    if path.suffix.lower() == ".gz":
        return gzip.GzipFile(fileobj=raw)
    return bz2.BZ2File(raw) if path.suffix.lower() == ".bz2" else raw


def _unpack(packed: zipfile.ZipFile, key: str, room: Path) -> Array:
    """An array of an npz, mapped."""
    room.mkdir(exist_ok=True)
    place = room / f"{len(list(islice(room.iterdir(), 100)))}.npy"
    with packed.open(f"{key}.npy") as source, place.open("wb") as file:
        shutil.copyfileobj(source, file, 1 << 20)
    with place.open("rb") as file:
        np.lib.format.read_magic(file)
    mapped = np.load(place, mmap_mode=None if place.stat().st_size < 1 << 20 else "r", allow_pickle=False)
    return np.asarray(mapped)
