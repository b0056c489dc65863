"""Data in parts: whatever is asked of the whole is asked of each part, and the answers are added in their order.

    at       sum of values, gradients, slopes
    H        about the whole's means: sum over parts of sum_i w_i (x_ij - m_j) x_il
    moments  sums of squares about one common number, so that ``leave_out`` may subtract

Folds, which are everything but one part, are in :mod:`.folds`.
"""

import threading
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._lazy import lazy
from .._names import Names
from .._types import Columns, Matrix, Vector
from ..designs.base import Room, Rows, joined
from ..engines import Ask, Map, in_turn, summed, total
from ..losses import Loss
from ..refits import ColumnsInParts, LossOnColumns, intercept_of
from .answers import Answer, Form, Spread, merged
from .folds import ByPart, Rest
from .many import ManyInParts
from .rows import Data, Model


class Parts(Data):
    """A sum of data objects; ``each`` is who asks them (``engines.in_turn``, ``engines.in_threads``)."""

    whole = False

    def __init__(self, parts: Sequence[Data], each: Map = in_turn) -> None:
        self.parts, self.each = list(parts), each
        first = self.parts[0]
        self.shape = (sum(part.shape[0] for part in self.parts), first.shape[1])
        self.dtype, self.nbytes = first.dtype, sum(part.nbytes for part in self.parts)
        self.__dict__["weight"] = sum(part.weight for part in self.parts)
        self.loss: Loss = first.loss
        self._known: dict[str, Any] = {}
        self._kept, self._lock, self._raw = {}, threading.Lock(), None

    def __getstate__(self) -> dict[str, Any]:
        return {"parts": self.parts, "each": self.each}

    def __setstate__(self, state: dict[str, Any]) -> None:
        Parts.__init__(self, **state)  # of a fold the rows are left, and not what it was taken from

    @property
    def near(self) -> bool:  # type: ignore[override]
        return all(part.near for part in self.parts)

    @property
    def names(self) -> Names | None:
        return self._once("names", lambda: self.parts[0].names) if self._raw is None else self._raw.names

    @property
    def lean(self) -> bool:
        return self.parts[0].lean

    @property
    def room(self) -> Room:
        return self.parts[0].room

    @property
    def full(self) -> bool:
        return self.parts[0].full

    @property
    def local(self) -> Any:
        raise TypeError(
            f"the rows lie in {len(self.parts)} parts, and this needs all of them in one piece: "
            "dual methods and the perspective bound look at single rows"
        )

    def _ask(self, name: str, *args: Any) -> list[Any]:
        return self.each(Ask(name, *args), self.parts)

    def _sum(self, name: str, *args: Any) -> Any:
        return summed(self.each, Ask(name, *args), self.parts)

    def _once(self, name: str, answer: Callable[[], Any]) -> Any:
        if name not in self._known:
            self._known[name] = answer()
        return self._known[name]

    def forget(self) -> None:
        """What is one number a row is with the parts."""

    def row_keys(self, cols: Columns, limit: int) -> NDArray[np.uint64]:
        found = self.each(Ask("row_keys", cols, limit), self.parts[:1])[0]
        if len(found) >= limit:  # the first part mostly has enough
            return found
        return np.unique(np.concatenate([found, *self.each(Ask("row_keys", cols, limit), self.parts[1:])]), axis=0)

    def at(self, cols: Columns, coef: Vector, b: float) -> Answer:
        return self._sum("at", cols, coef, b)

    def value(self, cols: Columns, coef: Vector, b: float) -> float:
        return self._sum("value", cols, coef, b)

    def pull(self, a: Vector) -> Vector:
        return summed(self.each, Ask("pull"), self.parts, self._split(a))

    def few(self, cols: Columns, ridge: Any, intercept: bool, lower: float) -> LossOnColumns:
        return self._in_parts(self._ask("few", cols, 0.0, True, -np.inf), len(cols), ridge, intercept, lower)

    def held(self, cols: Columns, coef: Vector) -> LossOnColumns:
        return self._in_parts(self._ask("held", cols, coef), 0, 0.0, True, self.infimum())

    def _in_parts(self, parts: list[Any], width: int, ridge: Any, intercept: bool, lower: float) -> ColumnsInParts:
        size = width, self.shape[0] * width
        return ColumnsInParts(
            self.loss, ridge, intercept, lower, self.ends(), None, None, None, parts, self.each, size, self.near,
            room=self.room.columns,
        )  # fmt: skip

    def start(self) -> float:
        """The best intercept without columns, from the mean of the parts' own."""
        return self._once("start", lambda: intercept_of(self.held(np.empty(0, np.int64), np.empty(0)), self._guess()))

    def _guess(self) -> float:
        parts = [part for part in self.parts if part.weight > 0]
        return sum(part.weight * b for part, b in zip(parts, self.each(Ask("start"), parts), strict=True)) / self.weight

    def infimum(self) -> float:
        return self._once("infimum", lambda: self._sum("infimum"))

    def ends(self) -> tuple[float, float]:
        def all_ends() -> tuple[float, float]:
            ends = self._ask("ends")
            return min(low for low, _ in ends), max(high for _, high in ends)

        return self._once("ends", all_ends)

    def model(self, cols: Columns, coef: Vector, b: float) -> "PartsModel":
        known = self.moments if self.loss.quadratic and self.room.gram is not None else None
        return PartsModel(self._ask("model", cols, coef, b), self.each, known)

    def many(self, cols: Columns, B: Vector) -> Any:
        return ManyInParts(self._ask("many", cols, B), self.each)

    def metric(self) -> "PartsModel":
        return PartsModel(self._ask("metric"), self.each)

    def moments(self) -> Spread:
        return self._once("moments", lambda: merged(self._ask("moments")))

    def sketch(self) -> Matrix:
        return self._sum("sketch")

    def know(self, moments: Spread) -> None:
        self._known["moments"] = moments

    def gram(self, cols: Columns, centred: bool) -> tuple[Matrix, Vector]:
        if self.room.gram is not None:
            return self._gram_in_one_pass(cols, centred)
        model = self.model(np.empty(0, np.int64), np.empty(0), 0.0)
        mean, size = model.centres(cols) if centred else (np.zeros(len(cols)), np.zeros(len(cols)))
        return model.rows_about(cols, None, mean, size), mean

    def gram_about(self, cols: Columns, shift: Vector) -> Matrix:
        return self._sum("gram_about", cols, shift)

    def form(self, m: Vector, s: Vector, level: float) -> Form:
        return self._sum("form", m, s, level)

    def largest(self, cols: Columns) -> Vector:
        return np.max(self._ask("largest", cols), axis=0)

    def closely(self, cols: Columns, origin: Vector | None) -> tuple[Vector, Spread]:
        near = origin if origin is not None else self.each(Ask("closely", cols, None), self.parts[:1])[0][0]
        return near, merged([spread for _, spread in self._ask("closely", cols, near)])

    def origin(self) -> Vector | None:
        """That of the first part which has one."""
        origins = [origin for origin in self._ask("origin") if origin is not None]
        if not origins:
            return None
        whole = origins[0]
        for origin in origins[1:]:
            whole = np.where(whole == 0, origin, whole)
        return whole

    def slopes(self, points: Sequence[tuple[Columns, Vector, float]]) -> tuple[Matrix, Vector]:
        return self._sum("slopes", points)

    def copied(self, cols: Columns | None = None) -> tuple[Matrix, Rows]:
        copies = self._ask("copied", cols)
        return np.asfortranarray(np.concatenate([A for A, _ in copies])), joined([rows for _, rows in copies])

    def seen(self, m: Vector, s: Vector, constant: NDArray[np.bool_], far: bool) -> "Parts":
        view = self._like(self._ask("seen", m, s, constant, far))
        view._raw = self.raw
        if "moments" in self._known:  # which need not be looked for again
            view.know(self._known["moments"].seen(m, s, constant))
        return view

    def take(self, rows: Columns, scale: float) -> "Parts":
        """Of each part its own of these rows; parts without any are left out."""
        ends = np.cumsum([0, *(part.shape[0] for part in self.parts)])
        own = [rows[(rows >= low) & (rows < high)] - low for low, high in pairwise(ends)]
        used = [i for i, mine in enumerate(own) if len(mine)]
        taken = self.each(Ask("take", scale), [self.parts[i] for i in used], [own[i] for i in used])
        return self._like(taken)

    def weighted(self, c: Vector) -> "Parts":
        own = self._split(c)
        used = [i for i, mine in enumerate(own) if mine.any()]
        return self._like(self.each(Ask("weighted"), [self.parts[i] for i in used], [own[i] for i in used]))

    def scaled(self, factor: float) -> "Parts":
        return self._like(self._ask("scaled", factor))

    def _like(self, parts: Sequence[Data]) -> "Parts":  # type: ignore[override]
        return Parts(parts, self.each)

    def pieces(self, many: int) -> list[Callable[[], Data]]:
        groups = np.array_split(np.arange(len(self.parts)), min(many, len(self.parts)))
        return [partial(self._like, [self.parts[i] for i in group]) for group in groups]

    def _split(self, rows: Any) -> list[Any]:
        """Numbers, one per row, part by part."""
        return np.split(rows, np.cumsum([part.shape[0] for part in self.parts])[:-1])

    def labelled(self, labels: Columns) -> Any:
        """The same rows told apart by a label each (-1: none); a part may lack some of the labels."""
        from .labelled import LabelledParts  # which is a kind of this

        return LabelledParts(self.raw, labels)

    def apart(self, labels: Columns, count: int) -> Any:
        from .labelled import ApartInParts  # which takes data of this kind

        return ApartInParts(self, labels, count)

    def leave_out(self, j: int) -> "Fold":
        """Everything but part j, weights again summing to one; moments and Gram columns by subtraction."""
        if self._raw is not None:
            return self._raw.leave_out(j)  # type: ignore[attr-defined]
        rest = self.by_part.without(j)
        others = [part for i, part in enumerate(self.parts) if i != j]
        return self._fold(self.each(Ask("scaled", 1 / rest.weight), others), rest)

    def _fold(self, parts: Sequence[Data], rest: Rest) -> "Fold":
        return Fold(parts, self.each, rest)

    @lazy
    def by_part(self) -> ByPart:
        """What the parts have of moments and Gram columns, for folds."""
        return ByPart(self.each, self.parts)

    def in_units(self, cols: Columns, coef: Vector, b: float) -> tuple[Vector, float]:
        return self.each(Ask("in_units", cols, coef, b), self.parts[:1])[0]

    def from_units(self, cols: Columns, coef: Vector, b: float) -> tuple[Vector, float]:
        return self.each(Ask("from_units", cols, coef, b), self.parts[:1])[0]


class PartsModel(Model):
    """The Hessian at one point, from each part's own."""

    def __init__(self, parts: Sequence[Model], each: Map, moments: Callable[[], Spread] | None = None) -> None:
        self.parts, self.each, self.moments = parts, each, moments
        self.weight = sum(part.weight for part in parts)

    def bounding(self) -> "PartsModel":
        return PartsModel(self.each(Ask("bounding"), self.parts), self.each)

    def along(self, cols: Columns, v: Vector) -> Spread:
        return merged(self.each(Ask("along", cols, v), self.parts))

    def squares(self, cols: Columns, centred: bool) -> Vector:
        return self.diagonal(cols).moment(centred)

    def diagonal(self, cols: Columns) -> Spread:
        if self.moments is not None:  # which are those of the Hessian, and known
            weight, mean, square = self.moments()
            return Spread(weight, mean[cols], square[cols])
        return merged(self.each(Ask("diagonal", cols), self.parts))

    def centres(self, cols: Columns) -> tuple[Vector, Vector]:
        """The columns' weighted means, twice since the first is rounded at its own size, and their largest numbers."""
        mean, size = np.zeros(len(cols)), np.zeros(len(cols))
        for _ in range(2):
            sums, most = self.means(cols, mean)
            size = np.maximum(size, most)
            mean = mean + sums / (self.weight if self.weight > 0 else 1.0)
        return mean, size

    def means(self, cols: Columns, origin: Vector) -> tuple[Vector, Vector]:
        answers = self.each(Ask("means", cols, origin), self.parts)
        return total(sums for sums, _ in answers), np.max([most for _, most in answers], axis=0)

    def rows(self, cols: Columns, others: Columns | None, centred: bool) -> Matrix:
        mean, size = self.centres(cols) if centred else (np.zeros(len(cols)), np.zeros(len(cols)))
        return self.rows_about(cols, others, mean, size)

    def rows_about(self, cols: Columns, others: Columns | None, mean: Vector, size: Vector) -> Matrix:
        return summed(self.each, Ask("rows_about", cols, others, mean, size), self.parts)

    def rough(self, cols: Columns, centred: bool) -> None:
        return None


class Fold(Parts):
    """What is left of some parts without one of them; pickled, these parts."""

    def __reduce__(self) -> Any:
        return type(self._like(self.parts)), (self.parts, self.each)

    def __init__(self, parts: Sequence[Data], each: Map, rest: Rest) -> None:
        super().__init__(parts, each)
        self.rest = rest

    def moments(self) -> Spread:
        return self._once("moments", self.rest.moments)

    def gram(self, cols: Columns, centred: bool) -> tuple[Matrix, Vector]:
        return self.rest.gram(cols) if centred else super().gram(cols, centred)

    def seen(self, m: Vector, s: Vector, constant: NDArray[np.bool_], far: bool) -> "Fold":
        view = self._fold(super().seen(m, s, constant, far).parts, self.rest.seen(m, s, constant))
        view._raw = self.raw
        return view
