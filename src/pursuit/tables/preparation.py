"""``Preparation``: what a saved model does to raw rows before it predicts them. It holds no code."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._utils.types import JSON, Keywords, Matrix
from .._utils.validation import format_list, suggestion_clause
from .columns import CategoryColumn, LeftOut, NumberColumn, column_from_json, column_to_json, warn_notes
from .values import as_array

if TYPE_CHECKING:
    from pandas import DataFrame

    from ..tables.preparer import TablePreparer

PreparedColumn = NumberColumn | CategoryColumn


@dataclass(frozen=True)
class Preparation:
    """The columns of a table that a model reads, and how each becomes features.

    Parameters
    ----------
    columns : tuple
        Pairs of a column's name and how it is prepared.
    features : tuple of tuple of str
        The features that each column gives.
    notes : tuple of str
        What was done to the training table, in sentences.
    """

    columns: tuple[tuple[str, PreparedColumn], ...]
    features: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that are read."""
        return tuple(name for name, _ in self.columns)

    @property
    def is_plain(self) -> bool:
        """Whether every column is a number and a feature as it is, so that arrays need no preparation."""
        return all(column.kind == "number" and column.suffixes == ("",) for _, column in self.columns)

    def transform(self, table: "DataFrame", selected: tuple[str, ...]) -> Matrix:
        """The selected features of the rows of a data frame, whose other columns are not looked at."""
        present = [str(name) for name in table.columns]
        absent = [name for name in self.names if name not in present]
        if absent:
            hint = suggestion_clause(absent[0], present)
            raise ValueError(f"X has no column {format_list(map(repr, absent))}, which the model needs{hint}")
        found: Keywords = {}
        notes: list[str] = []
        for (name, column), features in zip(self.columns, self.features, strict=True):
            series = table.iloc[:, present.index(name)] if hasattr(table, "iloc") else table[name]
            found |= zip(features, column.transform(as_array(series)[0], name, notes), strict=True)
        warn_notes(notes)
        out = np.empty((table.shape[0], len(selected)))
        for j, feature in enumerate(selected):
            out[:, j] = found[feature]
        return out

    def to_json(self) -> JSON:
        """JSON values."""
        columns = [
            {"name": name, "features": list(features), **column_to_json(column)}
            for (name, column), features in zip(self.columns, self.features, strict=True)
        ]
        return {"columns": columns, "notes": list(self.notes)}


def preparation_of(preparer: "TablePreparer", names: tuple[str, ...], selected: set[str]) -> Preparation:
    """What a fitted TablePreparer does to the columns behind selected features; ``names``: of its input."""
    features = iter(preparer.get_feature_names_out(names).tolist())
    columns, outputs = [], []
    for name, column in zip(names, preparer.columns_, strict=True):
        own = tuple(next(features) for _ in column.suffixes)
        if selected & set(own) and not isinstance(column, LeftOut):
            columns.append((name, column))
            outputs.append(own)
    return Preparation(tuple(columns), tuple(outputs), tuple(preparer.notes_))


def read_preparation(fields: object) -> Preparation:
    """From JSON values; TypeError says what they must be."""
    if not isinstance(fields, dict) or not isinstance(fields.get("columns"), list):
        raise TypeError("an object with a list of columns")
    columns, features = [], []
    for entry in fields["columns"]:
        column = column_from_json(entry)
        name, own = entry.get("name"), entry.get("features")
        if not isinstance(name, str) or not isinstance(own, list) or len(own) != len(column.suffixes):
            raise TypeError("an object whose columns have a name and one feature per number")
        columns.append((name, column))
        features.append(tuple(map(str, own)))
    notes = fields.get("notes", [])
    return Preparation(tuple(columns), tuple(features), tuple(map(str, notes if isinstance(notes, list) else ())))
