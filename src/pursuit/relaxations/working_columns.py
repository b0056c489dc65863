"""The perspective bound of a wide problem: the relaxation on few columns, all columns looked at once per round.

Each round solves the relaxation on a working set in single precision (memory is what it costs), takes its dual
variables a, and evaluates D(a) over all columns exactly: one pass over X, after which columns that matter come in and
columns that do not are dropped. Any a is valid, so no rounding of the minimiser's steps reaches the bound. A round is
solved only to a share of the gap that the last one left.
"""

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .. import _core
from .._utils.types import Columns, Flags, Vector
from ..constraints import AtMost
from ..objectives.base import Point
from ..objectives.dual import Dual
from ..objectives.glm import GLM
from .perspective import FREE, IN, Bound, GLMPart, Units, first_curvature

VALUE_PRECISION = 1e-3  # of the value: where the relaxation counts as solved
ROUND_GAP_SHARE = 0.15  # share of the last gap to which a round is solved
ENTER_SHARE, LEAVE_SHARE = 0.9, 0.85  # share of the k-th largest |z| at which columns come in and go
SET_GROWTH = 3  # times its size by which a set may grow in a round
BLOCK_GROWTH = 1.1  # room that a block keeps for further columns
MAX_ROUNDS = 50
MAX_PRECISE_ENTRIES = 2e4  # numbers in X up to which the relaxation is solved to its last digits
MIN_SINGLE_ENTRIES = 1e6  # numbers in X from which memory is what a step costs, so that single precision pays
MIN_SINGLE_NUMBER = 1e-15  # numbers below this one, or above its inverse, are processed in double precision


class Goal(Protocol):
    """What a bound is for: the best value known, the bound that is enough, and whether time is up."""

    @property
    def upper(self) -> float: ...
    @property
    def target(self) -> float: ...
    def late(self) -> bool: ...


class State(Protocol):
    """What one bound leaves for the next: the columns, a point on them, and the best dual variables with their z."""

    block: Any
    x: Any
    dual: Any


@dataclass
class Round:
    """A :class:`State` without a past."""

    block: Any = None
    x: Any = None
    dual: Any = None


def working_set(f: GLM, constraint: AtMost, known: Point, tree: Goal, cheap: float, hand: State | None = None) -> float:
    """The relaxation's bound within PRECISION, or what the time allows; ``cheap`` is the bound known before."""
    hand = Round() if hand is None else hand
    dual, upper = Dual(f), tree.upper
    size, best, gap = f.scale(upper), cheap, upper - cheap
    share = min(1.0, gap / size) if np.isfinite(gap) else 1.0
    numbers = f.data.shape[0] * f.dim
    narrow, precision = (
        numbers > MIN_SINGLE_ENTRIES,
        VALUE_PRECISION if numbers > MAX_PRECISE_ENTRIES else 1e-6 * VALUE_PRECISION,
    )
    if hand.block is None:
        block = WorkingColumns(f, constraint, np.float32 if narrow else np.float64)
        block = block.changed(np.empty(0, bool), _first(f, constraint, known, share))
    else:
        block = hand.block.with_budget(constraint, known)
    x, stuck = known.x if hand.x is None else hand.x, 0
    for _ in range(MAX_ROUNDS):
        floor = max(best, f.lower)
        allowed = 0.8 * precision * size
        if numbers > MAX_PRECISE_ENTRIES:
            allowed = max(ROUND_GAP_SHARE * gap, allowed) if np.isfinite(gap) else ROUND_GAP_SHARE * size
        bound = block.relax(
            x, upper, allowed / max(upper - floor, 1e-12 * size), 300 if numbers > MAX_PRECISE_ENTRIES else 5000
        )
        x = np.zeros(f.dim)
        x[block.cols] = bound.x
        a = dual.feasible(bound.a)
        z = dual.z(a)
        low = dual.value(a, constraint, z)
        stuck = 0 if low > best + 0.01 * (bound.relaxed - best) else stuck + 1
        if low > best or hand.dual is None:
            best, hand.dual = max(best, low), (a, z)
        hand.block, hand.x = block, x
        gap = bound.relaxed - best
        if best >= tree.target or gap <= precision * size or tree.late() or stuck > 2:
            break
        block = block.changed(*block.review(constraint.norms(z), x))
    return best


def _first(f: GLM, constraint: AtMost, known: Point, share: float) -> Columns:
    """Units with the largest gradient, the more the weaker the bound at hand: it may take up to n columns."""
    g = known.gradient.copy()
    g[known.support] = np.inf
    many = max(4 * constraint.k, 200, int(0.8 * share * f.data.shape[0]))
    few = constraint.units_of(constraint.top(g, min(many, constraint.units), keep=known.support))
    return np.union1d(few, np.union1d(constraint.units_of(known.support), constraint.include))


class WorkingColumns:
    """The working set's columns in single precision, rows contiguous; grows in place while there is room."""

    def __init__(self, f: GLM, constraint: AtMost, dtype: DTypeLike = np.float32) -> None:
        self.f, self.constraint, self.dtype = f, constraint, np.dtype(dtype)
        self.units = self.cols = np.empty(0, np.int64)
        self.sizes = np.empty(0, np.int64)
        self.room = np.empty((f.data.shape[0], 0), self.dtype)
        self.L = 0.0
        self.mean = np.empty(0)
        ridge = np.broadcast_to(f.ridge, f.dim)
        self.mu = float(ridge.min())
        self.even = np.sqrt(self.mu / ridge)  # columns times this have one ridge

    def with_budget(self, constraint: AtMost, known: Point) -> "WorkingColumns":
        """The same set for another budget, with a solution's units and enough others."""
        self.constraint = constraint
        wanted = np.union1d(constraint.units_of(known.support), constraint.include)
        if len(self.units) < 2 * constraint.k:
            wanted = constraint.units_of(constraint.top(known.gradient, 2 * constraint.k, keep=known.support))
        return self.changed(np.ones(len(self.units), bool), np.setdiff1d(wanted, self.units))

    def changed(self, keep: Flags, new: Columns) -> "WorkingColumns":
        """Without the units that are not kept (if they are many), with the new ones; changed in place.

        Numbers beyond single precision need another block, in double.
        """
        self._change(keep, new)
        if self.dtype == np.float64 or self._held(len(new)):
            return self
        return WorkingColumns(self.f, self.constraint, np.float64).changed(np.empty(0, bool), self.units)

    def _held(self, new: int) -> bool:
        """Whether single precision can hold the numbers of the units that came last."""
        cols = int(self.sizes[len(self.sizes) - new :].sum())
        fresh = self.room[:, len(self.cols) - cols : len(self.cols)]
        most = np.abs(fresh).max(axis=0, initial=0.0)
        return bool(
            np.isfinite(self.mean).all() and ((most > MIN_SINGLE_NUMBER) & (most < 1 / MIN_SINGLE_NUMBER)).all()
        )

    def _change(self, keep: Flags, new: Columns) -> None:
        cols, ends = self.constraint.ordered(new)
        columns = np.repeat(keep, self.sizes)
        kept = np.arange(len(self.cols)) if 5 * columns.sum() > 4 * len(columns) else np.flatnonzero(columns)
        width = len(kept) + len(cols)
        if len(kept) < len(self.cols) or width > self.room.shape[1]:
            if len(kept) < len(self.cols):
                self.units, self.sizes = self.units[keep], self.sizes[keep]
            old, self.room = self.room, np.empty((self.room.shape[0], int(BLOCK_GROWTH * width) + 1), self.dtype)
            _move(old[:, : len(self.cols)], kept, self.room[:, : len(kept)])
            self.cols = self.cols[kept]
            self.mean = self.mean[kept]
        fresh = self.room[:, len(kept) : width]
        self.f.data.local.design.narrow(cols, fresh)
        if np.ndim(self.f.ridge):
            fresh *= self.even[cols].astype(self.dtype)
        mean = np.asarray(self.f.data.local.rows.c.astype(self.dtype) @ fresh, dtype=np.float64)
        self.units, self.cols = np.concatenate([self.units, new]), np.concatenate([self.cols, cols])
        self.sizes = np.concatenate([self.sizes, np.diff(ends)])
        self.mean = np.concatenate([self.mean, mean])

    def relax(self, x: Vector, target: float, tolerance: float, effort: int) -> Bound:
        f = self.f
        state = np.where(np.isin(self.units, self.constraint.include), IN, FREE)
        ends = np.concatenate([[0], np.cumsum(self.sizes)])
        units = Units(ends, state, self.constraint.k - len(self.constraint.include))
        A = self.room[:, : len(self.cols)]
        mean = self.mean if f.loss.quadratic and f.fit_intercept else None
        L = self.L or first_curvature(A, f.data.local.rows, f.loss)
        part = GLMPart(A, f.data.local.rows, f.loss, self.mu, f.fit_intercept, f.height, L, mean)
        bound = part.relax(units, x[self.cols] / self.even[self.cols], target, effort, tolerance)
        self.L = bound.part.L
        return replace(bound, x=bound.x * self.even[self.cols])

    def review(self, norms: Vector, x: Vector) -> tuple[Flags, Columns]:
        """Which units to keep, and which others to add, by their norms in z."""
        kth = np.sort(norms[self.units])[-min(len(self.units), self.constraint.k)]
        used = np.isin(self.units, np.union1d(self.constraint.units_of(np.flatnonzero(x)), self.constraint.include))
        others = norms.copy()
        others[self.units] = 0.0
        others[self.constraint.exclude] = 0.0
        new = np.flatnonzero(others > ENTER_SHARE * kth)
        new = np.sort(new[np.argsort(-others[new])[: SET_GROWTH * len(self.units)]])
        return used | (norms[self.units] >= LEAVE_SHARE * kth), new


def _move(block: NDArray[np.floating], columns: Columns, out: NDArray[np.floating]) -> None:
    """Columns of a block into another; single precision by the kernel, which is several times faster."""
    if block.dtype == np.float32:
        _core.Matrix(block).narrow(columns, out)
    else:
        out[:] = block[:, columns]
