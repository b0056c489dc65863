"""Writing a data set: into a folder beside the final one, which gets its name when everything is on the disk.

A full disk, an error or Ctrl-C leaves nothing under the final name, and removes what was begun.
"""

import errno
import os
import shutil
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike

from ..._utils.files import temporary_path
from ..._utils.types import Array
from ...designs import as_design
from ..answers import Moments, merge_moments
from .files import Stored
from .manifest import FILE, Block, Manifest

if TYPE_CHECKING:
    from scipy.sparse import csr_array

DISK_FULL_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
BLOCK_BYTES = 1 << 26  # bytes of a block
MIN_VECTORS_PER_BLOCK = 8  # vectors over the columns that a block outweighs, or adding up takes longer than reading


@contextmanager
def written(out: Path) -> Iterator[Path]:
    """A folder to fill, which is ``out`` when all is done; nothing is left of it where something goes wrong."""
    there = FileExistsError(f"{out} is there already; remove it first, or choose another name")
    if out.exists() or out.is_symlink():
        raise there
    if not out.absolute().parent.is_dir():
        raise FileNotFoundError(f"there is no folder {out.absolute().parent} to write {out.name} into")
    half = temporary_path(out.absolute())
    try:
        half.mkdir()
        yield half
        synced(half)
        try:
            os.rename(half, out)
        except OSError:
            if out.exists():  # another process was first
                raise there from None
            raise
        synced(out.absolute().parent)
    except OSError as error:
        if error.errno not in DISK_FULL_ERRORS and not str(error.filename).startswith(str(half)):  # of what is read
            raise
        raise OSError(f"{out} could not be written, and nothing is left of it: {error.strerror}") from error
    finally:
        shutil.rmtree(half, ignore_errors=True)


def synced(folder: Path) -> None:
    """See to it that the names in a folder are on the disk."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class Writer:
    """Rows come in pieces of any length, and go out in blocks; means and scales are computed on the way."""

    def __init__(self, folder: Path, dtype: DTypeLike | None = None) -> None:
        self.folder, self.dtype = folder, None if dtype is None else np.dtype(dtype)
        self.waiting: list[tuple[Array | csr_array, tuple[Array | None, ...]]] = []
        self.bytes, self.seen, self.rows, self.width, self.sparse = 0, 0, 0, 0, False
        self.blocks: list[Block] = []
        self.moments = Moments(0.0, np.zeros(0), np.zeros(0))

    def add(self, X: "Array | csr_array", y: Array, weights: Array | None, offset: Array | None) -> None:
        """Some rows: X dense or CSR (of which later pieces may have more columns), and numbers for each of them."""
        self.sparse, self.seen = sp.issparse(X), self.seen + X.shape[0]
        self.dtype = self.dtype or X.dtype
        self.width = max(self.width, X.shape[1])
        self.waiting.append((X.astype(self.dtype, copy=False), (y, weights, offset)))
        self.bytes += X.shape[0] * X.shape[1] * self.dtype.itemsize if isinstance(X, np.ndarray) else 12 * X.nnz
        if self.bytes >= max(BLOCK_BYTES, 8 * MIN_VECTORS_PER_BLOCK * self.width):
            self.flush()

    def flush(self) -> None:
        """Write what is waiting as a block."""
        if not self.waiting:
            return
        pieces, rows = zip(*self.waiting, strict=True)
        self.waiting, self.bytes = [], 0
        columns = [None if part[0] is None else np.concatenate(part) for part in zip(*rows, strict=True)]
        X = self._joined(pieces)
        self._measure(X, columns[1])
        arrays = (
            {"X": X} if isinstance(X, np.ndarray) else {key: getattr(X, key) for key in ("data", "indices", "indptr")}
        )
        arrays |= {key: a for key, a in zip(("y", "weights", "offset"), columns, strict=True) if a is not None}
        mark = f"{len(self.blocks):05d}"
        files = {key: self._write(f"{key}-{mark}.npy", a) for key, a in arrays.items()}
        self.blocks.append(Block(X.shape[0], files))
        self.rows += X.shape[0]

    def _joined(self, pieces: "Sequence[csr_array]") -> "Array | csr_array":
        if not self.sparse:
            return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
        wide = [sp.csr_array((P.data, P.indices, P.indptr), shape=(P.shape[0], self.width)) for P in pieces]
        X = wide[0] if len(wide) == 1 else sp.vstack(wide, format="csr")
        X.sum_duplicates()
        return sp.csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)

    def _measure(self, X: "Array | csr_array", weights: Array | None) -> None:
        w = np.ones(X.shape[0]) if weights is None else weights
        weight = float(w.sum())
        if not weight > 0:
            return
        mean, var = as_design(X).stats(w / weight)
        before = Moments(self.moments.weight, *(_padded(v, len(mean)) for v in self.moments[1:]))
        self.moments = merge_moments([before, Moments(weight, mean, weight * var)])

    def _write(self, name: str, array: Array) -> Stored:
        array = np.ascontiguousarray(array)
        raw = array.reshape(-1).view(np.uint8).data
        with self._file(name) as file:
            head = {"descr": np.lib.format.dtype_to_descr(array.dtype), "fortran_order": False, "shape": array.shape}
            np.lib.format.write_array_header_1_0(file, head)
            file.write(raw)
        return Stored(name, array.dtype.name, array.shape, zlib.crc32(raw))

    def finish(self, names: Sequence[str] | None = None, **fields: Any) -> Manifest:
        """The last block, and the manifest."""
        self.flush()
        weight, mean, square = self.moments
        if not weight > 0:
            raise ValueError("the weights are zero for every row; at least one must be positive")
        columns = self._write(
            "columns.npy", np.stack([_padded(mean, self.width), _padded(square / weight, self.width)])
        )
        manifest = Manifest(
            (self.rows, self.width),
            str(self.dtype),
            self.sparse,
            None if names is None else tuple(names),
            **fields,
            columns=columns,
            blocks=tuple(self.blocks),
        )
        with self._file(FILE) as file:
            file.write(manifest.written().encode())
        return manifest

    @contextmanager
    def _file(self, name: str) -> Iterator[Any]:
        """A file that is on the disk at the end."""
        with (self.folder / name).open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())


def _padded(values: Array, length: int) -> Array:
    """With zeros for the columns that came later."""
    return np.concatenate([values, np.zeros(length - len(values))])
