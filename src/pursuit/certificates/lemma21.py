"""A proof that a solution is not optimal, without a dual and without a search.

Lemma 21 of X.-T. Yuan, P. Li, T. Zhang, "Gradient Hard Thresholding Pursuit", JMLR 18 (2018): the best k-sparse point
has x_min >= ||f'(x)||_inf / M_2k. At a refit x only one column leaves and one enters, so that the smoothness over
pairs is enough: with d = -x_i e_i - (g_j / M_2) e_j,

    f(x + d)  <=  f(x) - g_j^2 / (2 M_2) + M_2 x_i^2 / 2  <  f(x)        where |x_i| < |g_j| / M_2.

M_2 <= M_2k, so that this refutes whatever the lemma refutes. A solution with fewer than k columns is refuted by any
gradient.
"""

import numpy as np

from .._utils.column_names import column_label
from ..constraints import AtMost
from ..objectives.base import Point
from ..objectives.glm import GLM
from ..sparse_eigenvalues import Outer, hessian_bound

RELATIVE_SLACK = 1e-6  # relative, by which the inequality must fail: rounding must not decide
MAX_ENTRIES = 2e8  # of X up to which a second derivative is bounded for this


def lemma21(f: GLM, constraint: AtMost, point: Point) -> str:
    """Why a refit is not optimal, in a sentence; empty where there is a ridge, or nothing against it."""
    plain = constraint.unit_of is None and f.outputs == 1 and point.refitted and point.minimiser and not point.note
    if np.any(f.ridge) or not plain or not f.smooth or not len(point.support) or f.work > MAX_ENTRIES:
        return ""
    bound = hessian_bound(f)
    if bound is None:
        return ""
    free = ~np.isin(point.support, constraint.include)
    outside = np.zeros(f.dim)
    outside[constraint.allowed] = np.abs(point.gradient[constraint.allowed])
    outside[point.support] = 0.0
    j, M = int(outside.argmax()), Outer(bound).largest(2)[0]
    if constraint.count(point.support) < constraint.k or not free.any():
        return ""
    i = int(np.flatnonzero(free)[np.abs(point.coef[free]).argmin()])
    if not abs(point.coef[i]) < (1 - RELATIVE_SLACK) * outside[j] / M:
        return ""
    leaves, enters = (column_label(np.array([c]), f.names) for c in (point.support[i], j))
    return f"the solution given is not optimal: {enters} in place of {leaves} lowers f (Lemma 21 of GraHTP)"
