"""The three margin losses of support vector machines; m = y eta, labels -1 and 1."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._utils.types import Vector
from .._utils.validation import check_number
from .base import Loss


@dataclass(frozen=True)
class Hinge(Loss):
    """Loss of the support vector machine, max(0, 1 - y eta), labels -1 and 1; needs l2 > 0.

    See Also
    --------
    SmoothedHinge : Differentiable.
    SquaredHinge : Differentiable too.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> pursuit.Hinge().value(np.array([1.0, -1.0]), np.array([0.5, -2.0])).tolist()
    [0.5, 0.0]
    """

    name: ClassVar[str] = "hinge"
    code: ClassVar[int | None] = 4
    targets: ClassVar[str] = "binary"
    smooth: ClassVar[bool] = False
    twice_differentiable: ClassVar[bool] = False
    flattens: ClassVar[bool] = True
    from_zero: ClassVar[bool] = True
    ridge: ClassVar[float] = 1e-3  # LinearSVC's C = 1 at a thousand rows; unlike 1/n it does not change with weights

    def value(self, y: Vector, eta: Vector) -> Vector:
        return np.maximum(0.0, 1.0 - y * eta)

    def d1(self, y: Vector, eta: Vector) -> Vector:
        return np.where(y * eta < 1.0, -y, 0.0)

    def d2(self, y: Vector, eta: Vector) -> Vector:
        return np.zeros_like(eta)

    def conjugate(self, y: Vector, a: Vector) -> Vector:
        return np.where((y * a <= 0) & (y * a >= -1), y * a, np.inf)

    def conjugate_d1(self, y: Vector, a: Vector) -> Vector:
        return y + 0.0 * a

    def dual_domain(self, y: Vector) -> tuple[Vector, Vector]:
        return np.minimum(-y, 0.0), np.maximum(-y, 0.0)


@dataclass(frozen=True)
class SmoothedHinge(Hinge):
    """Hinge with its kink rounded over ``gamma`` (the DIHT paper's "Huber" loss), labels -1 and 1.

    Parameters
    ----------
    gamma : float, default 0.25
        The width, in y eta, over which the loss is quadratic.

    See Also
    --------
    Hinge : Its limit at gamma = 0.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> pursuit.SmoothedHinge().value(np.ones(2), np.array([0.0, 2.0])).tolist()
    [0.875, 0.0]
    """

    gamma: float = 0.25

    name: ClassVar[str] = "smoothed_hinge"
    code: ClassVar[int | None] = 3
    smooth: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_number(self.gamma, "gamma", strict=True)

    @property
    def param(self) -> float:
        return self.gamma

    @property
    def smoothness(self) -> float:  # type: ignore[override]
        return 1.0 / self.gamma

    def value(self, y: Vector, eta: Vector) -> Vector:
        short = np.maximum(0.0, 1.0 - y * eta)
        return np.where(short > self.gamma, short - self.gamma / 2, short**2 / (2 * self.gamma))

    def d1(self, y: Vector, eta: Vector) -> Vector:
        return -y * np.clip((1.0 - y * eta) / self.gamma, 0.0, 1.0)

    def d2(self, y: Vector, eta: Vector) -> Vector:
        m = y * eta
        return ((m < 1.0) & (m > 1.0 - self.gamma)) / self.gamma

    def conjugate(self, y: Vector, a: Vector) -> Vector:
        return super().conjugate(y, a) + self.gamma / 2 * a**2

    def conjugate_d1(self, y: Vector, a: Vector) -> Vector:
        return y + self.gamma * a


@dataclass(frozen=True)
class SquaredHinge(Hinge):
    """Smooth loss of the support vector machine, max(0, 1 - y eta)^2, labels -1 and 1.

    See Also
    --------
    Hinge : Without the square.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> pursuit.SquaredHinge().value(np.ones(2), np.array([-1.0, 2.0])).tolist()
    [4.0, 0.0]
    """

    name: ClassVar[str] = "squared_hinge"
    code: ClassVar[int | None] = 5
    smooth: ClassVar[bool] = True
    smoothness: ClassVar[float] = 2.0

    def value(self, y: Vector, eta: Vector) -> Vector:
        return super().value(y, eta) ** 2

    def d1(self, y: Vector, eta: Vector) -> Vector:
        return -2.0 * y * super().value(y, eta)

    def d2(self, y: Vector, eta: Vector) -> Vector:
        return np.where(y * eta < 1.0, 2.0, 0.0)

    def conjugate(self, y: Vector, a: Vector) -> Vector:
        return np.where(y * a <= 0, y * a + a**2 / 4, np.inf)

    def conjugate_d1(self, y: Vector, a: Vector) -> Vector:
        return y + a / 2

    def dual_domain(self, y: Vector) -> tuple[Vector, Vector]:
        return np.where(y > 0, -np.inf, 0.0), np.where(y > 0, 0.0, np.inf)
