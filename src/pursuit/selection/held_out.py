"""Losses of many linear predictors at once: eta is rows x models x outputs."""

from typing import Any

import numpy as np

from .._types import Vector
from ..losses.vector import VectorLoss


def losses(loss: Any, y: Vector, eta: Vector) -> Vector:
    """phi of every row and model."""
    Y, flat = _flat(loss, y, eta)
    return np.asarray(loss.value(Y, flat)).reshape(eta.shape[:2])


def along(loss: Any, y: Vector, eta: Vector, toward: Vector) -> tuple[Vector, Vector]:
    """The first and second derivative of phi in t at eta + t toward, of every row and model."""
    Y, flat = _flat(loss, y, eta)
    turn = np.broadcast_to(toward, eta.shape).reshape(flat.shape)
    if isinstance(loss, VectorLoss):
        d1, d2 = (loss.d1(Y, flat) * turn).sum(axis=1), (loss.curve(flat).times(turn) * turn).sum(axis=1)
    else:
        d1, d2 = loss.d1(Y, flat) * turn, loss.d2(Y, flat) * turn**2
    return d1.reshape(eta.shape[:2]), d2.reshape(eta.shape[:2])


def _flat(loss: Any, y: Vector, eta: Vector) -> tuple[Vector, Vector]:
    """Rows and models in one axis, as losses take them."""
    n, m, q = eta.shape
    if isinstance(loss, VectorLoss):
        return np.repeat(y, m, axis=0), eta.reshape(n * m, q)
    return np.repeat(y, m), eta.reshape(n * m)
