from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .base import Loss, Vector


@dataclass(frozen=True)
class Squared(Loss):
    """Half the squared residual: linear regression."""

    name: ClassVar[str] = "squared"
    code: ClassVar[int | None] = 0
    smoothness: ClassVar[float] = 1.0
    quadratic: ClassVar[bool] = True

    def value(self, y: Vector, eta: Vector) -> Vector:
        return 0.5 * (eta - y) ** 2

    def d1(self, y: Vector, eta: Vector) -> Vector:
        return eta - y

    def d2(self, y: Vector, eta: Vector) -> Vector:
        return np.ones_like(eta)

    def conjugate(self, y: Vector, a: Vector) -> Vector:
        return 0.5 * a**2 + a * y

    def conjugate_d1(self, y: Vector, a: Vector) -> Vector:
        return a + y

    def infimum(self, y: Vector, c: Vector) -> float:
        return 0.0

    def dual_domain(self, y: Vector) -> tuple[Vector, Vector]:
        return np.full_like(y, -np.inf), np.full_like(y, np.inf)

    def start(self, y: Vector, c: Vector) -> float:
        return float(c @ y)
