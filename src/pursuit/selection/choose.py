"""From candidates to one model by what was held out: the least loss (best score), or the smallest size near it.

Sizes are compared by their losses, for projections smoothed over sizes by 1/4, 1/2, 1/4. With a rule of t standard
errors the smallest size is taken whose loss is within t standard errors of the least; the error is that of the paired
difference over folds. Projections may always lose half a nat of log-likelihood, summed over rows
(:func:`.combine.negligible`). Where a single candidate, its size taken by the same rule, loses less than the average or
its projection by more than GUARD_STANDARD_ERRORS, it predicts instead: a projection can fail where columns are nearly
dependent.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from .._utils.rounding import EPS
from .._utils.types import Array, Columns, Keywords, Matrix, Vector
from ..engines import TimeUpError, late, without_deadline
from ..objectives.point import Point
from ..paths import Path
from ..solving.result import Result
from .averaging import dense, dense_of_folds, negligible, projected, smoothed, weights
from .grid import Grid
from .models import Models, candidates
from .problem import Problem
from .splits import Fold
from .validation import FoldCallback, Validated, validate

if TYPE_CHECKING:
    from ..objectives.glm import GLM

#: From a fold's number and its models to a score each, the higher the better.
Score = Callable[[int, Models], Vector]
LOSS_TOLERANCE = 1e-9  # share of a loss that is rounding
GUARD_STANDARD_ERRORS = 2.0  # standard errors
EXACT_LOSS_SHARE = 1e-20  # share of the largest loss below which differences are rounding
ZERO_LOSS = 1e-290  # losses below it are equal: squares of the smallest targets that are taken are larger
PREDICTION_ROUNDING = 16 * EPS  # share of a prediction that is rounding


@dataclass(frozen=True)
class Chosen:
    """The model that predicts (one of ``models``), and how it was chosen.

    ``table`` has one entry per candidate, ``sizes`` one per size; ``l2``, ``gamma`` and ``alone`` (its size) are of the
    best candidate; ``points`` are those of all rows at this ridge, and ``scores`` what was held out of them, by size.
    ``least`` is the size of the least loss, and ``excess`` by which share of the chosen size's loss it is lower (None
    where scores or criteria choose); ``by_nats``: that is beyond the standard errors, but negligible. ``combine`` is
    what the model is: "none" where the best candidate took the place of an average that predicts worse.
    ``variant`` is that of the best candidate (``Problem.variants``). ``ended_early`` is a sentence where time was up,
    or Ctrl-C was pressed, before all folds were fitted.
    """

    models: Models
    place: int
    k: int
    k_1se: int | None
    l2: float
    gamma: float
    alone: int
    table: dict[str, Array]
    sizes: dict[str, Array]
    points: dict[int, Point]
    scores: dict[int, float]
    least: int
    excess: float | None = None
    combine: str = "none"
    notes: list[str] = field(default_factory=list)
    ended_early: str = ""
    by_nats: bool = False
    variant: int = 0
    fold_models: tuple[tuple[int, Models], ...] = ()  # the numbers of folds and their models of the chosen size


@dataclass(frozen=True)
class Trial:
    """Candidates on all rows and on folds; ``goal`` is what is to be least, and ``each`` the same by fold."""

    problem: Problem
    grid: Grid
    whole: Models
    seen: Validated
    score: Score | None

    @property
    def rounding(self) -> float:
        """Losses below it are equal: a constant y is predicted by the intercept alone, which has rounding error, and
        features that determine y leave a tiny share of the null model's loss (``ks`` may be without it)."""
        loss, null = self.whole.f.loss, self.whole.f.null
        if loss.targets != "real" or self.score is not None:
            return ZERO_LOSS
        intercept = float(np.sum((PREDICTION_ROUNDING * np.asarray(null.free, float)) ** 2))
        return max(ZERO_LOSS, EXACT_LOSS_SHARE * null.value, intercept)

    def table(self, seen: Validated, **columns: Columns | Vector) -> tuple[dict[str, Array], Vector, Matrix]:
        """Columns of a table of what was held out, the goal and the goal of every fold."""
        out: dict[str, Array] = {**columns, "mean_loss": seen.mean, "std_error": paired(seen.each)}
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

        It should where it is exact, since smoothing over sizes hides from which size on projections are; where its
        held-out goal is lower by more than GUARD_STANDARD_ERRORS of the difference; and where its held-out loss is
        lower than the loss of the average on the rows that made it: then folds, which average less, have not seen what
        the average of all rows does.
        """
        what, side, sign = ("loss", "above", 1) if self.score is None else ("score", "below", -1)
        one_fold = len(self.seen.folds) == 1  # which has no standard error
        if self.score is None and abs(goal) <= EXACT_LOSS_SHARE * float(np.abs(self.seen.mean).max()):
            return "as it is exact, and the smallest that is"
        if aim - goal > GUARD_STANDARD_ERRORS * paired((apart - each)[None])[0] + LOSS_TOLERANCE * abs(goal):
            by = "" if one_fold else f"more than {GUARD_STANDARD_ERRORS:g} standard errors of the difference "
            return f"whose held-out {what} of {sign * aim:.3g} is {by}{side} the candidate's {sign * goal:.3g}"
        held, own = self.seen.mean[c], float(model.losses(self.problem.data)[0])
        if own > held + GUARD_STANDARD_ERRORS * paired(self.seen.each[c][None])[0] + LOSS_TOLERANCE * abs(held):
            by = "" if one_fold else f"more than {GUARD_STANDARD_ERRORS:g} standard errors "
            return (
                f"whose loss of {own:.3g} on the rows it was made from is {by}above the candidate's held-out {held:.3g}"
            )
        return ""


@dataclass(frozen=True)
class BySize:
    """One model per size: their table, what is to be least, and the same by fold."""

    sizes: tuple[int, ...]
    table: dict[str, Array]
    goal: Vector
    each: Matrix
    rounding: float = ZERO_LOSS  # losses below it are equal
    negligible: float = 0.0  # what may always be lost

    @property
    def best(self) -> int:
        """The first place of the least goal; what differs by rounding is equal, as where the features determine y."""
        least = float(self.goal.min())
        rounding = max(EXACT_LOSS_SHARE * float(np.abs(self.goal).max()), LOSS_TOLERANCE * abs(least), self.rounding)
        return int(np.argmax(self.goal <= least + rounding))

    def within(self, errors: float) -> int:
        """The first place within so many standard errors (of the paired difference over folds) of the least.

        What is negligible counts as within some, not as within none.
        """
        room = np.maximum(self._apart(errors), self.negligible if errors else 0.0)
        return int(np.argmax(self.goal <= self.goal[self.best] + room))

    def beyond(self, place: int, errors: float) -> bool:
        """Whether the goal of a place is further than so many standard errors from the least."""
        return bool(self.goal[place] > self.goal[self.best] + self._apart(errors)[place])

    def _apart(self, errors: float) -> Vector:
        return errors * paired(self.each - self.each[self.best])

    def excess(self, place: int) -> float | None:
        """By which share of its own goal a place is above the least."""
        least = float(self.goal[self.best])
        return 1 - least / float(self.goal[place]) if least > 0 else None


def by_validation(
    problem: Problem,
    f: "GLM",
    grid: Grid,
    folds: Sequence[Fold],
    errors: float,
    combine: str,
    score: Score | None,
    on_fold: FoldCallback | None,
) -> Chosen:
    """Choose by what was held out; ``f`` is the objective of all rows with the refit's ridge.

    ``errors``: the smallest size within so many standard errors of the least loss is taken. Where a single candidate of
    the largest size predicts, and the sizes are the default ones, again with sizes up to twice as large. A choice that
    was made from all folds is not replaced by one from some of them.
    """
    chosen: Chosen | None = None
    ended_early = ""
    while True:
        try:
            whole = candidates(problem, f, grid, problem.n)
            seen = validate(problem, grid, folds, on_fold, whole)
        except (TimeUpError, KeyboardInterrupt):
            if chosen is None:
                raise
            ended_early = _ended_early(max(chosen.points), 0, len(folds))
            break
        ended_early = _ended_early(None if chosen is None else max(chosen.points), len(seen.folds), len(folds))
        if chosen is not None and ended_early:
            break
        with without_deadline():
            chosen = _take(Trial(problem, grid, whole, seen, score), errors, combine)
        tried = grid.onto if chosen.combine == "project" else grid.ks
        at_end = chosen.combine != "average" and chosen.k == tried[-1] < grid.end
        if ended_early or not (grid.open and at_end and chosen.combine == "none"):
            break
        grid = grid.further()
    chosen.notes.extend(grid.notes)
    if errors > 0 and len(seen.folds) == 1:
        what = "least held-out loss" if score is None else "best held-out score"
        chosen.notes.append(f"one fold has no standard error, so the {what} was taken")
    if at_end or (grid.more and chosen.combine != "average" and chosen.k == grid.end):
        chosen.notes.append(f"k={chosen.k} is the largest of ks, and larger ones may predict better")
    if chosen.combine == "project" and chosen.k > max(chosen.points):  # a projection may be larger than every candidate
        with without_deadline():
            points = problem.variants[chosen.variant].points(problem.at(f, chosen.l2), chosen.k)
        chosen = replace(chosen, points=points)
    return replace(chosen, ended_early=ended_early)


def _ended_early(before: int | None, done: int, folds: int) -> str:
    """Why there are fewer folds than there should be, or sizes above those before, or nothing."""
    if done == folds:
        return ""
    why = "the time limit was reached" if late() else "interrupted by the user"
    if before is not None:
        return f"{why} before sizes above {before} were tried on every fold"
    return f"{why} after {done} of {folds} folds, and the choice is from these"


def _take(trial: Trial, errors: float, combine: str) -> Chosen:
    grid, whole, problem = trial.grid, trial.whole, trial.problem
    k, l2, gamma = grid.columns
    table, goal, each = trial.table(trial.seen, k=k, l2=l2, gamma=gamma)
    table["weight"] = weights(problem.loss, trial.seen.mean, problem.n, whole.f.width)
    of_size = [int(np.flatnonzero(k == size)[_least(goal[k == size])]) for size in grid.ks]
    held_out = {name: values[of_size] for name, values in table.items()}
    singles = BySize(grid.ks, held_out, goal[of_size], each[of_size], trial.rounding)
    sizes, at = singles, singles.within(errors)
    best = of_size[at]
    models, place, size = whole, best, grid.ks[at]
    held, row = trial.seen, best
    k_1se, notes = grid.ks[singles.within(1.0)], list[str]()
    if combine == "project":
        found = projected(problem, grid, whole, trial.seen)
        columns, aim, apart = trial.table(found.held, k=np.array(grid.onto), slope=found.slopes)
        columns["smoothed"] = smoothed(aim, grid.onto)
        room = 0.0
        if trial.score is None and len(found.held.folds) > 1:  # scores have no unit, and one fold takes the least
            room = negligible(problem.loss, float(columns["smoothed"].min()), problem.n, whole.f.width)
        onto = BySize(grid.onto, columns, columns["smoothed"], apart, trial.rounding, room)

        def beaten(errors: float) -> str:
            """Why the single candidate of this rule should predict; nothing where the projection should."""
            c, i = of_size[singles.within(errors)], onto.within(errors)
            if k[c] == grid.onto[i] == 0:
                return ""  # both are the null model, but for rounding
            return trial.beaten(c, goal[c], each[c], found.models.only(i), aim[i], apart[i])

        why = beaten(errors)
        if not beaten(1.0):
            k_1se = grid.onto[onto.within(1.0)]
        if not why:
            sizes, at, best = onto, onto.within(errors), of_size[singles.best]
            models, place, size = found.models, at, grid.onto[at]
            held, row = found.held, at
    elif combine == "average":
        _, aim, apart = trial.table(dense_of_folds(problem, trial.seen))
        average = dense(problem, whole, trial.seen)
        why = trial.beaten(best, goal[best], each[best], average, aim[0], apart[0])
        if not why:
            models, place, size = average, 0, len(average.cols)
    if combine != "none" and why:
        name = "projected average" if combine == "project" else "average"
        notes.append(f"the best single candidate predicts instead of the {name}, {why}")
        combine = "none"
    variant = int(grid.variant[best])
    same = (l2 == l2[best]) & (gamma == gamma[best]) & (grid.variant == variant)
    scores = dict(zip(k[same].tolist(), (-goal[same]).tolist(), strict=True))
    excess = sizes.excess(at) if trial.score is None else None
    return Chosen(
        models,
        place,
        size,
        k_1se,
        float(l2[best]),
        float(gamma[best]),
        int(k[best]),
        table,
        sizes.table,
        whole.points[variant, float(l2[best])],
        scores,
        sizes.sizes[sizes.best],
        excess,
        combine,
        notes,
        by_nats=sizes.beyond(at, errors),
        variant=variant,
        fold_models=tuple((fold.number, own.only(row)) for fold, own in zip(held.folds, held.models, strict=True)),
    )


def _least(goal: Vector) -> int:
    """The first place that differs from the least by rounding only: without features all candidates are one model."""
    return int(np.argmax(goal <= goal.min() + LOSS_TOLERANCE * abs(goal.min())))


def paired(each: Matrix) -> Vector:
    """Standard errors of means over folds."""
    folds, unit = each.shape[1], np.abs(each).max(axis=1, keepdims=True)
    if folds == 1:
        return np.zeros(len(each))
    unit = np.where(unit > 0, unit, 1.0)  # so that squares neither vanish nor overflow
    return np.asarray(unit[:, 0] * (each / unit).std(axis=1, ddof=1) / np.sqrt(folds))


def as_path(problem: Problem, f: "GLM", chosen: Chosen, seconds: float) -> Path:
    """Points of every size as a :class:`pursuit.Path`: the plain fits on all rows at the chosen ridge.

    ``scores`` is NaN for sizes that were not tried.
    """
    g = problem.restricted(f)
    sizes = tuple(sorted(chosen.points))
    solver = problem.solver if isinstance(problem.solver, str) else "path"
    results = [Result.of(g, problem.sparse_set(f, k), chosen.points[k], solver=solver) for k in sizes]
    if problem.allowed.is_bounded:
        own: Keywords = {"bounds": problem.allowed.bounds, "sum_to": problem.allowed.sum_to}
        results = [replace(result, **own) for result in results]
    scores = np.array([chosen.scores.get(k, np.nan) for k in sizes])
    reason = "every size was tried from its neighbours"
    return Path(tuple[Result, ...](results), f.null.value, f.lower, "converged", reason, seconds, sizes, scores)
