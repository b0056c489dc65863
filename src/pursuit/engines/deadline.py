"""The deadline of a run: the driver sets it, and code that may take long checks it.

A deadline holds for the thread that set it (and its context), and an inner one never ends after an outer one.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from .._utils.validation import check_number

_deadline: ContextVar[float] = ContextVar("deadline", default=float("inf"))


class TimeUpError(Exception):
    """The deadline has passed before a better point was found."""


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
def time_limited(seconds: float | None, unfinished: str, advice: str) -> Iterator[None]:
    """Run for so many seconds at most; a TimeoutError says what was unfinished then, and what to do."""
    end = None if seconds is None else time.perf_counter() + check_number(seconds, "time_limit")
    try:
        with until(end):
            yield
    except TimeUpError:
        raise TimeoutError(
            f"time_limit={seconds!r} was over before {unfinished}; allow more, or give {advice}"
        ) from None


@contextmanager
def without_deadline() -> Iterator[None]:
    """Run without the deadline: to assemble the results that were finished before it."""
    token = _deadline.set(float("inf"))
    try:
        yield
    finally:
        _deadline.reset(token)


def late() -> bool:
    """Whether the deadline has passed."""
    return time.perf_counter() >= _deadline.get()


def seconds_left() -> float:
    """Seconds until the deadline, at least 0; inf without one."""
    return max(0.0, _deadline.get() - time.perf_counter())


def check_time() -> None:
    """Raise TimeUpError if the deadline has passed: the driver returns the best point it has."""
    if late():
        raise TimeUpError
