"""Readers of single JSON values: each returns the value, or raises TypeError saying what it must be."""

import math
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def read_integer(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise TypeError("a whole number, 0 or more")
    return value


def read_number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError("a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise TypeError("finite")
    return number


def read_string(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("a string")
    return value


def read_flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError("true or false")
    return value


def list_of(read: Callable[[object], T]) -> Callable[[object], list[T]]:
    def read_all(value: object) -> list[T]:
        if not isinstance(value, list):
            raise TypeError("a list")
        try:
            return [read(item) for item in value]
        except TypeError as error:
            raise TypeError(f"a list, each entry {error}") from None

    return read_all


def optional(read: Callable[[object], T]) -> Callable[[object], T | None]:
    return lambda value: None if value is None else read(value)


def number_or(read: Callable[[object], T]) -> Callable[[object], T | float]:
    return lambda value: read(value) if isinstance(value, list) else read_number(value)
