"""Losses of a residual r = eta - y: least squares, and its robust relative."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._utils.types import ArrayLike, Intercept, Vector
from .._utils.validation import check_number
from .base import Loss, check_squares


@dataclass(frozen=True)
class Squared(Loss):
    """Half the squared residual, added over the responses: linear regression.

    See Also
    --------
    Huber : Robust against outliers.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> pursuit.Squared().value(np.zeros(2), np.array([1.0, 2.0])).tolist()
    [0.5, 2.0]
    """

    name: ClassVar[str] = "squared"
    code: ClassVar[int | None] = 0
    smoothness: ClassVar[float] = 1.0
    quadratic: ClassVar[bool] = True
    from_zero: ClassVar[bool] = True
    likelihood: ClassVar[bool] = True
    several: ClassVar[bool] = True

    def value(self, y: Vector, eta: Vector) -> Vector:
        each = 0.5 * (eta - y) ** 2
        return each if each.ndim == 1 else each.sum(axis=1)

    def d1(self, y: Vector, eta: Vector) -> Vector:
        return eta - y

    def d2(self, y: Vector, eta: Vector) -> Vector:
        return np.ones_like(eta)

    def conjugate(self, y: Vector, a: Vector) -> Vector:
        return 0.5 * a**2 + a * y

    def conjugate_d1(self, y: Vector, a: Vector) -> Vector:
        return a + y

    def dual_domain(self, y: Vector) -> tuple[Vector, Vector]:
        return np.full_like(y, -np.inf), np.full_like(y, np.inf)

    def start(self, y: Vector, c: Vector) -> Intercept:
        return float(c @ y) if y.ndim == 1 else c @ y

    def intercept(self, y: Vector, c: Vector, offset: Vector) -> Intercept:
        rest, total = y - offset, float(c.sum()) or 1.0
        mean = c @ rest / total
        mean = mean + c @ (rest - mean) / total  # the first mean is rounded at its own size
        return float(mean) if y.ndim == 1 else mean

    def encode(self, y: ArrayLike) -> Vector:
        values = check_squares(super().encode(y))
        return values[:, 0].copy() if values.ndim == 2 and values.shape[1] == 1 else values


@dataclass(frozen=True)
class Huber(Loss):
    """Quadratic up to ``delta``, then linear: robust regression.

    Parameters
    ----------
    delta : float, default 1.35
        The residual, in the units of y, at which the loss becomes linear.

    See Also
    --------
    Squared : Quadratic everywhere.

    Notes
    -----
    ``r^2 / 2`` where ``|r| <= delta``, else ``delta |r| - delta^2 / 2``, r = eta - y (P. J. Huber 1964).

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> pursuit.Huber(delta=1.0).value(np.zeros(2), np.array([0.5, 3.0])).tolist()
    [0.125, 2.5]
    """

    delta: float = 1.35

    name: ClassVar[str] = "huber"
    code: ClassVar[int | None] = 2
    smoothness: ClassVar[float] = 1.0
    twice_differentiable: ClassVar[bool] = False
    flattens: ClassVar[bool] = True
    from_zero: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_number(self.delta, "delta", strict=True)

    @property
    def param(self) -> float:
        return self.delta

    def value(self, y: Vector, eta: Vector) -> Vector:
        r = np.abs(eta - y)
        q = np.minimum(r, self.delta)
        return q * (r - 0.5 * q)

    def d1(self, y: Vector, eta: Vector) -> Vector:
        return np.clip(eta - y, -self.delta, self.delta)

    def d2(self, y: Vector, eta: Vector) -> Vector:
        return (np.abs(eta - y) <= self.delta).astype(float)

    def conjugate(self, y: Vector, a: Vector) -> Vector:
        return np.where(np.abs(a) <= self.delta, 0.5 * a**2 + a * y, np.inf)

    def conjugate_d1(self, y: Vector, a: Vector) -> Vector:
        return a + y

    def dual_domain(self, y: Vector) -> tuple[Vector, Vector]:
        return np.full_like(y, -self.delta), np.full_like(y, self.delta)

    def start(self, y: Vector, c: Vector) -> float:
        order = np.argsort(y)
        return float(y[order][np.searchsorted(np.cumsum(c[order]), 0.5).clip(0, len(y) - 1)])
