"""``pursuit predict``: a model and rows in, CSV out."""

import csv
import io
import sys
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import numpy as np

from pursuit._utils.files import atomic_write
from pursuit._utils.types import Array, ArrayLike, Vector
from pursuit._utils.validation import format_list, suggestion_clause
from pursuit.cli import OK
from pursuit.cli.inputs import has_names
from pursuit.cli.show import check_writable
from pursuit.io import Model, Table, load_model, read_column, read_table
from pursuit.io._columns import RequestedColumns
from pursuit.io._frames import load_frame, split_frame
from pursuit.io.tables import check_finite

if TYPE_CHECKING:
    from pandas import DataFrame


def run(model_path: Path, data: Path, *, out: Path | None, proba: bool, keep: Sequence[str] = ()) -> int:
    check_writable("--out", out)
    model = load_model(model_path)
    table, kept, offset = _read(model, data, keep)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            columns = kept | _predict(model, table, offset, proba)
    except ValueError as error:
        raise ValueError(f"{model_path} and {data}: {error}") from error
    for words in dict.fromkeys(str(warning.message) for warning in caught):  # once, where two columns are predicted
        print(f"pursuit: warning: {words}", file=sys.stderr)
    rows = zip(*[values.tolist() for values in columns.values()], strict=True)
    if out is None:
        _write(sys.stdout, columns, rows)
        return OK
    with atomic_write(out) as file:
        stream = io.TextIOWrapper(file, encoding="utf-8", newline="")
        _write(stream, columns, rows)
        stream.flush()
        stream.detach()
    count = len(next(iter(columns.values())))
    print(f"{count} predictions written to {out}")
    return OK


def _read(model: Model, data: Path, keep: Sequence[str]) -> tuple["Table | DataFrame", dict[str, Array], Vector | None]:
    """What the model predicts, the columns to keep beside it, and the offset.

    Only the columns of the support are looked at, where both sides have names (one column stands for the rows of an
    empty one).
    """
    if not has_names(data):
        if keep:
            raise ValueError(f"--keep {keep[0]}: {data} has no column names")
        columns = None if model.feature_names is None else model.selected or model.feature_names[:1]
        offset = None if model.offset is None else read_column(data, model.offset)
        return read_table(data, columns=columns, n_features=model.n_features), {}, offset
    frame = load_frame(data)
    if len(frame) == 0:
        raise ValueError(f"{data} has no rows")
    if model.preparation is not None:
        needed: Sequence[str] = model.preparation.names
    else:
        needed = model.selected if model.feature_names is not None else list(frame.columns)
    offsets = [] if model.offset is None else [model.offset]
    _check_columns(data, frame, [*needed, *offsets], "")
    _check_columns(data, frame, keep, "--keep: ")
    kept = {name: frame[name].astype(object).where(frame[name].notna(), "").to_numpy() for name in keep}
    offset = _numeric(data, frame, offsets).X[:, 0] if offsets else None
    if model.preparation is not None:
        return frame, kept, offset
    if not needed:
        return Table(np.empty((len(frame), 0)), None, ()), kept, offset
    return _numeric(data, frame, needed), kept, offset


def _numeric(data: Path, frame: "DataFrame", columns: Sequence[str]) -> Table:
    X, _, names = split_frame(data, frame, list(columns), RequestedColumns(None, None, (), None))
    check_finite(data, X, names)
    return Table(X, None, tuple(names or ()))


def _check_columns(data: Path, frame: "DataFrame", names: Sequence[str], what: str) -> None:
    absent = [name for name in names if name not in frame.columns]
    if absent:
        hint = suggestion_clause(absent[0], frame.columns)
        raise ValueError(f"{what}{data} has no column {format_list(map(repr, absent))}{hint}")


def _predict(model: Model, held: "Table | DataFrame", offset: ArrayLike | None, proba: bool) -> dict[str, Array]:
    predicted = model.predict(held, offset)
    columns: dict[str, Array] = {"prediction": predicted}
    if predicted.ndim == 2:
        columns = {f"prediction_{i}": column for i, column in enumerate(predicted.T)}
    if proba:
        shares = model.predict_proba(held, offset)
        labels = [] if model.classes is None else model.classes.tolist()
        columns |= {f"probability_{label}": shares[:, i] for i, label in enumerate(labels)}
    return columns


def _write(stream: TextIO, columns: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
