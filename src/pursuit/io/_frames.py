"""Files with named columns: CSV, TSV, Parquet, Feather, Excel, npy."""

import contextlib
import csv
import gzip
import io
import sys
import warnings
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from pursuit._utils.column_names import first_non_numeric, refuse_duplicates
from pursuit._utils.parquet import open_parquet, parquet_errors
from pursuit._utils.types import Array
from pursuit._utils.validation import first_line, format_list, require_package, suggestion_clause
from pursuit.io._columns import Parts, RequestedColumns

if TYPE_CHECKING:
    from pandas import DataFrame, Series


def read_named(path: Path, requested: RequestedColumns) -> Parts:
    """Features and target of a file with named columns, all numeric but the target."""
    if path.name.lower().endswith(".parquet"):
        return read_parquet(path, requested)
    frame = load_frame(path)
    return split_frame(path, frame, choose_columns(path, list(frame.columns), requested), requested)


def load_frame(path: Path, columns: Sequence[str] | None = None) -> "DataFrame":
    """The whole table of a file with named columns, or some columns of it; "-" is CSV on standard input."""
    pandas = require_package("pandas", "io", f"reading {path}")
    name = path.name.lower()
    if name != "-" and not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    kind = next((kind for suffix, kind in LOADERS.items() if name.endswith(suffix)), load_csv)
    frame = kind(pandas, path)
    frame.columns = [str(name) for name in frame.columns]
    refuse_duplicates(frame.columns, str(path))
    if columns is None:
        return frame
    absent = [name for name in columns if name not in frame.columns]
    if absent:
        raise ValueError(
            f"{path} has no column {format_list(map(repr, absent))}{suggestion_clause(absent[0], frame.columns)}"
        )
    return frame[list(columns)]


def load_csv(pandas: ModuleType, path: Path) -> "DataFrame":
    separator = "\t" if ".tsv" in path.name.lower() else ","
    stdin = sys.stdin.buffer.read() if str(path) == "-" else None
    shown = "standard input" if stdin is not None else str(path)

    def source() -> Path | BinaryIO:
        return path if stdin is None else io.BytesIO(stdin)

    try:
        check_header(pandas, source(), separator, shown)
        with warnings.catch_warnings():
            warnings.simplefilter("error", pandas.errors.ParserWarning)  # rows longer than the header
            frame = pandas.read_csv(source(), sep=separator, index_col=False, low_memory=False, **exact_floats(pandas))
        if len(frame.columns) > 1 and frame.iloc[:, -1].isna().any():  # which pandas also says of rows that are short
            _refuse_short_rows(pandas, source(), separator, shown, len(frame.columns))
        return frame
    except pandas.errors.EmptyDataError as error:
        raise ValueError(f"{shown} is empty") from error
    except (pandas.errors.ParserError, pandas.errors.ParserWarning, UnicodeDecodeError, EOFError, OSError) as error:
        raise ValueError(f"{shown} cannot be read as CSV: {first_line(error)}") from error


def load_parquet(pandas: ModuleType, path: Path) -> "DataFrame":
    file, header = open_parquet(path)
    refuse_duplicates(header, str(path))
    with parquet_errors(path):
        return file.read(columns=header).to_pandas(ignore_metadata=True)


def load_feather(pandas: ModuleType, path: Path) -> "DataFrame":
    pyarrow = require_package("pyarrow", "io", f"reading {path}")
    try:
        return pandas.read_feather(path)
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise ValueError(f"{path} cannot be read as Feather: {first_line(error)}") from error


def load_excel(pandas: ModuleType, path: Path) -> "DataFrame":
    """The first sheet, where pandas has a package that reads it."""
    try:
        return pandas.read_excel(path)
    except ImportError as error:
        raise ImportError(f"reading {path} needs a package that reads Excel: pip install openpyxl") from error
    except (ValueError, OSError, KeyError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} cannot be read as Excel: {first_line(error)}") from error


def load_npy(pandas: ModuleType, path: Path) -> "DataFrame":
    """A matrix, whose columns are called x0, x1, ...; or a structured array, by its fields."""
    try:
        held = np.load(path, allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise ValueError(f"{path} cannot be read as npy: {first_line(error)}") from error
    if getattr(held, "dtype", None) is None or (held.ndim != 2 and not held.dtype.names):
        raise ValueError(f"{path} must hold a matrix, or a structured array with one field per column")
    return pandas.DataFrame(held, columns=held.dtype.names or [f"x{j}" for j in range(held.shape[1])])


LOADERS: dict[str, Callable[[ModuleType, Path], "DataFrame"]] = {
    ".csv": load_csv,
    ".csv.gz": load_csv,
    ".tsv": load_csv,
    ".tsv.gz": load_csv,
    ".parquet": load_parquet,
    ".feather": load_feather,
    ".xlsx": load_excel,
    ".xls": load_excel,
    ".npy": load_npy,
}


def _refuse_short_rows(pandas: ModuleType, source: Path | BinaryIO, separator: str, shown: str, width: int) -> None:
    """Raise where a row has fewer fields than the header: pandas takes those that are not there for missing."""
    with contextlib.ExitStack() as stack:
        if isinstance(source, Path):
            opener = gzip.open if source.name.lower().endswith(".gz") else open
            text = stack.enter_context(opener(source, "rt", encoding="utf-8-sig", newline=""))
        else:
            text = io.TextIOWrapper(source, encoding="utf-8-sig", newline="")
        rows = csv.reader(text, delimiter=separator)
        for row in rows:
            if row and len(row) < width:
                raise ValueError(
                    f"line {rows.line_num} of {shown} has {len(row)} field{'s' * (len(row) != 1)}, but the header has"
                    f" {width}"
                )


def read_parquet(path: Path, requested: RequestedColumns) -> Parts:
    require_package("pandas", "io", f"reading {path}")
    file, header = open_parquet(path)
    features = choose_columns(path, header, requested)
    used = [name for name in header if name in {*features, requested.target}]
    with parquet_errors(path):
        frame = file.read(columns=used).to_pandas(ignore_metadata=True)
    return split_frame(path, frame, features, requested)


def check_header(pandas: ModuleType, source: Path | BinaryIO, separator: str, shown: str) -> None:
    """Raise where a CSV file has two columns of one name: pandas would rename the second."""
    first = pandas.read_csv(source, sep=separator, header=None, nrows=1, dtype=str, keep_default_na=False)
    refuse_duplicates((name for name in first.iloc[0] if name.strip()), shown)


def choose_columns(path: Path, header: Sequence[str], requested: RequestedColumns) -> list[str]:
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


def split_frame(path: Path, frame: "DataFrame", features: list[str], requested: RequestedColumns) -> Parts:
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
    y = None if requested.target is None else read_target(path, frame[requested.target], requested)
    return X, y, features


def read_target(path: Path, column: "Series", requested: RequestedColumns) -> Array:
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


def exact_floats(pandas: ModuleType) -> dict[str, str]:
    """Floats to the last bit: the default from pandas 3.1, an option before."""
    version = tuple(int(part) for part in pandas.__version__.split(".")[:2])
    return {} if version >= (3, 1) else {"float_precision": "round_trip"}
