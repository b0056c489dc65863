"""Rows that are not kept in memory: read for each question, and let go after it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._utils.column_names import Names
from .._utils.types import Columns, Intercept, Matrix, Vector
from ..losses.base import Loss
from .base import CacheOwner, Design, MemoryBudget
from .blocks import Block, Limits, NewtonSystem, Quick
from .rows import Rows

T = TypeVar("T")


class Place(Protocol):
    """Where rows lie: ``read`` makes a design of them, which is good until ``drop``; ``few``: a look at some rows."""

    shape: tuple[int, int]
    dtype: np.dtype
    nbytes: int
    full: bool
    sampleable: bool  # whether a few rows can be looked at without reading all

    def read(self, few: bool = False) -> Design: ...
    def drop(self) -> None: ...


class Paged(Design):
    """A design whose rows are read from a source for each question; ``reads`` counts them."""

    def __init__(self, source: Place, names: Names | None, room: MemoryBudget) -> None:
        self.source, self.names, self.reads, self.room = source, names, 0, room._replace(owner=CacheOwner())
        self.shape, self.dtype, self.nbytes, self.full = source.shape, source.dtype, source.nbytes, source.full

    def origin(self) -> Vector | None:
        if not self.source.sampleable:
            return None
        try:
            return self.source.read(few=True).origin()
        finally:
            self.source.drop()

    def _ask(self, question: str, *given: object) -> Any:
        self.reads += 1
        try:
            return getattr(self.source.read(), question)(*given)
        finally:
            self.source.drop()

    def matmat(self, cols: Columns, coef: Matrix) -> Matrix:
        if len(cols) == 0:
            return np.zeros((self.shape[0], coef.shape[1]))
        return self._ask("matmat", cols, coef)

    def rmatmat(self, d: Matrix) -> Matrix:
        return self._ask("rmatmat", d)

    def block(self, cols: Columns) -> Block:
        return self._ask("block", cols)

    def narrow(self, cols: Columns, out: NDArray[np.floating]) -> None:
        self._ask("narrow", cols, out)

    def cross(self, w: Matrix, shift: Vector | None = None) -> Matrix:
        return self._ask("cross", w, shift)

    def gram(self, c: Vector, shift: Vector) -> Matrix:
        return self._ask("gram", c, shift)

    def largest(self, cols: Columns) -> Vector:
        return self._ask("largest", cols)

    def stats(self, c: Vector) -> tuple[Vector, Vector]:
        return self._ask("stats", c)

    def scan(self, look: Callable[..., T], *args: object) -> T:
        return self._ask("scan", look, *args)

    def row_hashes(self) -> NDArray[np.uint64]:
        return self._ask("row_hashes")

    def value_gradient(
        self, loss: Loss, rows: Rows, cols: Columns, coef: Vector, b: Intercept
    ) -> tuple[float, Vector, Intercept]:
        return self._ask("value_gradient", loss, rows, cols, coef, b)

    def take(self, rows: Columns) -> Design:
        return self._ask("take", rows)


@dataclass(frozen=True)
class PagedBlock:
    """Columns of a design that are too many to be kept: gathered again for each question."""

    design: Design
    cols: Columns
    products_only: ClassVar[bool] = False

    @property
    def width(self) -> int:
        return len(self.cols)

    def _now(self) -> Block:
        return self.design.block(self.cols)

    def matvec(self, v: Vector) -> Vector:
        return self.design.matmat(self.cols, v[:, None])[:, 0]

    def rmatvec(self, d: Vector) -> Vector:
        return self._now().rmatvec(d)

    def hessian_product(self, w: Vector, v: Vector, a: float) -> tuple[Vector, float]:
        return self._now().hessian_product(w, v, a)

    def gram(self, w: Vector) -> Matrix:
        return self._now().gram(w)

    def curvatures(self, w: Vector, centred: bool) -> Vector:
        return self._now().curvatures(w, centred)

    def dense(self) -> Matrix:
        return self._now().dense()

    def newton(self, loss: Loss, rows: Rows, coef: Vector, b: float, hessian: bool) -> NewtonSystem:
        return self._now().newton(loss, rows, coef, b, hessian)

    def fit(self, loss: Loss, rows: Rows, l2: Vector, intercept: bool, z: Vector, limits: Limits) -> Quick | None:
        return self._now().fit(loss, rows, l2, intercept, z, limits)
