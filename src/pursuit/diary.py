"""A run that can be told again: what a solver asked of its objective, in order, and what the answers were.

A solver is a function of its start and of these answers. After a kill it is run again from its start, and as long as it
asks what is in the diary it is answered from there, at next to no cost: whatever it keeps for itself (a step size, a
support it has seen, the state of its random numbers) is then as it was, and the run ends where it would have ended.

| asked | kept |
|---|---|
| ``refit``, ``at`` | the point, O(k) |
| its gradient | one vector over the columns, up to ``ROOM`` bytes in all; beyond that a pass over the data again |
| anything else (Gram columns, minibatches, dual sweeps) | no |
"""

from dataclasses import replace
from typing import Any, Self

import numpy as np

from ._types import Columns, Vector
from .checkpoints import Checkpoint, packed, restored, unpacked
from .loop import Loop
from .objectives.base import Objective
from .objectives.point import Point
from .results import Record

ROOM = 1 << 27  # bytes of gradients that are kept
SAME = 1e-9  # share by which a coefficient that is asked for may differ from the one in the diary: rounding
FINISHED = ("converged", "no_minimiser")


class Diary:
    """What was asked of f and answered, kept in a checkpoint; hand ``asked`` to a solver in place of f."""

    def __init__(self, f: Objective, checkpoint: Checkpoint) -> None:
        self.f, self.checkpoint = f, checkpoint
        self.points: list[Point] = []
        self.given: list[Vector] = []  # the coefficients that ``at`` was asked for; a refit has none
        self.gradients: dict[int, Vector] = {}
        self.told = 0  # how many answers of an earlier run have been given again
        told, arrays = checkpoint.told, checkpoint.arrays
        self.last: dict[str, Any] | None = None
        if told is not None:
            with checkpoint.reading():
                self.last = told["end"]
                self.points = unpacked(f, told["points"], arrays)
                self.given = np.split(arrays["given"], np.cumsum(arrays["lengths"]))[:-1]
                self.gradients = dict(zip(arrays["at"].tolist(), arrays["gradients"], strict=True))
            checkpoint.check_values(f, sorted(self.points, key=lambda point: point.value)[:1])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.checkpoint.close()

    def asked(self) -> Any:
        """The objective, with a memory where its points are no more than their numbers."""
        return _Remembers(self) if self.f.smooth and self.f.plain else self.f

    def answer(self, support: Columns, given: Vector, compute: Any) -> Point:
        """From the diary, or else computed and written down."""
        i = self.told
        if i < len(self.points):
            if self._same(i, support, given):
                self.told += 1
                return self._again(i)
            del self.points[i:], self.given[i:]  # another run than it was: from here on its own
            self.gradients = {j: g for j, g in self.gradients.items() if j < i}
        point: Point = compute()
        if not np.isfinite(point.value):
            return point
        self.points.append(replace(point.detached()))  # without its gradient
        self.given.append(given)
        self.told += 1
        if "gradient" in point.__dict__:
            self._keep(i, point.gradient)
        if self.checkpoint.due:
            self.write()
        return point._with(slope=lambda: self._keep(i, point.gradient).copy())

    def _same(self, i: int, support: Columns, given: Vector) -> bool:
        mine, theirs = self.points[i], self.given[i]
        if not np.array_equal(mine.support, support) or len(given) != len(theirs):
            return False
        return bool(np.allclose(given, theirs, rtol=SAME, atol=SAME * np.abs(theirs).max(initial=0.0)))

    def _again(self, i: int) -> Point:
        known, point = self.gradients.get(i), self.points[i]
        names = ("dim", "support", "coef", "free", "value", "refitted", "note", "minimiser", "least")
        kept = {name: getattr(point, name) for name in names}
        return restored(self.f, gradient=known, **kept)

    def _keep(self, i: int, gradient: Vector) -> Vector:
        if (len(self.gradients) + 1) * gradient.nbytes <= ROOM:
            self.gradients.setdefault(i, gradient)
        return gradient

    def write(self, end: dict[str, Any] | None = None, best: Point | None = None) -> None:
        """All of it; with the ``end`` of the run and its ``best`` point, only these."""
        if best is not None:
            self.points, self.given, self.gradients = [best], [np.empty(0)], {}
        words, arrays = packed(self.points)
        arrays["given"] = np.concatenate([np.empty(0), *self.given])
        arrays["lengths"] = np.array([len(given) for given in self.given], np.int64)
        arrays["at"] = np.array(list(self.gradients), np.int64)
        arrays["gradients"] = np.array(list(self.gradients.values()), np.float64).reshape(
            len(self.gradients), self.f.dim
        )
        self.checkpoint.write({"points": words, "end": end}, arrays)

    def ended(self, loop: Loop) -> None:
        """Write how a run ended: for good, or by a limit after which another run may go on."""
        if loop.status not in FINISHED or not self.f.plain:
            self.write()
            return
        lines = [list(vars(record).values()) for record in loop.trace]
        told = {"status": loop.status, "reason": loop.reason, "optimality": loop.optimality, "lower": loop.lower}
        self.write({**told, "trace": lines, "tol": loop.tol}, loop.best)

    def restore(self, loop: Loop) -> bool:
        """Put a loop where a finished run has left it; False where there is none, or another ``tol`` has ended it."""
        if self.last is None:
            return False
        told = dict(self.last)
        lines, tol = told.pop("trace"), told.pop("tol")
        if tol is not None and tol != loop.tol:
            self.points, self.given, self.gradients = [], [], {}
            return False
        loop.__dict__.update(told, best=self.points[0], trace=[Record(*line) for line in lines])
        return True


class _Remembers:
    """An objective that asks the diary first."""

    def __init__(self, diary: Diary) -> None:
        self._diary, self._f = diary, diary.f

    def __getattr__(self, name: str) -> Any:
        return getattr(self._f, name)

    def refit(self, support: Columns, start: Point | None = None) -> Point:
        return self._diary.answer(support, np.empty(0), lambda: self._f.refit(support, start))

    def at(self, support: Columns, coef: Vector, intercept: Any = None) -> Point:
        given = np.concatenate([np.ravel(coef), np.ravel(np.nan if intercept is None else intercept)])
        return self._diary.answer(support, np.nan_to_num(given, nan=0.0), lambda: self._f.at(support, coef, intercept))
