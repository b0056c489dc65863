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
where they are better: at a saddle point (Theorem 1) that closes the gap at once.
Cost per iteration: about two passes over X; with ``refit``, where the support changes, a refit and a pass more.
Invariant: every ``lower`` is a lower bound of f over the sparse set, whatever the step.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any, ClassVar

from .._errors import check_choice, check_number
from ..constraints import AtMost
from ..objectives.base import Objective, Point
from ..objectives.dual import Dual
from ..steps import check_step
from .ascent import Coordinates, Supergradient, paper, polyak
from .base import Solver, generator

STEPS = ("coordinate", "polyak", "paper")
MEASURED = 10  # iterations over which a rise of D is measured
DEAR = 100  # passes over X that a refit may cost; a dearer one waits for a support that stays, or t = 8, 16, 32, ...
REMEMBERED = 200  # supports whose refits are kept: near a tie of |z_j| the same few come back


@dataclass(frozen=True)
class DIHT(Solver):
    """Ascent on the dual, then the k largest: DIHT; needs l2 > 0, and its gap is a certificate.

    Parameters
    ----------
    step : "coordinate" (sample after sample, each 1/(t+1) of the way to its best value; no constant), "polyak" (one
        supergradient step whose length comes from the gap), "paper" (smoothness/(t+1)), a number s for s/(t+1) as the
        paper tunes it, or None: "coordinate", and where X has no rows or the loss no kernel, "polyak"
    refit : refit on the support of each iterate, or where that costs much more than an epoch, of those that stay
        (False: the paper's raw primal, which converges slowly as a model)
    halt : stop when ten iterations raised D by less than this share of the gap and found no better point (0: never)
    """

    step: float | str | None = None
    refit: bool = True
    halt: float = 1e-3
    random_state: Any = None

    claims: ClassVar[str] = "none"
    halted: ClassVar[str] = "the dual value has stopped rising; the gap that is left is the solver's answer"
    revisits: ClassVar[bool] = True
    needs: ClassVar[tuple[str, ...]] = ("dual",)

    def __post_init__(self) -> None:
        if isinstance(self.step, str):
            check_choice(self.step, "step", STEPS)
        else:
            check_step(self.step)
        check_number(self.halt, "halt")

    def iterate(self, f: Objective, constraint: AtMost, start: Point) -> Iterator[Point]:
        dual = f.dual()
        rule = self._rule(dual)
        a = dual.start(start, constraint)
        z = dual.z(a)
        point, upper, lower = start, start.value, dual.value(a, constraint, z)
        refits: dict[bytes, Point] = {}
        last, dear = b"", len(dual.c) * float(constraint.k) ** 2 > DEAR * dual.f.work
        history: list[tuple[float, float]] = []
        for t in count():
            a, z, mean = rule.epoch(a, z, constraint, t, upper - dual.value(a, constraint, z))  # (S1)
            support, coef = dual.primal(mean, constraint)  # (S2)
            key, stays = support.tobytes(), support.tobytes() == last
            last = key
            if key in refits:
                point = refits[key]
            elif not self.refit or (dear and not stays and (t < 8 or t & (t - 1))):
                point = dual.point(support, coef)
            else:
                point = refits[key] = f.refit(support, start=point)
                if len(refits) > REMEMBERED:
                    del refits[next(iter(refits))]
                other = dual.from_point(point)
                z_other = dual.z(other)
                if dual.value(other, constraint, z_other) > dual.value(a, constraint, z):
                    a, z = other, z_other
            upper, lower = min(upper, point.value), max(lower, dual.value(a, constraint, z))
            yield point.bounded(lower)
            history.append((upper, lower))
            if self._stalled(history):
                if self.refit and key not in refits:
                    yield f.refit(support, start=point).bounded(lower)
                return

    def _stalled(self, history: list[tuple[float, float]]) -> bool:
        if len(history) <= MEASURED:
            return False
        (upper_before, lower_before), (upper, lower) = history[-1 - MEASURED], history[-1]
        return upper >= upper_before and lower - lower_before < self.halt * (upper - lower)

    def _rule(self, dual: Dual) -> Coordinates | Supergradient:
        size, rng = self._size(dual), generator(self.random_state)
        if self.step == "coordinate" and not dual.by_rows:
            raise ValueError("step='coordinate' needs an X with rows and a built-in loss; try step='polyak'")
        if self.step == "coordinate" or (self.step is None and dual.by_rows):
            return Coordinates(dual, size, rng)
        if self.step in (None, "polyak"):
            return Supergradient(dual, size, rng, polyak)
        number = None if isinstance(self.step, str) else self.step
        return Supergradient(dual, size, rng, paper(dual, max(1, round(len(dual.c) / size)), number))

    def _size(self, dual: Dual) -> int:
        """Samples per block: all."""
        return len(dual.c)
