"""Orthogonal matching pursuit with replacement.

P. Jain, A. Tewari, I. S. Dhillon, "Orthogonal Matching Pursuit with Replacement", NIPS 2011; for general f K. Axiotis,
M. Sviridenko, "Sparse Convex Optimization via Adaptively Regularized Hard Thresholding" (2020), Algorithm 3.

| paper | here |
|---|---|
| S^0 = [s] | OMP's support, or the caller's start completed by OMP, as in the paper's experiments |
| i = argmax |grad_i f|, i outside S | ``constraint.top(gradient, keep=kept)``: on S the gradient is zero |
| j = argmin |x_j|, j in S | what ``constraint.top(x, k - 1, within=S)`` leaves out |

Cost per iteration: one gradient, one refit. Invariant: after the start values fall strictly, one unit at a time.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..constraints import AtMost
from ..objectives.base import Objective, Point
from .base import Solver
from .omp import OMP


@dataclass(frozen=True)
class OMPR(Solver):
    """OMP, then the largest gradient for the smallest coefficient while that helps: OMP with replacement.

    Parameters
    ----------
    relax : float or None, default None
        Run at ``relax`` times the budget, keep the k largest and refit.
    last : bool, default False
        Give the last point in place of the best one, as printed algorithms do.

    See Also
    --------
    OMP : Its first part.
    LocalSearch : Looks at all exchanges.

    References
    ----------
    K. Axiotis, M. Sviridenko (2020): Sparse Convex Optimization via Adaptively Regularized Hard Thresholding. ICML.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> X = np.random.default_rng(0).standard_normal((100, 20))
    >>> y = X[:, 3] - 2 * X[:, 7]
    >>> pursuit.solve(pursuit.GLM(X, y), 2, solver=pursuit.OMPR()).support.tolist()
    [3, 7]
    """

    halted: ClassVar[str] = "exchanging the smallest coefficient for the largest gradient does not help"
    turns: ClassVar[int] = 1

    def iterate(self, f: Objective, constraint: AtMost, start: Point) -> Iterator[Point]:
        point = start
        for point in OMP().iterate(f, constraint, start):  # 4, 5
            yield point
        while True:
            kept = constraint.top(point.x, constraint.k - 1, within=point.support)  # 9: all but j
            support = constraint.top(point.gradient, keep=kept)  # 8, 10: i outside S enters
            trial = f.refit(support, start=point)  # 11
            if not trial.value < point.value:  # 12
                return
            point = trial
            yield point
