"""From what a user has to data, or to one sentence about what is wrong with it."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._errors import check_offset, check_vector, check_weights
from .._types import Vector
from ..designs import Rows, as_design
from ..engines import Map, in_turn
from ..losses.base import check_derivative
from ..losses.vector import VectorLoss
from .outputs import OutputData, OutputParts
from .parts import Parts
from .rows import Data


class InParts:
    """Data whose rows lie in several pieces, for ``GLM(InParts([(X1, y1), (X2, y2)]), loss=...)``.

    Parameters
    ----------
    parts : tuples (X, y), (X, y, sample_weight) or (X, y, sample_weight, offset), all with the same columns
    each : who asks the parts: ``pursuit.engines.in_turn`` or ``pursuit.engines.in_threads``
    """

    def __init__(self, parts: Sequence[Sequence[Any]], each: Map = in_turn) -> None:
        if not isinstance(parts, list | tuple) or not all(isinstance(part, list | tuple) for part in parts):
            raise TypeError("parts must be a list of tuples (X, y), (X, y, weights) or (X, y, weights, offset)")
        if not callable(each):
            raise TypeError(f"each must be a function like pursuit.engines.in_turn, got {type(each).__name__}")
        pieces = [tuple(part) for part in parts]
        if not pieces:
            raise ValueError("parts must hold at least one part (X, y)")
        self.each = each
        self.parts: list[tuple[Any, Any, Any, Any]] = []
        for i, piece in enumerate(pieces):
            if not 2 <= len(piece) <= 4:
                raise ValueError(f"part {i} must be (X, y), (X, y, weights) or (X, y, weights, offset)")
            X, y, weight, offset = (*piece, None, None)[:4]
            self.parts.append((_said(i, as_design, X), y, weight, offset))
        self.width = self.parts[0][0].shape[1]
        for i, (design, *_) in enumerate(self.parts):
            if design.shape[1] != self.width:
                raise ValueError(f"part {i} has {design.shape[1]} columns, and part 0 has {self.width}")
            if design.names != self.parts[0][0].names:
                raise ValueError(f"part {i} has other column names than part 0")
            if design.lean and len(self.parts) > 1:
                raise TypeError(f"part {i} is a LinearOperator, and an operator must be one part: it knows no rows")

    def bound(self, loss: Any) -> Data:
        """The data under a loss."""
        designs, ys, weights, offsets = zip(*self.parts, strict=True)
        sizes = [design.shape[0] for design in designs]
        raw = [_said(i, _raw, *given) for i, given in enumerate(zip(weights, sizes, strict=True))]
        shares = np.split(check_weights(np.concatenate(raw), sum(sizes)), np.cumsum(sizes)[:-1])
        given = enumerate(zip(_encoded(loss, ys), shares, offsets, strict=True))
        rows = [_said(i, _rows, loss, *own) for i, own in given]
        kinds = (OutputData, OutputParts) if isinstance(loss, VectorLoss) else (Data, Parts)
        parts = [kinds[0](design, own, loss) for design, own in zip(designs, rows, strict=True)]
        return parts[0] if len(parts) == 1 else kinds[1](parts, self.each)


def as_data(X: Any, y: Any, loss: Any, sample_weight: Any, offset: Any) -> Data:
    """X, y and what belongs to them as data; parts bring their own y, weights and offset."""
    if isinstance(X, str | os.PathLike):
        from .disk import open_data  # which makes data in parts

        X = open_data(X)
    if isinstance(X, InParts | Data):
        if not (y is None and sample_weight is None and offset is None):
            raise TypeError("data in parts bring their own: leave y, sample_weight and offset out")
        return X.bound(loss)
    design = as_design(X)
    rows = _rows(loss, y, check_weights(sample_weight, design.shape[0]), offset)
    return (OutputData if isinstance(loss, VectorLoss) else Data)(design, rows, loss)


def _encoded(loss: Any, ys: Sequence[Any]) -> Sequence[Any]:
    """The targets of all parts; labels of classes must be told from those of all of them."""
    if isinstance(loss, VectorLoss):
        if any(np.ndim(y) != 1 for y in ys):
            return ys
        classes = np.unique(np.concatenate([np.unique(y) for y in ys]))
        return [np.eye(len(classes))[np.searchsorted(classes, y)] for y in ys]
    if loss.targets == "binary":
        try:
            loss.encode(np.concatenate([np.unique(y) for y in ys]))
        except ValueError as error:
            raise ValueError(f"the parts have different classes: {error}") from None
    return ys


def _raw(weights: Any, n: int) -> Any:
    """Weights of a part, as they are given."""
    if weights is None:
        return np.ones(n)
    given = check_vector(np.broadcast_to(weights, n) if np.ndim(weights) == 0 else weights, "sample_weight", n)
    if given.min() < 0:
        raise ValueError(f"sample_weight must be non-negative, got {given.min():g}")
    return given


def _rows(loss: Any, y: Any, c: Vector, offset: Any) -> Rows:
    n = len(c)
    if isinstance(loss, VectorLoss):
        Y = loss.encode(y, n)
        shift = check_offset(offset, n, Y.shape[1])
        return Rows(Y, c, None if shift is None else np.broadcast_to(shift, Y.shape).copy())
    if np.ndim(y) != 1 or len(y) != n:
        raise ValueError(f"y must have one entry per row of X, shape ({n},), got shape {np.shape(y)}")
    rows = Rows(loss.encode(y), c, check_offset(offset, n))
    if loss.code is None:
        with np.errstate(all="ignore"):
            check_derivative(loss, rows.y)
    return rows


def _said(i: int, make: Any, *given: Any) -> Any:
    """What ``make`` makes of a part; what it has to say names the part."""
    try:
        return make(*given)
    except ValueError as error:
        raise ValueError(f"part {i}: {error}") from None
