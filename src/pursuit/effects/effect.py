"""``Effect``: the curve of one chosen feature, and what can be said of it in words."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._utils.text import format_number
from .._utils.types import Array, Vector
from .splines import ColumnBasis, offsets_of

GRID_POINTS = 201  # at which the shape of a curve is judged
FLAT_SHARE = 0.02  # of a curve's range: a rise or fall that is smaller is not mentioned


@dataclass(frozen=True, eq=False)
class Effect:
    """The effect of one feature on the linear predictor; its mean over the training rows is zero.

    Call it with values of the feature to get the effect there: one number per value, with several outputs (classes,
    responses) a row of them.

    Attributes
    ----------
    name, column : of the feature
    kind : "smooth", "linear", "increasing" or "decreasing"
    coef : coefficients of the columns of ``basis``, with several outputs one row per column
    basis : the columns, with ``knots``
    low, high : the least and the largest value on the training rows; beyond them the curve goes on as a line
    """

    name: str
    column: int
    kind: str
    coef: Vector
    basis: ColumnBasis

    @property
    def low(self) -> float:
        return self.basis.low

    @property
    def high(self) -> float:
        return self.basis.high

    def __call__(self, x: Any) -> Array:
        values = np.asarray(x, dtype=np.float64)
        found = self.basis.evaluate(values.ravel()) @ self.coef
        return np.asarray(found).reshape(values.shape + self.coef.shape[1:])

    def grid(self, points: int = GRID_POINTS) -> Vector:
        """Values from the least to the largest of the training rows."""
        return np.linspace(self.low, self.high, points)

    @property
    def range(self) -> float:
        """The largest effect less the least one, over the values of the training rows (several outputs: the widest)."""
        curve = self(self.grid())
        return float((curve.max(axis=0) - curve.min(axis=0)).max())

    def describe(self) -> str:
        """Where the curve rises and falls, in words."""
        x, curve = self.grid(), self(self.grid())
        if curve.ndim > 1:
            return ""
        size = float(curve.max() - curve.min())
        if size == 0:
            return "flat"
        turns = _turning_points(curve, FLAT_SHARE * size)
        words = []
        for begin, end in itertools.pairwise(turns):
            verb = "rises" if curve[end] > curve[begin] else "falls"
            words.append(verb if end == len(x) - 1 else f"{verb} to {format_number(x[end])}")
        return ", ".join(words)


def _turning_points(curve: Vector, room: float) -> list[int]:
    """Places between which a curve rises or falls by more than ``room``, the ends among them."""
    turns, direction, extreme = [0], 0, 0
    for i in range(1, len(curve)):
        moved = curve[i] - curve[extreme]
        if direction == 0:
            if abs(curve[i] - curve[0]) > room:
                direction, extreme = (1 if curve[i] > curve[0] else -1), i
        elif direction * moved >= 0:
            extreme = i
        elif -direction * moved > room:
            turns.append(extreme)
            direction, extreme = -direction, i
    turns.append(len(curve) - 1)
    return turns


def split_effects(
    names: Sequence[str], columns: Sequence[int], bases: Sequence[ColumnBasis], coef: Array
) -> list[Effect]:
    """The effects of features whose coefficients lie one after the other in ``coef``."""
    starts = offsets_of([basis.width for basis in bases])
    return [
        Effect(names[i], int(columns[i]), basis.kind, coef[starts[i] : starts[i + 1]], basis)
        for i, basis in enumerate(bases)
    ]
