"""Files with named columns: CSV, TSV, Parquet."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pursuit._utils.column_names import first_non_numeric, refuse_duplicates
from pursuit._utils.types import Array
from pursuit._utils.validation import first_line, format_list, require_package, suggestion_clause
from pursuit.io._columns import Parts, RequestedColumns


def read_csv(path: Path, requested: RequestedColumns) -> Parts:
    pandas = require_package("pandas", "io", f"reading {path}")
    separator = "\t" if ".tsv" in path.name.lower() else ","
    try:
        check_header(pandas, path, separator)
        with warnings.catch_warnings():
            warnings.simplefilter("error", pandas.errors.ParserWarning)  # rows longer than the header
            frame = pandas.read_csv(path, sep=separator, index_col=False, low_memory=False, **exact_floats(pandas))
        features = _choose(path, [str(name) for name in frame.columns], requested)
    except pandas.errors.EmptyDataError as error:
        raise ValueError(f"{path} is empty") from error
    except (pandas.errors.ParserError, pandas.errors.ParserWarning, UnicodeDecodeError, EOFError, OSError) as error:
        raise ValueError(f"{path} cannot be read as CSV: {first_line(error)}") from error
    return _split(path, frame, features, requested)


def read_parquet(path: Path, requested: RequestedColumns) -> Parts:
    pyarrow = require_package("pyarrow", "io", f"reading {path}")
    parquet = require_package("pyarrow.parquet", "io", f"reading {path}")
    require_package("pandas", "io", f"reading {path}")
    try:
        header = [name for name in parquet.read_schema(path).names if not name.startswith("__index_level_")]
        features = _choose(path, header, requested)
        used = [name for name in header if name in {*features, requested.target}]
        frame = parquet.read_table(path, columns=used).to_pandas(ignore_metadata=True)
    except (pyarrow.ArrowException, OSError) as error:
        raise ValueError(f"{path} cannot be read as Parquet: {first_line(error)}") from error
    return _split(path, frame, features, requested)


def check_header(pandas: Any, path: Path, separator: str) -> None:
    """Raise where a CSV file has two columns of one name: pandas would rename the second."""
    first = pandas.read_csv(path, sep=separator, header=None, nrows=1, dtype=str, keep_default_na=False)
    refuse_duplicates((name for name in first.iloc[0] if name.strip()), str(path))


def _choose(path: Path, header: Sequence[str], requested: RequestedColumns) -> list[str]:
    """The feature columns, in order; the target is a column of its own."""
    if len(header) == 1 and any(mark in header[0] for mark in ";\t|,"):
        raise ValueError(f"{path} has one column, {header[0]!r}: separate columns with commas (with tabs in .tsv)")
    unnamed = [i for i, name in enumerate(header, 1) if not name.strip() or name.startswith("Unnamed: ")]
    if unnamed:
        raise ValueError(f"column {unnamed[0]} of {path} has no name; name it, or write the file without row numbers")
    if requested.target is not None and requested.target not in header:
        raise ValueError(
            f"{path} has no {requested.role} column {requested.target!r}{suggestion_clause(requested.target, header)}"
        )
    return requested.features(path, header, requested.target)


def _split(path: Path, frame: Any, features: list[str], requested: RequestedColumns) -> Parts:
    frame.columns = [str(name) for name in frame.columns]
    kept = frame[features]
    text = [name for name in features if getattr(kept[name].dtype, "kind", "O") not in "iufb"]
    if len(frame) and text:
        shown = "".join(
            f" (for example {str(value)[:30]!r} in {text[0]!r})" for value in first_non_numeric(kept[text[0]])
        )
        columns, are, them = ("column", "is", "it") if len(text) == 1 else ("columns", "are", "them")
        raise ValueError(
            f"{columns} {format_list(map(repr, text))} of {path} {are} not numeric{shown};"
            f" turn {them} into numbers (one column per category), or leave {them} out"
        )
    single = bool(features) and all(kept[name].dtype == np.float32 for name in features)
    X = kept.to_numpy(dtype=np.float32 if single else np.float64, na_value=np.nan)
    y = None if requested.target is None else _target(path, frame[requested.target], requested)
    return X, y, features


def _target(path: Path, column: Any, requested: RequestedColumns) -> Array:
    called = f"the {requested.role} column {requested.target!r} of {path}"
    missing = int(column.isna().sum())
    if missing:
        values = "a missing value" if missing == 1 else f"{missing} missing values"
        raise ValueError(f"{called} has {values}; drop those rows")
    y = column.to_numpy()
    if y.dtype.kind in "fiub":
        return y
    labels = column.tolist()
    if not all(isinstance(label, str) for label in labels):
        raise ValueError(f"{called} must be numbers, booleans or strings, not {column.dtype}")
    return np.array(labels, dtype=str)


def exact_floats(pandas: Any) -> dict[str, str]:
    """Floats to the last bit: the default from pandas 3.1, an option before."""
    version = tuple(int(part) for part in pandas.__version__.split(".")[:2])
    return {} if version >= (3, 1) else {"float_precision": "round_trip"}
