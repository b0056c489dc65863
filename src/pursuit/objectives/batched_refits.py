"""Refits of the squared loss on many supports, from a Gram matrix that is held: a few calls of LAPACK for all of them.

Supports of similar sizes are one batch: the smaller ones are filled up with coordinates of their own, whose rows of
the system are those of the identity and whose right-hand side is 0.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from .._utils.rounding import MAX_MEAN_TO_SPREAD, MAX_ROUNDING_SHARE, value_rounding
from .._utils.types import Columns, Vector
from ..kernels.path import PathPoint
from ..refits.factor import MIN_GOOD_CONDITION
from .point import Point, from_kernel

if TYPE_CHECKING:
    from .glm import GLM

MAX_SIZE_RATIO = 1.5  # the largest support of a batch over its smallest: k^3 grows to three times
MAX_SMALL_SIZE = 12  # up to this size a call costs more than its numbers


def refits_by_gram(f: "GLM", supports: list[Columns]) -> list[Point]:
    """Refits on every support; those that would cost digits are left to ``f.refit``.

    ``f.gram`` must hold all columns.
    """
    assert f.gram is not None
    null, gram = f.null, f.gram
    everything = np.arange(f.dim)
    G, mean = gram.columns(everything), gram.means
    h = G.diagonal()
    far = (mean**2 > MAX_MEAN_TO_SPREAD**2 * h) & (h > 0)  # products with such columns have lost digits
    down = np.where(h == 0, 0.0, null.gradient - mean * f.tilt)
    ridge = np.broadcast_to(f.ridge, f.dim)
    points: list[Point | None] = [None] * len(supports)
    for batch in _batches(supports):
        taken = [supports[i] for i in batch]
        for i, S, x, condition in zip(batch, taken, *_solve(G, ridge, down, taken), strict=True):
            value = null.value + 0.5 * float(down[S] @ x)
            noise = value_rounding(x, h[S] + ridge[S], null.value, f.rounded)
            if condition >= MIN_GOOD_CONDITION and noise <= MAX_ROUNDING_SHARE * value and not far[S].any():
                free = null.free - float(mean[S] @ x) if f.fit_intercept else 0.0
                points[i] = from_kernel(f, PathPoint(S, x, free, value, "none", True))
    return [f.refit(S) if point is None else point for S, point in zip(supports, points, strict=True)]


def _batches(supports: list[Columns]) -> Iterator[list[int]]:
    """Places of supports whose sizes are alike; the empty support is in none."""
    sizes = [len(S) for S in supports]
    batch: list[int] = []
    for i in sorted((i for i, size in enumerate(sizes) if size), key=sizes.__getitem__):
        if batch and sizes[i] > max(MAX_SMALL_SIZE, MAX_SIZE_RATIO * sizes[batch[0]]):
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch


def _solve(G: Vector, ridge: Vector, down: Vector, supports: list[Columns]) -> tuple[list[Vector], Vector]:
    """Minimisers of down'x + x'(G + ridge)x/2 over every support, and reciprocal condition numbers on a unit diagonal.

    A condition number of 0: there is no minimiser.
    """
    sizes = np.array([len(S) for S in supports])
    most = int(sizes.max())
    real = np.arange(most) < sizes[:, None]
    at = np.zeros((len(supports), most), np.int64)
    at[real] = np.concatenate(supports)
    H = np.where(real[:, :, None] & real[:, None, :], G[at[:, :, None], at[:, None, :]], 0.0)
    diagonal = np.arange(most)
    H[:, diagonal, diagonal] += np.where(real, ridge[at], 1.0)
    squares = H[:, diagonal, diagonal]
    usable = (squares > 0).all(axis=1)
    s = 1 / np.sqrt(np.where(squares > 0, squares, 1.0))
    H *= s[:, :, None] * s[:, None, :]
    H[:, diagonal, diagonal] = 1.0
    try:
        inverse = np.linalg.inv(H)
    except np.linalg.LinAlgError:  # one of them has dependent columns, and which is not said
        return [np.zeros(size) for size in sizes], np.zeros(len(supports))
    g = np.where(real, s * down[at], 0.0)[:, :, None]
    z = -(inverse @ g)
    z -= inverse @ (H @ z + g)  # a step of refinement
    condition = 1 / (np.abs(H).sum(axis=1).max(axis=1) * np.abs(inverse).sum(axis=1).max(axis=1))
    x = s * z[:, :, 0]
    return [x[i, :size] for i, size in enumerate(sizes)], np.where(usable & np.isfinite(condition), condition, 0.0)
