"""The values of one column of a table: numbers, dates or text, with what is missing."""

import numbers
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._utils.types import Array, ArrayLike, Vector
from .dates import as_datetime64, parse_dates

if TYPE_CHECKING:
    from pandas import DataFrame, Series

MIN_NUMBER_SHARE = 0.9  # of the texts that are there: with fewer numbers among them a column is a category


class Values(NamedTuple):
    """A column: ``kind`` is number (float64, NaN), date (datetime64, NaT) or text (objects, None).

    ``whole``: whether numbers are of a type without fractions.
    """

    kind: str
    array: Array
    whole: bool = False


def iterate_arrays(X: "Array | DataFrame") -> Iterator[tuple[Array, bool]]:
    """The columns of a data frame or a matrix as arrays, and whether each is declared to be a category."""
    if isinstance(X, np.ndarray):
        yield from ((X[:, j], False) for j in range(X.shape[1]))
        return
    for j, name in enumerate(X.columns):
        yield as_array(X.iloc[:, j] if hasattr(X, "iloc") else X[name])


def as_array(series: "Series") -> tuple[Array, bool]:
    """A column as an array, and whether it is declared to be a category."""
    categorical = str(getattr(series, "dtype", "")).lower().startswith(("category", "categorical", "enum"))
    return np.asarray(series.to_list() if categorical else series, dtype=object if categorical else None), categorical


def read_values(array: Array, categorical: bool) -> Values:
    """The values of a column, by what they are."""
    kind = array.dtype.kind
    if categorical:
        return Values("text", to_levels(array))
    if kind in "iufb":
        return Values("number", array.astype(np.float64, copy=False), kind in "iu")
    if kind == "M":
        return Values("date", array.astype("datetime64[us]"))
    if kind == "m":
        return Values("number", _in_days(array))
    present = [entry for entry in array.tolist() if not is_missing(entry)] if kind == "O" else ["text"]
    if all(isinstance(entry, numbers.Real | Decimal | np.bool_) for entry in present):
        whole = all(isinstance(entry, numbers.Integral) and not isinstance(entry, bool) for entry in present)
        return Values("number", to_numbers(array)[0], whole)
    if all(isinstance(entry, date) for entry in present):
        return Values("date", to_dates(array, None)[0])
    return Values("text", to_levels(array))


def is_missing(entry: ArrayLike | None) -> bool:
    """Whether an entry is None, NaN, NA, NaT or an empty text."""
    if isinstance(entry, str):
        return not entry or entry.isspace()
    return entry is None or type(entry).__name__ in ("NAType", "NaTType") or (np.ndim(entry) == 0 and entry != entry)


def to_numbers(array: Array) -> tuple[Vector, list[str]]:
    """Numbers (NaN where there is none), and the entries that are no numbers."""
    if array.dtype.kind in "iufb":
        return array.astype(np.float64, copy=False), []
    if array.dtype.kind == "m":
        return _in_days(array), []
    found, wrong = np.full(len(array), np.nan), []
    for i, entry in enumerate(array.tolist()):
        if is_missing(entry):
            continue
        try:
            if isinstance(entry, str) and "_" in entry:  # float("1_000") is 1000
                raise ValueError
            found[i] = float(entry)
        except (TypeError, ValueError):
            wrong.append(str(entry))
    return found, wrong


def to_dates(array: Array, form: str | None) -> tuple[Array, list[str]]:
    """Dates (NaT where there is none), and the entries that are none; texts are read in the format ``form``."""
    if array.dtype.kind == "M":
        return array.astype("datetime64[us]"), []
    nothing = np.datetime64("NaT", "us")
    found, texts = np.full(len(array), nothing), {}
    for i, entry in enumerate(array.tolist()):
        if is_missing(entry):
            continue
        if isinstance(entry, date):
            found[i] = as_datetime64(entry)
        else:
            texts[i] = str(entry).strip()
    if form is None:
        return found, list(texts.values())
    found[list(texts)], wrong = parse_dates(texts.values(), form)
    return found, wrong


def to_levels(array: Array) -> Array:
    """Each entry as the text of its level, without spaces around it; None where it is missing."""
    known: dict[object, str | None] = {}
    found = np.full(len(array), None, dtype=object)
    for i, entry in enumerate(array.tolist()):
        if isinstance(entry, str):
            if entry not in known:
                known[entry] = entry.strip() or None
            found[i] = known[entry]
        elif not is_missing(entry):
            found[i] = _level(entry)
    return found


def _level(entry: ArrayLike) -> str:
    """3 and 3.0 are one level: whole numbers become floats where some of a column are missing."""
    if isinstance(entry, float) and entry.is_integer():
        return str(int(entry))
    return str(entry)


def _in_days(array: Array) -> Vector:
    days = array.astype("timedelta64[us]") / np.timedelta64(1, "D")
    return np.asarray(days, dtype=np.float64)
