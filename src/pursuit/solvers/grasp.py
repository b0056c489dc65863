"""Gradient Support Pursuit.

S. Bahmani, B. Raj, P. T. Boufounos, "Greedy Sparsity-Constrained Optimization", JMLR 14 (2013), Algorithm 1 and the
variants of section 3.1. On the squared loss it is Needell and Tropp's CoSaMP; its gradient variant is IHT.

| paper | here |
|---|---|
| x-hat, s | ``point``, ``constraint.k`` |
| z = grad f(x-hat) | ``point.gradient`` |
| Z = supp(z_2s) | ``constraint.top(z, 2 k)`` |
| T = Z + supp(x-hat) | ``merged`` |
| b | ``b`` |
| x-hat = b_s | ``constraint.top(b.x, within=merged)`` |
| kappa | ``step``; None: 1 (newton) or 1 / curvature (gradient), halved until f falls |

The printed Newton step multiplies the inverse Hessian with x on T; it is the gradient on T.
Why ``debias`` is the default: the pruned b is no minimiser on its support, so the next gradient is spoilt by the cut,
and the values of plain GraSP rise and fall; refitted it needs fewer iterations and ends lower. Where 3k columns explain
everything (3k > n) that is not so: the least-norm b, cut as printed, finds signals that refits lose (of 12 Gaussian
ones with k=70, n=200, p=400 it finds 11, refitted 0).

Cost per iteration: one gradient, one refit on up to 3k units (the Newton and gradient variants: one step there), and
for ``debias`` one on k. Invariant: after ``debias`` the gradient on the support is zero; otherwise x is b, cut to k.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from .._utils.types import Columns
from .._utils.validation import check_choice, check_flag, check_number
from ..constraints import AtMost
from ..objectives.base import Objective, Point
from .base import Solver, polished
from .steps import check_step, gradient_step, newton_step

VARIANTS = ("plain", "debias", "newton", "gradient")
EXACT_FIT_PATIENCE_FACTOR = 10  # times as patient where the merged support explains everything
UNBOUNDED = "f falls without bound on the merged support of GraSP, so its next iterate does not exist"


@dataclass(frozen=True)
class GraSP(Solver):
    """Merge 2k gradient directions with the support, minimise, keep k: gradient support pursuit (CoSaMP).

    Parameters
    ----------
    variant : {"debias", "plain", "newton", "gradient"}, default "debias"
        "plain" is as printed, "debias" refits after pruning, "newton" and "gradient" take one such step in place of the
        minimisation.
    step : float or None, default None
        Constant step kappa of the gradient and newton variants. None: from the curvature (newton: 1), halved until f
        falls.
    halt : float, default 0.0001
        Relative change of x at which to stop.
    patience : int, default 5
        Iterations without a new best value at which to stop: the iterates oscillate.
    polish : bool, default True
        Refit on the best support before returning, where the variant does not.
    debias : bool, default False
        Refit after pruning in the newton and gradient variants too (variant "debias" always does).
    relax : float or None, default None
        Run at ``relax`` times the budget, keep the k largest and refit.
    last : bool, default False
        Give the last point in place of the best one, as printed algorithms do.

    See Also
    --------
    GraHTP : One gradient step in place of the merged support.

    References
    ----------
    S. Bahmani, B. Raj, P. T. Boufounos (2013): Greedy Sparsity-Constrained Optimization. JMLR 14.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> X = np.random.default_rng(0).standard_normal((100, 20))
    >>> y = X[:, 3] - 2 * X[:, 7]
    >>> pursuit.solve(pursuit.GLM(X, y), 2, solver=pursuit.GraSP()).support.tolist()
    [3, 7]
    """

    variant: str = "debias"
    step: float | None = None
    halt: float = 1e-4
    patience: int = 5
    polish: bool = True
    debias: bool = False

    halted: ClassVar[str] = "the pruned support repeats or oscillates; the best point is given"
    revisits: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_choice(self.variant, "variant", VARIANTS)
        check_step(self.step)
        check_number(self.halt, "halt")
        check_flag(self.debias, "debias")
        if self.debias and self.variant == "plain":
            raise ValueError("debias=True is variant='debias': the plain variant prunes without a refit")
        check_number(self.patience, "patience", 1)

    def iterate(self, f: Objective, constraint: AtMost, start: Point) -> Iterator[Point]:
        point, best, waited, wide = start, start, 0.0, False
        while waited < self.patience:
            z = point.gradient  # compute local gradient
            directions = constraint.top(z, 2 * constraint.k)  # identify directions
            merged = np.union1d(directions, point.support)  # merge supports
            b = self._minimised(f, point, merged)  # minimise over support
            if b.value == -np.inf:
                yield replace(f.refit(best.support, start=best), minimiser=False, note=UNBOUNDED)
                return
            support = constraint.top(b.x, within=merged)  # prune estimate
            wide = wide or b.value <= f.floor  # columns to spare: of many b the shortest, and its own cut leads on
            refits = (self.variant == "debias" or self.debias) and not wide
            trial = f.refit(support, start=b) if refits else f.at(support, b.x[support])
            moved = float(np.linalg.norm(trial.x - point.x))
            if moved == 0 and not trial.value < point.value:  # halt: a fixed point
                break
            size, point = float(np.linalg.norm(point.coef)), trial
            waited = 0.0 if point.value < best.value else waited + (1 / EXACT_FIT_PATIENCE_FACTOR if wide else 1)
            best = point if waited == 0 or best is start else best
            yield point
            if moved <= self.halt * size:  # halt: x no longer changes
                break
        if self.polish and not best.refitted:
            yield polished(f, best)

    def _minimised(self, f: Objective, point: Point, merged: Columns) -> Point:
        """b: the minimiser over the merged support, or one step towards it."""
        if self.variant == "newton":
            return newton_step(f, point, merged, self.step)
        if self.variant != "gradient":
            return f.refit(merged, start=point)
        if self.step is None:
            return gradient_step(f, point, merged)
        return f.at(merged, (point.x - self.step * point.gradient)[merged])
