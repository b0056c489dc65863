"""Every candidate on every fold: its mean loss on the rows that were held out.

    L_cv = sum over test rows of fold v of c_i phi(y_i, eta_ic) / sum of c_i,      M_c = sum_v W_v L_cv / sum_v W_v

W_v is the weight of fold v's test rows. Columns are standardised and features are chosen inside the fold; nothing is
handed from fold to fold.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .._utils.types import Matrix, Vector
from ..engines import TimeUpError, in_threads, in_turn
from .grid import Grid
from .models import Models, candidates
from .problem import Problem
from .splits import Fold

MIN_TALL_ROWS = 1 << 16  # rows from which on even a small Gram matrix is better had from one pass for all folds
MIN_MANY_COLUMNS = 16

#: Called with how many folds are done, and of how many.
FoldCallback = Callable[[int, int], object]


@dataclass(frozen=True)
class Validated:
    """Models of every fold, their losses on its test rows (models x folds), and the weight of these rows."""

    models: tuple[Models, ...]
    folds: tuple[Fold, ...]
    each: Matrix
    share: Vector

    @property
    def mean(self) -> Vector:
        """M_c."""
        return self.each @ self.share

    def without(self, v: int) -> Vector:
        """M_c from all folds but v."""
        if len(self.share) == 1:
            return self.mean
        share = np.where(np.arange(len(self.share)) == v, 0.0, self.share)
        return self.each @ (share / share.sum())


def validate(
    problem: Problem,
    grid: Grid,
    folds: Sequence[Fold],
    on_fold: FoldCallback | None = None,
    whole: Models | None = None,
) -> Validated:
    """Fit the candidates on every fold and hold them against its test rows; folds run in threads.

    Gram columns that the candidates of all rows (``whole``) needed are computed at once: most folds will need them too.
    Where time is up, or Ctrl-C is pressed, the folds that are finished are returned; with none the exception goes on.
    """
    gram = None if whole is None else getattr(whole.f, "gram", None)
    finished: dict[int, tuple[Fold, Models, Vector]] = {}
    n, p = folds[0].data.shape
    tall = n > MIN_TALL_ROWS and p < MIN_MANY_COLUMNS  # a few weights a row are as large as X: one fold after the other
    if gram is not None and len(gram.cached) and (not gram.small or n > MIN_TALL_ROWS):
        cached = gram.cached[gram.cached >= 0]
        folds[0].data.prepare(np.sort(cached if gram.whole and gram.complete else cached[: gram.capacity // 2]))

    def one(fold: Fold) -> None:
        f = problem.objective(fold.data, grid.refit)
        models = candidates(problem, f, grid, fold.n, every_size=False)
        f.forget()
        lost = models.losses(fold.held_out)
        finished[fold.number] = fold, replace(models, points={}), lost
        if on_fold is not None:
            on_fold(len(finished), len(folds))

    try:
        (in_turn if tall else in_threads)(one, folds)
    except (TimeUpError, KeyboardInterrupt):
        if not finished:
            raise
    done, models, lost = zip(*(finished[number] for number in sorted(finished)), strict=True)
    return validated(models, done, lost)


def validated(models: Sequence[Models], folds: Sequence[Fold], each: Sequence[Vector]) -> Validated:
    share = np.array([fold.held_out.weight for fold in folds])
    return Validated(tuple(models), tuple(folds), np.column_stack(each), share / share.sum())
