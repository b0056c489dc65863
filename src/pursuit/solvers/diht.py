"""Dual iterative hard thresholding.

B. Liu, X.-T. Yuan, L. Wang, Q. Liu, D. Metaxas, "Dual Iterative Hard Thresholding: From Non-convex Sparse Minimization
to Non-smooth Concave Maximization", ICML 2017, Algorithm 1.

| paper | here |
|---|---|
| alpha^(t), D | ``a``, ``dual.value(a, constraint)`` |
| w~^(t) = -1/(lambda N) sum alpha_i x_i | ``z`` |
| (S1) dual projected super-gradient ascent | ``rule.epoch(...)``, see :mod:`pursuit.solvers.ascent` |
| (S2) w^(t) = H_k(w~^(t)) | ``dual.primal(z, constraint)`` |
| eta^(t) | ``step`` |
| epsilon_PD | the record's ``gap`` |

The paper starts from alpha = 0, where the logistic and the Poisson conjugates have infinite slopes; here the start is
the best multiple of the start point's own dual variables. sigma_min(X, k) in its step should be squared, and is 0
whenever k < N. With ``refit`` the point of an iteration is the refit on top(z), whose own dual variables replace a
where they are better: at a saddle point (Theorem 1) that closes the gap at once. D is non-smooth, and no ascent by
samples or by supergradients comes near its maximum where many |z_j| tie; once it has stalled, the primal relaxation
(:mod:`pursuit.solvers.dual_relaxation`) goes on.
Cost per iteration: about two passes over X; with ``refit``, where the support changes, a refit and a pass more.
Invariant: every ``lower`` is a lower bound of f over the sparse set, whatever the step.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import ClassVar

import numpy as np

from .._utils.types import Seed, Vector
from .._utils.validation import check_choice, check_count, check_flag, check_number
from ..constraints import AtMost
from ..objectives.base import Objective, Point
from ..objectives.dual import Dual
from .ascent import Coordinates, Paper, Polyak, Supergradient
from .base import NOTHING, Solver, generator
from .dual_relaxation import relaxed_ascent
from .steps import check_step

STEPS = ("coordinate", "polyak", "paper")
EPOCHS = 30  # over which a rise of D is measured
MAX_REFIT_COST = (
    100  # passes over X that a refit may cost; a dearer one waits for a support that stays, or t = 8, 16, 32, ...
)
REMEMBERED = 200  # supports whose refits are kept: near a tie of |z_j| the same few come back


class Stall:
    """Ends a run when D has risen above its first value and then, for 30 epochs, neither side of the gap has moved.

    A rise must be small against the rise so far too, since the gap may be that of a poor point.
    """

    def __init__(self, halt: float, upper: float, lower: float) -> None:
        self.halt, self.first, self.past = halt, lower, deque([(upper, lower)], maxlen=EPOCHS + 1)

    @property
    def rounding(self) -> float:
        """A rise that is none."""
        return NOTHING * max(map(abs, self.past[-1]))

    def over(self, upper: float, lower: float) -> bool:
        self.past.append((upper, lower))
        (upper_before, lower_before), gap, risen = self.past[0], upper - lower, lower - self.first
        if len(self.past) <= EPOCHS or risen <= self.rounding:
            return False
        return lower - lower_before < self.halt * min(gap, risen) and upper_before - upper < self.halt * gap


@dataclass(frozen=True)
class DIHT(Solver):
    """Ascent on the dual, then the k largest: DIHT; needs l2 > 0, and its gap is a certificate.

    Parameters
    ----------
    step : {"coordinate", "polyak", "paper"}, float or None, default None
        "coordinate": sample after sample, each 1/(t+1) of the way to its best value; no constant. "polyak": one
        supergradient step whose length comes from the gap. "paper": smoothness/(t+1). A number s: s/(t+1), as the paper
        tunes it. None: "polyak" where X is dense, has no rows, or the loss has no kernel, else "coordinate" (and for
        several blocks of a dense X).
    refit : bool, default True
        Refit on the support of each iterate, or where that costs much more than an epoch, of those that stay. False:
        the paper's raw primal, which converges slowly as a model.
    halt : float, default 0.001
        Stop when in 30 epochs the value fell by less than this share of the gap, and D rose by less than this share of
        the gap and of its whole rise; never before D has risen above its first value (0: never).
    random_state : int, Generator or None, default None
        Seed of the order of samples; ``solve(random_state=...)`` fills it.
    relax : float or None, default None
        Run at ``relax`` times the budget, keep the k largest and refit.
    last : bool, default False
        Give the last point in place of the best one, as printed algorithms do.
    patience : int, default 10
        Epochs without a rise of D after which Polyak's step is halved; ten times as many before the first rise, when
        "coordinate" goes back to the best a too (0: never).
    from_zero : bool, default False
        Begin at alpha = 0 as printed, where the conjugate's slope is finite there; else at the best multiple of the
        start's own dual variables.
    relaxation : bool, default True
        Where D has stalled, let the relaxation that ``certify`` solves take over (never for steps as printed, nor with
        ``refit=False``).

    See Also
    --------
    SDIHT : The stochastic form.

    References
    ----------
    B. Liu, X.-T. Yuan, L. Wang, Q. Liu, D. N. Metaxas (2017): Dual Iterative Hard Thresholding. ICML.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> X = np.random.default_rng(0).standard_normal((100, 20))
    >>> y = X[:, 3] - 2 * X[:, 7]
    >>> pursuit.solve(pursuit.GLM(X, y, l2=0.01), 2, solver=pursuit.DIHT()).support.tolist()
    [3, 7]
    """

    step: float | str | None = None
    refit: bool = True
    halt: float = 1e-3
    random_state: Seed = None
    patience: int = field(default=10, kw_only=True)
    from_zero: bool = field(default=False, kw_only=True)
    relaxation: bool = field(default=True, kw_only=True)

    claims: ClassVar[str] = "none"
    halted: ClassVar[str] = (
        f"the dual has stalled: in {EPOCHS} epochs neither it nor the value moved by more than the share `halt` of "
        "the duality gap, which is not closed (where the relaxation took over, it ended too)"
    )
    revisits: ClassVar[bool] = True
    needs: ClassVar[tuple[str, ...]] = ("dual",)

    def __post_init__(self) -> None:
        if isinstance(self.step, str):
            check_choice(self.step, "step", STEPS)
        else:
            check_step(self.step)
        check_number(self.halt, "halt")
        check_count(self.patience, "patience")
        check_flag(self.from_zero, "from_zero")
        check_flag(self.relaxation, "relaxation")

    def iterate(self, f: Objective, constraint: AtMost, start: Point) -> Iterator[Point]:
        dual = f.dual()
        rule = self._rule(dual)
        a = self._zero(dual) if self.from_zero else dual.start(start, constraint)
        z = dual.z(a)
        point, upper, lower = start, start.value, dual.value(a, constraint, z)
        refits: dict[bytes, Point] = {}
        last, expensive = b"", len(dual.c) * float(constraint.k) ** 2 > MAX_REFIT_COST * dual.f.work
        watch, peak = Stall(self.halt, upper, lower), (a, z)
        for t in count():
            a, z, mean = rule.epoch(a, z, constraint, t, upper - dual.value(a, constraint, z))  # (S1)
            support, coef = dual.primal(mean, constraint)  # (S2)
            key, stays = support.tobytes(), support.tobytes() == last
            last = key
            if key in refits:
                point = refits[key]
            elif not self.refit or (expensive and not stays and (t < 8 or t & (t - 1))):
                point = dual.point(support, coef)
            else:
                point = refits[key] = f.refit(support, start=point)
                if len(refits) > REMEMBERED:
                    del refits[next(iter(refits))]
                other = dual.from_point(point)
                z_other = dual.z(other)
                if dual.value(other, constraint, z_other) > dual.value(a, constraint, z):
                    a, z = other, z_other
            value, before = dual.value(a, constraint, z), lower
            upper, lower = min(upper, point.value), max(lower, value)
            yield point.bounded(lower)
            rose = value > before + watch.rounding
            peak = (a, z) if rose else peak
            if rule.shortens(rose):
                a, z = peak
            if watch.over(upper, lower):
                if self.refit and key not in refits:
                    point = f.refit(support, start=point)
                    yield point.bounded(lower)
                if self._hands_over(dual):
                    yield from relaxed_ascent(
                        f, dual, constraint, min(refits.values(), key=_value, default=point), lower
                    )
                return

    def _hands_over(self, dual: Dual) -> bool:
        """Whether the relaxation may go on where D has stalled: for a GLM without bounds, steps not as printed."""
        printed = self.step == "paper" or isinstance(self.step, float | int)
        return self.relaxation and self.refit and dual.box is None and not printed

    @staticmethod
    def _zero(dual: Dual) -> Vector:
        """alpha = 0, or a sentence where D has no supergradient there."""
        a, loss = np.zeros(len(dual.c)), dual.f.loss
        edge = ((a <= dual.low) | (a >= dual.high)).any()
        if not loss.attained and edge:  # whose conjugate is infinitely steep at the edge of its domain
            raise ValueError(f"from_zero=True: the conjugate of the {loss.name} loss has no finite slope at zero")
        return a

    def _rule(self, dual: Dual) -> Coordinates | Supergradient:
        size, rng = self._size(dual), generator(self.random_state)
        if self.step == "coordinate" and not dual.by_rows:
            raise ValueError("step='coordinate' needs an X with rows and a built-in loss; try step='polyak'")
        by_samples = dual.by_rows and not (dual.here.design.full and size == len(dual.c))
        if self.step == "coordinate" or (self.step is None and by_samples):
            return Coordinates(dual, size, rng, self.patience)
        if self.step in (None, "polyak"):
            return Supergradient(dual, size, rng, Polyak(self.patience))
        number = None if isinstance(self.step, str) else self.step
        return Supergradient(dual, size, rng, Paper(dual, max(1, round(len(dual.c) / size)), number))

    def _size(self, dual: Dual) -> float:
        """Samples per block: all."""
        return len(dual.c)


def _value(point: Point) -> float:
    return point.value
