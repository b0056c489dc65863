"""Fast Gradient Hard Thresholding Pursuit: iterative hard thresholding.

X.-T. Yuan, P. Li, T. Zhang, "Gradient Hard Thresholding Pursuit", JMLR 18 (2018), Algorithm 1 (bottom panel); on the
squared loss it is Blumensath and Davies' IHT, and with the default step their normalised IHT.

| paper | here |
|---|---|
| x~^(t) = x - eta grad f(x) | ``ahead`` |
| x^(t) = (x~^(t))_k | ``f.at(support, ahead[support])``, intercept minimised out |
| halt: ||x_t - x_{t-1}|| / ||x_{t-1}|| <= 1e-4 (section 6) | ``halt``, 1e-5 by default, never dividing by zero |

Cost per iteration: one pass over X for value and gradient. For losses with kinks the step is 1/(l2-curvature * t).
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

import numpy as np

from .._utils.validation import check_number
from ..constraints import AtMost
from ..objectives.base import Objective, Point
from ..refits.minimise import SUFFICIENT_DECREASE
from .base import Solver
from .steps import MAX_HALVINGS, PAPER, check_step, constant_step, restricted_step

# iterations back from whose highest value a step must come down by a sufficient share of its promise
MAX_REMEMBERED_VALUES = 10


@dataclass(frozen=True)
class FGraHTP(Solver):
    """Gradient step, keep k, no refit until the end: fast GraHTP, iterative hard thresholding.

    Parameters
    ----------
    step : float, "paper" or None, default None
        A constant step as in the paper; "paper": its 1/(2 M_2k), by the truncated power method. None: from the
        curvature on the support, halved until f falls below the highest of its last values (L. Grippo, F. Lampariello,
        S. Lucidi 1986: iterates that may rise find more signals).
    halt : float, default 1e-5
        Relative change of x at which to stop (the paper's is 1e-4, which can leave out the smallest coefficients).
    polish : bool, default True
        Refit on the last support before returning; False is exactly as printed.
    patience : int, default 200
        With ``polish``, stop also when the support has stayed the same for so many iterations: the refit ends what
        gradient steps would approach.
    relax : float or None, default None
        Run at ``relax`` times the budget, keep the k largest and refit.
    last : bool, default False
        Give the last point in place of the best one, as printed algorithms do.

    See Also
    --------
    GraHTP : With a refit after every step.

    References
    ----------
    X.-T. Yuan, P. Li, T. Zhang (2018): Gradient Hard Thresholding Pursuit. JMLR 18.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> X = np.random.default_rng(0).standard_normal((100, 20))
    >>> y = X[:, 3] - 2 * X[:, 7]
    >>> pursuit.solve(pursuit.GLM(X, y), 2, solver=pursuit.FGraHTP()).support.tolist()
    [3, 7]
    """

    step: float | str | None = None
    halt: float = 1e-5
    polish: bool = True
    patience: int = 200

    @property
    def revisits(self) -> bool:  # type: ignore[override]
        """With the default step a point may be met again while older values are remembered, not for ever."""
        return self.step is None

    def __post_init__(self) -> None:
        check_step(self.step, (PAPER,))
        check_number(self.halt, "halt")

    def iterate(self, f: Objective, constraint: AtMost, start: Point) -> Iterator[Point]:
        point, best, kept, same = start, start, start.support, 0
        constant = constant_step(f, constraint, start, self.step)
        highest = deque([start.value], MAX_REMEMBERED_VALUES if f.convex else 1)
        for t in count(1):
            step = constant or restricted_step(f, constraint, point) / (1 if f.smooth else t)
            for _ in range(MAX_HALVINGS):
                ahead = point.x - step * point.gradient
                support = constraint.top(ahead)
                trial = f.at(support, ahead[support])
                moved = float(np.linalg.norm(trial.x - point.x))
                if constant or not f.smooth or trial.value < max(highest) - SUFFICIENT_DECREASE * moved**2 / step:
                    break
                step /= 2
            else:
                break
            size = float(np.linalg.norm(point.coef))
            point = trial
            highest.append(point.value)
            best = point if point.value <= best.value or best is start else best
            yield point
            same = same + 1 if np.array_equal(support, kept) else 0
            kept = support
            if moved <= self.halt * size or (self.polish and same >= self.patience):
                break
        if self.polish and best is not start:
            yield f.refit(best.support, start=best)
