"""Threads, deadlines and maps over parts: serial, threaded, or on Dask workers."""

from .dask import Dask
from .deadline import TimeUpError, check_time, late, seconds_left, time_limited, until, without_deadline
from .maps import Map, in_threads, in_turn, streamed, summed, total
from .remote import Ask
from .sums import SumOfParts, over_parts
from .threads import available_threads, threads

__all__ = [
    "Ask",
    "Dask",
    "Map",
    "SumOfParts",
    "TimeUpError",
    "available_threads",
    "check_time",
    "in_threads",
    "in_turn",
    "late",
    "over_parts",
    "seconds_left",
    "streamed",
    "summed",
    "threads",
    "time_limited",
    "total",
    "until",
    "without_deadline",
]
