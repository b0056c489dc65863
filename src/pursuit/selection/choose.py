"""From candidates to one model by what was held out: the least loss (best score), or the smallest size near it.

Sizes are compared by their losses, for projections smoothed over sizes by 1/4, 1/2, 1/4. With a rule of t standard
errors the smallest size is taken whose loss is within t standard errors of the least; the error is that of the paired
difference over folds. Where a single candidate, its size taken by the same rule, loses less than the projection by more
than GUARD standard errors, it is taken instead: a projection can fail where columns are nearly dependent.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .._types import Columns, Matrix, Vector
from ..objectives.point import Point
from .combine import dense, projected, smoothed, weights
from .grid import Grid
from .models import Models, candidates
from .problem import Problem
from .splits import Fold
from .validation import Told, Validated, validate

#: From a fold's number and its models to a score each, the higher the better.
Score = Callable[[int, Models], Vector]

GUARD = 2.0


@dataclass(frozen=True)
class Chosen:
    """The model that predicts (one of ``models``), and how it was chosen.

    ``table`` has one entry per candidate, ``sizes`` one per size; ``l2``, ``gamma`` and ``alone`` (its size) are of the
    best candidate; ``points`` are those of all rows at this ridge, and ``scores`` what was held out of them, by size.
    ``least`` is the size of the least loss, ``excess`` what the chosen size loses beyond it, as a share (None: scores),
    ``single`` whether one candidate predicts.
    """

    models: Models
    place: int
    k: int
    k_1se: int | None
    least: int
    excess: float | None
    single: bool
    l2: float
    gamma: float
    alone: int
    table: dict[str, Any]
    sizes: dict[str, Any]
    points: dict[int, Point]
    scores: dict[int, float]
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Trial:
    """Candidates on all rows and on folds; ``goal`` is what is to be least, and ``each`` the same by fold."""

    problem: Problem
    grid: Grid
    whole: Models
    seen: Validated
    score: Score | None

    def table(self, seen: Validated, **columns: Columns | Vector) -> tuple[dict[str, Any], Vector, Matrix]:
        """Columns of a table of what was held out, the goal and the goal of every fold."""
        out: dict[str, Any] = {**columns, "mean_loss": seen.mean, "std_error": paired(seen.each)}
        goal, each = seen.mean, seen.each
        if self.score is not None:
            scores = np.column_stack([self.score(v, models) for v, models in enumerate(seen.models)])
            out |= {"mean_score": scores.mean(axis=1), "std_error_score": paired(scores)}
            out |= {f"split{v}_score": scores[:, v] for v in range(scores.shape[1])}
            goal, each = -scores.mean(axis=1), -scores
        out |= {f"split{v}_loss": seen.each[:, v] for v in range(seen.each.shape[1])}
        return out, goal, each


@dataclass(frozen=True)
class BySize:
    """One model per size: their table, what is to be least, and the same by fold."""

    sizes: tuple[int, ...]
    table: dict[str, Any]
    goal: Vector
    each: Matrix

    @property
    def best(self) -> int:
        return int(np.argmin(self.goal))

    def within(self, errors: float) -> int:
        """The first place within so many standard errors of the least."""
        apart = paired(self.each - self.each[self.best])
        return int(np.argmax(self.goal <= self.goal[self.best] + errors * apart))


def by_validation(
    problem: Problem,
    f: Any,
    grid: Grid,
    folds: Sequence[Fold],
    errors: float,
    combine: str,
    score: Score | None,
    told: Told | None,
) -> Chosen:
    """Choose by what was held out; ``f`` is the objective of all rows with the refit's ridge.

    Where a single candidate of the largest size is taken, and the sizes are the default ones, again with sizes up to
    twice as large.
    """
    while True:
        whole = candidates(problem, f, grid, problem.n)
        trial = Trial(problem, grid, whole, validate(problem, grid, folds, told, whole), score)
        chosen = _take(trial, errors, combine)
        at_end = chosen.single and chosen.k == grid.ks[-1] < grid.end
        if not (grid.open and at_end):
            break
        grid = grid.further()
    chosen.notes.extend(grid.notes)
    if at_end or (grid.more and combine != "average" and chosen.k == grid.end):
        chosen.notes.append(f"k={chosen.k} is the largest of ks, and larger ones may predict better")
    if chosen.k > max(chosen.points) and combine == "project":  # a projection may be larger than every candidate
        chosen = replace(chosen, points=problem.points(problem.at(f, chosen.l2), chosen.k))
    return chosen


def _take(trial: Trial, errors: float, combine: str) -> Chosen:
    grid, whole, problem = trial.grid, trial.whole, trial.problem
    k, l2, gamma = grid.columns
    table, goal, each = trial.table(trial.seen, k=k, l2=l2, gamma=gamma)
    table["weight"] = weights(problem.loss, trial.seen.mean, problem.n, whole.f.width)
    of_size = [int(np.flatnonzero(k == size)[np.argmin(goal[k == size])]) for size in grid.ks]
    by_size = BySize(grid.ks, {name: values[of_size] for name, values in table.items()}, goal[of_size], each[of_size])
    at = by_size.within(errors)
    best, single, notes = of_size[at], combine == "none", list[str]()
    models, place, size = whole, best, grid.ks[at]
    if combine == "average":
        models, place = dense(problem, whole, trial.seen), 0
        size = len(models.cols)
    elif combine == "project":
        found = projected(problem, grid, whole, trial.seen)
        columns, aim, apart = trial.table(found.held, k=np.array(grid.onto), slope=found.slopes)
        columns["smoothed"] = smoothed(aim, grid.onto)
        onto = BySize(grid.onto, columns, columns["smoothed"], apart)
        K = onto.within(errors)
        lower = (aim - goal[best])[K]
        single = bool(lower > GUARD * paired((apart[K] - each[best])[None])[0])
        if single:
            notes.append(f"the projection of the average onto k={grid.onto[K]} is worse on held-out rows, so the best single model predicts")
        else:
            best, by_size, at = int(np.argmin(goal)), onto, K
            models, place, size = found.models, K, grid.onto[K]
    same = (l2 == l2[best]) & (gamma == gamma[best])
    scores = dict(zip(k[same].tolist(), (-goal[same]).tolist(), strict=True))
    least = by_size.goal[by_size.best]
    return Chosen(
        models, place, size, by_size.sizes[by_size.within(1.0)], by_size.sizes[by_size.best],
        None if trial.score is not None or least <= 0 else float(by_size.goal[at] / least - 1), single,
        float(l2[best]), float(gamma[best]), int(k[best]), table, by_size.table, whole.points[float(l2[best])], scores, notes,
    )  # fmt: skip


def paired(each: Matrix) -> Vector:
    """Standard errors of means over folds."""
    folds = each.shape[1]
    return np.asarray(each.std(axis=1, ddof=1) / np.sqrt(folds)) if folds > 1 else np.zeros(len(each))
