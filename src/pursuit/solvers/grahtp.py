"""Gradient Hard Thresholding Pursuit.

X.-T. Yuan, P. Li, T. Zhang, "Gradient Hard Thresholding Pursuit", JMLR 18 (2018), Algorithm 1.
On the squared loss it is Foucart's HTP.

| paper | here |
|---|---|
| x^(t-1), f, eta | ``x``, ``f``, ``eta`` (None: natural steps) |
| (S1) gradient step, (S2) F^(t) = supp(., k) | ``thresholding_step`` with ``constraint.top`` |
| (S3) argmin over F^(t) | ``refit``; cheaper (section 2): one Newton or gradient step from x~^(t) on F^(t) |

Cost per iteration: one pass over X for the gradient; the refit's n k^2 flops (a Newton step: the same and two passes; a
gradient step: two passes). The cheaper steps end in one exact refit, from which no further support must be found.
Invariant: with the default step the values fall strictly; the last support is a fixed point of (S1)-(S2).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .._utils.types import Columns, Vector
from .._utils.validation import check_choice, check_number
from ..constraints import AtMost
from ..objectives.base import Objective, Point
from .base import Solver, polished
from .steps import PAPER, check_step, constant_step, gradient_step, newton_step, thresholding_step

REFITS = ("exact", "newton", "gradient")


@dataclass(frozen=True)
class GraHTP(Solver):
    """Gradient step, keep k, refit: gradient hard thresholding pursuit (HTP on the squared loss).

    Parameters
    ----------
    step : float, "paper" or None, default None
        A constant step as in the paper; "paper": its 1/(2 M_2k), by the truncated power method. None: from the
        curvature, with a safeguard (``pursuit.solvers.steps``).
    refit : {"exact", "newton", "gradient"}, default "exact"
        The minimiser on the new support, or in its place one Newton or gradient step (where f is differentiable).
    halt : float or None, default None
        Stop also where the change of x is at most this share of its norm (the paper's experiments: 1e-4).
    relax : float or None, default None
        Run at ``relax`` times the budget, keep the k largest and refit.
    last : bool, default False
        Give the last point in place of the best one, as printed algorithms do.

    See Also
    --------
    FGraHTP : Without refits.

    Notes
    -----
    With S the k largest entries of x - s grad f(x), the next x minimises f over S.

    References
    ----------
    X.-T. Yuan, P. Li, T. Zhang (2014): Gradient Hard Thresholding Pursuit for Sparsity-Constrained Optimization. ICML;
    (2018): Gradient Hard Thresholding Pursuit. JMLR 18.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> X = np.random.default_rng(0).standard_normal((100, 20))
    >>> y = X[:, 3] - 2 * X[:, 7]
    >>> pursuit.solve(pursuit.GLM(X, y), 2, solver=pursuit.GraHTP()).support.tolist()
    [3, 7]
    """

    step: float | str | None = None
    refit: str = "exact"
    halt: float | None = None

    def __post_init__(self) -> None:
        check_choice(self.refit, "refit", REFITS)
        check_step(self.step, (PAPER,))
        if self.halt is not None:
            check_number(self.halt, "halt")

    def iterate(self, f: Objective, constraint: AtMost, start: Point) -> Iterator[Point]:
        eta, x = constant_step(f, constraint, start, self.step), start

        def refit(support: Columns, ahead: Vector) -> Point:
            if self.refit == "exact" or not f.smooth:
                return f.refit(support, start=x)
            step = newton_step if self.refit == "newton" else gradient_step
            return step(f, f.at(support, ahead[support]), support)

        while True:
            # (S1) gradient step, (S2) keep k, (S3) refit
            following = thresholding_step(f, constraint, x, eta, constraint.top, refit)
            if following is None:  # halt: the support repeats
                if x.refitted:
                    return
                following = polished(f, x)
                if not (following.refitted or following.value < x.value):
                    return
            last, x = x, following
            yield x
            if self.halt is not None and np.linalg.norm(x.x - last.x) <= self.halt * np.linalg.norm(last.coef):
                return
