"""One-dimensional fits of many models at once: intercepts on training rows, slopes on held-out ones."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .._types import Matrix, Vector
from .held_out import along

STEPS = 200
NEAR = 1e-13  # of a root

#: From points to a function that rises with them, and its derivative.
Rising = Callable[[Vector], tuple[Vector, Vector]]


def root(rising: Rising, start: Vector, low: Vector, high: Vector) -> Vector:
    """Where rising functions are zero: Newton's steps, halves of the bracket where these do not help."""
    t, low, high = start.copy(), low.copy(), high.copy()
    before, reach = np.full_like(t, np.inf), np.ones_like(t)
    for _ in range(STEPS):
        d, h = rising(t)
        low, high = np.where(d < 0, t, low), np.where(d > 0, t, high)
        with np.errstate(all="ignore"):
            ahead = np.where(h > 0, t - d / h, t - np.sign(d) * reach)
            between = np.isfinite(low) & np.isfinite(high)
            slow = (ahead <= low) | (ahead >= high) | (np.abs(d) > 0.5 * before)
            middle = np.where(between, 0.5 * (low + high), t - np.sign(d) * reach)
        ahead = np.where(d == 0, t, np.where(slow & (between | ~np.isfinite(ahead)), middle, ahead))
        reach, before = 2 * reach, np.abs(d)
        if (np.abs(ahead - t) <= NEAR * (1 + np.abs(t))).all():
            return ahead
        t = ahead
    return t


def slopes(loss: Any, y: Vector, c: Vector, null: Vector, eta: Vector) -> Vector:
    """s in [0, 1] with the least loss of (1 - s) null + s eta, one per model; null is rows x 1 x outputs.

    For the squared loss <P, r> / <P, P>, with P = eta - null and r = y - null. 1 where eta is the null model.
    """
    toward = eta - null

    def rising(s: Vector) -> tuple[Vector, Vector]:
        d1, d2 = along(loss, y, null + s[:, None] * toward, toward)
        return c @ d1, c @ d2

    m = eta.shape[1]
    low, high = np.zeros(m), np.ones(m)
    at_most = (rising(high)[0] <= 0) | ~toward.any(axis=(0, 2))
    at_least = rising(low)[0] >= 0
    inside = root(rising, np.full(m, 0.5), low, high)
    return np.where(at_most, 1.0, np.where(at_least, 0.0, np.clip(inside, 0.0, 1.0)))


def intercepts(f: Any, cols: Any, B: Vector, eta: Vector) -> Matrix:
    """The best intercepts on the rows of f for coefficients that are held, models x outputs.

    ``eta`` are the predictors without intercept or offset, rows x models x outputs.
    """
    m, q, rows = eta.shape[1], eta.shape[2], f.data.rows
    if not f.fit_intercept:
        return np.zeros((m, q))
    eta = eta if rows.offset is None else eta + rows.offset.reshape(len(rows.c), 1, -1)
    if f.quadratic:
        return np.einsum("i,imq->mq", rows.c, rows.y.reshape(len(rows.c), 1, -1) - eta)
    if q > 1:
        return np.array([f.data.held(cols, B[i]).best_intercept(f.null.free) for i in range(m)])
    used = rows.c > 0
    y, c, eta, one = rows.y[used], rows.c[used], eta[used], np.ones((1, 1, 1))

    def rising(b: Vector) -> tuple[Vector, Vector]:
        d1, d2 = along(f.loss, y, eta + b[:, None], one)
        return c @ d1, c @ d2

    return root(rising, np.full(m, float(f.null.free)), np.full(m, -np.inf), np.full(m, np.inf))[:, None]
