"""Second derivatives of a weighted loss in the linear predictors: symmetric operators on row space.

| kind | operator | losses |
|---|---|---|
| :class:`DiagonalHessian` | diag(w) | one output per row; several responses |
| :class:`SoftmaxHessian` | c_i (diag(p_i) - p_i p_i') for every row i | multinomial |
| :class:`RiskSetHessian` | D - A' diag(c) A, A a mean over each event's risk set | partial likelihoods |

``times(V)`` is the product with V, whose shape is that of eta (n, or n x q); with one output V may also hold several
columns, n x m. ``diagonal()`` has the shape of eta, ``total()`` is 1'W1 (a number, or q x q). Where rows do not couple,
``entry(r, s)`` gives the weights, one per row, that couple outputs r and s (None: none).
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .._utils.lazy import lazy
from .._utils.types import Columns, Flags, Matrix, Vector

NEARLY_CERTAIN = 0.9  # probability of a class above which the others are measured from it


class RowHessian(ABC):
    """W, the second derivative of sum_i c_i phi(y_i, eta_i) in eta."""

    @abstractmethod
    def times(self, V: Vector) -> Vector:
        """W V."""

    @abstractmethod
    def diagonal(self) -> Vector:
        """The diagonal of W, in the shape of eta."""

    @abstractmethod
    def total(self) -> float | Matrix:
        """1'W1: a number, or q x q."""

    def entry(self, r: int, s: int) -> Vector | None:
        """The weights, one per row, that couple outputs r and s; None: none."""
        raise TypeError(f"{type(self).__name__} couples rows: two outputs have no weights row by row")


@dataclass(frozen=True)
class DiagonalHessian(RowHessian):
    """diag(w), w of the shape of eta."""

    w: Vector

    def times(self, V: Vector) -> Vector:
        return self.w * V if V.ndim == self.w.ndim else self.w[:, None] * V

    def diagonal(self) -> Vector:
        return self.w

    def total(self) -> float | Matrix:
        return float(self.w.sum()) if self.w.ndim == 1 else np.diag(self.w.sum(axis=0))

    def entry(self, r: int, s: int) -> Vector | None:
        return np.ascontiguousarray(self.w[:, r]) if r == s else None


@dataclass(frozen=True)
class SoftmaxHessian(RowHessian):
    """c_i (diag(p_i) - p_i p_i') for probabilities P, n x q.

    It vanishes on constants, so that one class may be subtracted from all others. That is done where one class is
    nearly certain, since 1 - p would lose its digits.
    """

    P: Matrix
    c: Vector

    def times(self, V: Vector) -> Vector:
        return self.c[:, None] * self.P * (V - np.einsum("ij,ij->i", self.P, V)[:, None])

    def diagonal(self) -> Vector:
        return self._diagonal

    @lazy
    def _diagonal(self) -> Vector:
        every, top = np.arange(len(self.P)), self.P.argmax(axis=1)
        out, others = self.P * (1.0 - self.P), self.P.copy()
        others[every, top] = 0.0
        out[every, top] = self.P[every, top] * others.sum(axis=1)
        out *= self.c[:, None]
        return out

    def total(self) -> Matrix:
        out = -(self.c[:, None] * self.P).T @ self.P
        out[np.diag_indices_from(out)] = self.diagonal().sum(axis=0)
        return out

    def entry(self, r: int, s: int) -> Vector | None:
        return (
            np.asarray(-self.c * self.P[:, r] * self.P[:, s]) if r != s else np.ascontiguousarray(self._diagonal[:, r])
        )

    def pieces(self, T: Matrix) -> Iterator[tuple[Flags, Matrix, Matrix]]:
        """Rows, T and P such that T'WT is the sum over pieces of c (T' diag(P) T - (P T)'(P T)), to full precision."""
        certain, top = self.P.max(axis=1) > NEARLY_CERTAIN, self.P.argmax(axis=1)
        if not certain.all():
            yield ~certain, T, self.P[~certain]
        for d in np.unique(top[certain]):
            rows = certain & (top == d)
            P = self.P[rows]
            P[:, d] = 0.0
            yield rows, T - T[d], P


class RiskSetHessian(RowHessian):
    """D - A' diag(c) A for rows with times: row i of A holds the shares of the risk set {l : t_l >= t_i}.

    A has the entries share_l / S_i, S_i the sum of the shares in the set; c are the weights of the events, 0 where a
    row is none, and D = diag(A'c). A product takes O(n) operations a column, by sums from the end and from the start.

    Parameters
    ----------
    order : rows by increasing time
    first, last : for each place in that order, the first and last place with the same time
    share : c_l exp(eta_l) up to a common factor, in that order
    events : weights of the events, in that order
    """

    def __init__(self, order: Columns, first: Columns, last: Columns, share: Vector, events: Vector) -> None:
        self.order, self.first, self.last, self.share = order, first, last, share
        size = self._suffix(share)
        self.events = np.divide(events, size, out=np.zeros_like(events), where=events > 0)
        self.inverse = np.divide(1.0, size, out=np.zeros_like(size), where=size > 0)
        self.level = share * self._prefix(self.events)

    def _suffix(self, v: Vector) -> Vector:
        """Sums over the risk set of each place."""
        return np.cumsum(v[::-1], axis=0)[::-1][self.first]

    def _prefix(self, v: Vector) -> Vector:
        """Sums over the places whose risk sets hold each place."""
        return np.cumsum(v, axis=0)[self.last]

    def times(self, V: Vector) -> Vector:
        share, events, level, inverse = (
            v if V.ndim == 1 else v[:, None] for v in (self.share, self.events, self.level, self.inverse)
        )
        sorted_V = V[self.order]
        means = self._suffix(share * sorted_V) * inverse
        out = np.empty_like(sorted_V)
        out[self.order] = level * sorted_V - share * self._prefix(events * means)
        return out

    def diagonal(self) -> Vector:
        out = np.empty_like(self.level)
        out[self.order] = self.level - self.share**2 * self._prefix(self.events * self.inverse)
        return np.maximum(out, 0.0)

    def total(self) -> float:
        return 0.0  # a common constant changes no share
