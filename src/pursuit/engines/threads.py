"""One bounded set of threads: the kernels' own. BLAS runs single-threaded under them, so nothing is nested.

That also makes results independent of BLAS's thread count: only the kernels' own thread count matters.
"""

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import scipy.linalg.cython_blas as cython_blas

from .. import _core

_core.set_blas(*(cython_blas.__pyx_capi__[name] for name in ("dgemm", "dsyrk", "sgemm")))
_available = _core.get_threads()


def available_threads() -> int:
    """How many threads kernels use unless told otherwise (cores of this process, or OMP_NUM_THREADS)."""
    return _available


@functools.cache
def _blas() -> Any:
    from threadpoolctl import ThreadpoolController  # scanning the loaded libraries costs a millisecond: once

    return ThreadpoolController()


@contextmanager
def threads(n_jobs: int | None = None) -> Iterator[int]:
    """Run kernels on ``n_jobs`` threads (None: as many as now; -1: all available; -2: all but one), BLAS on one."""
    count = _core.get_threads() if n_jobs is None else n_jobs
    if count < 0:
        count = _available + 1 + count
    count = max(1, count)
    before = _core.set_threads(count)
    try:
        with _blas().limit(limits=1, user_api="blas"):
            yield count
    finally:
        _core.set_threads(before)
