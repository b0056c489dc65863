"""A path in a checkpoint: the best point of every size so far, and which supports were improved from.

The next stage of a search depends on nothing else, so that a search that is resumed ends where it would have.
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
    """A search that is stored after each stage, and ``solver_results`` (fields of a solver's results, by size).

    ``end`` is how it had ended (status, reason) where the file is of one that had, else None; ``begun``: the file has
    sizes. What is written is as it was after a whole stage.
    """

    def __init__(
        self, search: PathSearch, solver_results: dict[int, Result], path: FilePath, problem: Callable[[], Problem]
    ) -> None:
        self.search, self.solver_results = search, solver_results
        self.checkpoint = Checkpoint(path, problem)
        self.end: tuple[str, str] | None = None
        if self.checkpoint.contents is not None:
            with self.checkpoint.reading():
                self._read(self.checkpoint.contents, self.checkpoint.arrays)
            self.checkpoint.check_values(search.f, [search.best[k] for k in sorted(search.best)])
        self.begun = bool(search.best)
        self.stage = dict(search.best), set(search.seen), dict(solver_results)
        search.on_stage = self._after_stage

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.checkpoint.close()

    def _read(self, contents: Keywords, arrays: Keywords) -> None:
        f, constraint, many = self.search.f, self.search.constraint, len(contents["sizes"])
        points = unpack_points(f, contents["points"], arrays)
        self.search.best.update(zip(contents["sizes"], points[:many], strict=True))
        pieces = np.split(arrays["seen"], np.cumsum(arrays["seen_lengths"]))[:-1]
        self.search.seen.update((size, piece.tobytes()) for size, piece in zip(contents["seen"], pieces, strict=True))
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
        self.stage = dict(self.search.best), set(self.search.seen), dict(self.solver_results)
        if self.checkpoint.due:
            self._write(None)

    def ended(self, status: str, reason: str) -> None:
        """Write how the search ended, or where it was after its last whole stage."""
        if status == FINISHED:
            self.stage = self.search.best, self.search.seen, self.solver_results
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
