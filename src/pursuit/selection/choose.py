"""From candidates to one model by what was held out: the least loss (best score), or the smallest size near it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .._types import Columns, Matrix, Vector
from ..engines import TimeUpError, late, without_deadline
from ..objectives.point import Point
from .combine import dense, dense_of_folds, projected, smoothed, weights
from .grid import Grid
from .models import Models, candidates
from .problem import Problem
from .splits import Fold
from .validation import Told, Validated, validate

#: From a fold's number and its models to a score each, the higher the better.
Score = Callable[[int, Models], Vector]
SAME = 1e-9  # share of a loss that is rounding


@dataclass(frozen=True)
class Chosen:
    """The model that predicts (one of ``models``), and how it was chosen.

    ``table`` has one entry per candidate, ``sizes`` one per size; ``l2``, ``gamma`` and ``alone`` (its size) are of the
    best candidate; ``points`` are those of all rows at this ridge, and ``scores`` what was held out of them, by size.
    ``combine`` is what the model is: "none" where the best candidate took the place of an average that predicts worse;
    ``projected`` is the size that the projection chose for itself. ``ended_early`` is a sentence where time was up, or
    Ctrl-C was pressed, before all folds were fitted.
    """

    models: Models
    place: int
    k: int
    k_1se: int | None
    l2: float
    gamma: float
    alone: int
    table: dict[str, Any]
    sizes: dict[str, Any]
    points: dict[int, Point]
    scores: dict[int, float]
    combine: str = "none"
    projected: int | None = None
    notes: list[str] = field(default_factory=list)
    ended_early: str = ""


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
            scores = np.column_stack(
                [self.score(fold.number, models) for fold, models in zip(seen.folds, seen.models, strict=True)]
            )
            out |= {"mean_score": scores.mean(axis=1), "std_error_score": paired(scores)}
            out |= {f"split{fold.number}_score": scores[:, v] for v, fold in enumerate(seen.folds)}
            goal, each = -scores.mean(axis=1), -scores
        out |= {f"split{fold.number}_loss": seen.each[:, v] for v, fold in enumerate(seen.folds)}
        return out, goal, each

    def beaten(self, c: int, goal: float, each: Vector, model: Models, aim: float, apart: Vector) -> str:
        """Why candidate c should predict instead of an average; nothing where it should not.

        It should where its held-out goal is lower by more than a standard error of the difference, or where its
        held-out loss is lower than the loss of the average on the rows that made it: then folds, which average less,
        have not seen what the average of all rows does.
        """
        what, side, sign = ("loss", "above", 1) if self.score is None else ("score", "below", -1)
        if aim - goal > paired((apart - each)[None])[0] + SAME * abs(goal):
            return (
                f"whose held-out {what} of {sign * aim:.3g} is more than one standard error of the difference {side} "
                f"the candidate's {sign * goal:.3g}"
            )
        held, own = self.seen.mean[c], float(model.losses(self.problem.data)[0])
        if own > held + paired(self.seen.each[c][None])[0] + SAME * abs(held):
            return (
                f"whose loss of {own:.3g} on the rows it was made from is more than one standard error above the "
                f"candidate's held-out {held:.3g}"
            )
        return ""


def by_validation(
    problem: Problem,
    f: Any,
    grid: Grid,
    folds: Sequence[Fold],
    rule: str,
    combine: str,
    score: Score | None,
    told: Told | None,
) -> Chosen:
    """Choose by what was held out; ``f`` is the objective of all rows with the refit's ridge.

    Where the largest size is best, of the candidates or of the projection, and nobody asked for these sizes, again with
    sizes up to twice as large. A choice that was made from all folds is not replaced by one from some of them.
    """
    trial: Trial | None = None
    ended_early = ""
    while True:
        if trial is None or trial.grid.ks != grid.ks:
            try:
                whole = candidates(problem, f, grid, problem.n)
                seen = validate(problem, grid, folds, told, whole)
            except (TimeUpError, KeyboardInterrupt):
                if trial is None:
                    raise
                seen = replace(trial.seen, folds=())
            ended_early = _ended_early(trial, seen, len(folds))
            if trial is not None and ended_early:
                break
            trial = Trial(problem, grid, whole, seen, score)
        trial = replace(trial, grid=grid)
        with without_deadline():
            chosen = _take(trial, rule, combine)
        ks = chosen.alone == grid.ks[-1] < grid.end
        onto = chosen.projected == grid.onto[-1] < grid.end
        if ended_early or not (grid.open and (ks or onto)):
            break
        grid = grid.further(ks, onto)
    chosen.notes.extend(grid.notes)
    at_end = grid.more and chosen.combine != "average" and chosen.k == grid.end
    if at_end or (onto and chosen.combine == "project") or (ks and chosen.combine == "none"):
        chosen.notes.append(f"k={chosen.k} is the largest of ks, and larger ones may predict better")
    return replace(chosen, ended_early=ended_early)


def _ended_early(before: Trial | None, seen: Validated, folds: int) -> str:
    """Why there are fewer folds or sizes than there should be, or nothing."""
    if len(seen.folds) == folds:
        return ""
    why = "the time limit was reached" if late() else "interrupted by the user"
    if before is not None:
        return f"{why} before sizes above {before.grid.ks[-1]} were tried on every fold"
    return f"{why} after {len(seen.folds)} of {folds} folds, and the choice is from these"


def _take(trial: Trial, rule: str, combine: str) -> Chosen:
    grid, whole, problem = trial.grid, trial.whole, trial.problem
    k, l2, gamma = grid.columns
    table, goal, each = trial.table(trial.seen, k=k, l2=l2, gamma=gamma)
    table["weight"] = weights(problem.loss, trial.seen.mean, problem.n, whole.f.width)
    of_size = [int(np.flatnonzero(k == size)[_least(goal[k == size])]) for size in grid.ks]
    sizes = {name: values[of_size] for name, values in table.items()}
    plain = np.array(of_size)[_two(goal[of_size], each[of_size])]  # the candidates of rule "min" and of "1se"
    wanted = int(rule == "1se")
    models, place, best = whole, int(plain[wanted]), int(plain[wanted])
    size, k_1se, onto_size, notes = int(k[best]), int(k[plain[1]]), None, list[str]()
    if combine == "project":
        found = projected(problem, grid, whole, trial.seen)
        onto, aim, apart = trial.table(found.held, k=np.array(grid.onto), slope=found.slopes)
        onto["smoothed"] = smoothed(aim, grid.onto)
        ours = np.array(_two(onto["smoothed"], apart))
        pairs = zip(plain, ours, strict=True)
        beaten = [trial.beaten(c, goal[c], each[c], found.models.only(i), aim[i], apart[i]) for c, i in pairs]
        onto_size, k_1se = grid.onto[ours[wanted]], k_1se if beaten[1] else grid.onto[ours[1]]
        if not beaten[wanted]:
            models, place, size, sizes, best = found.models, int(ours[wanted]), onto_size, onto, int(plain[0])
    elif combine == "average":
        _, aim, apart = trial.table(dense_of_folds(problem, trial.seen))
        average = dense(problem, whole, trial.seen)
        beaten = [trial.beaten(c, goal[c], each[c], average, aim[0], apart[0]) for c in plain]
        if not beaten[wanted]:
            models, place, size = average, 0, len(average.cols)
    if combine != "none" and beaten[wanted]:
        name = "projected average" if combine == "project" else "average"
        notes.append(f"the best single candidate predicts instead of the {name}, {beaten[wanted]}")
        combine = "none"
    same = (l2 == l2[best]) & (gamma == gamma[best])
    scores = dict(zip(k[same].tolist(), (-goal[same]).tolist(), strict=True))
    points = whole.points[float(l2[best])]
    return Chosen(
        models, place, size, k_1se, float(l2[best]), float(gamma[best]), int(k[best]), table, sizes, points, scores,
        combine, onto_size, notes,
    )  # fmt: skip


def _least(goal: Vector) -> int:
    """The first place that differs from the least by rounding only: without features all candidates are one model."""
    return int(np.argmax(goal <= goal.min() + SAME * abs(goal.min())))


def _two(goal: Vector, each: Matrix) -> list[int]:
    """Where the goal is least, and the first place within a standard error of the difference to there."""
    best = int(np.argmin(goal))
    return [best, int(np.argmax(goal <= goal[best] + paired(each - each[best])))]


def paired(each: Matrix) -> Vector:
    """Standard errors of means over folds."""
    folds, unit = each.shape[1], np.abs(each).max(axis=1, keepdims=True)
    if folds == 1:
        return np.zeros(len(each))
    unit = np.where(unit > 0, unit, 1.0)  # so that squares neither vanish nor overflow
    return np.asarray(unit[:, 0] * (each / unit).std(axis=1, ddof=1) / np.sqrt(folds))
