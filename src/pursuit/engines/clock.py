"""Whose time it is: the driver sets the deadline of a run, and whatever may take long inside it asks.

A deadline holds for the thread that set it (and its context), and an inner one never ends after an outer one.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_deadline: ContextVar[float] = ContextVar("deadline", default=float("inf"))


class TimeUpError(Exception):
    """The run's time is up in the middle of something that has no better point to give."""


@contextmanager
def until(moment: float | None) -> Iterator[None]:
    """Run under a deadline, a reading of ``time.perf_counter()``; None sets none."""
    if moment is None:
        yield
        return
    token = _deadline.set(min(moment, _deadline.get()))
    try:
        yield
    finally:
        _deadline.reset(token)


@contextmanager
def without_deadline() -> Iterator[None]:
    """Run on although time is up: to put together what was finished before."""
    token = _deadline.set(float("inf"))
    try:
        yield
    finally:
        _deadline.reset(token)


def late() -> bool:
    """Whether time is up."""
    return time.perf_counter() >= _deadline.get()


def seconds_left() -> float:
    """What is left of the time, at least 0; inf without a deadline."""
    return max(0.0, _deadline.get() - time.perf_counter())


def check_time() -> None:
    """End what is going on if time is up: the driver gives the best point it has."""
    if late():
        raise TimeUpError
