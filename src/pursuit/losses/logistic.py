from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit, logit, xlogy

from .base import Loss, Vector

INSIDE = 1e-15  # how near the ends of its domain the conjugate is differentiated


@dataclass(frozen=True)
class Logistic(Loss):
    """Negative log-likelihood of two classes: logistic regression, labels 0 and 1."""

    name: ClassVar[str] = "logistic"
    code: ClassVar[int | None] = 1
    targets: ClassVar[str] = "binary"
    labels: ClassVar[tuple[float, float]] = (0.0, 1.0)
    smoothness: ClassVar[float] = 0.25
    attained: ClassVar[bool] = False

    def value(self, y: Vector, eta: Vector) -> Vector:
        return np.logaddexp(0.0, np.where(y > 0.5, -eta, eta))

    def d1(self, y: Vector, eta: Vector) -> Vector:
        return np.where(y > 0.5, -expit(-eta), expit(eta))

    def d2(self, y: Vector, eta: Vector) -> Vector:
        return expit(eta) * expit(-eta)

    def conjugate(self, y: Vector, a: Vector) -> Vector:
        u = a + y
        inside = (u >= 0) & (u <= 1)
        u = np.clip(u, 0.0, 1.0)
        return np.where(inside, xlogy(u, u) + xlogy(1 - u, 1 - u), np.inf)

    def conjugate_d1(self, y: Vector, a: Vector) -> Vector:
        return logit(np.clip(a + y, INSIDE, 1 - INSIDE))

    def infimum(self, y: Vector, c: Vector) -> float:
        return 0.0

    def dual_domain(self, y: Vector) -> tuple[Vector, Vector]:
        return -y, 1.0 - y

    def start(self, y: Vector, c: Vector) -> float:
        share = np.clip(c @ y, 1e-10, 1 - 1e-10)
        return float(np.log(share / (1 - share)))
