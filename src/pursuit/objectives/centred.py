"""A dense copy of the columns of a least squares problem, for sweeps that need every digit of them."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .. import _core
from .._utils.types import Columns, Flags, Matrix, Vector
from ..designs import centre
from ..refits.basis import EXACTLY

if TYPE_CHECKING:
    from .glm import GLM

MAX_ENTRIES = 4e6  # of X, up to which there is a copy
MAX_ATTEMPTS = 4  # calls of the kernel in twice the digits, one more for every column that is no combination


class CentredColumns(NamedTuple):
    """Columns of length 1 and target: f = |target - columns (sqrt(square) x)|^2 / 2 + sum_j ridge_j x_j^2 / 2.

    Both are centred where there is an intercept. Rows are multiplied by the roots of their weights.
    ``square`` is the squared length of each column before it was divided by its length, without the ``ridge``.
    """

    columns: Matrix
    target: Vector
    square: Vector
    ridge: Vector


def centred_columns(f: "GLM") -> CentredColumns | None:
    """Copy the columns of f; None where it is no squared loss on rows in memory, or too large."""
    if not _copyable(f):
        return None
    A, rows = f.data.copied()
    y = np.array(rows.y if rows.offset is None else rows.y - rows.offset, dtype=np.float64)[:, None]
    if f.fit_intercept:
        centre(A, rows.c)
        centre(y, rows.c)
    root = np.sqrt(rows.c)
    A *= root[:, None]
    square = np.einsum("ij,ij->j", A, A)
    if not np.isfinite(square).all():
        return None
    columns = np.divide(A, np.sqrt(np.where(square > 0, square, 1.0)), order="F")
    return CentredColumns(columns, root * y[:, 0], square, np.zeros(len(square)))


def _copyable(f: "GLM") -> bool:
    """Whether f is a squared loss on rows in memory that are few enough for a copy."""
    data = f.data
    if f.gram is None or not data.whole or data.products_only or data.room.gram is not None:
        return False
    return data.shape[0] * data.shape[1] <= MAX_ENTRIES


def exact_combinations(f: "GLM", support: Columns, cols: Columns) -> Flags:
    """Tell which columns are combinations of a support's (and of 1, with an intercept), in twice the digits.

    Gram-Schmidt leaves combinations out and goes on, so that one call is enough where all columns are.
    """
    found = np.zeros(len(cols), np.bool_)
    if not _copyable(f) or np.any(f.ridge):
        return found
    design, c = f.data.design, f.data.rows.c
    inside, outside = (design.stored(some)[0] for some in (support, cols))
    none = np.zeros(len(cols), np.bool_)
    for _ in range(MAX_ATTEMPTS):
        open_ = np.flatnonzero(~none & ~found)
        if len(open_) == 0:
            break
        A = np.asfortranarray(np.concatenate([inside, outside[:, open_]], axis=1))
        left = _core.orthonormal(A, c, np.zeros(A.shape[1]), f.fit_intercept, EXACTLY)[2]
        new = np.flatnonzero(left[len(support) :] > 0)
        until = new[0] if len(new) else len(open_)
        found[open_[:until]] = True
        none[open_[until : until + 1]] = True
    return found
