"""Partial hard thresholding: at most r exchanges per iteration.

P. Jain, A. Tewari, I. S. Dhillon, "Partial Hard Thresholding", IEEE Trans. Inf. Theory 63 (2017); J. Shen, P. Li,
"Partial Hard Thresholding: Towards a Principled Analysis of Support Recovery", NIPS 2017.

| paper | here |
|---|---|
| z = x - eta grad f(x) | ``z`` in ``thresholding_step`` |
| PHT_k(z; S, r) = argmin ||y - z||, |y|_0 <= k, |S - supp y| <= r | ``threshold(z)`` |
| freedom parameter r | ``r`` |

r = 1 is OMP with replacement (Jain et al.'s, with a step); r >= k makes the moves of GraHTP.
Cost per iteration: one gradient, one refit for each step tried. Invariant: at most r units change; with the default
step the values fall strictly.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from .._utils.types import Columns, Vector
from .._utils.validation import check_k
from ..constraints import AtMost
from ..objectives.base import Objective, Point
from .base import Solver
from .steps import check_step, thresholding_step


@dataclass(frozen=True)
class PHT(Solver):
    """Gradient step, at most r exchanges, refit: partial hard thresholding.

    Parameters
    ----------
    r : int or None, default None
        Exchanges per iteration at most; None is a third of k.
    step : float or None, default None
        A constant step as in the paper. None: from the curvature, with a safeguard (``pursuit.solvers.steps``).
    relax : float or None, default None
        Run at ``relax`` times the budget, keep the k largest and refit.
    last : bool, default False
        Give the last point in place of the best one, as printed algorithms do.

    See Also
    --------
    GraHTP : Any number of exchanges in an iteration.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> X = np.random.default_rng(0).standard_normal((100, 20))
    >>> y = X[:, 3] - 2 * X[:, 7]
    >>> pursuit.solve(pursuit.GLM(X, y), 2, solver=pursuit.PHT()).support.tolist()
    [3, 7]
    """

    r: int | None = None
    step: float | None = None

    def __post_init__(self) -> None:
        if self.r is not None:
            check_k(self.r, "r")
        check_step(self.step)

    def iterate(self, f: Objective, constraint: AtMost, start: Point) -> Iterator[Point]:
        r = self.r or max(1, constraint.k // 3)
        point = start
        if constraint.count(start.support) < constraint.k or not start.refitted:
            point = f.refit(constraint.top(start.gradient, keep=start.support), start=start)
            yield point

        def threshold(z: Vector) -> Columns:
            """PHT_k(z; S, r): the k largest entries among those of S and the r largest outside."""
            return constraint.top(z, within=constraint.top(z, constraint.k + r, keep=point.support))

        def refit(support: Columns, z: Vector) -> Point:
            return f.refit(support, start=point)

        while (following := thresholding_step(f, constraint, point, self.step, threshold, refit)) is not None:
            point = following
            yield point
