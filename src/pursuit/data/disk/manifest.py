"""The manifest of a data set: ``manifest.json`` in its folder, checked field by field before any file is touched."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..._utils.types import Keywords
from ...designs.make import MAX_COLUMNS
from .files import Stored

FILE, FORMAT, VERSION = "manifest.json", "pursuit-data", 1
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*\.npy")  # of a file: nothing that could lead out of the folder
DENSE, CSR = ("X",), ("data", "indices", "indptr")
ROWS = ("y", "weights", "offset")


@dataclass(frozen=True)
class Block:
    """Rows that lie together, and their files by what they hold."""

    rows: int
    files: dict[str, Stored]


@dataclass(frozen=True)
class Manifest:
    """What is known of a data set without its numbers.

    ``classes`` are the target's labels where it has text or truth values: y counts them. ``target_dtype`` is what
    whole numbers were. ``columns`` has means and sums of squares about them (weights summing to one), two rows.
    """

    shape: tuple[int, int]
    dtype: str
    sparse: bool
    names: tuple[str, ...] | None
    target: str | None
    weights: str | None
    offset: str | None
    classes: tuple[Any, ...] | None
    target_dtype: str
    columns: Stored
    blocks: tuple[Block, ...]

    def written(self) -> str:
        """As it stands in the file."""
        header = {
            "format": FORMAT,
            "version": VERSION,
            "shape": self.shape,
            "dtype": self.dtype,
            "layout": "csr" if self.sparse else "dense",
            "names": self.names,
            "target": self.target,
            "weights": self.weights,
            "offset": self.offset,
            "classes": self.classes,
            "target_dtype": self.target_dtype,
            "columns": _entry(self.columns),
            "blocks": [
                {"rows": block.rows, **{key: _entry(file) for key, file in block.files.items()}}
                for block in self.blocks
            ],
        }
        return json.dumps(header, allow_nan=False) + "\n"


def _entry(file: Stored) -> Keywords:
    return {"file": file.name, "dtype": file.dtype, "shape": file.shape, "crc32": file.crc32}


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a folder, or one sentence about what is wrong with it."""
    path = folder / FILE
    if not folder.exists():
        raise FileNotFoundError(f"there is no folder {folder}")
    if not path.is_file() or path.is_symlink():
        raise ValueError(f"{folder} is not a data set: it has no {FILE}; make one with `pursuit convert`")
    try:
        header = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        raise ValueError(f"{path} is not JSON; convert the data again") from None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ValueError(f"{folder} is not a data set: {FILE} does not say format {FORMAT!r}")
    version = header.get("version")
    if isinstance(version, int) and not isinstance(version, bool) and version > VERSION:
        raise ValueError(
            f"{folder} was written in version {version}, and this pursuit reads up to {VERSION}: update it"
        )
    try:
        return _checked(header)
    except _WrongError as wrong:
        raise ValueError(f"{path}: {wrong}") from None


class _WrongError(Exception):
    """What a field must be."""


def _checked(header: Keywords) -> Manifest:
    if header.get("version") != VERSION:
        raise _WrongError(f"version must be {VERSION}, got {header.get('version')!r}")
    n, p = shape = _shape(header, "shape", 2)
    if not 1 <= p <= MAX_COLUMNS or n < 1:
        raise _WrongError(f"shape must have at least one row, and 1 to {MAX_COLUMNS} columns, got {shape}")
    dtype = _one_of(header, "dtype", ("float32", "float64"))
    sparse = _one_of(header, "layout", ("dense", "csr")) == "csr"
    names = header.get("names")
    if names is not None and (not _texts(names) or len(names) != p):
        raise _WrongError(f"names must be {p} strings, or null")
    words = {key: header.get(key) for key in ("target", *ROWS[1:])}
    if not all(word is None or isinstance(word, str) for word in words.values()):
        raise _WrongError("target, weights and offset must be strings or null")
    classes = header.get("classes")
    if classes is not None and (not _texts(classes) and classes != [False, True]):
        raise _WrongError("classes must be strings, or false and true, or null")
    target_dtype = _one_of(header, "target_dtype", ("float64", "int64"))
    columns = _file(header, "columns", "float64", (2, p))
    blocks = header.get("blocks")
    if not isinstance(blocks, list) or not blocks:
        raise _WrongError("blocks must be a list of at least one block")
    has = (*(CSR if sparse else DENSE), "y", *(key for key in ROWS[1:] if words[key] is not None))
    read = tuple(_block(block, has, p, dtype) for block in blocks)
    if sum(block.rows for block in read) != n:
        raise _WrongError(f"blocks have {sum(block.rows for block in read)} rows in all, and shape says {n}")
    widths = {block.files["y"].shape[1:] for block in read}
    if len(widths) > 1 or (classes is not None and widths != {()}):
        raise _WrongError("y must have the same number of columns in every block, and one where there are classes")
    files = [columns.name, *(file.name for block in read for file in block.files.values())]
    if len(set(files)) != len(files):
        raise _WrongError("a file is named twice")
    return Manifest(
        (n, p),
        dtype,
        sparse,
        None if names is None else tuple(names),
        **words,
        classes=None if classes is None else tuple(classes),
        target_dtype=target_dtype,
        columns=columns,
        blocks=read,
    )


def _block(header: Any, has: tuple[str, ...], p: int, dtype: str) -> Block:
    if not isinstance(header, dict):
        raise _WrongError("a block must be an object")
    rows = header.get("rows")
    if isinstance(rows, bool) or not isinstance(rows, int) or rows < 1:
        raise _WrongError(f"rows of a block must be a whole number at least 1, got {rows!r}")
    files = {}
    for key in has:
        if key == "X":
            files[key] = _file(header, key, dtype, (rows, p))
        elif key in CSR:
            wide = dtype if key == "data" else "int32"
            files[key] = _file(header, key, wide, (rows + 1,) if key == "indptr" else None)
        else:
            files[key] = _file(header, key, "float64", (rows, *(_responses(header.get(key)) if key == "y" else ())))
    if "data" in files and files["data"].shape != files["indices"].shape:
        raise _WrongError(f"{files['data'].name} and {files['indices'].name} must have one shape")
    return Block(rows, files)


def _responses(entry: Any) -> tuple[int, ...]:
    """The number of responses where y has a column for each, else nothing."""
    shape = entry.get("shape") if isinstance(entry, dict) else None
    return (shape[1],) if isinstance(shape, list) and len(shape) == 2 and shape[1] != 0 else ()


def _file(header: Keywords, key: str, dtype: str, shape: tuple[int, ...] | None) -> Stored:
    entry = header.get(key)
    if not isinstance(entry, dict):
        raise _WrongError(f"{key} must be an object with file, dtype, shape and crc32")
    name, crc = entry.get("file"), entry.get("crc32")
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise _WrongError(f"{key} names the file {name!r}; a file of a data set lies in its folder and ends in .npy")
    found = _shape(entry, "shape", 1 if shape is None else len(shape))
    if shape is not None and found != shape:
        raise _WrongError(f"{name} must have shape {shape}, got {found}")
    if entry.get("dtype") != dtype:
        raise _WrongError(f"{name} must hold {dtype}, got {entry.get('dtype')!r}")
    if isinstance(crc, bool) or not isinstance(crc, int) or not 0 <= crc < 1 << 32:
        raise _WrongError(f"crc32 of {name} must be a whole number of 32 bits")
    return Stored(name, np.dtype(dtype).name, found, crc)


def _shape(header: Keywords, key: str, length: int) -> Any:
    shape = header.get(key)
    if not isinstance(shape, list) or len(shape) != length:
        raise _WrongError(f"{key} must be a list of {length} whole numbers, got {shape!r}")
    if any(isinstance(size, bool) or not isinstance(size, int) or not 0 <= size < 1 << 62 for size in shape):
        raise _WrongError(f"{key} must be whole numbers at least 0, got {shape!r}")
    return tuple(shape)


def _one_of(header: Keywords, key: str, known: tuple[str, ...]) -> str:
    if header.get(key) not in known:
        raise _WrongError(f"{key} must be {' or '.join(known)}, got {header.get(key)!r}")
    return str(header[key])


def _texts(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)
