"""Opening Parquet files: the package, the columns, and errors in one sentence."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .validation import first_line, require_package

READ_AHEAD_BYTES = 1 << 20  # of a column


@contextmanager
def parquet_errors(path: Path) -> Iterator[None]:
    """Raise errors of pyarrow as a ValueError that names the file."""
    pyarrow = require_package("pyarrow", "io", f"reading {path}")
    try:
        yield
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no file {path}") from None
    except (pyarrow.ArrowException, OSError) as error:
        raise ValueError(f"{path} cannot be read as Parquet: {first_line(error)}") from error


def open_parquet(path: Path) -> tuple[Any, list[str]]:
    """The file, as ``pyarrow.parquet.ParquetFile``, and the names of its columns without those of an index."""
    parquet = require_package("pyarrow.parquet", "io", f"reading {path}")
    with parquet_errors(path):
        file = parquet.ParquetFile(path, buffer_size=READ_AHEAD_BYTES, pre_buffer=False)
    return file, [name for name in file.schema_arrow.names if not name.startswith("__index_level_")]
