"""A dense copy of the columns of a least squares problem, for sweeps that need every digit of them."""

from typing import TYPE_CHECKING

import numpy as np

from .. import _core
from .._utils.rounding import DOUBLE_DOUBLE_ROUNDING, SUM_ROUNDING
from .._utils.types import Columns, Flags, Vector
from ..designs import centre
from ..kernels.unit_columns import UnitColumns
from ..refits.basis import EXACT_COMBINATION_SHARE

if TYPE_CHECKING:
    from .glm import GLM

MAX_ENTRIES = 4e6  # of X, up to which there is a copy
MAX_DIRECTION_ERROR = 1e-8  # of the directions of a basis in twice the digits, beyond which nothing is said
MAX_ATTEMPTS = 4  # calls of the kernel in twice the digits, one more for every column that is no combination


def unit_columns(f: "GLM") -> UnitColumns | None:
    """Copy the columns of f, without the ridge; None where it is no squared loss on rows in memory, or too large."""
    if not _copyable(f):
        return None
    A, rows = f.data.copied()
    y = np.array(rows.y if rows.offset is None else rows.y - rows.offset, np.float64, order="F")
    y = y.reshape(len(y), -1, order="F")
    if f.fit_intercept:
        centre(A, rows.c)
        centre(y, rows.c)
    root = np.sqrt(rows.c)
    A *= root[:, None]
    square = np.einsum("ij,ij->j", A, A)
    if not np.isfinite(square).all():
        return None
    columns = np.divide(A, np.sqrt(np.where(square > 0, square, 1.0)), order="F")
    return UnitColumns(columns, root * y.T, square, np.zeros(len(square)), _raw_share(f))


def _raw_share(f: "GLM") -> Vector:
    """Squared lengths of the columns as they are stored, as a share of what they are here."""
    moments = f.data.raw.moments()
    here = moments.moment(f.fit_intercept or f.data.view is not None)
    return np.asarray(moments.moment(False) / np.where(here > 0, here, np.inf))


def _copyable(f: "GLM") -> bool:
    """Whether f is a squared loss on rows in memory that are few enough for a copy."""
    data = f.data
    if (
        f.gram is None
        or f.columns_per_feature > 1
        or not data.whole
        or data.products_only
        or data.room.gram is not None
    ):
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
        left = _core.orthonormal(A, c, np.zeros(A.shape[1]), f.fit_intercept, EXACT_COMBINATION_SHARE)[2]
        new = np.flatnonzero(left[len(support) :] > 0)
        until = new[0] if len(new) else len(open_)
        found[open_[:until]] = True
        none[open_[until : until + 1]] = True
    return found


def exact_exchanges(f: "GLM", support: Columns, newcomer: int) -> Vector | None:
    """Lower bounds of what exchanging each column of a support for one newcomer changes f by, in twice the digits.

    Q is an orthonormal basis of S + j, A = Q T^-1, z = Q'y. Leaving i out of S + j adds (T_i z)^2 / (2 |T_i|^2), and
    leaving j out adds z_j^2 / 2, so that the exchange changes f by the difference. One basis serves all i, and all
    responses, over which squares are added up.

    Returns
    -------
    array or None
        A bound for each column of the support; None where there is a ridge, the data are no dense copy in memory, the
        columns are exact combinations of each other, or even twice the digits do not suffice.
    """
    problem = f.unit_columns()
    if problem is None or np.any(f.ridge):
        return None
    design, rows = f.data.design, f.data.rows
    A, shift, _ = design.stored(np.append(support, newcomer))
    if np.any(shift) and not f.fit_intercept:
        return None
    used = rows.c > 0  # as in the target's copy
    A, c = np.asfortranarray(A[used]), rows.c[used]
    n, m = A.shape
    Q, T, left = _core.orthonormal(A, c, np.zeros(m), f.fit_intercept, EXACT_COMBINATION_SHARE)
    least = float(left.min(initial=1.0))
    error = np.sqrt(m) * SUM_ROUNDING + (DOUBLE_DOUBLE_ROUNDING * n * m / least if least > 0 else np.inf)
    if error > MAX_DIRECTION_ERROR:
        return None
    z = Q.T @ (np.sqrt(c) * problem.target).T
    cost = np.linalg.norm(T @ z, axis=1) / np.linalg.norm(T, axis=1)
    noise = error * float(np.linalg.norm(problem.target))
    above, below = np.maximum(cost[:-1] - noise, 0.0), float(np.linalg.norm(z[-1])) + noise
    return np.asarray(0.5 * (above**2 - below**2))
