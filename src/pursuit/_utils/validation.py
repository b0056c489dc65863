"""Checks of arguments that several layers share: one sentence each, naming the argument and what would be right."""

import difflib
import numbers
import os
from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from .arrays import ensure_aligned
from .types import Array, ArrayLike, Vector

MIN_SIMILARITY = 0.6  # similarity above which a name may have been meant: 'quantile' and 'squared' have 0.53
MAX_LISTED_NAMES = 20  # names that are listed


def format_list(names: Iterable[object], limit: int = 5) -> str:
    """``a, b, c and 7 more``."""
    words = [str(name) for name in names]
    more = len(words) - limit
    return ", ".join(words[:limit]) + (f" and {more} more" if more > 0 else "")


def first_line(error: Exception) -> str:
    """The first line of an error's message."""
    return str(error).strip().partition("\n")[0] or type(error).__name__


def match_name(name: str, known: Iterable[str]) -> str | None:
    """The known name that equals ``name`` up to case; None where there is none."""
    names = list(known)
    if name in names:
        return name
    return next((other for other in names if other.casefold() == name.casefold()), None)


def suggestion(name: str, known: Iterable[str]) -> str:
    """``did you mean 'bmi'?`` when a known name is similar, else an empty string."""
    folded = {other.casefold(): other for other in map(str, known)}
    close = difflib.get_close_matches(name.casefold(), list(folded), n=1, cutoff=MIN_SIMILARITY)
    return f"did you mean {folded[close[0]]!r}?" if close else ""


def unknown_name_message(name: str, known: Iterable[str]) -> str:
    """``did you mean 'grahtp'? (known: grahtp, omp)``: for short lists, which are shown whole."""
    names = sorted(known)
    hint, there = suggestion(name, names), f"known: {format_list(names, MAX_LISTED_NAMES)}"
    return f"{hint} ({there})" if hint else there


def suggestion_clause(name: str, known: Iterable[str]) -> str:
    """``; did you mean 'bmi'?`` or ``; there are 'age', 'bmi' and 8 more``: for long lists."""
    names = [str(other) for other in known]
    hint = suggestion(name, names) or (f"there are {format_list(map(repr, names))}" if names else "")
    return f"; {hint}" if hint else ""


def resolve_name(name: str, what: str, known: Iterable[str]) -> str:
    """The known name that equals ``name`` up to case; ValueError where there is none."""
    names = list(known)
    found = match_name(name, names)
    if found is None:
        raise ValueError(f"{what} {name!r} is unknown; {unknown_name_message(name, names)}")
    return found


def check_choice(value: object, name: str, known: Sequence[str]) -> None:
    """Raise unless ``value`` is one of ``known``."""
    if not isinstance(value, str) or value not in known:
        raise ValueError(f"{name} {value!r} is unknown; {unknown_name_message(str(value), known)}")


def require_package(package: str, extra: str, what: str, name: str | None = None) -> Any:
    """Import an optional package; the ImportError names the extra that installs it."""
    try:
        return import_module(package)
    except ImportError as error:
        name = name or package.partition(".")[0]
        raise ImportError(f'{what} needs {name}: pip install "pursuit[{extra}]"') from error


def check_integer(value: object, name: str, expected: str, low: int, high: float = np.inf) -> int:
    """A whole number from ``low`` to ``high``; ``expected`` says so in words."""
    if type(value) is int and low <= value <= high:
        return value
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be {expected}, got {value!r}")
    number = int(value)
    if not low <= number <= high:
        raise ValueError(f"{name} must be {expected}, got {number}")
    return number


def check_k(k: object, name: str = "k") -> int:
    """A positive int, or an error."""
    if isinstance(k, str) and k.casefold() in ("auto", "cv", "best"):
        raise TypeError(
            f"{name} must be a positive integer, got {k!r}: SparseRegressorCV and SparseClassifierCV choose k"
        )
    return check_integer(k, name, "a positive integer", 1)


def check_count(value: object, name: str, low: int = 0, high: int | None = None) -> int:
    """A whole number from ``low`` up (to ``high``)."""
    if high is None:
        return check_integer(value, name, f"a whole number at least {low}", low)
    return check_integer(value, name, f"a whole number from {low} to {high}", low, high)


def check_sizes(ks: object, low: int = 0) -> list[int]:
    """Sizes, sorted and each once."""
    expected = "ks must be a list of sizes such as range(1, 11)"
    if isinstance(ks, str | bytes | dict) or not np.iterable(ks):
        raise TypeError(f"{expected}, got {ks!r}")
    entries = list(ks)
    if any(np.iterable(k) and not isinstance(k, str) for k in entries):
        raise TypeError(f"{expected}, got lists in it")
    sizes = sorted({check_count(k, "an entry of ks", low) for k in entries})
    if not sizes:
        raise ValueError("ks is empty; give at least one size")
    return sizes


def check_number(value: object, name: str, low: float = 0.0, strict: bool = False) -> float:
    """A finite real number at least (or above) ``low``."""
    if type(value) is float and (low < value < np.inf or (value == low and not strict)):
        return value
    expected = "" if low == -np.inf else f" {'greater than' if strict else 'at least'} {low:g}"
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number{expected}, got {value!r}")
    number = float(value)
    if not np.isfinite(number) or number < low or (strict and number <= low):
        raise ValueError(f"{name} must be a finite number{expected}, got {value!r}")
    return number


def check_flag(value: object, name: str) -> bool:
    """True or False (or 1 or 0): text such as "no" would count as True."""
    if type(value) is bool:
        return value
    if not isinstance(value, bool | np.bool_ | numbers.Integral) or value not in (0, 1):
        raise TypeError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def check_fraction(value: object, name: str) -> float:
    """A number from 0 to 1."""
    share = check_number(value, name)
    if share > 1:
        raise ValueError(f"{name} must be a number from 0 to 1, got {value!r}")
    return share


def check_path(path: object, name: str = "path") -> Path:
    """Text or a path object, as a path."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"{name} must be a path, got {path!r}")
    return Path(path)


def check_start(start: object, expected: str) -> Array:
    """Coefficients to start from, as numbers; whether their shape is right is for the caller to check."""
    try:
        return np.asarray(start, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"start must be a Result or {expected}, got {start!r}") from None


def check_mask(values: object, name: str) -> None:
    """A masked array whose mask hides something is an error: its numbers would be taken without the mask."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        hidden = int(np.ma.count_masked(values))
        raise ValueError(
            f"{name} is a masked array with {hidden} masked entries; fill them in, or leave those rows out"
        )


def check_shape(values: object, name: str) -> tuple[int, ...]:
    """The shape of an array or of nested lists; ValueError where rows differ in length, or where there is nothing."""
    if values is None or type(values).__name__ == "NAType":
        raise ValueError(f"{name} is missing: give one entry per row of X")
    if hasattr(values, "tocsr"):
        raise ValueError(f"{name} must be a dense array, got a {type(values).__name__}; use toarray()")
    if isinstance(values, str | bytes):
        raise ValueError(f"{name} must be an array of numbers or labels, got the text {values!r}")
    shape = getattr(values, "shape", None)
    try:
        return shape if isinstance(shape, tuple) else np.asarray(values).shape
    except ValueError:
        raise ValueError(f"{name} must be an array; its rows have different lengths") from None


def check_array(values: object, name: str, purpose: str = "") -> Array:
    """Finite float64 numbers, of any shape; text and dates are no numbers, even where NumPy could make them some."""
    check_mask(values, name)
    check_shape(values, name)
    array = np.asarray(values)
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} must be real")
    try:
        if array.dtype.kind in "mMSUV" or (array.dtype.kind == "O" and any(isinstance(v, str) for v in array.flat)):
            raise TypeError
        floats = ensure_aligned(np.ascontiguousarray(array, dtype=np.float64))
    except OverflowError:
        raise ValueError(f"{name} contains NaN or infinity (or numbers that are too large)") from None
    except (TypeError, ValueError):
        what = type(values).__name__ if array.ndim == 0 and array.dtype.kind == "O" else f"dtype {array.dtype}"
        raise ValueError(f"{name} must be numeric{purpose}, got {what}") from None
    if not np.isfinite(floats).all():
        raise ValueError(f"{name} contains NaN or infinity")
    return floats


def check_vector(values: ArrayLike, name: str, length: int) -> Vector:
    """A finite float64 vector with one entry per row."""
    vector = check_array(values, name)
    if vector.shape != (length,):
        raise ValueError(f"{name} must have one entry per row of X, shape ({length},), got shape {np.shape(values)}")
    return vector


def check_offset(offset: ArrayLike | None, n: int, outputs: int = 0) -> Vector | None:
    """An offset per row, with ``outputs`` (0: one, without an axis of its own) also one per output; None stays None."""
    if offset is None:
        return None
    if not outputs or len(check_shape(offset, "offset")) < 2:
        vector = check_vector(offset, "offset", n)
        return vector[:, None] if outputs else vector
    matrix = check_array(offset, "offset")
    if matrix.shape not in ((n, 1), (n, outputs)):
        raise ValueError(f"offset must have shape ({n},) or ({n}, {outputs}), got shape {matrix.shape}")
    return matrix


def check_weights(sample_weight: ArrayLike | None, n: int) -> Vector:
    """Non-negative weights, not all zero, scaled to sum to one."""
    if sample_weight is None:
        return np.full(n, 1.0 / n)
    if isinstance(sample_weight, numbers.Real) or (isinstance(sample_weight, np.ndarray) and sample_weight.ndim == 0):
        sample_weight = np.full(n, sample_weight)
    weights = check_vector(sample_weight, "sample_weight", n)
    if weights.min() < 0:
        raise ValueError(f"sample_weight must be non-negative, got {weights.min():g}")
    top = weights.max()
    if top == 0:
        raise ValueError("sample_weight is zero for every row; at least one weight must be positive")
    weights = weights / top  # so that no sum of finite weights overflows
    return np.asarray(weights / weights.sum())
