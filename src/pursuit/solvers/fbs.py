"""Forward basis selection: fully corrective forward selection over a dictionary of atoms.

X.-T. Yuan, S. Yan, "Forward Basis Selection for Pursuing Sparse Representations over a Dictionary", IEEE Trans. Pattern
Anal. Mach. Intell. 35 (2013); the FBS of the GraHTP paper's experiments.

| paper | here |
|---|---|
| V, the dictionary | ``atoms``: +-e_j ("coordinates"), or +-e_j / sqrt(H_jj) ("unit": of length 1 in f's own metric) |
| u = argmin <grad f(x), u> over V, x = argmin over its span | ``joined(f, constraint, point, gradient / lengths)`` |

With "coordinates" the choice is OMP's; with "unit" it is the best gain of one atom by the quadratic model, sought among
the ``candidates`` largest gradients. Cost per iteration: one gradient, one refit. Invariant: supports are nested.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._utils.validation import check_choice, check_k
from ..constraints import AtMost
from ..objectives.base import Objective, Point
from .base import Solver, joined

ATOMS = ("coordinates", "unit")


@dataclass(frozen=True)
class FBS(Solver):
    """One atom at a time, the steepest, refitting all: forward basis selection.

    Parameters
    ----------
    atoms : {"unit", "coordinates"}, default "unit"
        Atoms of unit curvature, or coordinates as in OMP.
    candidates : int, default 64
        Units of largest gradient whose curvature is computed.
    relax : float or None, default None
        Run at ``relax`` times the budget, keep the k largest and refit.
    last : bool, default False
        Give the last point in place of the best one, as printed algorithms do.

    See Also
    --------
    OMP : By the largest gradient.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> X = np.random.default_rng(0).standard_normal((100, 20))
    >>> y = X[:, 3] - 2 * X[:, 7]
    >>> pursuit.solve(pursuit.GLM(X, y), 2, solver=pursuit.FBS()).support.tolist()
    [3, 7]
    """

    atoms: str = "unit"
    candidates: int = 64

    claims: ClassVar[str] = "none"
    halted: ClassVar[str] = "the budget is used up"
    turns: ClassVar[int] = 1

    def __post_init__(self) -> None:
        check_choice(self.atoms, "atoms", ATOMS)
        check_k(self.candidates, "candidates")

    def iterate(self, f: Objective, constraint: AtMost, start: Point) -> Iterator[Point]:
        point = start if start.refitted else f.refit(start.support, start=start)
        if point is not start and constraint.count(point.support) == constraint.k:
            yield point
        for size in range(constraint.count(start.support), constraint.k):
            slope, few = point.gradient, constraint.top(point.gradient, size + self.candidates, keep=point.support)
            if self.atoms == "unit":
                slope = np.zeros(f.dim)
                slope[few] = point.gradient[few] / np.sqrt(np.maximum(f.curvatures(point, few), 1e-300))
            ahead = joined(f, constraint, point, slope, within=few)  # u, x
            if ahead is point:
                return
            point = ahead
            yield point
