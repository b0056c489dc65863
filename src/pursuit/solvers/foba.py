"""Adaptive forward-backward greedy selection.

T. Zhang, "Adaptive Forward-Backward Greedy Algorithm for Sparse Learning with Linear Models", NIPS 2008; forward by the
gradient as in J. Liu, J. Ye, R. Fujimaki (ICML 2014), FoBa-gdt.

| paper | here |
|---|---|
| F^(k), w^(k) | ``point`` |
| i = argmax |grad_i f| | ``joined(f, constraint, point, gradient)`` |
| delta^(k), the gain of the forward step that reached size k | ``gain[size]`` |
| d- = min_j f(w - w_j e_j) - f(w) | ``removals``, what the refit without j loses (Zhang: without refitting the rest) |
| nu, epsilon | ``nu``, ``eps`` |

It ends when the budget is used up and nothing is removed. Cost per iteration: one gradient and one refit forward; k^3
and one refit backward. Invariant: each step back reaches a size at a strictly lower value.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._utils.validation import check_number
from ..constraints import AtMost
from ..objectives.base import Objective, Point
from .base import Solver, joined
from .exchanges import removals


@dataclass(frozen=True)
class FoBa(Solver):
    """Add by the largest gradient; drop units while that costs less than half the last gain: forward-backward greedy.

    Parameters
    ----------
    nu : float, default 0.5
        Share of the forward gain below which a removal is taken, in [0, 1).
    eps : float, default 0
        Stop when a forward step gains less than this; 0 stops when the budget is used up.
    relax : float or None, default None
        Run at ``relax`` times the budget, keep the k largest and refit.
    last : bool, default False
        Give the last point in place of the best one, as printed algorithms do.

    See Also
    --------
    OMP : Forward steps only.

    References
    ----------
    T. Zhang (2011): Adaptive Forward-Backward Greedy Algorithm for Learning Sparse Representations. IEEE Transactions
    on Information Theory 57.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> X = np.random.default_rng(0).standard_normal((100, 20))
    >>> y = X[:, 3] - 2 * X[:, 7]
    >>> pursuit.solve(pursuit.GLM(X, y), 2, solver=pursuit.FoBa()).support.tolist()
    [3, 7]
    """

    nu: float = 0.5
    eps: float = 0.0

    claims: ClassVar[str] = "none"
    halted: ClassVar[str] = "the budget is used up and no removal is cheap"
    turns: ClassVar[int] = 2
    revisits: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_number(self.eps, "eps")
        if check_number(self.nu, "nu") >= 1:
            raise ValueError(f"nu must be less than 1, or steps forward and back would go on for ever; got {self.nu}")

    def iterate(self, f: Objective, constraint: AtMost, start: Point) -> Iterator[Point]:
        point = start if start.refitted else f.refit(start.support, start=start)
        if point is not start and constraint.count(point.support) == constraint.k:
            yield point
        gain: dict[int, float] = {}
        while (size := constraint.count(point.support)) < constraint.k:
            ahead = joined(f, constraint, point, point.gradient)  # forward: i
            if ahead is point:
                return
            size = constraint.count(ahead.support)
            gain[size] = point.value - ahead.value  # delta
            if gain[size] < self.eps:
                return
            point = ahead
            yield point
            while size in gain:  # backward
                units, cost = removals(f, constraint, point)
                j = int(np.argmin(cost))
                if not cost[j] < self.nu * gain[size]:
                    break
                back = f.refit(constraint.columns_of(np.delete(units, j)), start=point)
                if not back.value - point.value < self.nu * gain[size]:  # d-, where the model of it was too kind
                    break
                point, size = back, size - 1
                yield point
