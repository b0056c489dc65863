"""Where the flops run. Here: threads of this process, one bounded pool, BLAS kept to one thread inside it."""

from .threads import available_threads, threads

__all__ = ["available_threads", "threads"]
