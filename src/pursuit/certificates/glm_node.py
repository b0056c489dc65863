"""Sub-problems of any GLM: units in, out or free, bounded by the perspective relaxation or by all alive columns."""

from dataclasses import dataclass, replace

import numpy as np

from .._utils.types import Columns, Flags, Vector
from ..constraints import AtMost
from ..objectives.glm import GLM
from ..relaxations.perspective import FREE, IN, OUT, Bound, GLMPart, States, Units
from .tree import NodeBound, Solutions, undecided
from .warm_start import SubsetRefits

COMPACTION_SHARE = 0.7  # share of columns alive below which the others are dropped from the block


@dataclass(frozen=True)
class GLMNode:
    """Units (by number) with their state, the block of their columns, unit after unit, and a start on it."""

    f: GLM
    constraint: AtMost
    units: Columns
    state: States
    x: Vector
    part: GLMPart
    refits: SubsetRefits

    @classmethod
    def root(cls, f: GLM, constraint: AtMost, x: Vector) -> "GLMNode":
        """All that the sparse set leaves open; x has all columns."""
        units = constraint.allowed
        cols, _ = constraint.ordered(units)
        A = np.array(f.data.local.gathered(cols).dense(), order="C")
        if f.fit_intercept:  # which changes the intercept only
            A -= f.data.local.rows.c @ A
        root = np.sqrt(np.broadcast_to(f.ridge, f.dim)[cols])  # coefficients times this have a ridge of 1
        if root.all():
            A /= root
        part = GLMPart.of(A, f.data.local.rows, f.loss, 1.0, f.fit_intercept, f.height)
        state = np.where(np.isin(units, constraint.include), IN, FREE)
        return cls(f, constraint, units, state, x[cols] * root, part, SubsetRefits(f, constraint))

    def with_budget(self, constraint: AtMost) -> "GLMNode":
        """The same for another budget."""
        return replace(self, constraint=constraint)

    def bound(self, known: Solutions, effort: int, precise: bool = False) -> NodeBound:
        """Rounds of bound and fix."""
        problem, lower, solutions, relaxed = self, -np.inf, known.copy(), None
        always, never = list[int](), list[int]()

        def result(lower: float, t: Vector | None) -> NodeBound:
            return NodeBound(lower, problem, t, solutions, relaxed, always, never)

        while True:
            units = problem._open()
            free = np.count_nonzero(units.free)
            if units.k <= 0 or free <= units.k:
                chosen = problem.state == IN if units.k <= 0 else problem.state != OUT
                return result(problem._offer(solutions, problem.units[chosen]), None)
            if not np.all(problem.f.ridge > 0):
                return result(problem._all_columns(), np.where(units.free, 0.5 * units.k / free, 0.0))
            bound = problem.part.relax(units, problem.x, solutions.target, effort)
            lower, problem = max(lower, bound.lower), replace(problem, x=bound.x, part=bound.part)
            relaxed = relaxed or problem
            square = units.squares(bound.z)
            problem._offer(solutions, problem._rounded(square))
            t = np.where(units.free, np.clip(bound.t, 1e-9, 1.0), 0.0)
            if lower >= solutions.target:
                return result(lower, t)
            state = problem._fixed(square, bound, units, solutions)
            never += problem._columns((state == OUT) & units.free)
            always += problem._columns((state == IN) & units.free)
            if np.array_equal(state, problem.state):
                return result(lower, t)
            problem = replace(problem, state=state)._compact()

    def children(self, t: Vector) -> list["GLMNode"]:
        """The least decided unit in, and out."""
        return [self._with(undecided(t), IN), self._with(undecided(t), OUT)]

    def sets(self) -> tuple[list[int], list[int]]:
        return self.units[self.state == IN].tolist(), self.units[self.state != OUT].tolist()

    def _with(self, u: int, now: np.uint8) -> "GLMNode":
        state = self.state.copy()
        state[u] = now
        x = self.x
        if now == OUT:
            _, ends = self.constraint.ordered(self.units)
            x = x.copy()
            x[ends[u] : ends[u + 1]] = 0.0
        return replace(self, state=state, x=x)

    def _open(self) -> Units:
        _, ends = self.constraint.ordered(self.units)
        return Units(ends, self.state, self.constraint.k - int(np.count_nonzero(self.state == IN)))

    def _compact(self) -> "GLMNode":
        """The block without the columns of units that are out, once they are many."""
        alive = self.state != OUT
        if np.count_nonzero(alive) > COMPACTION_SHARE * len(alive):
            return self
        _, ends = self.constraint.ordered(self.units)
        columns = np.repeat(alive, np.diff(ends))
        return replace(
            self, units=self.units[alive], state=self.state[alive], x=self.x[columns], part=self.part.take(columns)
        )

    def _fixed(self, square: Vector, bound: Bound, units: Units, known: Solutions) -> States:
        """The state with units that no better solution contains out, and those that every better one contains in."""
        free, slack, mu = np.sort(square[units.free])[::-1], known.upper + known.slack - bound.lower, self.part.l2
        out = units.free & (mu / 2 * (free[units.k - 1] - square) > slack)
        into = units.free & (mu / 2 * (square - free[units.k]) > slack)
        return np.where(out, OUT, np.where(into, IN, self.state))

    def _rounded(self, square: Vector) -> Columns:
        size = np.where(self.state == IN, np.inf, np.where(self.state == OUT, -1.0, square))
        return np.sort(self.units[np.argpartition(-size, self.constraint.k - 1)[: self.constraint.k]])

    def _offer(self, solutions: Solutions, units: Columns) -> float:
        """Add the solution on these units; returns a lower bound for it."""
        value, lower = self.refits(units.tolist())
        solutions.offer(tuple(units.tolist()), value, lower)
        return lower

    def _all_columns(self) -> float:
        """The minimum over all alive columns: a bound without any ridge, weak when there are many."""
        return self.refits.lower_bound(self.units[self.state != OUT].tolist())

    def _columns(self, of: Flags) -> list[int]:
        return [int(j) for j in self.constraint.columns_of(self.units[of])]
