"""A dense copy of the columns of a least squares problem, for sweeps that need every digit of them."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._types import Matrix, Vector
from ..designs import centre

if TYPE_CHECKING:
    from .glm import GLM

MAX_ENTRIES = 4e6  # of X, up to which there is a copy


class CentredColumns(NamedTuple):
    """Columns and target with f = |target - columns x|^2 / 2 + sum_j ridge_j x_j^2 / 2; both centred where there is an intercept.

    Rows are multiplied by the roots of their weights. ``square`` is the squared length of each column, without the
    ``ridge``.
    """

    columns: Matrix
    target: Vector
    square: Vector
    ridge: Vector


def centred_columns(f: "GLM") -> CentredColumns | None:
    """Copy the columns of f; None where it is no squared loss on rows in memory, or too large."""
    data = f.data
    if f.gram is None or not data.whole or data.lean or data.room.gram is not None:
        return None
    if data.shape[0] * data.shape[1] > MAX_ENTRIES:
        return None
    A, rows = data.copied()
    y = np.array(rows.y if rows.offset is None else rows.y - rows.offset, dtype=np.float64)[:, None]
    if f.fit_intercept:
        centre(A, rows.c)
        centre(y, rows.c)
    root = np.sqrt(rows.c)
    A *= root[:, None]
    square = np.einsum("ij,ij->j", A, A)
    return CentredColumns(A, root * y[:, 0], square, np.zeros(len(square))) if np.isfinite(square).all() else None
