"""Two ways up the dual D, for DIHT and SDIHT: one epoch is one visit of every block of samples, in random order.

| rule | the move of a block B, with the support F = top(z) held | needs |
|---|---|---|
| :class:`Coordinates` | a_i for i in B in turn: 1/(t+1) of the way to its best value on F | rows of X, a C++ loss |
| :class:`Supergradient` | all of B at once: P(a_B + step (eta_B - phi*'(a_B))), the paper's (4.1), (4.3) | any design |

D is non-smooth where the k-th and the next |z_j| tie, so that no rule of constant length converges: steps shrink like
1/(t+1), as in Theorems 4 and 5, or (:class:`Polyak`) when D has stopped rising. A move of single samples that may not
change sum_i c_i a_i (an intercept) takes two.
``epoch`` gives a, z(a), and the z whose top is the primal point: for coordinates the mean over the epoch's blocks,
since single iterates swing about the kinks (on rcv1 that saves half of the epochs); for the paper's steps z itself.
The supergradient is in the metric of c: the paper's 1/N sum is c_i = 1/N, and its step is N times ours.
"""

import numpy as np

from .._utils.types import Vector
from ..constraints import AtMost
from ..objectives.dual import Dual

PATIENCE_FACTOR_BEFORE_RISE = 10  # times Polyak's patience, before the first rise: D swings far below where it began


class Schedule:
    """From (update, gap, supergradient on a block, its weights) to a step."""

    def __call__(self, t: int, gap: float, g: Vector, c: Vector) -> float:
        raise NotImplementedError

    def shortens(self, rose: bool) -> bool:
        """After an epoch that raised D above all before, or not: whether shorter steps follow, from the best a."""
        return False


class Coordinates:
    """Every sample goes 1/(t+1) of the way to the maximum of D over it alone, top(z) held within a block."""

    def __init__(self, dual: Dual, size: float, rng: np.random.Generator, patience: int) -> None:
        self.dual, self.rng = dual, rng
        self.patience, self.waited, self.rising = patience, 0, False
        self.live = np.flatnonzero(dual.c > 0)
        self.blocks = max(1, round(len(self.live) / size))
        self.scale = dual.here.design.scale * np.ones(dual.f.dim)
        self.gain = self.scale**2 / dual.ridge
        self.back = np.divide(1.0, self.scale, out=np.zeros_like(self.scale), where=self.scale > 0)
        rank = dual.root * self.back  # what ranks the entries of v
        self.rank = None if np.ptp(rank) == 0 else rank

    def epoch(self, a: Vector, z: Vector, constraint: AtMost, t: int, gap: float) -> tuple[Vector, Vector, Vector]:
        dual, a, v = self.dual, a.copy(), self.scale * z
        mean = np.zeros_like(v)
        for block in np.array_split(self.rng.permutation(self.live), self.blocks):
            cols = constraint.top(v if self.rank is None else self.rank * v)
            dual.here.design.sweep(
                dual.f.loss, dual.here.rows, block, self.gain, cols, dual.f.fit_intercept, 1.0 / (t + 1), a, v
            )
            mean += v
        return dual.feasible(a), self.back * v, self.back / self.blocks * mean

    def shortens(self, rose: bool) -> bool:
        """Whether D never rose so far: the first steps are long, and the best a may be behind them."""
        self.rising, self.waited = self.rising or rose, self.waited + 1
        return (
            self.patience > 0 and not self.rising and self.waited % (PATIENCE_FACTOR_BEFORE_RISE * self.patience) == 0
        )


class Supergradient:
    """A projected supergradient step per block; blocks are drawn with replacement from a fixed partition."""

    def __init__(self, dual: Dual, size: float, rng: np.random.Generator, schedule: Schedule) -> None:
        self.dual, self.rng, self.schedule, self.updates = dual, rng, schedule, 0
        n = len(dual.c)
        count = max(1, round(n / size))
        parts = np.array_split(rng.permutation(n), count) if count > 1 else [np.arange(n)]
        design = dual.here.design
        self.pieces = [(part, design.take(part) if count > 1 else design) for part in parts]

    def epoch(self, a: Vector, z: Vector, constraint: AtMost, t: int, gap: float) -> tuple[Vector, Vector, Vector]:
        dual, a, z = self.dual, a.copy(), z.copy()
        for i in self.rng.integers(len(self.pieces), size=len(self.pieces)):
            block, X = self.pieces[i]
            support, coef = dual.primal(z, constraint)  # (S2)
            c, before = dual.c[block], a[block]
            eta = X.matmat(support, coef[:, None])[:, 0] + (0.0 if dual.offset is None else dual.offset[block])
            g = eta - dual.f.loss.conjugate_d1(dual.y[block], before)
            if dual.f.fit_intercept:
                g -= float(c @ g) / max(float(c.sum()), 1e-300)
            step = self.schedule(self.updates, gap, g, c)
            a[block] = dual.feasible(before + step * g, block, float(c @ before))  # (S1)
            z -= X.rmatmat((c * (a[block] - before))[:, None])[:, 0] / dual.ridge  # (S2.1)
            self.updates += 1
        return a, z, z

    def shortens(self, rose: bool) -> bool:
        return self.schedule.shortens(rose)


class Paper(Schedule):
    """Theorems 4 and 5: m / (mu (t+1)) with mu = 1/smoothness and sigma_min = 0, or a number in place of m / mu."""

    def __init__(self, dual: Dual, blocks: int, step: float | None) -> None:
        self.first = step if step is not None else blocks * dual.f.loss.smoothness
        if not np.isfinite(self.first):
            raise ValueError(
                f"step='paper' needs a loss with bounded curvature, and {dual.f.loss.name!r} has none: give the step's "
                "numerator as a number"
            )

    def __call__(self, t: int, gap: float, g: Vector, c: Vector) -> float:
        return self.first / (t + 1)


class Polyak(Schedule):
    """Polyak's rule with the known upper bound: a share of the gap (this block's part), over the squared supergradient.

    With a share s the steps approach the maximum D* until what is missing is s/(2-s) of upper - D*, and then circle.
    Only at a saddle point is that zero, so that s is halved after ``patience`` epochs without a rise (0: never), and
    the steps go on from the best a.
    """

    def __init__(self, patience: int) -> None:
        self.patience, self.share, self.waited, self.settled = patience, 1.0, 0, False

    def __call__(self, t: int, gap: float, g: Vector, c: Vector) -> float:
        square = float(c @ g**2)
        return self.share * gap * float(c.sum()) / square if square > 0 else 0.0

    def shortens(self, rose: bool) -> bool:
        self.settled = self.settled or rose
        self.waited = 0 if rose else self.waited + 1
        if not self.patience or self.waited < self.patience * (1 if self.settled else PATIENCE_FACTOR_BEFORE_RISE):
            return False
        self.share, self.waited, self.settled = self.share / 2, 0, True
        return True


def block_size(dual: Dual, block: int | None) -> int:
    """Samples per block: reading their rows should cost about as much as the top of z; at least 10 blocks."""
    n = len(dual.c)
    if block is not None:
        return min(block, n)
    row = max(1.0, dual.f.work / n)
    return int(np.clip(max(dual.f.dim, 20_000) / row, 2, max(2, n // 10)))
