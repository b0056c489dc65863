"""Step sizes. None of them has a constant that a user must tune.

The step 1/M of the papers needs M, the largest curvature over sparse directions, which nobody knows. What is cheap and
enough: the curvature along the very direction that the step will take,

    step = v'v / v'Hv,     v = gradient on the support and on the k best coordinates outside,

and a safeguard in the solver: accept when f falls, else halve.
"""

from typing import TYPE_CHECKING

import numpy as np

from ._errors import check_number

if TYPE_CHECKING:
    from .constraints import AtMost
    from .objectives.base import Objective, Point

HALVINGS = 12  # how often a safeguarded step is halved before the solver gives up on it


def restricted_step(f: "Objective", constraint: "AtMost", point: "Point") -> float:
    """1 / (curvature of f along its gradient, restricted to a support's worth of coordinates)."""
    g = point.gradient
    cols = np.union1d(point.support, constraint.top(g))
    v = g[cols]
    square = float(v @ v)
    if square == 0.0:
        return 1.0
    v = v / np.sqrt(square)
    curve = f.curvature(point, cols, v)
    return 1.0 / curve if curve > 1e-300 else 1.0


def check_step(step: float | None) -> None:
    """A constant step must be positive."""
    if step is not None:
        check_number(step, "step", strict=True)
