"""Where the flops run, and until when: threads of this process, one bounded pool, BLAS kept to one thread inside it."""

from .clock import TimeUpError, check_time, late, seconds_left, until, without_deadline
from .dask import Dask
from .maps import Map, in_threads, in_turn, streamed, summed, total
from .questions import Ask
from .threads import available_threads, threads

__all__ = [
    "Ask", "Dask", "Map", "TimeUpError", "available_threads", "check_time", "in_threads", "in_turn", "late",
    "seconds_left", "streamed", "summed", "threads", "total", "until", "without_deadline",
]  # fmt: skip
