"""Gradient Hard Thresholding Pursuit.

X.-T. Yuan, P. Li, T. Zhang, "Gradient Hard Thresholding Pursuit", JMLR 18 (2018), Algorithm 1.
On the squared loss it is Foucart's HTP.

| paper | here |
|---|---|
| x^(t-1), f | ``point``, ``f`` |
| eta | ``step`` |
| F^(t) = supp(., k) | ``support = constraint.top(.)`` |
| (S3) argmin over F^(t) | ``f.refit(support)`` |

Cost per iteration: one pass over X for the gradient; the refit's n k^2 flops.
Invariant: with the default step the values fall strictly; the last support is a fixed point of (S1)-(S2).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..constraints import AtMost
from ..objectives.base import Objective, Point
from ..steps import HALVINGS, check_step, restricted_step
from .base import Solver


@dataclass(frozen=True)
class GraHTP(Solver):
    """Gradient step, keep k, refit: gradient hard thresholding pursuit (HTP on the squared loss).

    Parameters
    ----------
    step : a constant step as in the paper, or None: from the restricted curvature, halved until f falls
    """

    step: float | None = None

    def __post_init__(self) -> None:
        check_step(self.step)

    def iterate(self, f: Objective, constraint: AtMost, start: Point) -> Iterator[Point]:
        point = start
        while True:
            step = self.step or restricted_step(f, constraint, point)
            for _ in range(HALVINGS):
                ahead = point.x - step * point.gradient  # (S1) gradient step
                support = constraint.top(ahead)  # (S2) keep k
                if np.array_equal(support, point.support):  # halt: the support repeats
                    return
                trial = f.refit(support, start=point)  # (S3) refit
                if self.step or trial.value < point.value:
                    break
                step /= 2
            else:
                return
            point = trial
            yield point
