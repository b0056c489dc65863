"""Sizes as they are typed: ``-k auto``, ``--ks 1-20``, ``--ks 1,2,5-8``."""

import re

MAX_SIZE = 1_000_000  # a slip of the finger should not fill the memory
DEFAULT_LARGEST_SIZE = 10  # where no sizes are given
SIZES_SYNTAX = "sizes such as 1-20 or 1,2,5-8"


def parse_k(text: str) -> int | None:
    """At most so many features; None where they are to be chosen."""
    if text.casefold() == "auto":
        return None
    if not re.fullmatch(r"\d+", text) or int(text) < 1:
        raise ValueError(f"-k must be auto or a whole number at least 1, got {text!r}")
    return int(text)


def parse_number(option: str, text: str) -> float | None:
    """A number at least 0; None where it is to be chosen."""
    if text.casefold() == "auto":
        return None
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise ValueError(f"{option} must be auto or a number at least 0, got {text!r}")
    return number


def parse_edges(text: str) -> int | None:
    """At most so many edges; None where they are to be chosen."""
    if text.casefold() == "auto":
        return None
    if not re.fullmatch(r"\d+", text):
        raise ValueError(f"--edges must be auto or a whole number at least 0, got {text!r}")
    return int(text)


def parse_sizes(text: str) -> list[int]:
    """Every size that is named, sorted and each once."""
    found: set[int] = set()
    for part in text.split(","):
        ends = re.fullmatch(r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?", part)
        if ends is None:
            raise ValueError(f"--ks must be {SIZES_SYNTAX}, got {text!r}")
        low, high = int(ends[1]), int(ends[2] or ends[1])
        if not low <= high <= MAX_SIZE:
            wrong = f"{low}-{high} counts down" if low > high else f"{high} is more than {MAX_SIZE}"
            raise ValueError(f"--ks must be {SIZES_SYNTAX}, and {wrong}")
        found.update(range(low, high + 1))
    return sorted(found)
