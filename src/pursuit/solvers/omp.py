"""Orthogonal matching pursuit, for any objective.

Y. C. Pati, R. Rezaiifar, P. S. Krishnaprasad (1993); for general losses the fully corrective forward greedy selection
of S. Shalev-Shwartz, N. Srebro, T. Zhang (2010). It is the start and the baseline of the ARHT paper's experiments.

| paper | here |
|---|---|
| i = argmax |grad_i f|, x = argmin over S + i | ``joined(f, constraint, point, gradient)`` |

Cost per iteration: one gradient, one refit. Invariant: supports are nested and values never rise.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..constraints import AtMost
from ..objectives.base import Objective, Point
from .base import Solver, joined


@dataclass(frozen=True)
class OMP(Solver):
    """One coordinate at a time by the largest gradient, refitting all: orthogonal matching pursuit.

    Parameters
    ----------
    relax : float or None, default None
        Run at ``relax`` times the budget, keep the k largest and refit.
    last : bool, default False
        Give the last point in place of the best one, as printed algorithms do.

    See Also
    --------
    OMPR : Goes on with replacements.
    FoBa : Drops units again.

    References
    ----------
    Y. C. Pati, R. Rezaiifar, P. S. Krishnaprasad (1993): Orthogonal Matching Pursuit. Asilomar Conference. S.
    Shalev-Shwartz, N. Srebro, T. Zhang (2010): Trading Accuracy for Sparsity in Optimization Problems with Sparsity
    Constraints. SIAM Journal on Optimization 20.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> X = np.random.default_rng(0).standard_normal((100, 20))
    >>> y = X[:, 3] - 2 * X[:, 7]
    >>> pursuit.solve(pursuit.GLM(X, y), 2, solver=pursuit.OMP()).support.tolist()
    [3, 7]
    """

    claims: ClassVar[str] = "none"
    halted: ClassVar[str] = "the budget is used up"
    turns: ClassVar[int] = 1

    def iterate(self, f: Objective, constraint: AtMost, start: Point) -> Iterator[Point]:
        point = start if start.refitted else f.refit(start.support, start=start)
        if point is not start and constraint.count(point.support) == constraint.k:
            yield point
        while (size := constraint.count(point.support)) < constraint.k:
            point = joined(f, constraint, point, point.gradient)
            if constraint.count(point.support) == size:
                return
            yield point
