"""A Parquet file, some rows at a time, without converting it: a pass decodes it anew (0.3 GB/s)."""

import os
import threading
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from ..._utils.column_names import quoted_columns, refuse_duplicates
from ..._utils.parquet import open_parquet
from ..._utils.types import Array, Keywords
from ..._utils.validation import first_line, require_package, suggestion_clause
from ...designs import Design, as_design


class ParquetFile:
    """The file, its features and their dtype; batches that are read in order are decoded once a pass."""

    def __init__(self, path: Path, apart: Sequence[str]) -> None:
        self.path = path
        self.arrow = require_package("pyarrow", "io", f"reading {path}")
        file, header = open_parquet(path)
        schema = file.schema_arrow
        refuse_duplicates(header, str(path))
        for name in apart:
            if name not in header:
                raise ValueError(f"{path} has no column {name!r}{suggestion_clause(name, header)}")
        self.features = tuple(name for name in header if name not in apart)
        if not self.features:
            raise ValueError(f"{path} has no feature columns")
        if file.metadata.num_rows == 0:
            raise ValueError(f"{path} has no rows")
        kinds = {name: schema.field(name).type for name in self.features}
        self._check_kinds(kinds)
        single = all(kind == self.arrow.float32() for kind in kinds.values())
        self.dtype = np.dtype(np.float32 if single else np.float64)
        self.groups = [file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)]
        self.seen = self._state()
        self.lock = threading.Lock()
        self._forget()

    def __getstate__(self) -> dict[str, object]:
        own = ("lock", "arrow", "_batches", "_at", "_left")  # of this process
        return {key: value for key, value in self.__dict__.items() if key not in own}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self.arrow, self.lock = require_package("pyarrow", "io", f"reading {self.path}"), threading.Lock()
        self._forget()

    def _forget(self) -> None:
        self._batches: Iterator[Any] = iter(())
        self._at = (-1, 0)  # the row group that is being read, and the row
        self._left: Any = None  # of the batch that was read last

    def _state(self) -> tuple[int, int]:
        state = os.stat(self.path)
        return state.st_size, state.st_mtime_ns

    def _check_kinds(self, kinds: Keywords) -> None:
        types = self.arrow.types
        numeric = (types.is_floating, types.is_integer, types.is_boolean)
        text = [name for name, kind in kinds.items() if not any(is_kind(kind) for is_kind in numeric)]
        if text:
            are, them = ("is", "it") if len(text) == 1 else ("are", "them")
            raise ValueError(
                f"{quoted_columns(text)} of {self.path} {are} not numeric; turn {them} into numbers,"
                f" or leave {them} out"
            )

    def rows(self, group: int, low: int, many: int) -> Array:
        """Rows of a row group as numbers, column by column; cheap where they follow those that were read last."""
        if self._state() != self.seen:
            raise ValueError(f"{self.path} was changed while it was in use; open it again")
        with self.lock:
            try:
                if self._at != (group, low):
                    self._batches, self._left = self._rows_from(group, low), None
                out = np.empty((many, len(self.features)), self.dtype, order="F")
                filled = 0
                while filled < many:
                    batch = next(self._batches) if self._left is None else self._left
                    took = min(batch.num_rows, many - filled)
                    for j, column in enumerate(batch.columns):
                        out[filled : filled + took, j] = column[:took].to_numpy(zero_copy_only=False)
                    filled += took
                    self._left = batch.slice(took) if took < batch.num_rows else None
            except (self.arrow.ArrowException, OSError, StopIteration) as error:
                self._forget()
                raise ValueError(f"{self.path} cannot be read as Parquet: {first_line(error)}") from error
            self._at = (group, low + many)
            return out

    def _rows_from(self, group: int, low: int) -> Iterator[Any]:
        size = max(1, (1 << 23) // (8 * len(self.features)))
        left = low
        for batch in open_parquet(self.path)[0].iter_batches(size, row_groups=[group], columns=list(self.features)):
            if batch.num_rows <= left:
                left -= batch.num_rows
                continue
            yield batch.slice(left)
            left = 0

    def targets(self, name: str) -> tuple[Array, tuple[Any, ...] | None, bool]:
        """A column of which nothing is missing: numbers (text: counted), the labels, and whether they are whole."""
        column = self._column(name)
        types = self.arrow.types
        if types.is_boolean(column.type):
            return column.to_numpy().astype(np.float64), (False, True), False
        if types.is_integer(column.type) or types.is_floating(column.type):
            y = column.to_numpy()
            if not np.isfinite(y).all():
                raise ValueError(f"the target column {name!r} of {self.path} has infinite values or NaN")
            return y.astype(np.float64), None, y.dtype.kind in "iu"
        coded = column if types.is_dictionary(column.type) else column.dictionary_encode()
        coded = coded.unify_dictionaries().combine_chunks()
        coded = coded.chunk(0) if hasattr(coded, "chunk") else coded
        words = coded.dictionary.to_pylist()
        if not all(isinstance(word, str) for word in words):
            raise ValueError(f"the target column {name!r} of {self.path} must be numbers, booleans or strings")
        return coded.indices.to_numpy().astype(np.float64), tuple(words), False

    def numbers(self, name: str, role: str) -> Array:
        """A column of finite numbers."""
        column = self._column(name)
        try:
            values = column.to_numpy().astype(np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"the {role} column {name!r} of {self.path} must be numbers") from None
        if not np.isfinite(values).all() or (role == "weights" and values.min() < 0):
            raise ValueError(f"the {role} column {name!r} of {self.path} must be finite numbers, weights at least 0")
        return values

    def _column(self, name: str) -> Any:
        column = open_parquet(self.path)[0].read([name]).column(0)
        if column.null_count:
            values = "a missing value" if column.null_count == 1 else f"{column.null_count} missing values"
            raise ValueError(f"column {name!r} of {self.path} has {values}; drop those rows")
        return column


class ParquetBlock:
    """Some rows of a row group; the caller releases what it reads."""

    full = True

    def __init__(self, file: ParquetFile, group: int, low: int, many: int) -> None:
        self.file, self.group, self.low, self.many = file, group, low, many
        self.shape, self.dtype = (many, len(file.features)), file.dtype
        self.nbytes = self.dtype.itemsize * many * len(file.features)
        self.sampleable = group == low == 0  # none is, but one look is worth it

    def read(self, few: bool = False) -> Design:
        return as_design(self.file.rows(self.group, self.low, self.many))

    def drop(self) -> None:
        """Nothing is kept."""


def blocks(file: ParquetFile, size: int) -> list[ParquetBlock]:
    """The file in blocks of at most so many bytes."""
    rows = max(1, size // (file.dtype.itemsize * len(file.features)))
    cut = []
    for group, many in enumerate(file.groups):
        count = -(-many // rows)
        edges = [many * i // count for i in range(count + 1)] if count else []
        cut += [ParquetBlock(file, group, low, high - low) for low, high in pairwise(edges)]
    return cut
