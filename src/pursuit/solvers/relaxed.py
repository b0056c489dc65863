"""Run a solver at a larger budget, keep the k largest, refit.

X.-T. Yuan, P. Li, T. Zhang, "Gradient Hard Thresholding Pursuit", JMLR 18 (2018), Theorem 8 and Remark 9: with enough
room the support of a sparse target is found without a condition on the design, as the largest entries of the output.

| paper | here |
|---|---|
| k, the relaxed level | ``wide.k = ceil(factor * k)`` |
| k-bar, the target level | ``constraint.k`` |
| supp(x^(t), k-bar) | ``constraint.top(point.x, within=point.support)`` |

This is the one place of the ``relax=`` that every solver takes. The paper cuts the last iterate; here every iterate is
cut and refitted, so that limits and Ctrl-C always find a feasible point, and the driver keeps the best of them.
Cost per iteration: the solver's own at the larger budget, one refit at k. Invariant: no point has more than k units.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from typing import ClassVar

import numpy as np

from .._utils.validation import check_number
from ..constraints import AtMost
from ..objectives.base import Objective, Point
from .base import Solver


@dataclass(frozen=True)
class Relaxed(Solver):
    """Another solver at ``factor`` times the budget; its iterates are cut to the k largest and refitted.

    Parameters
    ----------
    solver : Solver
        What runs at the larger budget.
    factor : float
        How many times larger.
    relax : float or None, default None
        Once more, on top of ``factor``.
    last : bool, default False
        Give the last point in place of the best one, as printed algorithms do.

    See Also
    --------
    Solver : Every solver has ``relax``, which makes one of these.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> X = np.random.default_rng(0).standard_normal((100, 20))
    >>> y = X[:, 3] - 2 * X[:, 7]
    >>> pursuit.solve(pursuit.GLM(X, y), 2, solver=pursuit.Relaxed(pursuit.OMP(), 2)).support.tolist()
    [3, 7]
    """

    solver: Solver
    factor: float

    claims: ClassVar[str] = "none"
    halted: ClassVar[str] = "the pursuit at the larger budget ended; its k largest were kept"
    revisits: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_number(self.factor, "relax", 1.0)

    def iterate(self, f: Objective, constraint: AtMost, start: Point) -> Iterator[Point]:
        wide = constraint.with_budget(ceil(self.factor * constraint.k - 1e-9))
        seen: set[tuple[bytes, float]] = set()
        for point in self.solver.iterate(f, wide, start):
            key = (point.support.tobytes(), point.value)
            if (key in seen and not self.solver.revisits) or not np.isfinite(point.coef).all():
                return
            seen.add(key)
            kept = constraint.top(point.x, within=point.support)
            yield f.refit(kept, start=point)
            if point.value <= f.floor:
                return


def relaxed(solver: Solver) -> Solver:
    """The solver, or with its ``relax`` set, the solver at a larger budget."""
    return solver if solver.relax is None else Relaxed(solver, solver.relax, last=solver.last)
