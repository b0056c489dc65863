"""One-dimensional fits of many models at once: intercepts on training rows, slopes on held-out ones."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._utils.types import Columns, Matrix, Vector
from ..data.rows import Data
from ..engines import in_threads
from ..refits import intercept_of
from .models import Models

if TYPE_CHECKING:
    from ..objectives.glm import GLM

STEPS = 200
NEAR = 1e-13  # of a root

#: From points to a function that rises with them, and its derivative.
Rising = Callable[[Vector], tuple[Vector, Vector]]


def root(rising: Rising, start: Vector, low: Vector, high: Vector) -> Vector:
    """Where rising functions are zero: Newton's steps, halves of the bracket where these do not help.

    Where four of them have not halved it the fifth does: from far above an exponential has Newton's steps of length 1.
    """
    t, low, high = start.copy(), low.copy(), high.copy()
    before, reach, width = np.full_like(t, np.inf), np.ones_like(t), np.full_like(t, np.inf)
    for step in range(STEPS):
        d, h = rising(t)
        low, high = np.where(d < 0, t, low), np.where(d > 0, t, high)
        with np.errstate(all="ignore"):
            ahead = np.where(h > 0, t - d / h, t - np.sign(d) * reach)
            between = np.isfinite(low) & np.isfinite(high)
            slow = (ahead <= low) | (ahead >= high) | (np.abs(d) > 0.5 * before)
            if step % 5 == 4:
                slow, width = slow | (high - low > 0.5 * width), high - low
            middle = np.where(between, 0.5 * (low + high), t - np.sign(d) * reach)
        ahead = np.where(d == 0, t, np.where(slow & (between | ~np.isfinite(ahead)), middle, ahead))
        reach, before = 2 * reach, np.abs(d)
        if (np.abs(ahead - t) <= NEAR * (1 + np.abs(t))).all():
            return ahead
        t = ahead
    return t


def slopes(tried: Sequence[tuple[Data, Models]], errors: float = 0.0) -> Vector:
    """s in [0, 1] with the least loss of (1 - s) null + s model, one per model: on held-out rows, added over the folds.

    For the squared loss <P, r> / <P, P>, with P = model - null and r = y - null. 1 where a model is the null model.
    ``errors``: by how many of its standard errors over folds s is moved towards 1. With d_v the derivative on the rows
    of fold v, whose sum is 0 at s, and h the second derivative on all of them, that error is sqrt(sum_v d_v^2) / h.
    """
    jobs = [(rows.in_view(models.f.data.view).batch(models.cols, models.B), models, rows) for rows, models in tried]
    quadratic, m = tried[0][1].f.quadratic, len(tried[0][1].B)

    def of_fold(job: tuple[Any, Models, Data], s: Vector) -> tuple[Vector, Vector]:
        many, models, rows = job
        found: tuple[Vector, Vector] = many.shrinks(models.b, models.null, s)
        rows.forget()
        return found

    def derivatives(s: Vector) -> tuple[Matrix, Matrix]:
        answers = in_threads(lambda job: of_fold(job, s), jobs)
        return np.array([first for first, _ in answers]), np.array([second for _, second in answers])

    first, second = derivatives(np.zeros(m))

    def by_fold(s: Vector) -> tuple[Matrix, Matrix]:
        return (first + s * second, second) if quadratic else derivatives(s)

    def rising(s: Vector) -> tuple[Vector, Vector]:
        d, h = by_fold(s)
        return d.sum(axis=0), h.sum(axis=0)

    nothing = ~np.any([models.B.any(axis=(1, 2)) for _, models in tried], axis=0)
    low, high = np.zeros(m), np.ones(m)
    at_most, at_least = (rising(high)[0] <= 0) | nothing, first.sum(axis=0) >= 0
    inside = root(rising, np.full(m, 0.5), low, high)
    s = np.where(at_most, 1.0, np.where(at_least, 0.0, np.clip(inside, 0.0, 1.0)))
    if errors == 0:
        return s
    d, h = by_fold(s)
    with np.errstate(all="ignore"):
        error = np.sqrt((d**2).sum(axis=0)) / h.sum(axis=0)
    return np.where(nothing, 1.0, np.minimum(1.0, s + errors * np.where(np.isfinite(error), error, 0.0)))


def intercepts(f: "GLM", cols: Columns, B: Vector) -> Matrix:
    """The best intercepts on the rows of f for coefficients that are held, models x outputs."""
    m, _, q = B.shape
    if not f.fit_intercept:
        return np.zeros((m, q))
    many = f.data.batch(cols, B)
    if f.quadratic:
        first, second = many.levels(np.zeros((m, q)))
        return -first / second
    if q > 1:
        return np.array([intercept_of(f.data.intercept_problem(cols, B[i]), f.null.free) for i in range(m)])

    def rising(b: Vector) -> tuple[Vector, Vector]:
        first, second = many.levels(b[:, None])
        return first[:, 0], second[:, 0]

    return root(rising, np.full(m, float(f.null.free)), np.full(m, -np.inf), np.full(m, np.inf))[:, None]
