"""What belongs to the rows of X: targets, weights, an offset."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .. import _core
from .._utils.arrays import ensure_aligned
from .._utils.lazy import lazy
from .._utils.types import Intercept, Vector
from ..losses import Loss


class Compiled:
    """Keeps what the kernels make of its arrays in attributes named ``core...``; copies and pickles make it anew."""

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if not name.startswith("core")}

    def __setstate__(self, state: dict[str, object]) -> None:
        """Workers receive these: inside a message an array may begin anywhere."""
        self.__dict__.update({name: ensure_aligned(value) for name, value in state.items()})


@dataclass(frozen=True)
class Rows(Compiled):
    """What belongs to the rows of X: targets, weights that sum to one, an offset or None."""

    travels: ClassVar[bool] = True  # where rows must be in one place

    y: Vector
    c: Vector
    offset: Vector | None = None

    @lazy
    def core(self) -> dict[tuple[int, float], _core.Samples]:
        return {}

    def samples(self, loss: Loss) -> _core.Samples:
        """The same with a compiled loss, for the kernels."""
        assert loss.code is not None
        key = loss.code, loss.param
        if key not in self.core:
            self.core[key] = _core.Samples(self.y, self.c, self.offset, *key)
        return self.core[key]

    def forget(self) -> None:
        """Let go of what can be computed again."""

    def weighted(self, c: Vector | Callable[[], Vector]) -> "Rows":
        """The same rows with other weights: an array, or a function that computes it when it is needed."""
        return LazyRows.of(self, c) if callable(c) else Rows(self.y, c, self.offset)

    def shift(self, eta: Vector, b: Intercept) -> Vector:
        """Eta with intercept and offset."""
        return eta + b if self.offset is None else eta + b + self.offset


class LazyRows(Rows):
    """Rows whose weights are computed when they are needed, and after ``forget`` again: ten folds keep none."""

    make: Callable[[], Vector] | None = None  # None: weights are its own, as in a copy with another offset

    @classmethod
    def of(cls, rows: Rows, make: Callable[[], Vector]) -> "LazyRows":
        lazy_rows = cls.__new__(cls)
        lazy_rows.__dict__.update(y=rows.y, offset=rows.offset, make=make)
        return lazy_rows

    @lazy
    def c(self) -> Vector:
        assert self.make is not None
        return self.make()

    def forget(self) -> None:
        for name in ("c", "core") if self.make is not None else ():
            self.__dict__.pop(name, None)


def joined(rows: Sequence[Rows]) -> Rows:
    """Rows after rows."""
    offsets = [np.zeros_like(some.y) if some.offset is None else some.offset for some in rows]
    offset = None if all(some.offset is None for some in rows) else np.concatenate(offsets)
    return Rows(np.concatenate([some.y for some in rows]), np.concatenate([some.c for some in rows]), offset)
