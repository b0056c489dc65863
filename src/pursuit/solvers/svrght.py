"""Stochastic variance-reduced gradient hard thresholding.

X. Li, T. Zhao, R. Arora, H. Liu, J. Haupt, "Stochastic Variance Reduced Optimization for Nonconvex Sparse Learning",
ICML 2016, Algorithm 1.

| paper | here |
|---|---|
| theta~, mu~ = grad F(theta~) | ``point``, ``point.gradient`` |
| grad f_i, i random | ``slope = f.minibatch(rng, share)``, the same samples at both points |
| g^(t) = grad f_i(theta^(t)) - grad f_i(theta~) + mu~ | ``g`` |
| theta^(t+1) = H_k(theta^(t) - eta g^(t)) | ``constraint.top(ahead)`` |
| m, eta | ``inner``, ``step`` |

The end of an epoch becomes the next theta~ when f has fallen; otherwise the step is halved and the epoch repeated; a
success takes one halving back. Where f is not differentiable, no variance is reduced, and only the polish is left.
Cost per iteration (an epoch): one gradient, and 2 inner * share passes over X. Invariant: values fall strictly.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._utils.types import Seed
from .._utils.validation import check_k, check_number
from ..constraints import AtMost
from ..objectives.base import Objective, Point
from .base import Solver, generator
from .grahtp import GraHTP
from .steps import MAX_HALVINGS, check_step, restricted_step


@dataclass(frozen=True)
class SVRGHT(Solver):
    """Stochastic gradient steps with their variance reduced, each cut to k: SVR-GHT.

    Parameters
    ----------
    step : float or None, default None
        A constant first step as in the paper. None: from the restricted curvature; halved where f does not fall.
    share : float, default 0.1
        Share of the samples in one stochastic gradient.
    inner : int, default 20
        Steps per epoch.
    halt : float, default 0.0001
        Relative change of x over an epoch at which to stop.
    polish : bool, default True
        End with exact gradients and refits (GraHTP), so that the last support is one of its fixed points.
    random_state : int, Generator or None, default None
        Seed of the samples; ``solve(random_state=...)`` fills it.
    relax : float or None, default None
        Run at ``relax`` times the budget, keep the k largest and refit.
    last : bool, default False
        Give the last point in place of the best one, as printed algorithms do.

    See Also
    --------
    GraHTP : The same with full gradients.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> X = np.random.default_rng(0).standard_normal((100, 20))
    >>> y = X[:, 3] - 2 * X[:, 7]
    >>> pursuit.solve(pursuit.GLM(X, y), 2, solver=pursuit.SVRGHT()).support.tolist()
    [3, 7]
    """

    step: float | None = None
    share: float = 0.1
    inner: int = 20
    halt: float = 1e-4
    polish: bool = True
    random_state: Seed = None

    needs: ClassVar[tuple[str, ...]] = ("minibatch",)

    def __post_init__(self) -> None:
        check_step(self.step)
        check_number(self.share, "share", strict=True)
        check_k(self.inner, "inner")
        check_number(self.halt, "halt")

    def iterate(self, f: Objective, constraint: AtMost, start: Point) -> Iterator[Point]:
        rng = generator(self.random_state)
        point, halvings = start, 0
        while f.smooth and halvings < MAX_HALVINGS:
            step = (self.step or restricted_step(f, constraint, point)) / 2**halvings
            support, coef = self._epoch(f, constraint, point, step, rng)
            trial = f.at(support, coef) if np.isfinite(coef).all() else point
            if not trial.value < point.value:
                halvings += 1
                continue
            halvings = max(0, halvings - 1)
            moved = float(np.linalg.norm(trial.x - point.x))
            size, point = float(np.linalg.norm(point.coef)), trial
            yield point
            if moved <= self.halt * size:
                break
        if self.polish or not f.smooth:
            yield from GraHTP().iterate(f, constraint, point)

    def _epoch(self, f: Objective, constraint: AtMost, point: Point, step: float, rng: np.random.Generator) -> Any:
        """The inner loop: theta^(0) = theta~, then m stochastic steps; the intercept moves along."""
        support, coef, intercept = point.support, point.coef, point.free
        for _ in range(self.inner):
            slope = f.minibatch(rng, self.share)
            here, in_b = slope(support, coef, intercept)
            there, there_b = slope(point.support, point.coef, point.free)
            g = here - there + point.gradient
            ahead = -step * g
            ahead[support] += coef
            support = constraint.top(ahead)
            coef, intercept = ahead[support], intercept - step * (in_b - there_b)
            if not np.isfinite(coef).all():
                break
        return support, coef
