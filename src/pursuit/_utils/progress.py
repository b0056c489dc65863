"""A progress bar: rich where it is installed, else plain text; in pipes and logs nothing, or some lines."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from .types import Callback
from .validation import require_package

WIDTH = 30  # characters of a plain bar
UPDATE_INTERVAL = 0.1  # seconds between two lines of it


class Progress:
    """A callback that shows a bar: ``callback=Progress("sizes", 50)``; done when all is done, or closed.

    Parameters
    ----------
    what : str, default "done"
        What is counted, written next to the bar.
    total : int or None, default None
        How many there are; None takes it from the first call.
    file : text file or None, default None
        Where to write; None is stderr.
    lines : bool, default False
        Where there is no terminal (a notebook, a log), write a line at each twentieth of the total.

    See Also
    --------
    path, stability : Take it as ``callback``, as other long calls do.

    Notes
    -----
    Called with (done, total) or (done, value): a whole number is the total, any other number is shown next to the bar.
    Returns None, so it never stops anything.

    Examples
    --------
    >>> import io, pursuit
    >>> with pursuit.Progress("sizes", 2, file=io.StringIO()) as progress:
    ...     progress(1, 2)
    """

    def __init__(
        self, what: str = "done", total: int | None = None, *, file: TextIO | None = None, lines: bool = False
    ) -> None:
        self.what, self.total, self.file, self.lines = what, total, sys.stderr if file is None else file, lines
        self._written = -1
        self.done = 0
        self._bar: Any = None
        self._task: Any = None
        self._last, self._open = 0.0, True

    def __call__(self, done: int, other: float | None = None) -> None:
        note = ""
        if isinstance(other, int):
            self.total = other
        elif other is not None:
            note = f"{float(other):.6g}"
        self.done = int(done)
        if self._open and self.file.isatty():
            self._show(note)
            if self.total is not None and self.done >= self.total:
                self.close()
        elif self._open and self.lines:
            self._write_line(note)

    def _write_line(self, note: str) -> None:
        """One line for a log, when a twentieth more is done (of an unknown total: at 1, 2, 4, 8, ...)."""
        mark = self.done.bit_length() if not self.total else 20 * self.done // self.total
        if mark != self._written:
            self._written = mark
            of = f" of {self.total}" if self.total else ""
            self.file.write(f"{self.what}: {self.done}{of}{f', {note}' if note else ''}\n")
            self.file.flush()

    def __copy__(self) -> "Progress":
        """A bar of its own on the same file."""
        return Progress(self.what, self.total, file=self.file, lines=self.lines)

    def __deepcopy__(self, memo: object) -> "Progress":
        return self.__copy__()

    def __reduce__(self) -> tuple[type["Progress"], tuple[str, int | None]]:
        """In another process a bar begins anew, on its standard error."""
        return Progress, (self.what, self.total)

    def close(self) -> None:
        """Remove the bar; calling it twice is harmless."""
        if self._open and self._bar is not None:
            self._bar.stop()
        elif self._open and self._last > 0:
            self.file.write("\n")
        self._open = False

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _show(self, note: str) -> None:
        if self._bar is None and self._last == 0:
            self._bar = _rich(self.file)
            if self._bar is not None:
                self._task = self._bar.add_task(self.what, total=self.total, note=note)
                self._bar.start()
        if self._bar is not None:
            self._bar.update(self._task, completed=self.done, total=self.total, note=note)
        elif self._last == 0 or time.perf_counter() - self._last > UPDATE_INTERVAL or self.done == self.total:
            self._last = time.perf_counter()
            self.file.write(f"\r{self._line(note)}\033[K")
            self.file.flush()

    def _line(self, note: str) -> str:
        if not self.total:
            return f"{self.what}: {self.done} {note}"
        full = round(WIDTH * min(1.0, self.done / self.total))
        return f"{self.what} {'#' * full}{'.' * (WIDTH - full)} {self.done}/{self.total} {note}"


def _rich(file: TextIO) -> Any:
    """A bar of rich's on this file; None without rich."""
    try:
        rich = require_package("rich.progress", "cli", "a bar")
        console = require_package("rich.console", "cli", "a bar").Console(file=file)
    except ImportError:
        return None
    return rich.Progress(
        rich.TextColumn("{task.description}"),
        rich.BarColumn(),
        rich.MofNCompleteColumn(),
        rich.TextColumn("{task.fields[note]}"),
        rich.TimeRemainingColumn(),
        console=console,
    )


@contextmanager
def progress_callback(callback: Callback, what: str, total: int | None = None) -> Iterator[Callable[..., object]]:
    """The function that a ``callback`` argument stands for: True is a bar, None or False nothing."""
    if callback is None or callback is False:
        yield lambda *args: None
    elif callback is True:
        with Progress(what, total, lines=True) as bar:
            yield bar
    elif callable(callback):
        yield callback
    else:
        raise TypeError(f"callback must be a function, True for a bar, or None; got {type(callback).__name__}")
