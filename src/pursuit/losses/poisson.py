from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import logsumexp, xlogy

from .base import Loss, Vector

CEILING = 700.0  # e^eta is finite up to here
INSIDE = 1e-15  # how near the end of its domain the conjugate is differentiated


@dataclass(frozen=True)
class Poisson(Loss):
    """Poisson deviance (without its constant) with a log link: counts, y >= 0."""

    name: ClassVar[str] = "poisson"
    code: ClassVar[int | None] = 6
    targets: ClassVar[str] = "nonnegative"
    attained: ClassVar[bool] = False

    def value(self, y: Vector, eta: Vector) -> Vector:
        beyond = np.maximum(eta - CEILING, 0.0)  # on a straight line, or the loss would fall again
        return np.exp(np.minimum(eta, CEILING)) * (1 + beyond) - y * eta

    def d1(self, y: Vector, eta: Vector) -> Vector:
        return np.exp(np.minimum(eta, CEILING)) - y

    def d2(self, y: Vector, eta: Vector) -> Vector:
        return np.exp(np.minimum(eta, CEILING))

    def conjugate(self, y: Vector, a: Vector) -> Vector:
        u = a + y
        return np.where(u >= 0, xlogy(np.maximum(u, 0), np.maximum(u, 0)) - u, np.inf)

    def conjugate_d1(self, y: Vector, a: Vector) -> Vector:
        return np.log(np.maximum(a + y, INSIDE))

    def dual_domain(self, y: Vector) -> tuple[Vector, Vector]:
        return -y, np.full_like(y, np.inf)

    def predict(self, eta: Vector) -> Vector:
        return np.exp(np.minimum(eta, CEILING))

    def start(self, y: Vector, c: Vector) -> float:
        return float(np.log(np.maximum(c @ y, 1e-10)))

    def intercept(self, y: Vector, c: Vector, offset: Vector) -> float | None:
        counts = float(c @ y)
        return None if counts <= 0 else float(np.log(counts) - logsumexp(offset, b=c))
