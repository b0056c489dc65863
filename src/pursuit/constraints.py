"""The sparse set: at most k of p coordinates, some forced in, some forbidden, perhaps in whole groups.

``top`` is the only place where a support is chosen. Solvers never look inside.
"""

import copy
from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from . import _core
from ._utils.arrays import inside, without
from ._utils.column_names import column_label, resolve_columns
from ._utils.lazy import lazy
from ._utils.row_order import warn_column_order
from ._utils.types import Columns, ColumnsLike, GroupsLike, Vector
from ._utils.validation import check_k


class Exchange(NamedTuple):
    """Units that leave, units that enter, and the change of f this brings (by the quadratic model at the point)."""

    leave: tuple[int, ...]
    enter: tuple[int, ...]
    change: float


class AtMost:
    """At most k units; a unit is a coordinate, or a whole group of them.

    Parameters
    ----------
    k : budget in units, capped at the number of allowed units (``capped`` then says so in a sentence)
    dim : number of coordinates
    include, exclude : coordinates (indices, names, or a mask; with groups: any member names its group) that are
        strictly in, strictly out; those included count in k
    groups : one label per coordinate, text or a number, in any order; or the coordinates of every group, by name or
        index, as a dict or as a list of lists (the others are groups of their own); or "prefix", the texts before the
        last "=" of names (before the last "_" where no name has a "=")
    names : of the coordinates, where they have any
    """

    def __init__(
        self,
        k: int,
        dim: int,
        include: ColumnsLike = (),
        exclude: ColumnsLike = (),
        groups: GroupsLike = None,
        names: Sequence[str] | None = None,
    ) -> None:
        k = check_k(k)
        self.dim = dim
        self.unit_of, self.units = _units(groups, dim, names)
        self.include = self._units_named(include, "include", names)
        self.exclude = self._units_named(exclude, "exclude", names)
        noun = "columns" if self.unit_of is None else "groups"
        both = self.include[inside(self.include, self.exclude)]
        if both.size:
            member = int(np.flatnonzero(self.unit_of == both[0])[0]) if self.unit_of is not None else int(both[0])
            raise ValueError(f"include and exclude overlap: {column_label([member], names)} is in both")
        if len(self.include) > k:
            raise ValueError(f"include names {len(self.include)} {noun}, more than k={k} allows")
        allowed = self.units - len(self.exclude)
        if allowed == 0:
            raise ValueError("exclude forbids every column; leave at least one allowed")
        self.plain = self.unit_of is None and not self.include.size and not self.exclude.size
        self.k = min(k, allowed)
        self.capped = f"k={k} was capped at the {allowed} {noun} there are" if k > allowed else ""

    def with_budget(self, k: int) -> "AtMost":
        """The same set with another budget, within the allowed units."""
        other = copy.copy(self)
        other.k, other.capped = max(len(self.include), min(k, self.units - len(self.exclude))), ""
        return other

    def restricted(self, cols: Columns) -> "AtMost":
        """The same set over some of the coordinates (sorted, those included among them); without groups."""
        other = AtMost(
            self.k or 1,
            len(cols),
            np.flatnonzero(inside(cols, self.include)),
            np.flatnonzero(inside(cols, self.exclude)),
        )
        return other.with_budget(self.k)

    def spread(self, width: int) -> "AtMost":
        """The same set where each coordinate becomes ``width`` of them, side by side."""
        other = copy.copy(self)
        other.dim, other.plain = width * self.dim, False
        other.unit_of = np.repeat(np.arange(self.dim) if self.unit_of is None else self.unit_of, width)
        return other

    def by_blocks(self, width: int) -> bool:
        """Whether every unit is ``width`` coordinates side by side, as ``spread`` makes them of single ones."""
        return width * self.units == self.dim

    def top(
        self, v: Vector, budget: int | None = None, keep: Columns | None = None, within: Columns | None = None
    ) -> Columns:
        """Sorted coordinates of the ``budget`` (default k) units with the largest norm of v.

        Ties go to the lowest unit. Forced-in units and those of ``keep`` come first, forbidden ones never; with
        ``within`` only its units compete.
        """
        budget = self.k if budget is None else min(budget, self.units - len(self.exclude))
        if self.plain and keep is None and within is None and v.ndim == 1:
            return _core.top_k(v, budget)
        score = self.norms(v)
        score[self.exclude] = np.nan  # smallest of all
        first = self.include
        if keep is not None:
            first = np.union1d(first, self.units_of(keep)) if len(first) else self.units_of(keep)
        score[first] = np.inf
        if within is not None:
            eligible = np.union1d(first, self.units_of(within))
            budget = min(budget, len(eligible))
            others, score = score, np.full(self.units, np.nan)
            score[eligible] = others[eligible]
        return self.columns_of(_core.top_k(score, max(budget, len(first))))

    def first_change(self, support: Columns, x: Vector, g: Vector) -> float:
        """The smallest step s > 0 for which x - s g (g zero on the support) has another top than the support."""
        chosen = without(self.units_of(support), self.include)
        if len(chosen) == 0:
            return np.inf
        pull = self.norms(g)
        pull[self.units_of(support)] = 0.0
        pull[self.exclude] = 0.0
        strongest = float(pull.max())
        return float(self.norms(x)[chosen].min()) / strongest if strongest > 0 else np.inf

    def norms(self, v: Vector) -> Vector:
        """One norm per unit."""
        score = np.abs(v) if v.ndim == 1 else np.sqrt((v**2).sum(axis=1))
        if self.unit_of is None:
            return score
        return np.sqrt(np.bincount(self.unit_of, weights=score**2, minlength=self.units))

    @property
    def forced(self) -> Columns:
        """Coordinates of the forced-in units."""
        return self.columns_of(self.include)

    def count(self, support: Columns) -> int:
        """How many units a support uses."""
        return len(support) if self.unit_of is None else len(self.units_of(support))

    def allows(self, support: Columns) -> bool:
        """Whether a support keeps to the budget, the forced-in and the forbidden units."""
        if self.plain:
            return len(support) <= self.k
        units = self.units_of(support)
        forced = inside(self.include, units).all()
        return bool(forced) and len(units) <= self.k and not self.uses_forbidden(support)

    def uses_forbidden(self, support: Columns) -> bool:
        """Whether a support has a unit that is excluded."""
        return bool(inside(self.units_of(support), self.exclude).any())

    def units_of(self, cols: Columns) -> Columns:
        """The units that a set of coordinates touches."""
        return cols if self.unit_of is None else np.unique(self.unit_of[cols])

    def columns_of(self, units: Columns) -> Columns:
        """The coordinates of a set of units."""
        if self.unit_of is None:
            return units
        member = np.zeros(self.units, dtype=bool)
        member[units] = True
        return np.flatnonzero(member[self.unit_of])

    @lazy
    def allowed(self) -> Columns:
        """Units that are not forbidden."""
        every = np.arange(self.units)
        return np.delete(every, self.exclude) if self.exclude.size else every

    def ordered(self, units: Columns) -> tuple[Columns, Columns]:
        """Coordinates of the units, unit after unit, and where each unit begins (and the end)."""
        if self.unit_of is None:
            return units, np.arange(len(units) + 1)
        cols = self.columns_of(units)
        cols = cols[np.argsort(self.unit_of[cols], kind="stable")]
        sizes = np.bincount(self.unit_of[cols], minlength=self.units)[units]
        return cols, np.concatenate([[0], np.cumsum(sizes)])

    def _units_named(self, columns: ColumnsLike, name: str, names: Sequence[str] | None) -> Columns:
        """The units of the columns that a user names."""
        if columns is None or (isinstance(columns, tuple | list) and not columns):
            return np.empty(0, np.int64)
        cols = resolve_columns(columns, name, self.dim, names)
        entries = [] if cols is None else list(cols)
        nested = any(np.iterable(entry) and not isinstance(entry, str) for entry in entries)
        values = np.asarray([None] if nested else entries)
        if values.size == 0:
            return np.empty(0, np.int64)
        if values.dtype.kind not in "iu" or values.ndim != 1:
            wanted = f"column indices (integers from 0 to {self.dim - 1}) or names, or be a mask"
            raise TypeError(f"{name} must hold {wanted}; got {cols!r}")
        if values.min() < 0 or values.max() >= self.dim:
            wrong = int(values[(values < 0) | (values >= self.dim)][0])
            raise ValueError(f"{name} must hold column indices from 0 to {self.dim - 1}, got {wrong}")
        return np.unique(self.units_of(values.astype(np.int64)))


def _units(groups: GroupsLike, dim: int, names: Sequence[str] | None) -> tuple[Columns | None, int]:
    """The unit of each coordinate and how many there are; None where every unit is one coordinate."""
    if groups is None:
        return None, dim
    labels = group_labels(groups, dim, names)
    seen: dict[Hashable, int] = {}  # groups are numbered by their first column, so ties go there
    codes = np.fromiter((seen.setdefault(label, len(seen)) for label in labels), np.int64, dim)
    return (None if len(seen) == dim else codes), len(seen)


def group_labels(groups: GroupsLike, dim: int, names: Sequence[str] | None = None) -> list[Hashable]:
    """The label of every column's group, from labels, from sets of columns, or from the prefixes of names.

    A column that no set names is a group of its own, under its own name.
    """
    if isinstance(groups, str) and groups.casefold() == "prefix":
        return _prefixes(names)
    if isinstance(groups, Mapping):
        return _labels_of_sets(dict[Hashable, ColumnsLike](groups.items()), dim, names)
    if isinstance(groups, list | tuple) and groups and all(isinstance(held, _COLLECTIONS) for held in groups):
        return _labels_of_sets({f"group {i}": list(held) for i, held in enumerate(groups)}, dim, names)
    warn_column_order(names, groups=groups)
    return _one_label_each(groups, dim)


_COLLECTIONS = (list, tuple, set, frozenset, np.ndarray)


def _prefixes(names: Sequence[str] | None) -> list[Hashable]:
    """What names say before their last "=" or, where no name has one, before their last "_".

    The name of a transformer, which ColumnTransformer puts before "__", is not looked at but kept.
    """
    if names is None:
        raise ValueError("groups='prefix' reads the names of columns, and X has none; give X as a data frame")
    mark = "=" if any("=" in name for name in names) else "_"
    apart = [name.rpartition("__") for name in names]
    return [f"{step}{line}{name.rpartition(mark)[0] or name}" for step, line, name in apart]


def _labels_of_sets(sets: Mapping[Hashable, ColumnsLike], dim: int, names: Sequence[str] | None) -> list[Hashable]:
    """Labels from the columns of every group, by name or index."""
    labels: dict[int, Hashable] = {}
    for label, columns in sets.items():
        cols = np.asarray(resolve_columns(columns, f"groups[{label!r}]", dim, names))
        if cols.size and (cols.dtype.kind not in "iu" or cols.ndim != 1 or cols.min() < 0 or cols.max() >= dim):
            raise ValueError(
                f"groups[{label!r}] must hold names of columns, or indices from 0 to {dim - 1}; got {columns!r}"
            )
        for j in cols.tolist():
            if labels.setdefault(j, label) != label:
                where = column_label([j], names)
                raise ValueError(f"groups has {where} in {labels[j]!r} and in {label!r}; a column is in one group")
    alone = [("column", j) if names is None else names[j] for j in range(dim)]
    return [labels[j] if j in labels else alone[j] if alone[j] not in sets else ("column", j) for j in range(dim)]


def _one_label_each(groups: GroupsLike, dim: int) -> list[Hashable]:
    """One text or number per column; lists stay lists, as an array would make 1 and "1" the same label."""
    wanted = f"groups must give one label per column (text or a number), {dim} of them"
    if isinstance(groups, str | bytes | set) or not np.iterable(groups):
        raise ValueError(f"{wanted}, or the columns of every group, {{'city': ['city_Rome', ...]}}; got {groups!r}")
    labels = list(groups) if isinstance(groups, list | tuple) else np.asarray(groups).tolist()
    for label in labels:
        if np.iterable(label) and not isinstance(label, str | bytes):
            kind = type(label).__name__
            raise ValueError(f"{wanted}, got the {kind} {label!r} among labels")
        if type(label).__name__ == "NAType" or label != label:
            raise ValueError("groups contains NaN; give every column a label")
    if len(labels) != dim:
        raise ValueError(f"{wanted}, got {len(labels)}")
    return labels
