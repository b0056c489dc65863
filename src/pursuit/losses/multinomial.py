"""The multinomial loss of several classes: eta is n x q, a column per class. The classes share one support."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._utils.labels import distinct_labels
from .._utils.types import Array, ArrayLike, Columns, Matrix, Vector
from .._utils.validation import check_array, check_shape
from .base import Loss
from .row_hessians import RowHessian, SoftmaxHessian

MAX_TARGETS = 1e9  # entries of a rows x classes matrix and of a classes x classes one
SUM_TOLERANCE = 1e-5  # how far from 1 the shares of a row may add up: rounding in single precision


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
class Multinomial(Loss):
    """Negative log-likelihood of several classes; coefficients of a feature sum to zero over the classes."""

    name: ClassVar[str] = "multinomial"
    targets: ClassVar[str] = "classes"
    smoothness: ClassVar[float] = 0.5
    attained: ClassVar[bool] = False
    from_zero: ClassVar[bool] = True
    likelihood: ClassVar[bool] = True
    several: ClassVar[bool] = True
    takes_labels: ClassVar[bool] = True

    def value(self, y: Vector, eta: Vector) -> Vector:
        top, _, rest = _odds(eta)
        return eta[top] - np.einsum("ij,ij->i", y, eta) + np.log1p(rest)

    def d1(self, y: Vector, eta: Vector) -> Vector:
        top, odds, rest = _odds(eta)
        out = odds / (1.0 + rest)[:, None] - y
        out[top] = (1.0 - y[top]) - rest / (1.0 + rest)  # where 1 - P would lose its digits
        return out

    def row_hessian(self, y: Vector, eta: Vector, c: Vector) -> RowHessian:
        top, odds, rest = _odds(eta)
        odds[top] = 1.0
        return SoftmaxHessian(odds / (1.0 + rest)[:, None], c)

    def start(self, y: Vector, c: Vector) -> Vector:
        level = np.log(np.maximum(c @ y, 1e-10))
        return level - level.mean()

    def encode(self, y: ArrayLike) -> Vector:
        """Labels, one per row, or shares of the classes: elsewhere phi has no lower bound."""
        if check_shape(y, "y")[1:] == ():
            classes, codes = distinct_labels(y)
            return indicators(codes, len(self.check_classes(classes)))
        Y = check_array(y, "y", f" for loss {self.name!r}")
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

    def basis(self, q: int) -> Matrix:
        v = np.full(q, 1.0 / np.sqrt(q))  # Householder's reflection that takes the last axis to the common constant
        v[-1] += 1.0
        return (np.eye(q) - np.outer(v, v / v[-1]))[:, : q - 1]
