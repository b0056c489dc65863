"""Record and replay of objective evaluations: what a solver evaluated, in order, and the results.

A solver is a function of its start and of these results. After a kill it is run again from its start, and while its
evaluations match the log they are replayed at next to no cost. Whatever the solver keeps for itself (a step size, a
support it has seen, the state of its random numbers) is then as it was, and the run ends where it would have ended.

| evaluation | recorded |
|---|---|
| ``refit``, ``at`` | the point, O(k) |
| its gradient | one vector over the columns, up to ``MAX_GRADIENT_BYTES`` in all; then a pass over the data again |
| any other (Gram columns, minibatches, dual sweeps) | no |
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self, cast

import numpy as np

from .._utils.types import Columns, Intercept, Keywords, Vector
from ..objectives.base import Objective
from ..objectives.point import Point
from .checkpoint import Checkpoint, pack_points, restore_point, unpack_points
from .loop import Loop
from .result import Record

MAX_GRADIENT_BYTES = 1 << 27  # bytes of gradients that are kept
REPLAY_TOLERANCE = 1e-9  # relative difference up to which a coefficient matches the recorded one: rounding error
FINISHED = ("converged", "no_minimiser")


class EvaluationLog:
    """The evaluations of f, in a checkpoint; a solver gets ``recording_objective()`` in place of f."""

    def __init__(self, f: Objective, checkpoint: Checkpoint) -> None:
        self.f, self.checkpoint = f, checkpoint
        self.points: list[Point] = []
        self.coefficients: list[Vector] = []  # the arguments of ``at``; a refit has none
        self.gradients: dict[int, Vector] = {}
        self.n_replayed = 0  # evaluations of an earlier run that were replayed
        contents, arrays = checkpoint.contents, checkpoint.arrays
        self.finished_run: Keywords | None = None
        if contents is not None:
            with checkpoint.reading():
                self.finished_run = contents["end"]
                self.points = unpack_points(f, contents["points"], arrays)
                self.coefficients = np.split(arrays["given"], np.cumsum(arrays["lengths"]))[:-1]
                self.gradients = dict(zip(arrays["at"].tolist(), arrays["gradients"], strict=True))
            checkpoint.check_values(f, sorted(self.points, key=lambda point: point.value)[:1])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.checkpoint.close()

    def recording_objective(self) -> Objective:
        """The objective, recording where its points are no more than their numbers."""
        return cast(Objective, RecordingObjective(self)) if self.f.smooth and self.f.serializable else self.f

    def replay_or_compute(self, support: Columns, coefficients: Vector, compute: Callable[[], Point]) -> Point:
        """The recorded point, or else a computed one, which is recorded."""
        i = self.n_replayed
        if i < len(self.points):
            if self._matches(i, support, coefficients):
                self.n_replayed += 1
                return self._replay(i)
            del self.points[i:], self.coefficients[i:]  # the run differs from the recorded one: from here on its own
            self.gradients = {j: g for j, g in self.gradients.items() if j < i}
        point: Point = compute()
        if not np.isfinite(point.value):
            return point
        self.points.append(replace(point.detached()))  # without its gradient
        self.coefficients.append(coefficients)
        self.n_replayed += 1
        if "gradient" in point.__dict__:
            self._cache_gradient(i, point.gradient)
        if self.checkpoint.due:
            self.write()
        return point._with(slope=lambda: self._cache_gradient(i, point.gradient).copy())

    def _matches(self, i: int, support: Columns, coefficients: Vector) -> bool:
        mine, theirs = self.points[i], self.coefficients[i]
        if not np.array_equal(mine.support, support) or len(coefficients) != len(theirs):
            return False
        return bool(
            np.allclose(
                coefficients, theirs, rtol=REPLAY_TOLERANCE, atol=REPLAY_TOLERANCE * np.abs(theirs).max(initial=0.0)
            )
        )

    def _replay(self, i: int) -> Point:
        known, point = self.gradients.get(i), self.points[i]
        names = ("dim", "support", "coef", "free", "value", "refitted", "note", "minimiser", "support_bound")
        kept = {name: getattr(point, name) for name in names}
        return restore_point(self.f, gradient=known, **kept)

    def _cache_gradient(self, i: int, gradient: Vector) -> Vector:
        if (len(self.gradients) + 1) * gradient.nbytes <= MAX_GRADIENT_BYTES:
            self.gradients.setdefault(i, gradient)
        return gradient

    def write(self, end: Keywords | None = None, best: Point | None = None) -> None:
        """All of it; with the ``end`` of the run and its ``best`` point, only these."""
        if best is not None:
            self.points, self.coefficients, self.gradients = [best], [np.empty(0)], {}
        words, arrays = pack_points(self.points)
        arrays["given"] = np.concatenate([np.empty(0), *self.coefficients])
        arrays["lengths"] = np.array([len(coefficients) for coefficients in self.coefficients], np.int64)
        arrays["at"] = np.array(list(self.gradients), np.int64)
        arrays["gradients"] = np.array(list(self.gradients.values()), np.float64).reshape(
            len(self.gradients), self.f.dim
        )
        self.checkpoint.write({"points": words, "end": end}, arrays)

    def record_end(self, loop: Loop) -> None:
        """Record how a run ended: finished, or stopped by a limit after which another run may continue."""
        if loop.status not in FINISHED or not self.f.serializable:
            self.write()
            return
        lines = [list(vars(record).values()) for record in loop.trace]
        end = {"status": loop.status, "reason": loop.reason, "optimality": loop.optimality, "lower": loop.lower}
        self.write({**end, "trace": lines, "tol": loop.tol}, loop.best)

    def restore(self, loop: Loop) -> bool:
        """Put a loop where a finished run has left it; False where there is none, or another ``tol`` has ended it."""
        if self.finished_run is None:
            return False
        end = dict(self.finished_run)
        lines, tol = end.pop("trace"), end.pop("tol")
        if tol is not None and tol != loop.tol:
            self.points, self.coefficients, self.gradients = [], [], {}
            return False
        loop.__dict__.update(end, best=self.points[0], trace=[Record(*line) for line in lines])
        return True


class RecordingObjective:
    """An objective whose evaluations are replayed from the log, or recorded in it."""

    def __init__(self, log: EvaluationLog) -> None:
        self._log, self._f = log, log.f

    def __getattr__(self, name: str) -> Any:
        return getattr(self._f, name)

    def refit(self, support: Columns, start: Point | None = None) -> Point:
        return self._log.replay_or_compute(support, np.empty(0), lambda: self._f.refit(support, start))

    def at(self, support: Columns, coef: Vector, intercept: Intercept | None = None) -> Point:
        coefficients = np.concatenate([np.ravel(coef), np.ravel(np.nan if intercept is None else intercept)])
        return self._log.replay_or_compute(
            support, np.nan_to_num(coefficients, nan=0.0), lambda: self._f.at(support, coef, intercept)
        )
