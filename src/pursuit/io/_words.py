"""Small pieces of error messages."""

from collections.abc import Iterable
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from pursuit._errors import NEAR, listed

__all__ = ["listed", "nearest", "need"]


def nearest(name: str, known: Iterable[str]) -> str:
    """``; did you mean 'bmi'?`` when a known name is near, else what there is."""
    names = [str(other) for other in known]
    folded = {other.casefold(): other for other in names}
    close = get_close_matches(name.casefold(), list(folded), n=1, cutoff=NEAR)
    if close:
        return f"; did you mean {folded[close[0]]!r}?"
    return f"; there are {listed(map(repr, names))}" if names else ""


def need(package: str, extra: str, what: str) -> Any:
    """Import an optional package, or say which extra brings it."""
    try:
        return import_module(package)
    except ImportError as error:
        root = package.partition(".")[0]
        raise ImportError(f'{what} needs {root}: pip install "pursuit[{extra}]"') from error
