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
from ..steps import check_step, natural_steps
from .base import Solver


@dataclass(frozen=True)
class GraHTP(Solver):
    """Gradient step, keep k, refit: gradient hard thresholding pursuit (HTP on the squared loss).

    Parameters
    ----------
    step : a constant step as in the paper, or None: from the curvature, with a safeguard (``pursuit.steps``)
    """

    step: float | None = None

    def __post_init__(self) -> None:
        check_step(self.step)

    def iterate(self, f: Objective, constraint: AtMost, start: Point) -> Iterator[Point]:
        point = start
        while True:
            support = point.support
            for step in natural_steps(f, constraint, point) if self.step is None else (self.step,):
                ahead = point.x - step * point.gradient  # (S1) gradient step
                before, support = support, constraint.top(ahead)  # (S2) keep k
                if np.array_equal(support, point.support) or np.array_equal(support, before):
                    continue
                trial = f.refit(support, start=point)  # (S3) refit
                if trial.value < point.value or self.step is not None:
                    break
            else:  # halt: the support repeats
                return
            point = trial
            yield point
