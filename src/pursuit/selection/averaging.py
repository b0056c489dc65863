"""What predicts: the average of all candidates, projected onto K features.

1. weights       w_c = exp(-tau n (M_c - M_min) / (2 M_min)) (losses of a residual), exp(-tau n (M_c - M_min)) (others)
2. average       b = 1/2 sum_c w_c b_c  +  1/2 mean over folds of sum_c w_c b_c^(-v), on standardised columns
3. projection    from the 150 largest of b, backwards in the metric G = Z'Z/n + lam I, to every K; never refitted to y.
                 lam = sum_c w_c gamma_c l2_c / h is the mean ridge of what was averaged: where refits have the
                 weight, fitted values are projected, and directions in which coefficients cancel are kept
4. folds         the same in every fold, with weights from the other folds and without the mean over folds
5. slope         s_K in [0, 1] with the least held-out loss of null model + s_K (projection - null model), for losses
                 of a residual moved one standard error towards 1

:mod:`.choose` takes K. Intercepts are the best ones on the training rows for the coefficients given. The squared loss's
predictions are thus mean of y + s_K Z x_K. The metric has one scale for all losses: a factor of G changes nothing.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._utils.types import Columns, Matrix, Vector
from ..engines import in_threads
from ..losses import Loss
from .grid import Grid
from .line_fits import intercepts, slopes
from .models import Models
from .problem import Problem
from .projection import project
from .validation import Validated, validated

if TYPE_CHECKING:
    from ..objectives.glm import GLM

TAU = 0.15
MIN_METRIC_RIDGE = {True: 1e-4, False: 1e-3}  # lam is at least this; True: losses of a residual
SLOPE_ERRORS = {True: 1.0, False: 0.0}  # standard errors by which a slope is moved towards 1
# Log-likelihood, summed over held-out rows, that a size may always lose. Large projections are nearly one model, so
# that the standard error of their difference is next to nothing: without it there are a fifth more features and no more
# accuracy (docs/selection-evidence.md).
NEGLIGIBLE_NATS = 0.5
MAX_UNITS = 150  # that an elimination begins with
TINY = 1e-300


@dataclass(frozen=True)
class Projected:
    """Projections of all rows' average, one per K, shrunk; and how those of the folds did."""

    models: Models
    slopes: Vector
    held: Validated


def nats(loss: Loss, least: float, n: float, outputs: int) -> float:
    """What a mean loss of one more is in log-likelihood, summed over rows; ``least`` is the smallest loss there is.

    Losses of a residual have the likelihood of a Gaussian whose variance is that of the best model.
    """
    scale = 2 * least if _of_residuals(loss) else 1.0
    return n * (outputs if loss.quadratic else 1) / max(scale, TINY)


def negligible(loss: Loss, least: float, n: float, outputs: int) -> float:
    """What a size may always lose more than the best one; nothing where the loss is no likelihood (Huber, margins)."""
    return NEGLIGIBLE_NATS / nats(loss, least, n, outputs) if loss.likelihood else 0.0


def weights(loss: Loss, M: Vector, n: float, outputs: int) -> Vector:
    """w_c, which sum to one."""
    times = TAU * nats(loss, float(M.min()), n, outputs)
    w = np.exp(-np.minimum(times * (M - M.min()), 700.0))
    return np.asarray(w / w.sum())


def _of_residuals(loss: Loss) -> bool:
    return bool(loss.quadratic or getattr(loss, "targets", "") == "real")


def averaged(problem: Problem, whole: Models, seen: Validated) -> tuple[Columns, Matrix]:
    """The average over candidates, of all rows and of the folds, as f of all rows sees its columns."""
    w = weights(problem.loss, seen.mean, problem.n, whole.f.width)
    p, q = problem.data.shape[1], whole.f.width
    scale = whole.f.data.scale
    b = np.zeros((p, q))
    for models, fold in zip(seen.models, seen.folds, strict=True):
        own = models.f.data.scale[models.cols][:, None] * models.mixed(w)[0] / len(seen.models)
        if fold.to_whole is None:
            b[models.cols] += own
        else:
            all_columns = np.zeros((p, q))
            all_columns[models.cols] = own
            b += fold.to_whole(all_columns)
    b = np.where(scale[:, None] > 0, b / np.where(scale > 0, scale, 1.0)[:, None], 0.0)
    b[whole.cols] += whole.mixed(w)[0]
    cols = np.flatnonzero(b.any(axis=1))
    return cols, 0.5 * b[cols]


def dense(problem: Problem, whole: Models, seen: Validated) -> Models:
    """The average itself, as one model."""
    cols, b = averaged(problem, whole, seen)
    return Models(whole.f, cols, b[None], intercepts(whole.f, cols, b[None]))


def dense_of_folds(problem: Problem, seen: Validated) -> Validated:
    """The average of every fold, with weights from the other folds, on the rows that the fold holds out."""

    def one(job: tuple[int, Models]) -> Models:
        v, models = job
        b = models.mixed(weights(problem.loss, seen.without(v), problem.n, models.f.width))[0][None]
        average = Models(models.f, models.cols, b, intercepts(models.f, models.cols, b))
        models.f.forget()
        return average

    averages = in_threads(one, list(enumerate(seen.models)))
    lost = [models.losses(fold.held_out) for models, fold in zip(averages, seen.folds, strict=True)]
    return validated(averages, seen.folds, lost)


def metric_ridge(problem: Problem, grid: Grid, w: Vector) -> float:
    """lam, the mean ridge of what was averaged in units of h; refits count as 0."""
    _, l2, gamma = grid.columns
    return max(float(w @ (gamma * l2)) / grid.h, MIN_METRIC_RIDGE[_of_residuals(problem.loss)])


def projections(problem: Problem, f: "GLM", cols: Columns, b: Matrix, onto: tuple[int, ...], lam: float) -> Models:
    """An average of models of f, projected onto every size: one gather of at most 150 columns."""
    constraint = problem.sparse_set(f, max(MAX_UNITS, 3 * onto[-1]))
    width = f.width
    x = np.zeros(f.dim)
    x[(cols[:, None] * width + np.arange(width)).ravel()] = b.ravel()
    few = constraint.top(x, within=np.flatnonzero(x))
    few = np.union1d(few, constraint.forced)
    unit = few if constraint.unit_of is None else constraint.unit_of[few]
    chosen, unit = few[::width] // width, unit[::width]
    G = f.data.products(chosen, f.fit_intercept)
    G[np.diag_indices(len(G))] += lam * problem.unit(f)
    B = project(x[few].reshape(-1, width), G, onto, unit, constraint.include)
    return Models(f, chosen, B, intercepts(f, chosen, B))


def projected(problem: Problem, grid: Grid, whole: Models, seen: Validated) -> Projected:
    """The rule, up to the choice of K."""
    q = whole.f.width
    lam = metric_ridge(problem, grid, weights(problem.loss, seen.mean, problem.n, q))

    def one(job: tuple[int, Models]) -> Models:
        v, models = job
        w = weights(problem.loss, seen.without(v), problem.n, q)
        found = projections(problem, models.f, models.cols, models.mixed(w)[0], grid.onto, lam)
        models.f.forget()
        return found

    of_folds = in_threads(one, list(enumerate(seen.models)))
    pairs = [(fold.held_out, models) for fold, models in zip(seen.folds, of_folds, strict=True)]
    s = slopes(pairs, SLOPE_ERRORS[_of_residuals(problem.loss)])
    less = [shrunk(models, s) for models in of_folds]
    held = validated(less, seen.folds, [m.losses(fold.held_out) for m, fold in zip(less, seen.folds, strict=True)])
    ours = projections(problem, whole.f, *averaged(problem, whole, seen), grid.onto, lam)
    return Projected(shrunk(ours, s), s, held)


def shrunk(models: Models, s: Vector) -> Models:
    """Every model drawn towards the null model: (1 - s) null + s model."""
    b = (1 - s[:, None]) * models.null + s[:, None] * models.b
    return Models(models.f, models.cols, s[:, None, None] * models.B, b)


def smoothed(error: Vector, sizes: tuple[int, ...]) -> Vector:
    """Over sizes, by 1/4, 1/2, 1/4; the null model is left alone, and beyond the ends errors are the ends'."""
    padded = np.concatenate([error[:1], error, error[-1:]])
    out = 0.25 * padded[:-2] + 0.5 * padded[1:-1] + 0.25 * padded[2:]
    if sizes[0] == 0:
        out[0] = error[0]
    return out
