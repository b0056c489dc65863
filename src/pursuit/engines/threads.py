"""One bounded set of threads: the kernels' own. BLAS runs single-threaded under them, so nothing is nested.

That also makes results independent of BLAS's thread count: only the kernels' own thread count matters.
"""

import functools
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral
from typing import Any

from .. import _core

_available = _core.get_threads()


def available_threads() -> int:
    """How many threads kernels use by default (OMP_NUM_THREADS or the cores, within affinity and quota)."""
    return _available


@functools.cache
def _blas_libraries() -> list[Any]:
    from threadpoolctl import ThreadpoolController  # scanning the loaded libraries costs a millisecond: once

    return [library for library in ThreadpoolController().lib_controllers if library.user_api == "blas"]


def _let_go() -> None:
    """From threadpoolctl 3.7 on only the thread that set a limit first may change it: here the last to leave does."""
    for library in _blas_libraries():
        clear = getattr(type(library), "clear_controlling_thread", None)
        if clear is not None:
            clear(force=True)


class _SingleBlas:
    """BLAS on one thread from the first who enters to the last who leaves: its setting is the whole process's."""

    def __init__(self) -> None:
        self.lock, self.inside, self.before = threading.Lock(), 0, list[tuple[Any, int]]()

    def __enter__(self) -> None:
        with self.lock:
            if self.inside == 0:
                counts = [(library, library.num_threads) for library in _blas_libraries()]
                self.before = [(library, count) for library, count in counts if count != 1]
                if self.before:
                    _let_go()
                for library, _ in self.before:
                    library.set_num_threads(1)
            self.inside += 1

    def __exit__(self, *exception: object) -> None:
        with self.lock:
            self.inside -= 1
            if self.inside == 0 and self.before:
                _let_go()
                for library, count in self.before:
                    library.set_num_threads(count)
                _let_go()


_single = _SingleBlas()
# a child forked meanwhile has none of the threads that were inside; its BLAS is left on one thread
os.register_at_fork(after_in_child=_single.__init__)  # type: ignore[misc]

MAX_THREADS = 1 << 20  # above it a number of threads is a mistake


@contextmanager
def threads(n_jobs: int | None = None) -> Iterator[int]:
    """Run kernels on ``n_jobs`` threads (None: as many as now; -1: all available; -2: all but one), BLAS on one."""
    if n_jobs is not None and (
        isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or not 0 < abs(n_jobs) < MAX_THREADS
    ):
        raise ValueError(f"n_jobs must be a number of threads, -1 for all of them, or None; got {n_jobs!r}")
    count = _core.get_threads() if n_jobs is None else int(n_jobs)
    if count < 0:
        count = _available + 1 + count
    count = max(1, count)
    before = _core.set_threads(count)
    try:
        with _single:
            yield count
    finally:
        _core.set_threads(before)
