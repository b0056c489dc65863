"""Data in parts: every sum over the rows is computed by each part, and the results are added in their order.

at       sum of values, gradients, slopes
H        about the whole's means: sum over parts of sum_i w_i (x_ij - m_j) x_il
moments  sums of squares about one common number
"""

import threading
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._utils.column_names import Names
from .._utils.types import Columns, Intercept, Keywords, Matrix, Ridge, Vector
from ..designs.base import MemoryBudget
from ..designs.rows import Rows, joined
from ..effects import AdditiveBasis, merge_ranges
from ..engines import Ask, Map, SumOfParts, in_turn, over_parts, summed, total
from ..losses import Loss
from ..refits import ColumnsInParts, intercept_of
from .answers import Moments, merge_moments
from .folds import FoldCache, LabelSumsInParts
from .hessian import PartsModel
from .rows import Data


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
        self.outputs = first.outputs
        self.loss.check_parts()
        self._known: Keywords = {}
        self._kept, self._lock, self._raw, self._moments = {}, threading.Lock(), None, None

    def __getstate__(self) -> dict[str, object]:
        return {"parts": self.parts, "each": self.each}

    def __setstate__(self, state: Keywords) -> None:
        Parts.__init__(self, **state)  # of a fold the rows are left, and not what it was taken from

    @property
    def near(self) -> bool:  # type: ignore[override]
        return all(part.near for part in self.parts)

    @property
    def names(self) -> Names | None:
        return self._once("names", lambda: self.parts[0].names) if self._raw is None else self._raw.names

    @property
    def products_only(self) -> bool:
        return self.parts[0].products_only

    @property
    def room(self) -> MemoryBudget:
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

    def _ask(self, name: str, *args: object) -> list[Any]:
        return self.each(Ask(name, *args), self.parts)

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

    at, value, sketch, gram_about, form, slopes = map(
        over_parts, ("at", "value", "sketch", "gram_about", "form", "slopes")
    )

    def weighted_transpose(self, a: Vector) -> Vector:
        return summed(self.each, Ask("weighted_transpose"), self.parts, self._split(a))

    def column_problem(self, cols: Columns, ridge: Ridge, intercept: bool, lower: float = 0.0) -> ColumnsInParts:
        return self._in_parts(self._ask("column_problem", cols, 0.0, True, -np.inf), len(cols), ridge, intercept, lower)

    def intercept_problem(self, cols: Columns, coef: Vector) -> ColumnsInParts:
        return self._in_parts(self._ask("intercept_problem", cols, coef), 0, 0.0, True, self.infimum())

    def _in_parts(self, parts: list[Any], width: int, ridge: Ridge, intercept: bool, lower: float) -> ColumnsInParts:
        size = width, self.shape[0] * width
        return ColumnsInParts(
            self.loss,
            ridge,
            intercept,
            lower,
            self.ends(),
            None,
            None,
            None,
            parts,
            self.each,
            size,
            self.near,
            outputs=self.outputs,
            room=self.room.columns,
        )

    def start(self) -> Intercept:
        """The best intercept without columns, from the mean of the parts' own."""
        nothing = np.empty(0, np.int64), self.no_coefficients
        return self._once("start", lambda: intercept_of(self.intercept_problem(*nothing), self._guess()))

    def _guess(self) -> Intercept:
        parts = [part for part in self.parts if part.weight > 0]
        return sum(part.weight * b for part, b in zip(parts, self.each(Ask("start"), parts), strict=True)) / self.weight

    def infimum(self) -> float:
        return self._once("infimum", lambda: total(self._ask("infimum")))

    def ends(self) -> tuple[float, float]:
        def all_ends() -> tuple[float, float]:
            ends = self._ask("ends")
            return min(low for low, _ in ends), max(high for _, high in ends)

        return self._once("ends", all_ends)

    def model(self, cols: Columns, coef: Vector, b: Intercept) -> PartsModel:
        known = self.moments if self.loss.quadratic and self.room.gram is not None else None
        return PartsModel(self._ask("model", cols, coef, b), self.each, known, self.shape[1])

    def batch(self, cols: Columns, B: Vector) -> Any:
        return SumOfParts(self._ask("batch", cols, B), self.each, ("losses", "levels", "shrinks"))

    def metric(self) -> PartsModel:
        return PartsModel(self._ask("metric"), self.each, None, self.shape[1])

    def _own_moments(self) -> Moments:
        return merge_moments(self._ask("moments"))

    def _own_gram(self, cols: Columns, centred: bool) -> tuple[Matrix, Vector]:
        if self.room.gram is not None:
            return self._gram_in_one_pass(cols, centred)
        model = self.metric()
        mean, size = model.centres(cols) if centred else (np.zeros(len(cols)), np.zeros(len(cols)))
        return model.rows_about(cols, None, mean, size), mean

    def largest(self, cols: Columns) -> Vector:
        return np.max(self._ask("largest", cols), axis=0)

    def exact_moments(self, cols: Columns, origin: Vector | None) -> tuple[Vector, Moments]:
        near = origin if origin is not None else self.each(Ask("exact_moments", cols, None), self.parts[:1])[0][0]
        return near, merge_moments([spread for _, spread in self._ask("exact_moments", cols, near)])

    def origin(self) -> Vector | None:
        """That of the first part which has one."""
        origins = [origin for origin in self._ask("origin") if origin is not None]
        if not origins:
            return None
        whole = origins[0]
        for origin in origins[1:]:
            whole = np.where(whole == 0, origin, whole)
        return whole

    def copied(self, cols: Columns | None = None) -> tuple[Matrix, Rows]:
        copies = self._ask("copied", cols)
        return np.asfortranarray(np.concatenate([A for A, _ in copies])), joined([rows for _, rows in copies])

    def standardised(self, m: Vector, s: Vector, constant: NDArray[np.bool_], far: bool) -> "Parts":
        view = self._like(self._ask("standardised", m, s, constant, far))
        view._raw = self.raw
        if self._moments is not None:  # which need not be looked for again
            view._moments = self._moments.standardised(m, s, constant)
        if self.shared is not None:
            view.shared = self.shared.standardised(m, s, constant)
        return view

    def in_basis(self, basis: AdditiveBasis, names: Names | None, stored: bool) -> "Parts":
        raw = self.raw
        return Parts(raw.each(Ask("in_basis", basis, names, stored), raw.parts), raw.each)  # type: ignore[attr-defined]

    def column_ranges(self) -> Matrix:
        return merge_ranges(self._ask("column_ranges"))

    def sampled(self, rows: Columns) -> Matrix:
        used, own = self._rows_of_parts(rows)
        return np.concatenate(self.each(Ask("sampled"), used, own))

    basis_sums = over_parts("basis_sums")

    def _rows_of_parts(self, rows: Columns) -> tuple[list[Data], list[Columns]]:
        """The parts that have some of these rows, and their own numbers of them."""
        ends = np.cumsum([0, *(part.shape[0] for part in self.parts)])
        own = [rows[(rows >= low) & (rows < high)] - low for low, high in pairwise(ends)]
        used = [i for i, mine in enumerate(own) if len(mine)]
        return [self.parts[i] for i in used], [own[i] for i in used]

    def take(self, rows: Columns, scale: float) -> "Parts":
        """Of each part its own of these rows; parts without any are left out."""
        used, own = self._rows_of_parts(rows)
        return self._like(self.each(Ask("take", scale), used, own))

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

    def folds(self, labels: Columns | None = None) -> FoldCache:
        """Folds of these rows by a label each; by default a part is a fold."""
        if labels is None:
            labels = np.repeat(np.arange(len(self.parts)), [part.shape[0] for part in self.parts])
        return FoldCache(self.raw, labels)

    def label_sums(self, labels: Columns, count: int) -> Any:
        return LabelSumsInParts(self, labels, count)

    def in_units(self, cols: Columns, coef: Vector, b: Intercept) -> tuple[Vector, Intercept]:
        return self.each(Ask("in_units", cols, coef, b), self.parts[:1])[0]

    def from_units(self, cols: Columns, coef: Vector, b: Intercept) -> tuple[Vector, Intercept]:
        return self.each(Ask("from_units", cols, coef, b), self.parts[:1])[0]
