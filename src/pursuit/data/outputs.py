"""Rows with several targets each: the same questions, with a row of coefficients per column and one intercept each.

The coordinates of a Hessian are entries of the p x q matrix of coefficients, row by row: j q + r is column j, output r.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._types import Columns, Matrix, Vector
from ..designs import Design, Rows, cross
from ..designs.base import joined
from ..engines import Ask, Map, check_time, total
from ..losses.vector import Curve
from ..refits import Stored
from ..refits.outputs import Outputs
from .answers import Answer, Spread, merged
from .folds import Rest
from .gathered import Gathered
from .parts import Fold, Parts
from .rows import Data, Model

BY_PRODUCTS = 64  # coordinates up to which second derivatives are those of gathered columns


class OutputData(Data):
    """A design, and n x q targets; offsets, where there are any, have one entry per row and output."""

    loss: Any
    facts = (*Data.facts, "outputs")

    @property
    def outputs(self) -> int:
        """How many targets a row has."""
        return self.rows.y.shape[1]

    def at(self, cols: Columns, coef: Matrix, b: Any) -> Answer:
        eta = self._eta(cols, coef, b)
        d1 = self.rows.c[:, None] * self.loss.d1(self.rows.y, eta)
        value = float(self.rows.c @ self.loss.value(self.rows.y, eta))
        return Answer(value, self.design.rmatmat(d1), d1.sum(axis=0))

    def columns(self, cols: Columns) -> tuple[Matrix, Stored, Rows]:
        """The columns, as they are stored too, and what belongs to the rows."""
        return self.gathered(cols).dense(), Stored(*self.design.stored(cols)), self.rows

    def few(self, cols: Columns, ridge: Any, intercept: bool, lower: float = 0.0) -> Any:
        A, stored, rows = self.columns(cols)
        return Outputs(self.loss, rows, A, ridge, intercept, stored)

    def held(self, cols: Columns, coef: Matrix) -> Any:
        rows = Rows(self.rows.y, self.rows.c, self._eta(cols, coef, 0.0))
        return Outputs(self.loss, rows, np.empty((self.shape[0], 0)), 0.0, True)

    def start(self) -> Any:
        return self.loss.start(self.rows.y, self.rows.c)

    def model(self, cols: Columns, coef: Matrix, b: Any) -> Any:
        key = "curves", cols.tobytes(), coef.tobytes(), np.asarray(b).tobytes()
        return OutputModel(self, self.recall(key, lambda: self.loss.curve(self._eta(cols, coef, b))))

    def labelled(self, labels: Columns) -> Any:
        from .labelled import OutputLabelled  # which is a kind of this

        return OutputLabelled(self.raw, labels)

    def _like(self, design: Design, rows: Rows, gathered: Gathered | None = None) -> "OutputData":
        return OutputData(design, rows, self.loss, gathered)

    def _eta(self, cols: Columns, coef: Matrix, b: Any) -> Vector:
        return self.rows.shift(self.design.matmat(cols, coef), b)


class OutputParts(Parts, OutputData):
    """The same in parts; the few columns of a refit are brought together."""

    loss: Any

    def columns(self, cols: Columns) -> tuple[Matrix, Stored, Rows]:
        blocks, stored, rows = zip(*self._ask("columns", cols), strict=True)
        whole = Stored(np.concatenate([part.A for part in stored]), stored[0].m, stored[0].s)
        return np.asfortranarray(np.concatenate(blocks)), whole, joined(rows)

    @property
    def outputs(self) -> int:
        return self.parts[0].outputs  # type: ignore[attr-defined, no-any-return]

    few = OutputData.few

    def held(self, cols: Columns, coef: Matrix) -> Any:
        few = self._ask("held", cols, coef)
        rows = joined([part.rows for part in few])
        return Outputs(self.loss, rows, np.empty((self.shape[0], 0)), 0.0, True)

    def start(self) -> Any:
        parts = [part for part in self.parts if part.weight > 0]
        return sum(part.weight * b for part, b in zip(parts, self.each(Ask("start"), parts), strict=True)) / self.weight

    def model(self, cols: Columns, coef: Matrix, b: Any) -> Any:
        return OutputPartsModel(self._ask("model", cols, coef, b), self.each)

    def labelled(self, labels: Columns) -> Any:
        from .labelled import OutputLabelledParts  # which is a kind of this

        return OutputLabelledParts(self.raw, labels)

    def _like(self, parts: Sequence[Data]) -> "OutputParts":  # type: ignore[override]
        return OutputParts(parts, self.each)

    def _fold(self, parts: Sequence[Data], rest: Rest) -> Fold:
        return OutputFold(parts, self.each, rest)


class OutputFold(Fold, OutputParts):
    """What is left of some parts without one of them."""


class OutputModel:
    """The Hessian at one point, the intercepts held: what minimises them out is in ``edges`` and ``level``."""

    def __init__(self, data: OutputData, curve: Curve) -> None:
        self.data, self.curve = data, curve
        self.c, self.width = data.rows.c, data.rows.y.shape[1]
        self.diagonals = self.c[:, None] * curve.diagonals()

    def turned(self, cols: Columns, V: Matrix) -> tuple[float, Vector]:
        """V'HV for rows of coefficients V, and its mixed derivative with the intercepts."""
        T = self.data.design.matmat(cols, V)
        bent = self.c[:, None] * self.curve.times(T)
        return float((T * bent).sum()), bent.sum(axis=0)

    def level(self) -> Matrix:
        """Second derivatives in the intercepts."""
        return self.curve.mean(self.c)

    def spread(self, r: int, cols: Columns) -> Spread:
        """Of columns under the curvature of output r."""
        return Model(self.data, np.ascontiguousarray(self.diagonals[:, r])).diagonal(cols)

    def entries(self, cols: Columns, others: Columns) -> Matrix:
        """H[cols][:, others]."""
        return self._small(cols, others) if len(others) <= BY_PRODUCTS else self._large(cols, others)

    def _large(self, cols: Columns, others: Columns) -> Matrix:
        """One output of ``others`` after the other."""
        H = np.zeros((len(cols), len(others)))
        features, place = np.unique(cols // self.width, return_inverse=True)
        A, mine, u = self.data.gathered(features).dense(), by_output(cols, self.width), self.curve.u
        bent = None if u is None else A[:, place] * (self.c[:, None] * u[:, cols % self.width])
        for s, theirs in enumerate(by_output(others, self.width)):
            check_time()
            if len(theirs) == 0:
                continue
            own = A[:, place[mine[s]]] * self.diagonals[:, s, None]
            rows, weighted = mine[s], own
            if bent is not None and u is not None:
                rows, weighted = np.arange(len(cols)), bent * -u[:, s, None]
                weighted[:, mine[s]] = own
            if len(rows):
                columns = others[theirs] // self.width
                H[np.ix_(rows, theirs)] = cross(self.data.design, np.asfortranarray(weighted), columns)
        return H

    def _small(self, cols: Columns, others: Columns) -> Matrix:
        """The same for few columns: gathered, in two products of matrices."""
        features, place = np.unique(np.concatenate([cols, others]) // self.width, return_inverse=True)
        A, here, there = self.data.gathered(features).dense(), place[: len(cols)], place[len(cols) :]
        r, s, u = cols % self.width, others % self.width, self.curve.u
        left, right = np.unique(here), np.unique(there)
        pairs = (A[:, left, None] * A[:, None, right]).reshape(len(A), -1)
        own = (pairs.T @ self.diagonals).reshape(len(left), len(right), self.width)
        spot = np.searchsorted(left, here)[:, None], np.searchsorted(right, there)
        beside = np.zeros((len(cols), len(others)))
        if u is not None:
            beside = -(A[:, here] * (self.c[:, None] * u[:, r])).T @ (A[:, there] * u[:, s])
        return np.where(r[:, None] == s, own[(*spot, s)], beside)

    def edges(self, cols: Columns) -> Matrix:
        """Mixed second derivatives of the coordinates and the q intercepts."""
        E, output, u, width = np.zeros((len(cols), self.width)), cols % self.width, self.curve.u, self.width
        features, place = np.unique(cols // width, return_inverse=True)
        few = len(features) <= max(width, self.data.shape[1] // 8)
        A = self.data.gathered(features).dense() if few else None

        def times(w: Matrix) -> Matrix:
            return self.data.design.rmatmat(np.ascontiguousarray(w))[features] if A is None else A.T @ w

        own = times(self.diagonals)
        if u is not None and A is not None and len(features) <= width:
            order = np.argsort(place, kind="stable")
            for j, mine in enumerate(np.split(order, np.searchsorted(place[order], np.arange(1, len(features))))):
                check_time()
                E[mine] = -((self.c * A[:, j])[:, None] * u[:, output[mine]]).T @ u
        elif u is not None:
            for r, mine in enumerate(by_output(cols, width)):
                check_time()
                E[mine] = -times((self.c * u[:, r])[:, None] * u)[place[mine]]
        E[np.arange(len(cols)), output] = own[place, output]
        return E


class OutputPartsModel:
    """The Hessian at one point, from each part's own."""

    def __init__(self, parts: list[OutputModel], each: Map) -> None:
        self.parts, self.each = parts, each

    def turned(self, cols: Columns, V: Matrix) -> tuple[float, Vector]:
        return total(self.each(Ask("turned", cols, V), self.parts))

    def level(self) -> Matrix:
        return total(self.each(Ask("level"), self.parts))

    def spread(self, r: int, cols: Columns) -> Spread:
        return merged(self.each(Ask("spread", r, cols), self.parts))

    def entries(self, cols: Columns, others: Columns) -> Matrix:
        return total(self.each(Ask("entries", cols, others), self.parts))

    def edges(self, cols: Columns) -> Matrix:
        return total(self.each(Ask("edges", cols), self.parts))


def by_output(cols: Columns, width: int) -> list[Columns]:
    """Positions of the coordinates of each output, in the order they are given in."""
    output = cols % width
    order = np.argsort(output, kind="stable")
    return np.split(order, np.searchsorted(output[order], np.arange(1, width)))
