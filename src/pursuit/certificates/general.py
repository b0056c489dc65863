"""Sub-problems of any GLM: forced-in and alive units, bounded by the perspective relaxation or by all alive columns."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..constraints import AtMost
from ..objectives.glm import GLM
from .relaxation import Bound, GLMPart, Units, relax
from .tree import Tree, undecided

Vector = NDArray[np.float64]
Columns = NDArray[np.int64]


@dataclass(frozen=True)
class General:
    """Units that are alive (forced-in ones among them), and a start for the relaxation."""

    f: GLM
    constraint: AtMost
    alive: Columns
    forced: Columns
    x: Vector  # over the columns of the alive units, unit after unit
    smooth: GLMPart | None = None

    def bound(self, tree: Tree, effort: int, root: bool = False) -> tuple[float, "General", Vector | None]:
        problem, lower = self, -np.inf
        while True:
            left = problem.constraint.k - len(problem.forced)
            free = np.setdiff1d(problem.alive, problem.forced)
            if left <= 0 or len(free) <= left:
                return problem._offer(tree, problem.forced if left <= 0 else problem.alive), problem, None
            if problem.f.l2 <= 0:
                low = problem._all_columns()
                return low, problem, np.where(np.isin(problem.alive, problem.forced), 1.0, 0.5 * left / len(free))
            units = problem._units(left)
            bound = relax(problem._part(), units, problem.x, tree.target, effort)
            lower, problem = max(lower, bound.lower), replace(problem, x=bound.x)
            problem._offer(tree, problem._rounded(bound, units))
            if lower >= tree.target:
                return lower, problem, _free(bound.t, units)
            out, into = _fixed(bound, units, problem.f.l2, tree.upper + tree.slack - bound.lower)
            if root:
                tree.never.update(problem._columns(problem.alive[out]))
                tree.always.update(problem._columns(problem.alive[into]))
            if not out.any() and not into.any():
                return lower, problem, _free(bound.t, units)
            forced = np.union1d(problem.forced, problem.alive[into])
            problem = replace(problem._keep(~out), forced=forced)

    def children(self, t: Vector) -> list["General"]:
        j = undecided(t)
        keep = np.ones(len(t), bool)
        keep[j] = False
        return [replace(self, forced=np.union1d(self.forced, self.alive[j : j + 1])), self._keep(keep)]

    def _keep(self, keep: NDArray[np.bool_]) -> "General":
        """The alive units cut down."""
        if keep.all():
            return self
        _, ends = self.constraint.ordered(self.alive)
        columns = np.repeat(keep, np.diff(ends))
        smooth = None if self.smooth is None else self.smooth.restrict(columns)
        return replace(self, alive=self.alive[keep], x=self.x[columns], smooth=smooth)

    def _part(self) -> GLMPart:
        if self.smooth is None:
            f, cols = self.f, self.constraint.ordered(self.alive)[0]
            part = GLMPart(f.design.block(cols).dense(), f.rows, f.loss, f.l2, f.fit_intercept)
            object.__setattr__(self, "smooth", part)
        assert self.smooth is not None
        return self.smooth

    def _units(self, left: int) -> Units:
        _, ends = self.constraint.ordered(self.alive)
        return Units(np.repeat(np.arange(len(self.alive)), np.diff(ends)), np.isin(self.alive, self.forced), left)

    def _rounded(self, bound: Bound, units: Units) -> Columns:
        size = units.norms(bound.z)
        size[units.forced] = np.inf
        return np.sort(self.alive[np.argpartition(-size, self.constraint.k - 1)[: self.constraint.k]])

    def _offer(self, tree: Tree, units: Columns) -> float:
        support = self.constraint.columns_of(units)
        point = self.f.refit(support)
        tree.offer(tuple(int(u) for u in units), point.value)
        return point.value

    def _all_columns(self) -> float:
        """The minimum over all alive columns, rounded down: a bound without any ridge, weak when there are many."""
        value = self.f.refit(self.constraint.columns_of(self.alive)).value
        return max(value - 1e-9 * max(1.0, abs(value)), self.f.lower)

    def _columns(self, units: Columns) -> list[int]:
        return [int(j) for j in self.constraint.columns_of(units)]


def _free(t: Vector, units: Units) -> Vector:
    """Indicators with the forced units out of the question."""
    return np.where(units.forced, 0.0, np.clip(t, 1e-9, 1.0))


def _fixed(bound: Bound, units: Units, mu: float, slack: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Units that no better solution contains, and units that every better solution contains."""
    square = units.norms(bound.z) ** 2
    free = np.sort(square[~units.forced])[::-1]
    out = ~units.forced & (mu / 2 * (free[units.k - 1] - square) > slack)
    into = ~units.forced & (mu / 2 * (square - free[units.k]) > slack)
    return out, into
