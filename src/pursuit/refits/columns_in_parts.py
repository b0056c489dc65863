"""A loss on a few columns of rows that lie in several parts: answers of disjoint rows add up."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from .._utils.types import Intercept, Matrix, Vector
from ..designs.blocks import DenseBlock
from ..designs.rows import Rows, joined
from ..engines import Ask, Map, in_turn, over_parts, total
from .basis import Stored
from .columns import ORTHONORMAL_COPIES, LossOnColumns
from .problem import Line, SmoothProblem, State


@dataclass(frozen=True, eq=False)
class ColumnsInParts(LossOnColumns):
    """The same on rows that lie in several parts: every sum is computed by each part (``each``) and added."""

    parts: Sequence[LossOnColumns] = ()
    each: Map = in_turn
    size: tuple[int, int] = (0, 0)  # columns, and numbers in them
    near: bool = True  # whether rows may be brought here

    scattered: ClassVar[bool] = True
    products_only: ClassVar[bool] = False

    system, bound, target_sums, normal_equations = map(
        over_parts, ("system", "bound", "target_sums", "normal_equations")
    )

    @property
    def width(self) -> int:
        return self.size[0]

    @property
    def entries(self) -> int:
        return self.size[1]

    @property
    def affordable(self) -> bool:
        return self.near and super().affordable

    def value_and_gradient(self, v: Vector, b: Intercept) -> tuple[float, Vector, Any]:
        answers = self.each(Ask("value_and_gradient", v, b), self.parts)
        return *total([answer[:2] for answer in answers]), [answer[2] for answer in answers]

    def line(self, here: State, d: Vector) -> Line:
        """Where an answer takes longer on its way than in the making, a trial is a whole evaluation."""
        return super().line(here, d) if self.near or self.by_products else SmoothProblem.line(self, here, d)

    def along(
        self, cache: Any, v: Vector, b: Intercept, dv: Vector, db: Intercept
    ) -> Callable[[float], tuple[float, float]]:
        lines = self.each(Ask("along", v, b, dv, db), self.parts, self._own(cache))
        return lambda t: total(self.each(Ask("__call__", t), lines))

    def curved(self, cache: Any, v: Vector, b: Intercept) -> Callable[[Vector, Intercept], tuple[Vector, Intercept]]:
        products = self.each(Ask("curved", v, b), self.parts, self._own(cache))
        return lambda u, a: total(self.each(Ask("__call__", u, a), products))

    def _own(self, cache: Any) -> Sequence[Any]:
        """What each part keeps of a state."""
        return [None] * len(self.parts) if cache is None else cache

    def curves(self, z: Vector) -> tuple[float, float]:
        own = np.append(*self.split(z))  # parts always have an intercept
        ranges = self.each(Ask("curves", own), self.parts)
        return min(low for low, _ in ranges), max(high for _, high in ranges)

    def reach(self, d: Vector) -> float:
        own = np.append(*self.split(d))
        return max(self.each(Ask("reach", own), self.parts))

    def gather_columns(self) -> "LossOnColumns":
        """The few columns of all parts in one place; the rows' own numbers come along."""
        A, rows, stored = self.to_arrays()
        return LossOnColumns(
            self.loss,
            self.ridge,
            self.intercept,
            self.lower,
            self.ends,
            DenseBlock(A),
            rows,
            None if stored is None else lambda: stored,
            outputs=self.outputs,
        )

    def to_arrays(self) -> tuple[Matrix, Rows, Stored | None]:
        blocks, rows, stored = zip(*self.each(Ask("to_arrays"), self.parts), strict=True)
        A = np.asfortranarray(np.concatenate(blocks))
        if stored[0] is None:
            return A, joined(rows), None
        return A, joined(rows), replace(stored[0], A=np.asfortranarray(np.concatenate([some.A for some in stored])))

    def gather_rows(self) -> "LossOnColumns":
        if ORTHONORMAL_COPIES * self.width > self.room:
            raise ValueError(
                f"loss {self.loss.name!r} needs its {self.width} columns in memory, which has room for "
                f"{int(self.room / ORTHONORMAL_COPIES)}: allow more of it, or take loss='squared_hinge'"
            )
        return self.gather_columns()

    def kernel_fit(self, z: Vector) -> None:
        return None
