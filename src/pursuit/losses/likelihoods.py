"""Negative log-likelihoods of one output, in eta their natural parameter: two classes, and counts."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit, logit, logsumexp, xlogy

from .._utils.types import Vector
from .base import Loss

DOMAIN_MARGIN = 1e-15  # how near the ends of its domain a conjugate is differentiated
MIN_MEAN = 1e-10  # mean of y that stands in for none, where a start must be finite
MAX_LOG_MEAN = 700.0  # e^eta is finite up to here


@dataclass(frozen=True)
class Logistic(Loss):
    """Negative log-likelihood of two classes: logistic regression, labels 0 and 1.

    See Also
    --------
    SparseClassifier : The estimator with this loss.

    Notes
    -----
    log(1 + exp(eta)) - y eta.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> pursuit.Logistic().value(np.array([0.0, 1.0]), np.zeros(2)).round(4).tolist()
    [0.6931, 0.6931]
    """

    name: ClassVar[str] = "logistic"
    code: ClassVar[int | None] = 1
    targets: ClassVar[str] = "binary"
    labels: ClassVar[tuple[float, float]] = (0.0, 1.0)
    smoothness: ClassVar[float] = 0.25
    flattens: ClassVar[bool] = True
    attained: ClassVar[bool] = False
    from_zero: ClassVar[bool] = True
    likelihood: ClassVar[bool] = True

    def value(self, y: Vector, eta: Vector) -> Vector:
        return np.logaddexp(0.0, np.where(y > 0.5, -eta, eta))

    def d1(self, y: Vector, eta: Vector) -> Vector:
        return np.where(y > 0.5, -expit(-eta), expit(eta))

    def d2(self, y: Vector, eta: Vector) -> Vector:
        return expit(eta) * expit(-eta)

    def conjugate(self, y: Vector, a: Vector) -> Vector:
        u = np.clip(a + y, 0.0, 1.0)
        return np.where(u == a + y, xlogy(u, u) + xlogy(1 - u, 1 - u), np.inf)

    def conjugate_d1(self, y: Vector, a: Vector) -> Vector:
        return logit(np.clip(a + y, DOMAIN_MARGIN, 1 - DOMAIN_MARGIN))

    def dual_domain(self, y: Vector) -> tuple[Vector, Vector]:
        return -y, 1.0 - y

    def start(self, y: Vector, c: Vector) -> float:
        return float(logit(np.clip(c @ y, MIN_MEAN, 1 - MIN_MEAN)))


@dataclass(frozen=True)
class Poisson(Loss):
    """Poisson deviance (without its constant) with a log link: counts, y >= 0.

    See Also
    --------
    Squared : For real targets.

    Notes
    -----
    exp(eta) - y eta. Counts over different exposures have ``offset=np.log(exposure)``.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> pursuit.Poisson().value(np.array([0.0, 3.0]), np.zeros(2)).tolist()
    [1.0, 1.0]
    """

    name: ClassVar[str] = "poisson"
    code: ClassVar[int | None] = 6
    targets: ClassVar[str] = "nonnegative"
    flattens: ClassVar[bool] = True
    attained: ClassVar[bool] = False
    likelihood: ClassVar[bool] = True

    def value(self, y: Vector, eta: Vector) -> Vector:
        beyond = np.clip(eta - MAX_LOG_MEAN, 0.0, 9300.0)  # on a straight line, or the loss would fall again
        return self.predict(eta) * (1 + beyond) - y * eta

    def d1(self, y: Vector, eta: Vector) -> Vector:
        return self.predict(eta) - y

    def d2(self, y: Vector, eta: Vector) -> Vector:
        return self.predict(eta)

    def conjugate(self, y: Vector, a: Vector) -> Vector:
        u = np.maximum(a + y, 0.0)
        return np.where(u == a + y, xlogy(u, u) - u, np.inf)

    def conjugate_d1(self, y: Vector, a: Vector) -> Vector:
        return np.log(np.maximum(a + y, DOMAIN_MARGIN))

    def dual_domain(self, y: Vector) -> tuple[Vector, Vector]:
        return -y, np.full_like(y, np.inf)

    def predict(self, eta: Vector) -> Vector:
        return np.exp(np.minimum(eta, MAX_LOG_MEAN))

    def start(self, y: Vector, c: Vector) -> float:
        return float(np.log(np.maximum(c @ y, MIN_MEAN)))

    def intercept(self, y: Vector, c: Vector, offset: Vector) -> float | None:
        counts = float(c @ y)
        return None if counts <= 0 else float(np.log(counts) - logsumexp(offset, b=c))
