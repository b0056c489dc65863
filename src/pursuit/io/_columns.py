"""What the caller asks of a file, and what a reader gives."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pursuit._utils.column_names import refuse_duplicates
from pursuit._utils.types import Array, StoredMatrix
from pursuit._utils.validation import format_list, suggestion_clause


@dataclass(frozen=True)
class RequestedColumns:
    """The target, the features to keep or to leave out, and how many columns there are where a file cannot tell."""

    target: str | None
    columns: Sequence[str] | None
    drop: Sequence[str]
    n_features: int | None
    role: str = "target"  # what messages call it
    names: str | None = None  # the array of an npz that holds the names of columns

    def features(self, path: Path, names: Sequence[str], target: str | None = None) -> list[str]:
        """The feature columns among ``names``, in order; a ``target`` is a column of its own."""
        refuse_duplicates(names, str(path))
        for name in self.drop:
            if name not in names:
                raise ValueError(f"{path} has no column {name!r} to leave out{suggestion_clause(name, names)}")
        if self.columns is None:
            return [name for name in names if name != target and name not in self.drop]
        absent = [name for name in self.columns if name not in names]
        if absent:
            raise ValueError(
                f"{path} has no column {format_list(map(repr, absent))}{suggestion_clause(absent[0], names)}"
            )
        return list(self.columns)


Parts = tuple[StoredMatrix, Array | None, list[str] | None]  # X, target and names of the features, where there are any
Reader = Callable[[Path, RequestedColumns], Parts]
