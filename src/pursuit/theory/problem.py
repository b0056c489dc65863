"""What the theorems ask about one problem: constants at several levels, and the target that stands for x*."""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, floor
from typing import cast

import numpy as np

from .._utils.lazy import lazy
from .._utils.types import Keywords, Vector
from ..objectives.glm import GLM
from .restricted_curvature import Bracket, Levels
from .statements import CERTIFIED, LIMIT_TOLERANCE, OPEN, REFUTED

NEEDS_TARGET = "needs a target, which stands for the papers' unknown x*"
NO_COLUMNS = "the target has no columns"
MAX_MINIMUM_COLUMNS = 300  # columns up to which the minimum over all of them is computed


@dataclass(frozen=True, eq=False)
class Problem:
    """An objective, the size k, and a target (None: unknown) with its size, smallest entry, norm and gradient.

    Parameters
    ----------
    levels : Levels
        Curvature, looked at in the target (without one: at zero).
    k : int
    size : int or None
        Non-zeros of the target.
    """

    levels: Levels
    k: int
    size: int | None

    @property
    def glm(self) -> GLM:
        """The objective, where it is a GLM."""
        return cast(GLM, self.levels.f)

    @property
    def p(self) -> int:
        return self.levels.dim

    def M(self, s: int) -> Bracket:
        return self.levels.level(s).smoothness

    def m(self, s: int) -> Bracket:
        return self.levels.level(s).convexity

    def kappa(self, s: int) -> Bracket:
        return self.levels.level(s).condition

    def unusable(self, *, without_target: bool = True) -> str:
        """Why a result about the target's size or entries says nothing; an empty string where it does.

        Parameters
        ----------
        without_target : bool, default True
            Whether the result says something where no target is given.
        """
        if self.size is None:
            return "" if without_target else NEEDS_TARGET
        return "" if self.size else NO_COLUMNS

    @property
    def x_min(self) -> float:
        return float(np.abs(self.levels.point.coef).min()) if self.size else 0.0

    @property
    def norm(self) -> float:
        return float(np.linalg.norm(self.levels.point.coef))

    @lazy
    def slope(self) -> float:
        """||f'(x*)||_inf."""
        return float(np.abs(self.levels.gradient).max())

    @lazy
    def gradient_on_target(self) -> Vector:
        """The entries of f'(x*) on the target's support."""
        return np.asarray(self.levels.gradient[self.levels.point.support])

    @lazy
    def squares_elsewhere(self) -> float:
        """The sum of the k largest squares of f'(x*) outside the target's support."""
        outside = np.delete(self.levels.gradient, self.levels.point.support)
        return float((np.sort(np.abs(outside))[::-1][: self.k] ** 2).sum())

    @lazy
    def highest(self) -> float:
        """A value of f that some k-sparse x has: a refit of the target's columns and the steepest others."""
        levels = self.levels
        steepest = np.abs(levels.gradient)
        steepest[levels.point.support] = np.inf
        return float(levels.f.refit(np.sort(np.argsort(-steepest, kind="stable")[: self.k])).value)

    @lazy
    def lowest(self) -> float:
        """A lower bound of f: the minimum over all columns where that is cheap, else what the loss allows."""
        f = self.levels.f
        lower = float(f.lower)
        if f.convex and f.dim <= MAX_MINIMUM_COLUMNS:
            whole = f.refit(np.arange(f.dim))
            if whole.minimiser and whole.support_bound is not None and np.isfinite(whole.support_bound):
                lower = max(lower, float(whole.support_bound))
        return lower

    def chosen(self, verdict: str, *brackets: Bracket) -> list[float]:
        """The constants that numbers are computed from: certified ones where the verdict is, else from inside."""
        return [b.certified if verdict == CERTIFIED else b.inside for b in brackets]

    def sized(self, largest: Callable[[float], float], kappa: Bracket) -> tuple[int, int]:
        """The largest target size that is proved, and that is not refuted, from a decreasing function of kappa."""
        above, below = kappa.certified * (1 + LIMIT_TOLERANCE), max(kappa.inside * (1 - LIMIT_TOLERANCE), 1.0)
        certified, possible = (int(np.clip(largest(x), 0, self.k)) if np.isfinite(x) else 0 for x in (above, below))
        return certified, possible

    def by_size(self, certified: int, possible: int) -> str:
        """The verdict for the target's size, or for a target of one column.

        A target without columns counts as one with a column: what does not depend on the size is no better for it.
        """
        size = self.size or 1
        return CERTIFIED if size <= certified else REFUTED if size > possible else OPEN

    def about(self, certified: int, possible: int) -> Keywords:
        """The sizes to report: none where a target is given."""
        return {
            "certified_size": None if self.size is not None else certified,
            "possible_size": None if self.size is not None else possible,
        }


def steps_below(m: float, M: float, limit: float) -> tuple[float, float] | None:
    """The steps eta with sqrt(1 - 2 eta m + eta^2 M^2) < limit; None where there are none."""
    root = m * m - (1 - limit**2) * M * M
    return None if not root > 0 or not np.isfinite(M) else ((m - root**0.5) / M**2, (m + root**0.5) / M**2)


def contraction(eta: float, m: float, M: float) -> float:
    """rho = sqrt(1 - 2 eta m + eta^2 M^2) (GraHTP)."""
    return float(np.sqrt(max(1 - 2 * eta * m + eta**2 * M**2, 0.0)))


def best_step(steps: tuple[float, float], factor: Callable[[float], float]) -> tuple[float, float]:
    """The step at which an error factor is smallest, on a fine grid, and that factor."""
    grid = np.linspace(*steps, 2003)[1:-1]
    values = [factor(float(eta)) for eta in grid]
    best = int(np.argmin(values))
    return float(grid[best]), float(values[best])


def iterations(start: float, end: float, mu: float) -> float:
    """Steps after which mu^t start <= end; the papers print 1/mu where 1/ln(1/mu) is meant."""
    if not 0 < mu < 1:
        return 1.0 if mu <= 0 else np.inf
    return float(max(ceil(np.log(start / end) / np.log(1 / mu)), 0)) if start > end > 0 else 0.0


def at_most(x: float) -> float:
    """The largest whole number strictly below x."""
    return float(ceil(x) - 1) if np.isfinite(x) else 0.0


def at_most_equal(x: float) -> float:
    """The largest whole number not above x."""
    return float(floor(x)) if np.isfinite(x) else 0.0


def size_needed(x: float) -> float:
    """The smallest whole number not below x, but for rounding."""
    return float(ceil(x * (1 - LIMIT_TOLERANCE)))
