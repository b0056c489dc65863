"""Files in pieces of bounded size, for ``convert``: whatever a file's kind, rows come as numbers, some at a time."""

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
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from scipy import sparse

from pursuit._errors import among, first_line, listed, need
from pursuit._names import refuse_duplicates
from pursuit._types import Array
from pursuit.data.disk.write import FULL
from pursuit.io import _arrays, _frames
from pursuit.io._wanted import Wanted

PIECE = 1 << 24  # bytes of numbers at a time
TEXT = 1 << 23  # bytes of LIBSVM text at a time


class Piece(NamedTuple):
    """Some rows, and how much of the file was read so far."""

    X: Any
    y: Array
    weights: Array | None
    offset: Array | None
    done: int


@dataclass(frozen=True)
class Columns:
    """Which column (npz: array) is what, and what is no feature."""

    target: str | None
    weights: str | None
    offset: str | None
    drop: Sequence[str] = ()

    @property
    def apart(self) -> dict[str, str]:
        """What is neither feature nor target, by its role."""
        told = {"weights": self.weights, "offset": self.offset}
        return {role: name for role, name in told.items() if name is not None}


class Pieces(NamedTuple):
    """A file in pieces: the names of its features, what it has to be read, and a walk through it."""

    names: list[str] | None
    total: int
    walk: Iterator[Piece]


def csv_pieces(path: Path, asked: Columns, room: Path) -> Pieces:
    pandas = need("pandas", "io", f"reading {path}")
    plain: dict[str, Any] = {"sep": "\t" if ".tsv" in path.name.lower() else ",", "index_col": False}
    plain |= {"low_memory": False, **_frames.exact_floats(pandas)}
    try:
        _frames.check_header(pandas, path, plain["sep"])
        header = [str(name) for name in pandas.read_csv(path, nrows=0, **plain).columns]
        wanted = _wanted(path, header, asked)
    except pandas.errors.EmptyDataError as error:
        raise ValueError(f"{path} is empty") from error
    except (pandas.errors.ParserError, UnicodeDecodeError, EOFError, OSError) as error:
        raise ValueError(f"{path} cannot be read as CSV: {first_line(error)}") from error
    features = _frames._choose(path, header, wanted)
    rows = max(1, PIECE // (8 * len(header)))

    def walk() -> Iterator[Piece]:
        try:
            with path.open("rb") as raw, _unpacked(path, raw) as stream, warnings.catch_warnings():
                warnings.simplefilter("error", pandas.errors.ParserWarning)  # rows longer than the header
                with pandas.read_csv(stream, chunksize=rows, **plain) as frames:
                    for frame in frames:
                        yield _of_frame(path, frame, features, wanted, asked, raw.tell())
        except (pandas.errors.ParserError, pandas.errors.ParserWarning, UnicodeDecodeError, EOFError, OSError) as error:
            raise ValueError(f"{path} cannot be read as CSV: {first_line(error)}") from error

    return Pieces(features, path.stat().st_size, walk())


def parquet_pieces(path: Path, asked: Columns, room: Path) -> Pieces:
    pyarrow = need("pyarrow", "io", f"reading {path}")
    parquet = need("pyarrow.parquet", "io", f"reading {path}")
    need("pandas", "io", f"reading {path}")
    try:
        file = parquet.ParquetFile(path, buffer_size=1 << 20, pre_buffer=False)
    except (pyarrow.ArrowException, OSError) as error:
        raise ValueError(f"{path} cannot be read as Parquet: {first_line(error)}") from error
    header = [name for name in file.schema_arrow.names if not name.startswith("__index_level_")]
    wanted = _wanted(path, header, asked)
    features = _frames._choose(path, header, wanted)
    used = [name for name in header if name in {*features, *asked.apart.values(), wanted.target}]

    def walk() -> Iterator[Piece]:
        done = 0
        try:
            for batch in file.iter_batches(max(1, PIECE // (8 * max(1, len(used)))), columns=used):
                done += batch.num_rows
                frame = batch.to_pandas()
                yield _of_frame(path, frame, features, wanted, asked, done)
        except (pyarrow.ArrowException, OSError) as error:
            raise ValueError(f"{path} cannot be read as Parquet: {first_line(error)}") from error

    return Pieces(features, file.metadata.num_rows, walk())


def libsvm_pieces(path: Path, asked: Columns, room: Path) -> Pieces:
    for role, name in (("target", asked.target), *asked.apart.items()):
        if name is not None:
            raise ValueError(f"{path} has no column names, so there is no {role} column {name!r}")
    if asked.drop:
        raise ValueError(f"{path} has no column names, so {listed(map(repr, asked.drop))} cannot be left out")

    def walk() -> Iterator[Piece]:
        try:
            with path.open("rb") as raw, _unpacked(path, raw) as stream:
                while text := stream.read(TEXT) + stream.readline():
                    X, y = _arrays.parse_libsvm(path, io.BytesIO(text), None)
                    if len(y):
                        yield Piece(X, y, None, None, raw.tell())
        except (EOFError, OSError) as error:
            raise ValueError(f"{path} cannot be read as LIBSVM: {first_line(error)}") from error

    return Pieces(None, path.stat().st_size, walk())


def npz_pieces(path: Path, asked: Columns, room: Path) -> Pieces:
    """Arrays of an npz are packed one after the other: those that are long go to the disk first, as they are."""
    try:
        with zipfile.ZipFile(path) as packed:
            keys = [name.removesuffix(".npy") for name in packed.namelist() if name.endswith(".npy")]
            target = asked.target if asked.target is not None else "y"
            for role, name in {"target": target, **asked.apart}.items():
                if name not in keys:
                    raise ValueError(f"it has no {role} array {name!r}{among(name, keys)}")
            dense = "X" in keys
            if not dense and not set(_arrays._CSR) <= set(keys):
                raise ValueError(f"it holds {listed(keys)}, not X or {', '.join(_arrays._CSR)}")
            used = [*(["X"] if dense else _arrays._CSR), *(["format"] if "format" in keys and not dense else [])]
            used += [target, *asked.apart.values(), *(["feature_names"] if "feature_names" in keys else [])]
            held: dict[str, Any] = {key: _unpack(packed, key, room) for key in dict.fromkeys(used)}
        X = (
            held["X"]
            if dense
            else _arrays._sparse({key: held[key] for key in (*_arrays._CSR, "format") if key in held})
        )
    except _arrays.UNREADABLE as error:
        if isinstance(error, OSError) and error.errno in FULL:  # where it is unpacked to, and not the file
            raise
        raise ValueError(f"{path} cannot be used: {_arrays._sentence(error)}") from error
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise ValueError(f"X in {path} must be a matrix of numbers, not {X.dtype} of shape {X.shape}")
    apart = {role: held[name] for role, name in {"target": target, **asked.apart}.items()}
    for role, values in apart.items():
        if values.shape != (X.shape[0],):
            raise ValueError(f"the {role} in {path} has shape {values.shape}, but there are {X.shape[0]} rows")
    names = [str(name) for name in held["feature_names"].ravel()] if "feature_names" in held else None
    if names is not None and len(names) != X.shape[1]:
        raise ValueError(f"{path} has {len(names)} feature_names for {X.shape[1]} columns")
    refuse_duplicates(names or (), str(path))
    if asked.drop:
        raise ValueError(f"columns of an npz cannot be left out, such as {listed(map(repr, asked.drop))} of {path}")
    if sparse.issparse(X):
        X = sparse.csr_array(X)
    dtype = X.dtype if X.dtype in (np.float32, np.float64) else np.dtype(np.float64)

    def walk() -> Iterator[Piece]:
        width = max(1.0, X.nnz / max(1, X.shape[0]) if sparse.issparse(X) else X.shape[1])
        rows = max(1, int(PIECE // (8 * width)))
        for low in range(0, X.shape[0], rows):
            some = slice(low, min(X.shape[0], low + rows))
            part = X[some].astype(dtype) if sparse.issparse(X) else np.array(X[some], dtype=dtype, order="C")
            y, weights, offset = (None if apart.get(role) is None else np.array(apart[role][some])
                                  for role in ("target", "weights", "offset"))  # fmt: skip
            assert y is not None
            yield Piece(part, y, weights, offset, some.stop)

    return Pieces(names, X.shape[0], walk())


Opener = Callable[[Path, Columns, Path], Pieces]


def _wanted(path: Path, header: Sequence[str], asked: Columns) -> Wanted:
    if asked.target is None:
        raise ValueError(f"{path} has no target: name its column; its columns are {listed(header)}")
    for role, name in asked.apart.items():
        if name not in header:
            raise ValueError(f"{path} has no {role} column {name!r}{among(name, header)}")
        if name == asked.target:
            raise ValueError(f"{role} and target are both {name!r}; {role} is a column of its own")
    return Wanted(asked.target, None, [*asked.drop, *asked.apart.values()], None)


def _of_frame(
    path: Path, frame: Any, features: list[str], wanted: Wanted, asked: Columns, done: int
) -> Piece:  # fmt: skip
    X, y, _ = _frames._split(path, frame, features, wanted)
    assert y is not None
    apart = {role: _frames._split(path, frame, [name], Wanted(None, [name], (), None))[0][:, 0].astype(np.float64)
             for role, name in asked.apart.items()}  # fmt: skip
    return Piece(X, y, apart.get("weights"), apart.get("offset"), done)


def _unpacked(path: Path, raw: BinaryIO) -> Any:
    """The stream of what is in a file, which may be packed."""
    if path.suffix.lower() == ".gz":
        return gzip.GzipFile(fileobj=raw)
    return bz2.BZ2File(raw) if path.suffix.lower() == ".bz2" else io.BufferedReader(raw)  # type: ignore[type-var]


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
