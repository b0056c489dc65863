"""A file of a data set: a .npy that is mapped, never loaded, checked when it is first touched, let go after use.

size, kind and shape   against the manifest, when the data set is opened
checksum               when the file is first touched, and never again
size and time          before every use: a file that was changed meanwhile is an error
"""

import math
import mmap
import os
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..._utils.lazy import lazy
from ..._utils.types import Array

BYTES_AT_A_TIME = 1 << 24  # bytes summed up at a time
_DROP = getattr(mmap, "MADV_DONTNEED", None)


@dataclass(frozen=True)
class Stored:
    """What a manifest says of a file: its name, what it holds, the crc32 of its numbers."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    crc32: int

    @property
    def nbytes(self) -> int:
        return np.dtype(self.dtype).itemsize * math.prod(self.shape)


class Mapped:
    """A file as an array; pages are read when they are used, and ``drop`` gives them back."""

    def __init__(self, folder: Path, entry: Stored) -> None:
        self.path, self.entry = folder / entry.name, entry
        self.start = _header(self.path, entry)
        self.seen = _state(self.path)
        self.checked = False

    def __getstate__(self) -> dict[str, object]:
        return {key: value for key, value in self.__dict__.items() if key not in ("_map", "array")}

    @lazy
    def _map(self) -> mmap.mmap:
        with self.path.open("rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    @lazy
    def array(self) -> Array:
        """The numbers, mapped."""
        if not self.entry.nbytes:
            return np.empty(self.entry.shape, self.entry.dtype)
        flat = np.frombuffer(self._map, np.dtype(self.entry.dtype), math.prod(self.entry.shape), self.start)
        return flat.reshape(self.entry.shape)

    def check(self, few: bool = False) -> Array:
        """The array, after a look at the file: at its size and time, and the first time (not ``few``) its checksum."""
        if _state(self.path) != self.seen:
            raise ValueError(f"{self.path} was changed while it was in use; open the data again")
        if not (few or self.checked):
            self._check_sum()
            self.checked = True
        return self.array

    def _check_sum(self) -> None:
        raw, found = memoryview(self._map)[self.start :], 0
        try:
            for low in range(0, len(raw), BYTES_AT_A_TIME):
                found = zlib.crc32(raw[low : low + BYTES_AT_A_TIME], found)
        finally:
            raw.release()
        if found != self.entry.crc32:
            raise ValueError(f"{self.path} was altered: its checksum is not the manifest's; convert the data again")

    def drop(self) -> None:
        """Let go of what was read: the system keeps it as long as it likes, but it is not this process's memory."""
        if _DROP is not None and "_map" in self.__dict__:
            self._map.madvise(_DROP)


def load(folder: Path, entry: Stored) -> Array:
    """A copy of a small file, checked."""
    mapped = Mapped(folder, entry)
    return np.array(mapped.check())


def _state(path: Path) -> tuple[int, int, int]:
    try:
        state = os.stat(path)
    except FileNotFoundError:
        raise FileNotFoundError(f"{path} is missing; convert the data again") from None
    return state.st_size, state.st_mtime_ns, state.st_ino


def _header(path: Path, entry: Stored) -> int:
    """Where the numbers begin; ValueError where the file is not what the manifest says."""
    if path.is_symlink():
        raise ValueError(f"{path} is a link, and a data set holds its own files")
    size = _state(path)[0]
    if not path.is_file():
        raise ValueError(f"{path} is not a file; convert the data again")
    try:
        with path.open("rb") as file:
            version = np.lib.format.read_magic(file)
            read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
            shape, fortran, dtype = read(file)
            start = file.tell()
    except (ValueError, KeyError, EOFError):
        raise ValueError(f"{path} is not a .npy file; convert the data again") from None
    if shape != entry.shape or dtype != np.dtype(entry.dtype) or (fortran and len(shape) > 1):
        raise ValueError(
            f"{path} holds {dtype} of shape {shape}, and the manifest says {entry.dtype} of shape {entry.shape}"
        )
    if size != start + entry.nbytes:
        raise ValueError(f"{path} was truncated: it has {size} bytes, not {start + entry.nbytes}")
    return start
