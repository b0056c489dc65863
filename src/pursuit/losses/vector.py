"""Losses of several outputs per sample: eta is n x q. They share one support, so a feature counts once.

| loss | phi(y, eta) | gradient | Hessian |
|---|---|---|---|
| several responses | ||eta - y||^2 / 2 | eta - y | I |
| multinomial, y one-hot | log sum_r e^eta_r - y . eta | P - y, P = softmax(eta) | diag(P) - P P' |
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._errors import check_array, check_shape
from .._labels import distinct_labels
from .._types import Array, Columns, Flags, Vector
from .base import check_squares

MAX_TARGETS = 1e9  # entries of a rows x classes matrix and of a classes x classes one
ALL_BUT_SURE = 0.9  # probability of a class above which the others are told from it
SUM_TOLERANCE = 1e-5  # how far from 1 the shares of a row may add up: rounding in single precision


@dataclass(frozen=True)
class Curve:
    """phi'' of every sample: diag(h_i) - u_i u_i', without the second part where ``u`` is None; h and u are n x q."""

    h: Vector
    u: Vector | None = None

    def times(self, t: Vector) -> Vector:
        """phi'' t, sample by sample."""
        out = self.h * t
        if self.u is not None:
            out -= self.u * np.einsum("ij,ij->i", self.u, t)[:, None]
        return out

    def pieces(self, T: Vector) -> Iterator[tuple[Flags, Vector, "Curve"]]:
        """Samples, T and phi'' such that T' phi'' T is that of all samples, piece by piece, to full precision."""
        yield np.ones(len(self.h), bool), T, self

    def weighted(self, c: Vector) -> "Curve":
        """The same, each sample's times its weight."""
        return Curve(c[:, None] * self.h, None if self.u is None else np.sqrt(c)[:, None] * self.u)

    def diagonals(self) -> Vector:
        """The diagonal of every sample's, n x q."""
        return self.h if self.u is None else self.h - self.u**2

    def mean(self, c: Vector) -> Vector:
        """The weighted sum over the samples, q x q."""
        q = self.h.shape[1]
        total = np.zeros((q, q)) if self.u is None else -(c[:, None] * self.u).T @ self.u
        total[np.diag_indices(q)] = c @ self.diagonals()
        return total


class Softmax(Curve):
    """diag(P) - P P'. It vanishes on constants, so that a class may be taken off all others.

    That is what must be done where one class is all but sure, or 1 - P would lose its digits.
    """

    def pieces(self, T: Vector) -> Iterator[tuple[Flags, Vector, Curve]]:
        sure, top = self.h.max(axis=1) > ALL_BUT_SURE, self.h.argmax(axis=1)
        if not sure.all():
            yield ~sure, T, Curve(self.h[~sure], self.h[~sure])
        for d in np.unique(top[sure]):
            rows = sure & (top == d)
            P = self.h[rows]
            P[:, d] = 0.0
            yield rows, T - T[d], Curve(P, P)

    def diagonals(self) -> Vector:
        out, every, top = self.h * (1.0 - self.h), np.arange(len(self.h)), self.h.argmax(axis=1)
        others = self.h.copy()
        others[every, top] = 0.0
        out[every, top] = self.h[every, top] * others.sum(axis=1)
        return out


class VectorLoss:
    """phi(y, eta) with q outputs: value per sample, gradient, and the Hessian.

    ``takes_labels``: whether targets may be a vector of class labels.
    """

    takes_labels: ClassVar[bool] = False
    travels: ClassVar[bool] = True
    name: ClassVar[str] = ""
    quadratic: ClassVar[bool] = False
    attained: ClassVar[bool] = True
    likelihood: ClassVar[bool] = True

    def value(self, Y: Vector, eta: Vector) -> Vector:
        raise NotImplementedError

    def d1(self, Y: Vector, eta: Vector) -> Vector:
        raise NotImplementedError

    def curve(self, eta: Vector) -> Curve:
        """phi'' at eta."""
        raise NotImplementedError

    def start(self, Y: Vector, c: Vector) -> Vector:
        raise NotImplementedError

    def encode(self, y: Any, n: int) -> Vector:
        """Targets of n rows as an n x q matrix, or a one-sentence error: the domain of the loss is checked here."""
        Y = check_array(y, "y", f" for loss {self.name!r}")
        if Y.ndim != 2 or len(Y) != n or Y.shape[1] == 0:
            raise ValueError(f"y must have one row per row of X, shape ({n}, q), got shape {np.shape(y)}")
        return Y

    def check_classes(self, classes: Array) -> Array:
        """The distinct labels of all rows, or a one-sentence error; for losses that take labels."""
        return classes

    def basis(self, q: int) -> Vector:
        """Orthonormal columns that span the directions of eta (one sample's q outputs) in which phi is not constant."""
        return np.eye(q)


@dataclass(frozen=True)
class Responses(VectorLoss):
    """Half the squared residual, added over the responses."""

    name: ClassVar[str] = "squared"
    quadratic: ClassVar[bool] = True

    def encode(self, y: Any, n: int) -> Vector:
        return check_squares(super().encode(y, n))

    def value(self, Y: Vector, eta: Vector) -> Vector:
        return 0.5 * ((eta - Y) ** 2).sum(axis=1)

    def d1(self, Y: Vector, eta: Vector) -> Vector:
        return eta - Y

    def curve(self, eta: Vector) -> Curve:
        return Curve(np.ones_like(eta))

    def start(self, Y: Vector, c: Vector) -> Vector:
        return c @ Y


def indicators(codes: Columns, classes: int) -> Vector:
    """Targets of a multinomial model, rows x classes: 1 in the place of the row's class."""
    n = len(codes)
    try:
        if float(n + classes) * classes > MAX_TARGETS:
            raise MemoryError
        Y = np.zeros((n, classes))
    except MemoryError:
        raise ValueError(
            f"y holds {classes} classes in {n} rows, and a multinomial model has a column of numbers for each class, "
            f"{8e-9 * (n + classes) * classes:.3g} GB in all; join rare classes, or leave them out"
        ) from None
    Y[np.arange(n), codes] = 1.0
    return Y


def _odds(eta: Vector) -> tuple[tuple[Columns, Columns], Vector, Vector]:
    """Every sample's likeliest class, the odds of the others against it (its own entry is 0), and their sum."""
    top = np.arange(len(eta)), eta.argmax(axis=1)
    odds = np.exp(eta - eta[top][:, None])
    odds[top] = 0.0
    return top, odds, odds.sum(axis=1)


@dataclass(frozen=True)
class Multinomial(VectorLoss):
    """Negative log-likelihood of several classes; coefficients of a feature sum to zero over the classes."""

    name: ClassVar[str] = "multinomial"
    attained: ClassVar[bool] = False
    takes_labels: ClassVar[bool] = True

    def value(self, Y: Vector, eta: Vector) -> Vector:
        top, _, rest = _odds(eta)
        return eta[top] - np.einsum("ij,ij->i", Y, eta) + np.log1p(rest)

    def d1(self, Y: Vector, eta: Vector) -> Vector:
        top, odds, rest = _odds(eta)
        out = odds / (1.0 + rest)[:, None] - Y
        out[top] = (1.0 - Y[top]) - rest / (1.0 + rest)  # where 1 - P would lose its digits
        return out

    def curve(self, eta: Vector) -> Curve:
        top, odds, rest = _odds(eta)
        odds[top] = 1.0
        P = odds / (1.0 + rest)[:, None]
        return Softmax(P, P)

    def start(self, Y: Vector, c: Vector) -> Vector:
        level = np.log(np.maximum(c @ Y, 1e-10))
        return level - level.mean()

    def encode(self, y: Any, n: int) -> Vector:
        """Labels, one per row, or shares of the classes: elsewhere phi has no lower bound."""
        if check_shape(y, "y")[1:] == ():
            classes, codes = distinct_labels(y)
            if len(codes) != n:
                raise ValueError(f"y must have one label per row of X, shape ({n},), got shape ({len(codes)},)")
            return indicators(codes, len(self.check_classes(classes)))
        Y = super().encode(y, n)
        sums = Y.sum(axis=1)
        wrong = (Y < 0).any(axis=1) | (np.abs(sums - 1) > SUM_TOLERANCE)
        if wrong.any():
            i = int(np.flatnonzero(wrong)[0])
            shown = ", ".join(f"{share:.4g}" for share in Y[i, :4]) + (", ..." if Y.shape[1] > 4 else "")
            raise ValueError(
                "y must hold labels, one per row, or shares of the classes (at least 0, each row sums to 1) for loss "
                f"'multinomial', and row {i} is [{shown}]; for real-valued targets use loss='squared'"
            )
        if Y.shape[1] == 1:
            raise ValueError("y holds shares of only one class; loss 'multinomial' needs two classes or more")
        return Y / sums[:, None]  # exactly 1, or a common constant would change phi

    def check_classes(self, classes: Array) -> Array:
        if classes.dtype.kind == "c" or (classes.dtype.kind == "f" and (classes != np.floor(classes)).any()):
            example = classes[classes != np.floor(classes)][0] if classes.dtype.kind == "f" else classes[0]
            raise ValueError(
                "y must hold labels (text or whole numbers), or shares of the classes, for loss 'multinomial', and "
                f"holds {example:.4g}; for real-valued targets use GLM(X, y, loss='squared')"
            )
        if len(classes) == 1:
            raise ValueError(f"y holds only one class ({classes[0]}); loss 'multinomial' needs two classes or more")
        return classes

    def basis(self, q: int) -> Vector:
        v = np.full(q, 1.0 / np.sqrt(q))  # Householder's reflection that takes the last axis to the common constant
        v[-1] += 1.0
        return (np.eye(q) - np.outer(v, v / v[-1]))[:, : q - 1]
