"""Adaptively regularised hard thresholding.

K. Axiotis, M. Sviridenko, "Sparse Convex Optimization via Adaptively Regularized Hard Thresholding" (2020), Algorithms
1 and 2. OMPR on f + rho/2 ||x_R||^2, where units leave R at random whenever the exchange does too little.

| paper | here |
|---|---|
| s, opt, epsilon, B | ``constraint.k``, ``opt``, ``absolute_eps`` or ``eps`` (a share of f(0) - B), ``lower`` |
| rho_2^+ | ``rho``: ``smoothness``, or twice the largest curvature at hand, doubled where an exchange disproves it |
| g_R | ``g = f.ridged(rho * R)``, R a vector of zeros and ones |
| S^0 = [s] | OMP's support, or the caller's start completed by OMP (the paper's experiments), practical: then OMPR's |
| 5 log(6 n log((f(0) - B) / epsilon)) repetitions | ``repeats`` |

Slips of the text: line 15 can only mean i outside S; line 22 has no meaning when x_R = 0, so the core
ends there; line 27 returns a minimiser of g, so f is refitted.

``mode="paper"`` is Algorithm 2: bisection on opt, each value tried ``repeats`` times. ``mode="practical"``, the
default: it begins where OMPR ends, and so never ends above it; opt is just below the best value, the core starts from
the best support, an exchange that g refuses is looked at on f too, and the core is repeated until ``repeats`` runs in a
row bring nothing.

Cost per iteration: one gradient, two or three refits. Invariant: every point is a refit of f; R only shrinks.
"""

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from math import ceil, log
from typing import ClassVar

import numpy as np

from .._utils.types import Seed
from .._utils.validation import check_choice, check_k, check_number
from ..constraints import AtMost
from ..objectives.base import Objective, Point
from .base import Solver, generator
from .omp import OMP
from .ompr import OMPR
from .steps import MAX_HALVINGS

MODES = ("practical", "paper")
Run = Generator[Point, None, Point]


@dataclass(frozen=True)
class ARHT(Solver):
    """Exchanges on an adaptively regularised objective, from OMPR (mode "paper": from OMP): ARHT.

    Parameters
    ----------
    mode : {"practical", "paper"}, default "practical"
        "paper" is Algorithm 2 as printed.
    eps : float, default 0.001
        Target error, as a share of f(0) - lower.
    smoothness : float or None, default None
        The smoothness of f over pairs of coordinates (rho_2^+); None estimates it.
    lower : float or None, default None
        A lower bound of f; None takes what the objective knows.
    repeats : int or None, default None
        Runs of the core without success before the end. None is 5, in the paper's mode the paper's own number.
    random_state : int, Generator or None, default None
        Seed of the random draws; ``solve(random_state=...)`` fills it.
    absolute_eps : float or None, default None
        The target error itself, as the paper has it; in place of ``eps``.
    relax : float or None, default None
        Run at ``relax`` times the budget, keep the k largest and refit.
    last : bool, default False
        Give the last point in place of the best one, as printed algorithms do.

    See Also
    --------
    OMPR : Where it starts.
    LocalSearch : Exchanges without regularisation.

    References
    ----------
    K. Axiotis, M. Sviridenko (2020): Sparse Convex Optimization via Adaptively Regularized Hard Thresholding. ICML.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> X = np.random.default_rng(0).standard_normal((100, 20))
    >>> y = X[:, 3] - 2 * X[:, 7]
    >>> pursuit.solve(pursuit.GLM(X, y), 2, solver=pursuit.ARHT()).support.tolist()
    [3, 7]
    """

    mode: str = "practical"
    eps: float = 1e-3
    smoothness: float | None = None
    lower: float | None = None
    repeats: int | None = None
    random_state: Seed = None
    absolute_eps: float | None = None

    halted: ClassVar[str] = "no run of the regularised exchanges lowers the value"
    turns: ClassVar[int] = 20
    revisits: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_choice(self.mode, "mode", MODES)
        check_number(self.eps, "eps", strict=True)
        if self.absolute_eps is not None:
            check_number(self.absolute_eps, "absolute_eps", strict=True)
        if self.smoothness is not None:
            check_number(self.smoothness, "smoothness", strict=True)
        if self.lower is not None:
            check_number(self.lower, "lower", -np.inf)
        if self.repeats is not None:
            check_k(self.repeats, "repeats")

    def iterate(self, f: Objective, constraint: AtMost, start: Point) -> Iterator[Point]:
        point = start
        first = OMP() if self.mode == "paper" else OMPR()
        for point in first.iterate(f, constraint, start):
            yield point
        lower = f.lower if self.lower is None else self.lower
        if not np.isfinite(lower):
            lower = 2 * point.value - f.null.value
        span = max(f.null.value - lower, 1e-300)
        run = self._paper if self.mode == "paper" else self._practical
        yield from run(f, constraint, point, lower, self.absolute_eps or self.eps * span)

    def _practical(self, f: Objective, constraint: AtMost, best: Point, lower: float, eps: float) -> Run:
        rng, failures = generator(self.random_state), 0
        while failures < (self.repeats or 5):
            opt = best.value - 1e-6 * eps
            x = yield from self._core(f, constraint, best, opt, eps, lower, rng)
            failures = 0 if x.value < best.value else failures + 1
            best = x if x.value < best.value else best
        return best

    def _paper(self, f: Objective, constraint: AtMost, start: Point, lower: float, eps: float) -> Run:
        rng = generator(self.random_state)
        span = f.null.value - lower
        low, b = lower, f.null  # 17-19
        while b.value - low > eps:  # 20, 21
            m = (low + b.value) / 2  # 22
            x = f.null  # ARHT_robust, 4
            for _ in range(self.repeats or max(1, ceil(5 * log(6 * f.dim * max(log(3 * span / eps), 1.0))))):  # 5
                trial = yield from self._core(f, constraint, start, m, eps / 3, lower, rng)  # 6
                x = trial if trial.value < x.value else x  # 7-9
            if x.value > m + eps / 3:  # 24
                low = m
            else:
                b = x  # 27, 28
        return b

    def _core(
        self,
        f: Objective,
        constraint: AtMost,
        start: Point,
        opt: float,
        eps: float,
        lower: float,
        rng: np.random.Generator,
    ) -> Run:
        s, S = constraint.k, start.support
        steepest = float(f.curvatures(start, np.union1d(S, constraint.top(start.gradient))).max())
        rho = self.smoothness or max(2 * steepest, 1e-300)
        spare = MAX_HALVINGS if f.smooth and self.smoothness is None else 0
        R = np.ones(f.dim)  # 7
        g = f.ridged(rho * R)  # 6
        x, here = g.refit(S, start=start), start  # 8, 9
        if not np.isfinite(x.value):  # nowhere near here is f finite with that much of a ridge
            return start
        for _ in range(max(1, ceil(2 * s * log(max((x.value - lower) / eps, 2.0))))):  # 10, 11
            if not np.array_equal(here.support, x.support):
                here = f.refit(x.support, start=x)
            yield here
            if here.value <= opt:  # 12, 13
                return here
            kept = constraint.top(x.x, s - 1, within=x.support)  # 16: all but j
            support = constraint.top(x.gradient, keep=kept)  # 15, 17: i outside S enters
            ahead = g.refit(support, start=x)  # 18
            if not np.isfinite(ahead.value):
                return here
            if spare and ahead.value > self._promise(x, ahead, rho):  # rho was too small
                rho, spare = 2 * rho, spare - 1
                g = f.ridged(rho * R)
                x = g.refit(x.support, start=x)
                continue
            if x.value - ahead.value < (x.value - opt) / s:  # 19
                if self.mode == "practical" and (there := f.refit(support, start=here)).value <= opt:
                    yield there
                    return there
                units = constraint.units_of(x.support)  # 21: S stays
                mass = constraint.norms(R * x.x)[units] ** 2
                if not mass.sum() > 0:
                    return here
                R[constraint.columns_of(rng.choice(units, 1, p=mass / mass.sum()))] = 0.0  # 22, 23
                g = f.ridged(rho * R)
                ahead = g.refit(x.support, start=x)  # 24
            x = ahead
        return f.refit(x.support, start=x)  # 27

    @staticmethod
    def _promise(x: Point, ahead: Point, rho: float) -> float:
        """What g is at most after the exchange if f is rho-smooth over pairs (so g 2 rho): i moves, j goes to zero."""
        entered = np.setdiff1d(ahead.support, x.support, assume_unique=True)
        left = x.x[np.setdiff1d(x.support, ahead.support, assume_unique=True)]
        gain = float(np.sum(x.gradient[entered] ** 2)) / (4 * rho)
        return x.value - gain + rho * float(left @ left) + 1e-9 * abs(x.value)
