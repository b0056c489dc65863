"""Column names: read from a data frame, shown in messages, resolved to indices."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._utils.types import ArrayLike
from .row_order import warn_column_order
from .types import Array, Columns, ColumnsLike, MatrixLike
from .validation import format_list, unknown_name_message

if TYPE_CHECKING:
    from pandas import DataFrame
    from scipy.sparse import csr_array

Names = tuple[str, ...]


def get_column_names(X: MatrixLike) -> Names | None:
    """A data frame's column names; None where X has none, or where they are not strings. Each may occur once."""
    if type(X) is np.ndarray:
        return None
    refuse_lazy(X)
    columns = getattr(X, "columns", None)
    names = () if columns is None else tuple(columns)
    refuse_duplicates(names)
    return names if names and all(isinstance(name, str) for name in names) else None


def refuse_lazy(X: MatrixLike) -> None:
    """Raise where X is a query of polars that has not been run."""
    if hasattr(X, "collect") and hasattr(X, "lazy"):
        raise TypeError(f"X must hold its rows, got a {type(X).__name__}; call collect() first")


def refuse_duplicates(names: Iterable[object], what: str = "X") -> None:
    """Raise where columns share a name, naming those: a choice, a prediction or a table by name would be ambiguous."""
    times = Counter(names)
    twice = [name for name, count in times.items() if count > 1]
    if twice:
        raise ValueError(
            f"{what} has several columns named {format_list(map(repr, twice))}; give every column its own name"
        )


def check_names(names: object, count: int, what: str) -> Names:
    """Names that a user gives for the columns of something: as many, and each once."""
    if isinstance(names, str) or not np.iterable(names) or len(own := tuple(str(name) for name in names)) != count:
        got = repr(names) if isinstance(names, str) or not np.iterable(names) else len(own)
        raise ValueError(f"names must name the {count} columns of {what}, each by a word of a list, got {got}")
    refuse_duplicates(own, what)
    return own


def column_label(cols: Iterable[int], names: Sequence[str] | None = None) -> str:
    """``column 'bmi'``, ``columns 3, 4 and 7 more``."""
    if names is not None:
        return quoted_columns(str(names[j]) for j in cols)
    words = [str(int(j)) for j in cols]
    return f"column{'s' * (len(words) != 1)} {format_list(words)}"


def quoted_columns(names: Iterable[object]) -> str:
    """``column 'bmi'``, ``columns 'age', 'bmi'``."""
    words = [repr(name) for name in names]
    return f"column{'s' * (len(words) != 1)} {format_list(words)}"


def resolve_columns(
    columns: ColumnsLike, argument: str, dim: int, names: Sequence[str] | None = None
) -> Sequence[int] | Columns:
    """Column indices from indices, names (or both), or a mask; the indices are not checked."""
    if columns is None:
        return ()
    entries: Any = [columns] if isinstance(columns, str) or not np.iterable(columns) else columns
    if not isinstance(entries, np.ndarray) or entries.dtype.kind not in "iu":
        warn_column_order(names, **{argument: entries})
        entries = list(entries)
        if any(isinstance(column, str) for column in entries):
            entries = _indices(entries, argument, names)
    if len(entries) and all(isinstance(column, bool | np.bool_) for column in entries):
        if len(entries) != dim:
            raise ValueError(f"{argument} is a mask of shape ({len(entries)},), and there are {dim} columns")
        return np.flatnonzero(entries)
    return entries


def _indices(columns: Sequence[int | str], argument: str, names: Sequence[str] | None) -> list[int]:
    """Indices where there are names."""
    place = {name: j for j, name in enumerate(names or ())}
    for name in (column for column in columns if isinstance(column, str)):
        if name not in place:
            there = "X has no column names" if names is None else unknown_name_message(name, names)
            raise ValueError(f"{argument} names column {name!r}, which X does not have; {there}")
    return [place[column] if isinstance(column, str) else column for column in columns]


def refuse_text(X: MatrixLike) -> None:
    """Raise where columns of a data frame hold text, dates or other things that are no numbers, naming all of them."""
    if getattr(X, "columns", None) is None:
        return
    found = [(name, _non_numeric_entries(values)) for name, values in iterate_columns(X)]
    wrong = [(name, entries[0]) for name, entries in found if entries]
    missing = [name for name, entries in found if entries == []]
    if wrong:
        are, them = ("is", "it") if len(wrong) == 1 else ("are", "them")
        names, (example, *_) = zip(*wrong, strict=True)
        raise ValueError(
            f"X must be numeric: {quoted_columns(names)} {are} not (for example {str(example)[:30]!r} in {names[0]!r});"
            f" turn {them} into numbers, or leave {them} out"
        ) from None
    if missing:
        raise ValueError(f"X contains NaN or infinity in {quoted_columns(missing)}") from None


def refuse_kinds(X: MatrixLike) -> None:
    """Raise where X holds dates or text, which NumPy would turn into numbers without a warning, or complex numbers."""
    dtypes = getattr(X, "dtypes", ())
    dtypes = list(dtypes) if hasattr(dtypes, "__iter__") else []  # a Series has one: that it is no table is said later
    if any(_is_temporal(dtype) for dtype in dtypes):
        refuse_text(X)
    kinds = [getattr(dtype, "kind", "") for dtype in (*dtypes, getattr(X, "dtype", None))]
    if "c" in kinds:
        raise ValueError("Complex data not supported: X must be real")
    if isinstance(X, np.ndarray) and X.dtype.kind in "mMSUV":
        raise ValueError(
            f"X must be numeric, got dtype {X.dtype}; encode strings, categories and dates as numbers first"
        )


def _is_temporal(dtype: object) -> bool:
    return bool(dtype.is_temporal()) if hasattr(dtype, "is_temporal") else getattr(dtype, "kind", "") in "mM"


def refuse_missing(X: "Array | csr_array", names: Sequence[str] | None = None, columns: Columns | None = None) -> None:
    """Raise where columns of an array or sparse matrix hold NaN or infinity, naming all of them.

    ``columns``: which columns of the user's X these are, where X holds some of them.
    """
    bad = np.union1d(*non_finite_columns(X))
    bad = bad if columns is None else columns[bad]
    if len(bad):
        raise ValueError(f"X contains NaN or infinity in {column_label(bad, names)}")


def non_finite_columns(X: "Array | csr_array") -> tuple[Columns, Columns]:
    """The columns of an array or sparse matrix that hold NaN, and those that hold infinity."""
    values: Array = X if isinstance(X, np.ndarray) else X.data
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(np.sum(values, dtype=np.float64)):  # at a pass without a mask of X's size
            return np.empty(0, np.int64), np.empty(0, np.int64)
    bad = np.isnan(values), np.isinf(values)
    nan, inf = (
        np.flatnonzero(b.any(axis=0)) if isinstance(X, np.ndarray) else np.unique(X.tocoo().col[b]) for b in bad
    )
    return nan, inf


def iterate_columns(X: "DataFrame") -> Iterator[tuple[str, Array]]:
    """A data frame's columns as arrays, with what they are called."""
    for j, name in enumerate(X.columns):
        yield name, np.asarray(X.iloc[:, j] if hasattr(X, "iloc") else X[name])


def _non_numeric_entries(values: Array) -> list[object] | None:
    """Some entries that are no numbers; an empty list where they are only missing, None where all are numbers."""
    if values.dtype.kind in "mM":
        return list(values[:1])
    try:
        values.astype(np.float64)
        return None
    except (TypeError, ValueError):
        return first_non_numeric(values)


def first_non_numeric(values: Iterable[ArrayLike | None]) -> list[object]:
    """The first entry that is neither a number nor missing, in a list; an empty one where there is none."""
    for value in values:
        if value is None or type(value).__name__ == "NAType" or (np.ndim(value) == 0 and value != value):  # missing
            continue
        try:
            float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            return [value]
    return []
