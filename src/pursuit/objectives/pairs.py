"""Pairs of p variables as coordinates: pair (i, j), i < j, is number i p - i (i + 1) / 2 + j - i - 1."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._utils.lazy import lazy
from .._utils.types import Columns, Flags
from .._utils.validation import format_list, suggestion_clause


class Pairs:
    """All pairs of p variables, by number; ``names`` are those of the variables."""

    def __init__(self, p: int, names: Sequence[str] | None = None) -> None:
        self.p, self.names = p, names

    @property
    def count(self) -> int:
        return self.p * (self.p - 1) // 2

    @lazy
    def ends(self) -> tuple[Columns, Columns]:
        """The first and the second variable of every pair."""
        i, j = np.triu_indices(self.p, 1)
        return i.astype(np.int64), j.astype(np.int64)

    def edges(self, numbers: Columns) -> Columns:
        """Pairs, a row each."""
        return np.stack([end[numbers] for end in self.ends], axis=1)

    def numbers(self, edges: Columns) -> Columns:
        """The numbers of pairs i < j."""
        i, j = np.asarray(edges, np.int64).reshape(-1, 2).T
        return i * self.p - i * (i + 1) // 2 + j - i - 1

    def mask(self, numbers: Columns) -> Flags:
        """A symmetric p x p matrix, true at these pairs."""
        mask = np.zeros((self.p, self.p), bool)
        i, j = self.edges(numbers).T
        mask[i, j] = mask[j, i] = True
        return mask

    def name(self, number: int) -> str:
        """``age - bmi``, or ``0 - 3``."""
        return " - ".join(self._node(int(end[number])) for end in self.ends)

    def column_label(self, numbers: Columns) -> str:
        """``edge age - bmi``, ``edges 0 - 3, 1 - 2 and 7 more``."""
        words = [self.name(int(e)) for e in numbers]
        return f"edge{'s' * (len(words) != 1)} {format_list(words)}"

    def chosen(self, given: Any, argument: str) -> Columns:
        """Sorted numbers of the pairs that a user names by indices or names, or by a p x p mask."""
        if given is None:
            return np.empty(0, np.int64)
        if isinstance(given, str) or not np.iterable(given):
            raise TypeError(f"{argument} must be a list of pairs of variables, got {given!r}")
        mask: Any = given
        if getattr(mask, "shape", None) == (self.p, self.p) and np.asarray(mask).dtype.kind == "b":
            mask = np.asarray(mask)
            return np.flatnonzero((mask | mask.T)[self.ends])
        pairs = [self._pair(pair, argument) for pair in given]
        if not pairs:
            return np.empty(0, np.int64)
        return np.unique(self.numbers(np.array(pairs, np.int64)))

    def _pair(self, pair: Any, argument: str) -> tuple[int, int]:
        ends = list(pair) if np.iterable(pair) and not isinstance(pair, str) else []
        if len(ends) != 2:
            mask = f"or be a {self.p} x {self.p} mask"
            raise ValueError(
                f"{argument} must hold pairs of variables such as (0, 3) or ('a', 'b'), {mask}; got {pair!r}"
            )
        i, j = (self._place(end, argument) for end in ends)
        if i == j:
            raise ValueError(f"{argument} holds an edge from {self._node(i)} to itself; an edge joins two variables")
        return min(i, j), max(i, j)

    def _place(self, end: Any, argument: str) -> int:
        if isinstance(end, str):
            if end not in (self.names or ()):
                raise ValueError(
                    f"{argument} names {end!r}, which there is not{suggestion_clause(end, self.names or ())}"
                )
            return (self.names or ()).index(end)
        if isinstance(end, bool | np.bool_) or not isinstance(end, int | np.integer):
            raise TypeError(f"{argument} must hold indices or names of variables, got {end!r}")
        if not 0 <= end < self.p:
            raise ValueError(f"{argument} must hold indices from 0 to {self.p - 1}, got {int(end)}")
        return int(end)

    def _node(self, j: int) -> str:
        return str(j) if self.names is None else str(self.names[j])
