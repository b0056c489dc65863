"""A path in a checkpoint: the best point of every size so far, and which supports were improved from.

That is all that the next stage of a walk depends on, so that a walk which is taken up again ends where it would have.
Where a kernel finds all sizes in one call there is nothing between the beginning and the end.
"""

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from ..engines import late
from ..solvers.path_search import Walk
from ..solving.checkpoint import Checkpoint, Problem, concatenate, pack_points, unpack_points
from ..solving.result import Result

FINISHED = "converged"
#: What a solver's own result says beyond its point.
SAID = (
    "value", "status", "reason", "n_iter", "seconds", "optimality", "solver", "k", "certificate", "lower", "next_best",
)  # fmt: skip


class KeptWalk:
    """A walk that is written down after each stage, and ``told`` (what a solver said of each size) with it.

    ``end`` is how it had ended (status, reason) where the file is of one that had, else None; ``begun``: the file has
    sizes. What is written is as it was after a whole stage.
    """

    def __init__(self, walk: Walk, told: dict[int, Result], path: Any, problem: Callable[[], Problem]) -> None:
        self.walk, self.told = walk, told
        self.checkpoint = Checkpoint(path, problem)
        self.end: tuple[str, str] | None = None
        if self.checkpoint.contents is not None:
            with self.checkpoint.reading():
                self._read(self.checkpoint.contents, self.checkpoint.arrays)
            self.checkpoint.check_values(walk.f, [walk.best[k] for k in sorted(walk.best)])
        self.begun = bool(walk.best)
        self.stage = dict(walk.best), set(walk.seen), dict(told)
        walk.kept = self._after_stage

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.checkpoint.close()

    def _read(self, held: dict[str, Any], arrays: dict[str, Any]) -> None:
        f, constraint, many = self.walk.f, self.walk.constraint, len(held["sizes"])
        points = unpack_points(f, held["points"], arrays)
        self.walk.best.update(zip(held["sizes"], points[:many], strict=True))
        pieces = np.split(arrays["seen"], np.cumsum(arrays["seen_lengths"]))[:-1]
        self.walk.seen.update((size, piece.tobytes()) for size, piece in zip(held["seen"], pieces, strict=True))
        for said, point in zip(held["said"], points[many:], strict=True):
            own = constraint.with_budget(said["k"])
            self.told[said["k"]] = Result(*f.present(point), trace=(), point=point, constraint=own, **said)
        if held["end"] is not None and held["end"][0] == FINISHED:
            self.end = held["end"][0], held["end"][1]

    def _after_stage(self) -> None:
        if late():  # a solver may have been stopped in it
            return
        self.stage = dict(self.walk.best), set(self.walk.seen), dict(self.told)
        if self.checkpoint.due:
            self._write(None)

    def ended(self, status: str, reason: str) -> None:
        """Write how the walk ended, or where it was after its last whole stage."""
        if status == FINISHED:
            self.stage = self.walk.best, self.walk.seen, self.told
        self._write((status, reason))

    def _write(self, end: tuple[str, str] | None) -> None:
        best, met, told = self.stage
        sizes, seen = sorted(best), sorted(met)
        said = [{name: getattr(result, name) for name in SAID} for result in told.values()]
        words, arrays = pack_points([best[k] for k in sizes] + [result.point for result in told.values()])
        pieces = [np.frombuffer(support, np.int64) for _, support in seen]
        arrays["seen"], arrays["seen_lengths"] = (
            concatenate(pieces, np.int64),
            np.array([len(s) for s in pieces], np.int64),
        )
        held = {"sizes": sizes, "points": words, "seen": [size for size, _ in seen], "said": said, "end": end}
        self.checkpoint.write(held, arrays)
