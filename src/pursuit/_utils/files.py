"""Atomic writes of files, and file locks that end with their process."""

import contextlib
import errno
import os
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

MAX_NAME_LENGTH = 100  # characters of a name that its temporary name begins with: file systems allow 255 in all
_IN_USE = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)


def temporary_path(path: Path) -> Path:
    """A path beside ``path`` to write to before it is renamed."""
    return path.with_name(f".{path.name[:MAX_NAME_LENGTH]}.{secrets.token_hex(4)}.part")


@contextmanager
def atomic_write(path: Path) -> Iterator[IO[bytes]]:
    """A binary file that takes the place of ``path`` when it is whole and on the disk.

    Where something goes wrong, what was there before stays, nothing else is left behind, and an ``OSError`` names
    ``path``. What is no regular file, such as /dev/stdout, is written to as it is.
    """
    direct = path.exists() and not path.is_file()
    half = path if direct else temporary_path(path)
    try:
        try:
            with open(half, "wb" if direct else "xb") as file:
                yield file
                file.flush()
                if not direct:
                    os.fsync(file.fileno())
            if not direct:
                os.replace(half, path)
        finally:
            if not direct:
                half.unlink(missing_ok=True)
    except OSError as error:
        if error.errno is None or error.filename not in (None, str(half), half):
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def write_text(path: Path, text: str) -> None:
    """The whole text as UTF-8 with its line ends as they are, or what was there before."""
    with atomic_write(path) as file:
        file.write(text.encode())


def remove_temporary_files(path: Path) -> None:
    """Remove what killed processes have left of ``atomic_write(path)``; no other process may be writing it."""
    start, end = f".{path.name[:MAX_NAME_LENGTH]}.", ".part"
    for name in os.listdir(path.parent):
        middle = name[len(start) : -len(end)]
        if (
            name.startswith(start)
            and name.endswith(end)
            and len(middle) == 8
            and set(middle) <= set("0123456789abcdef")
        ):
            with contextlib.suppress(OSError):
                (path.parent / name).unlink()


class InUseError(Exception):
    """Somebody else holds the lock."""


class FileLock:
    """The right of one run to a file, held until ``release`` or until the process ends, however that happens.

    It is a lock of the system's on an empty file beside it. POSIX record locks are the process's own: a child that was
    forked does not go on holding them. They do not tell threads apart, which is what ``_held`` is for.
    """

    _guard = threading.Lock()
    _held: dict[str, int] = {}  # noqa: RUF012 -- of the process; from a lock file to who took it

    def __init__(self, path: Path) -> None:
        self.path = path.with_name(f".{path.name}.lock")
        self.key, self.handle = os.path.realpath(self.path), -1
        with self._guard:
            if self._held.get(self.key) == os.getpid():  # and a second handle, closed, would release the lock
                raise InUseError
            while not self._try_lock():
                pass
            self._held[self.key] = os.getpid()

    def _try_lock(self) -> bool:
        """Whether the lock is on the file that has this name; its last owner may just have removed it."""
        self.handle = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _lock(self.handle)
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(self.handle), os.stat(self.path)):
                    return True
        except BaseException:
            os.close(self.handle)
            raise
        os.close(self.handle)
        return False

    def release(self) -> None:
        """Give it back; a second time does nothing."""
        with self._guard:
            if self.handle < 0 or self._held.get(self.key) != os.getpid():
                return
            windows = fcntl is None  # where an open file cannot be removed
            if not windows:
                self._remove()
            os.close(self.handle)
            if windows:
                self._remove()
            self.handle = -1
            del self._held[self.key]

    def _remove(self) -> None:
        with contextlib.suppress(OSError):
            if self.path.stat().st_size == 0:
                self.path.unlink()


def _lock(handle: int) -> None:
    try:
        if fcntl is not None:
            fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            import msvcrt

            windows: Any = msvcrt
            windows.locking(handle, windows.LK_NBLCK, 1)
    except OSError as error:
        if error.errno in _IN_USE:
            raise InUseError from None
        # a file system without locks: runs cannot be distinguished, and a run is better than none
