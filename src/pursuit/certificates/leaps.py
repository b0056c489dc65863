"""Leaps and bounds for the squared loss: the best subsets of all sizes in one kernel call (core/leaps.hpp).

The kernel works on a triangular factor of the allowed columns. It comes from the Gram matrix where these are clearly
independent. Else it comes from the rows, by an orthogonal factorisation that has twice as many digits to tell dependent
columns from nearly dependent ones by, and only if all that look dependent are exactly so in the stored data.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import lapack, solve_triangular

from .. import _core
from .._utils.rounding import COLUMN_ROUNDING, EPS, gram_rounding
from .._utils.types import Columns, Matrix, Vector
from ..constraints import AtMost
from ..objectives.glm import GLM
from ..refits.basis import EXACT_COMBINATION_SHARE
from ..refits.factor import unit_scale

MAX_COLUMNS = 64  # the kernel's sets are words of 64 bits
MAX_LISTED = 10_000  # subsets of a size that the kernel keeps in order
MAX_FLOPS = 4e9  # flops, a few seconds, after which branch and bound on the Gram matrix goes on
MIN_INDEPENDENT_SHARE = 1e-3  # new share of a column's norm above which Gram entries tell columns apart
MAX_FACTOR_WORK = 1e9  # n m^2 up to which rows are factored
EXACT_FIT_SHARE = 1e-13  # share of the null model's value at which no better subset can be distinguished
MIN_SCALE_SHARE = 1e-9  # share of the null model's value that a gap is relative to at least, as in ``GLM.scale``


@dataclass(frozen=True)
class Triangle:
    """f(S) = unit (base + min ||z - R_S x||^2 / 2); R'R, R'z and z'z are known to within ``rounding``.

    z has a column per response, and roundings are multiplied by their number: the kernel adds up over responses.
    ``column_rounding``: the columns of R, and z, are known to within that; 0 where only their products are.
    """

    R: Matrix
    z: Matrix
    base: float
    unit: float
    rounding: float
    column_rounding: float = 0.0


@dataclass(frozen=True)
class SizeResult:
    """The subsets of one size that may be among the best: columns, value, rounding; all others are at least ``lower``.

    ``lower`` is inf where there are no others, and the loss's infimum where the last of these fits exactly.
    """

    found: list[tuple[Columns, float, float]]
    lower: float


def leaps(
    f: GLM,
    constraint: AtMost,
    low: int,
    nbest: int,
    tolerance: float,
    late: Callable[[], bool],
    effort: float = MAX_FLOPS,
) -> tuple[dict[int, SizeResult], int]:
    """Sizes from ``low`` to the constraint's k, those that were settled; and how many nodes that took.

    Every unit of the constraint must be one column of X.
    """
    allowed = constraint.allowed
    if len(allowed) > MAX_COLUMNS or nbest > MAX_LISTED or not f.null.value > 0:
        return {}, 0
    data = _from_gram(f, allowed) or _from_rows(f, allowed)
    if data is None:
        return {}, 0
    forced = np.isin(allowed, constraint.include).astype(np.uint8)
    high = min(constraint.k, len(allowed))
    found, unclear, nodes, raised = _core.leaps(
        data.R,
        data.z,
        data.base,
        data.rounding,
        data.column_rounding,
        forced,
        low,
        high,
        nbest,
        tolerance,
        MIN_SCALE_SHARE,
        EXACT_FIT_SHARE,
        effort,
        late,
    )
    if raised is not None:
        raise raised
    settled = {}
    for k, (entries, complete) in enumerate(found, low):
        if complete and entries and not unclear:
            sets = [(allowed[cols], data.unit * value, data.unit * error) for cols, value, error in entries]
            settled[k] = SizeResult(sets, _lower(f, entries, nbest, tolerance, data.unit))
    return settled, nodes


def _lower(f: GLM, entries: list[Any], nbest: int, tolerance: float, unit: float) -> float:
    """What every subset that is not listed has at least."""
    if len(entries) < nbest:
        return np.inf
    _, value, error = entries[nbest - 1]
    if value <= max(EXACT_FIT_SHARE, 4 * error):  # the kernel's rule: it looks for none that could not be distinguished
        return f.lower
    return unit * (value + error - tolerance * max(value + error, MIN_SCALE_SHARE))


def _rounding(f: GLM) -> float:
    """Of one entry of a Gram matrix on a unit diagonal: sums over the rows, and the kernel's own steps."""
    return gram_rounding(f.data.counted) * f.outputs + 4 * EPS * f.data.shape[1] * f.outputs


def _from_gram(f: GLM, cols: Columns) -> Triangle | None:
    """By a Cholesky factor of the Gram matrix, where all columns are clearly independent."""
    coarse, coarse_y = f.data.rounding_scale(cols)
    form, sizes = f.scaled_form
    H, size, f0 = form.gram[np.ix_(cols, cols)], sizes[cols], f.null.value
    H[np.arange(len(cols)), np.arange(len(cols))] += f.column_ridge(cols) * size**2
    s = unit_scale(H)
    if not np.all(s > 0):
        return None
    R, info = lapack.dpotrf(H * s * s[:, None], lower=0, clean=1)
    if info != 0 or not R.diagonal().min(initial=1.0) > MIN_INDEPENDENT_SHARE:
        return None
    z = solve_triangular(R, s[:, None] * form.linear[cols].reshape(len(cols), -1) / np.sqrt(f0), trans=1)
    blur = float(max(coarse.max(initial=1.0), coarse_y)) ** 2
    return Triangle(np.asfortranarray(R), z, max(1.0 - 0.5 * float(np.vdot(z, z)), 0.0), f0, blur * _rounding(f))


def _from_rows(f: GLM, cols: Columns) -> Triangle | None:
    """By an orthogonal factorisation of the rows; None where these are not at hand, or columns nearly dependent."""
    n, m = f.data.shape[0], len(cols)
    if not f.data.whole or f.data.products_only or n * m * m > MAX_FACTOR_WORK:
        return None
    A, rows = f.data.copied(cols)
    y = (rows.y if rows.offset is None else rows.y - rows.offset).reshape(len(A), -1)
    ridge = f.column_ridge(cols)
    if not _exactly_dependent(A, rows.c, ridge, f.fit_intercept):
        return None
    large = np.sqrt(rows.c @ A**2)
    if f.fit_intercept:
        y = y - rows.c @ y
        A -= rows.c @ A
        A -= rows.c @ A
    root = np.sqrt(rows.c)
    W = np.vstack([root[:, None] * A, np.diag(np.sqrt(ridge))])
    norm = np.sqrt((W**2).sum(axis=0))
    alive = norm > COLUMN_ROUNDING * large
    W = np.where(alive, W, 0.0) / np.where(alive, norm, 1.0)
    t = np.vstack([root[:, None] * y, np.zeros((m, y.shape[1]))]) / np.sqrt(f.null.value)
    Q, R = np.linalg.qr(W)
    z = Q.T @ t
    z += Q.T @ (t - Q @ z)
    left = t - Q @ z
    blur = float((large / np.where(alive, norm, np.inf)).max(initial=1.0))  # digits that centring has cost
    return Triangle(
        np.asfortranarray(R),
        z,
        0.5 * float(np.vdot(left, left)),
        f.null.value,
        _rounding(f) + 4 * EPS * blur * f.outputs,
        gram_rounding(f.data.counted) * f.outputs + 2 * EPS * blur * f.outputs,
    )


def _exactly_dependent(A: Matrix, c: Vector, ridge: Vector, intercept: bool) -> bool:
    """Whether columns that cannot be distinguished from combinations of others are exactly such combinations."""
    A = np.asfortranarray(A)
    ranks = [
        int((_core.orthonormal(A, c, ridge, intercept, share)[2] > 0).sum())
        for share in (10 * COLUMN_ROUNDING, EXACT_COMBINATION_SHARE)
    ]
    return ranks[0] == ranks[1]
