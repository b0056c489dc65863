"""Which columns stand for which feature: one ``ColumnBasis`` per feature, side by side."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._utils.column_names import resolve_columns
from .._utils.lazy import lazy
from .._utils.types import Columns, Matrix, Vector
from .._utils.validation import format_list
from .splines import ColumnBasis, change_of_basis, fit_column, offsets_of

KINDS = ("smooth", "linear", "increasing", "decreasing")
MAX_LINEAR_VALUES = 8  # distinct values up to which a feature has no curve
FEW_ROWS = 200  # rows below which a curve has fewer knots, and lines are candidates too where k is chosen
DEFAULT_KNOTS, KNOTS_OF_FEW_ROWS = 5, 3

#: From the number of a feature to its values.
ReadColumn = Callable[[int], Vector]


@dataclass(frozen=True, eq=False)
class AdditiveBasis:
    """The columns of all features, fitted to training rows."""

    columns: tuple[ColumnBasis, ...]

    @lazy
    def starts(self) -> Columns:
        """Where the columns of each feature begin, and the end."""
        return offsets_of([column.width for column in self.columns])

    @lazy
    def feature_of(self) -> Columns:
        """The feature of every column."""
        return np.repeat(np.arange(len(self.columns)), [column.width for column in self.columns])

    @property
    def width(self) -> int:
        return int(self.starts[-1])

    def evaluate(self, read: ReadColumn, n: int, cols: Columns | None = None) -> Matrix:
        """The columns ``cols`` (default all) of n rows, in column order."""
        cols = np.arange(self.width) if cols is None else np.asarray(cols)
        out = np.empty((n, len(cols)), order="F")
        owner = self.feature_of[cols]
        for j in np.unique(owner).tolist():
            mine = np.flatnonzero(owner == j)
            out[:, mine] = self.columns[j].evaluate(read(j))[:, cols[mine] - self.starts[j]]
        return out

    def names(self, features: Sequence[str]) -> list[str]:
        """``age``, ``age:2``, ... for the columns of a feature called age."""
        return [
            name if i == 0 else f"{name}:{i + 1}"
            for name, column in zip(features, self.columns, strict=True)
            for i in range(column.width)
        ]

    def bent(self) -> Columns:
        """The columns that are not linear in their feature."""
        first = np.zeros(self.width, bool)
        first[self.starts[:-1]] = True
        return np.flatnonzero(~first)


def fit_basis(
    read: ReadColumn, weights: Vector | None, kinds: Sequence[str], n_knots: int, like: AdditiveBasis | None = None
) -> AdditiveBasis:
    """The columns of every feature; ``like`` gives the number of columns of each (a fold has those of all rows)."""
    return AdditiveBasis(
        tuple(
            fit_column(read(j), weights, kind, n_knots, None if like is None else like.columns[j].width)
            for j, kind in enumerate(kinds)
        )
    )


def basis_changes(old: AdditiveBasis, new: AdditiveBasis, read: ReadColumn, c: Vector) -> list[Matrix]:
    """For every feature the matrix that takes coefficients of the old columns to those of the new ones."""
    return [
        change_of_basis(one, other, read(j), c)
        for j, (one, other) in enumerate(zip(old.columns, new.columns, strict=True))
    ]


#: From the number of a feature and a limit to how many distinct values it has, counted up to the limit.
CountValues = Callable[[int, int], int]


def column_kinds(
    effects: str | Mapping[str | int, str], count: CountValues, p: int, names: Sequence[str] | None
) -> list[str]:
    """The kind of every feature's effect, from what the user says: a word for all, or a dict by column.

    Features with at most ``MAX_LINEAR_VALUES`` distinct values have no curve, unless one is requested by name.
    """
    by_name, rest = _parse_effects(effects, p, names)
    kinds = []
    for j in range(p):
        kind = by_name.get(j, rest)
        if kind == "smooth":  # two values determine a line
            least = 3 if j in by_name else 1 + MAX_LINEAR_VALUES
            kind = "smooth" if count(j, least) >= least else "linear"
        kinds.append(kind)
    return kinds


def count_values(read: ReadColumn, weights: Vector | None) -> CountValues:
    """A function that counts the distinct values of a feature on the rows with a weight."""
    counted = None if weights is None else weights > 0

    def count(j: int, limit: int) -> int:
        values = read(j) if counted is None else read(j)[counted]
        found = len(np.unique(values[: 8 * limit]))
        return min(limit, found if found >= limit else len(np.unique(values)))

    return count


def _parse_effects(
    effects: str | Mapping[str | int, str], p: int, names: Sequence[str] | None
) -> tuple[dict[int, str], str]:
    """The kinds of the columns that are named, and that of the others."""
    if isinstance(effects, str):
        return {}, _kind(effects, "effects", ("smooth", "linear"))
    if not isinstance(effects, dict):
        raise TypeError(
            f"effects must be 'smooth', 'linear' or a dict from columns to kinds of effects, got {effects!r}"
        )
    by_name = {}
    for column, kind in effects.items():
        at = resolve_columns([column], "effects", p, names)
        number = int(np.asarray(at)[0])
        if not 0 <= number < p:
            raise ValueError(f"effects must hold column indices from 0 to {p - 1} or names, got {number}")
        by_name[number] = _kind(kind, f"effects[{column!r}]", KINDS)
    return by_name, "smooth"


def _kind(kind: Any, name: str, allowed: Sequence[str]) -> str:
    if not isinstance(kind, str) or kind not in allowed:
        raise ValueError(f"{name} must be one of {format_list(map(repr, allowed))}, got {kind!r}")
    return kind


def knots_for(n_knots: Any, n: float) -> int:
    """The number of knots: the user's, or that for so many rows."""
    if n_knots is None:
        return KNOTS_OF_FEW_ROWS if n < FEW_ROWS else DEFAULT_KNOTS
    allowed = tuple(range(3, 8))
    if isinstance(n_knots, bool) or not isinstance(n_knots, int | np.integer) or int(n_knots) not in allowed:
        raise ValueError(f"n_knots must be None or a whole number from 3 to 7, got {n_knots!r}")
    return int(n_knots)
