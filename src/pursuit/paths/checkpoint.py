"""A path in a checkpoint: the best point of every size so far, and which supports were improved from.

That is all that the next stage of a walk depends on, so that a walk which is taken up again ends where it would have.
Where a kernel finds all sizes in one call there is nothing between the beginning and the end.
"""

from collections.abc import Callable
from typing import Self

import numpy as np

from .._utils.types import FilePath, Keywords
from ..engines import late
from ..solvers.path_search import PathSearch
from ..solving.checkpoint import Checkpoint, Problem, concatenate, pack_points, unpack_points
from ..solving.result import Result

FINISHED = "converged"
#: What a solver's own result says beyond its point.
RESULT_FIELDS = (
    "value",
    "status",
    "reason",
    "n_iter",
    "seconds",
    "optimality",
    "solver",
    "k",
    "certificate",
    "lower",
    "next_best",
)


class PathCheckpoint:
    """A walk that is written down after each stage, and ``solver_results`` (what a solver fields of each size) with it.

    ``end`` is how it had ended (status, reason) where the file is of one that had, else None; ``begun``: the file has
    sizes. What is written is as it was after a whole stage.
    """

    def __init__(
        self, walk: PathSearch, solver_results: dict[int, Result], path: FilePath, problem: Callable[[], Problem]
    ) -> None:
        self.walk, self.solver_results = walk, solver_results
        self.checkpoint = Checkpoint(path, problem)
        self.end: tuple[str, str] | None = None
        if self.checkpoint.contents is not None:
            with self.checkpoint.reading():
                self._read(self.checkpoint.contents, self.checkpoint.arrays)
            self.checkpoint.check_values(walk.f, [walk.best[k] for k in sorted(walk.best)])
        self.begun = bool(walk.best)
        self.stage = dict(walk.best), set(walk.seen), dict(solver_results)
        walk.on_stage = self._after_stage

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.checkpoint.close()

    def _read(self, contents: Keywords, arrays: Keywords) -> None:
        f, constraint, many = self.walk.f, self.walk.constraint, len(contents["sizes"])
        points = unpack_points(f, contents["points"], arrays)
        self.walk.best.update(zip(contents["sizes"], points[:many], strict=True))
        pieces = np.split(arrays["seen"], np.cumsum(arrays["seen_lengths"]))[:-1]
        self.walk.seen.update((size, piece.tobytes()) for size, piece in zip(contents["seen"], pieces, strict=True))
        for fields, point in zip(contents["said"], points[many:], strict=True):
            own = constraint.with_budget(fields["k"])
            self.solver_results[fields["k"]] = Result(
                *f.present(point), trace=(), point=point, constraint=own, **fields
            )
        if contents["end"] is not None and contents["end"][0] == FINISHED:
            self.end = contents["end"][0], contents["end"][1]

    def _after_stage(self) -> None:
        if late():  # a solver may have been stopped in it
            return
        self.stage = dict(self.walk.best), set(self.walk.seen), dict(self.solver_results)
        if self.checkpoint.due:
            self._write(None)

    def ended(self, status: str, reason: str) -> None:
        """Write how the walk ended, or where it was after its last whole stage."""
        if status == FINISHED:
            self.stage = self.walk.best, self.walk.seen, self.solver_results
        self._write((status, reason))

    def _write(self, end: tuple[str, str] | None) -> None:
        best, met, solver_results = self.stage
        sizes, seen = sorted(best), sorted(met)
        fields = [{name: getattr(result, name) for name in RESULT_FIELDS} for result in solver_results.values()]
        words, arrays = pack_points([best[k] for k in sizes] + [result.point for result in solver_results.values()])
        pieces = [np.frombuffer(support, np.int64) for _, support in seen]
        arrays["seen"], arrays["seen_lengths"] = (
            concatenate(pieces, np.int64),
            np.array([len(s) for s in pieces], np.int64),
        )
        contents = {"sizes": sizes, "points": words, "seen": [size for size, _ in seen], "said": fields, "end": end}
        self.checkpoint.write(contents, arrays)
