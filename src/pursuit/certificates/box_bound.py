"""A lower bound for problems with bounds on the coefficients and a given sum.

f is convex, so f(v) >= f(w) + g'(v - w) for every v, g the gradient at w. Over v with at most k non-zeros, low <= v <=
high and a'v = t, for every multiplier m of the sum,

    g'v  =  m t + sum_j d_j v_j  >=  m t + (the k least of  min(d_j low_j, d_j high_j, 0)),    d = g - m a.

w is the minimiser without the budget, so that the bound is at least the value there. m is the best of the breakpoints
g_j / a_j, where the bound, a piecewise linear and (without the budget) concave function of m, has its maximum.
"""

from typing import TYPE_CHECKING, cast

import numpy as np

from .._utils.types import Vector
from ..constraints import AtMost
from ..objectives.bounded import Bounded
from .bounds import has_dual

if TYPE_CHECKING:
    from ..objectives.glm import GLM

MAX_COLUMNS = 2000  # up to which all columns are refitted together
ROUNDING = 1e-9  # share of the terms that rounding may be


def box_bound(inner: Bounded, constraint: AtMost) -> float:
    """A number below every feasible value; minus infinity where there is none at this price."""
    columns = constraint.columns_of(constraint.allowed)
    f = cast("GLM", inner.f)
    convex = f.quadratic or has_dual(f)  # of a user's loss that is not known
    if len(columns) > MAX_COLUMNS or inner.width > 1 or not convex:
        return -np.inf
    point = inner.refit(columns)
    if not inner.holds(point):
        return -np.inf
    at = inner.f.at(point.support, point.coef)  # with the best intercept, in which there is then no slope
    g, low, high = at.gradient[columns], inner.low[columns], inner.high[columns]
    if inner.sum_to is None:
        multipliers, a, t = np.zeros(1), np.zeros(len(columns)), 0.0
    else:
        a, t = inner.u[columns], inner.sum_to
        multipliers = np.unique(g[a > 0] / a[a > 0])
    budget = constraint.k if constraint.unit_of is None else len(columns)
    linear = max((_linear_bound(g - m * a, low, high, budget) + m * t for m in multipliers.tolist()), default=-np.inf)
    here = float(g @ at.x[columns])
    room = ROUNDING * (inner.scale(at.value) + abs(here) + abs(linear))
    return float(at.value + linear - here - room) if np.isfinite(linear) else -np.inf


def _linear_bound(slope: Vector, low: Vector, high: Vector, budget: int) -> float:
    """The least that slope'v can be in the box with so many non-zeros."""
    with np.errstate(invalid="ignore"):
        terms = np.minimum(np.where(slope == 0, 0.0, slope * low), np.where(slope == 0, 0.0, slope * high))
    terms = np.minimum(terms, 0.0)
    return float(np.partition(terms, budget - 1)[:budget].sum()) if budget < len(terms) else float(terms.sum())
