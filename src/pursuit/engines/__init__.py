"""Where the flops run, and until when: threads of this process, one bounded pool, BLAS kept to one thread inside it."""

from .clock import TimeUpError, check_time, late, seconds_left, until
from .threads import available_threads, threads

__all__ = ["TimeUpError", "available_threads", "check_time", "late", "seconds_left", "threads", "until"]
