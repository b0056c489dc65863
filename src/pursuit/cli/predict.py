"""``pursuit predict``: a model and rows in, CSV out."""

import csv
import io
import sys
from pathlib import Path
from typing import Any, TextIO

from pursuit._utils.files import atomic_write
from pursuit.cli import OK
from pursuit.cli.show import check_writable
from pursuit.io import Model, Table, load_model, read_column, read_table


def run(model_path: Path, data: Path, *, out: Path | None, proba: bool) -> int:
    check_writable("--out", out)
    model = load_model(model_path)
    held = _read(model, data)
    offset = None if model.offset is None else read_column(data, model.offset)
    try:
        columns = _predict(model, held, offset, proba)
    except ValueError as error:
        raise ValueError(f"{model_path} and {data}: {error}") from error
    rows = zip(*[values.tolist() for values in columns.values()], strict=True)
    if out is None:
        _write(sys.stdout, columns, rows)
        return OK
    with atomic_write(out) as file:
        stream = io.TextIOWrapper(file, encoding="utf-8", newline="")
        _write(stream, columns, rows)
        stream.flush()
        stream.detach()
    print(f"{held.X.shape[0]} predictions written to {out}")
    return OK


def _read(model: Model, data: Path) -> Table:
    """Only the columns of the support, where both sides have names (one column stands for the rows of an empty one)."""
    columns = None if model.feature_names is None else model.selected or model.feature_names[:1]
    return read_table(data, columns=columns, n_features=model.n_features)


def _predict(model: Model, held: Table, offset: Any, proba: bool) -> dict[str, Any]:
    predicted = model.predict(held, offset)
    columns: dict[str, Any] = {"prediction": predicted}
    if predicted.ndim == 2:
        columns = {f"prediction_{i}": column for i, column in enumerate(predicted.T)}
    if proba:
        shares = model.predict_proba(held, offset)
        labels = [] if model.classes is None else model.classes.tolist()
        columns |= {f"probability_{label}": shares[:, i] for i, label in enumerate(labels)}
    return columns


def _write(stream: TextIO, columns: dict[str, Any], rows: Any) -> None:
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
