"""``convert``: a file of any kind to a folder of row blocks that are mapped, never loaded (``pursuit.open_data``)."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike

from pursuit._utils.progress import progress_callback
from pursuit._utils.types import Array, Callback
from pursuit._utils.validation import check_path, format_list
from pursuit.data.disk.manifest import Manifest
from pursuit.data.disk.write import Writer, written
from pursuit.designs.make import MAX_COLUMNS
from pursuit.io._chunks import Chunk, ColumnRoles, Opener, csv_chunks, libsvm_chunks, npz_chunks, parquet_chunks
from pursuit.io.tables import check_finite, check_target, kind_of

MAX_CLASSES = 1000  # different words that a target may have: beyond that they are no labels
UNPACK_FOLDER = "unpacked"  # where a packed file is unpacked while it is read
_OPENERS: dict[str, Opener] = {
    "csv": csv_chunks,
    "parquet": parquet_chunks,
    "npz": npz_chunks,
    "libsvm": libsvm_chunks,
}


def convert(
    path: str | Path,
    out: str | Path,
    target: str | None = None,
    *,
    weights: str | None = None,
    offset: str | None = None,
    drop: Sequence[str] = (),
    dtype: DTypeLike | None = None,
    callback: Callback = None,
) -> Path:
    """Write a file as a data set on the disk, in bounded memory: a folder for ``pursuit.open_data``.

    Parameters
    ----------
    path : str or Path
        CSV, TSV, Parquet, LIBSVM or npz, by the suffix (an npz with a CSC matrix is turned in memory).
    out : str or Path
        The folder, usually called ``something.pursuit``. It appears when it is complete, and is never half-written.
    target : str or None, default None
        Column of a CSV, TSV or Parquet file, array of an npz (``y`` by default; a matrix holds several responses).
        LIBSVM has its target in front.
    weights : str or None, default None
        The column or array that holds the weights of the rows.
    offset : str or None, default None
        The column or array that is added to the linear predictor.
    drop : sequence of str, default ()
        Columns to leave out.
    dtype : {"float32", "float64"} or None, default None
        None is float32 where all features are, else float64.
    callback : callable, True or None, default None
        True for a progress bar, or a function of (done, total).

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    FileNotFoundError, FileExistsError
        Where there is no such file, or where ``out`` is there already.
    ValueError
        Where the file cannot be read as a table of numbers and a target; the message names the file.

    See Also
    --------
    open_data : Reads it.

    Examples
    --------
    >>> import pathlib, tempfile, numpy as np, pursuit
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "small.svm").write_text("1 1:0.5 2:1\\n0 2:3\\n")
    >>> pursuit.open_data(pursuit.convert(folder / "small.svm", folder / "small.pursuit")).shape
    (2, 2)
    """
    path, out = check_path(path), check_path(out, "out")
    roles = ColumnRoles(target, weights, offset, drop)
    kind = kind_of(path)
    if dtype is not None and np.dtype(dtype) not in (np.float32, np.float64):
        raise ValueError(f"dtype must be float32 or float64, got {dtype!r}")
    if path.is_dir():
        raise ValueError(f"{path} is a folder, not a file to convert")
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    with written(out) as folder:
        names, total, pieces = _OPENERS[kind](path, roles, folder / UNPACK_FOLDER)
        writer, labels = Writer(folder, dtype), Labels(path)
        with progress_callback(callback, "MB" if kind in ("csv", "libsvm") else "rows", total) as tell:
            unit = 10**6 if kind in ("csv", "libsvm") else 1
            for piece in pieces:
                _add(writer, labels, path, names, piece)
                tell(piece.done // unit, max(1, total // unit))
        if not writer.seen:
            raise ValueError(f"{path} has no rows")
        if not writer.width:
            raise ValueError(f"{path} has no feature columns")
        if writer.width > MAX_COLUMNS:
            raise ValueError(f"{path} has {writer.width} columns, and at most {MAX_COLUMNS} can be handled")
        _finish(writer, labels, names, roles, kind)
        shutil.rmtree(folder / UNPACK_FOLDER, ignore_errors=True)
    return out


def _add(writer: Writer, labels: "Labels", path: Path, names: Sequence[str] | None, piece: Chunk) -> None:
    check_finite(path, piece.X, names)
    check_target(path, piece.X, piece.y, several=True)
    apart = []
    for role, values in (("weights", piece.weights), ("offset", piece.offset)):
        if values is not None:
            if values.dtype.kind not in "fiub" or not np.isfinite(values.astype(np.float64)).all():
                raise ValueError(f"the {role} in {path} must be finite numbers")
            if role == "weights" and values.min(initial=0) < 0:
                raise ValueError(f"the weights in {path} must be non-negative, got {values.min():g}")
            values = values.astype(np.float64)
        apart.append(values)
    X = piece.X if writer.dtype is None else piece.X.astype(writer.dtype, copy=False)
    if X is not piece.X:
        check_finite(path, X, names)  # what is finite in double precision need not be in single
    writer.add(X, labels(piece.y), *apart)


def _finish(writer: Writer, labels: "Labels", names: Sequence[str] | None, roles: ColumnRoles, kind: str) -> Manifest:
    target = "y" if roles.target is None and kind == "npz" else roles.target
    return writer.finish(
        names,
        target=target,
        weights=roles.weights,
        offset=roles.offset,
        classes=labels.classes,
        target_dtype="int64" if labels.whole else "float64",
    )


class Labels:
    """Targets as numbers: text and truth values are counted, and what they were is kept."""

    def __init__(self, path: Path) -> None:
        self.path, self.kind, self.whole = path, "", True
        self.codes: dict[str, int] = {}

    def __call__(self, y: Array) -> Array:
        kind = {"U": "text", "b": "truth values"}.get(y.dtype.kind, "numbers")
        self.kind = self.kind or kind
        if kind != self.kind:
            raise ValueError(f"the target in {self.path} holds {self.kind} in some rows, and {kind} in others")
        self.whole = self.whole and y.dtype.kind in "iu" and bool(np.abs(y).max(initial=0) < 1 << 53)
        if kind != "text":
            return y.astype(np.float64)
        words, codes = np.unique(y, return_inverse=True)
        own = np.array([self.codes.setdefault(str(word), len(self.codes)) for word in words])
        if len(self.codes) > MAX_CLASSES:
            few = format_list(map(repr, self.codes))
            raise ValueError(f"the target in {self.path} has more than {MAX_CLASSES} different words ({few})")
        return own[codes].astype(np.float64)

    @property
    def classes(self) -> tuple[str | bool, ...] | None:
        return {"text": tuple(self.codes), "truth values": (False, True)}.get(self.kind)
