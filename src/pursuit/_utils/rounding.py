"""Rounding error: of doubles, sums, columns, and of what kernels compute from Gram matrices."""

import numpy as np

from .types import Vector

EPS = float(np.finfo(float).eps)
SUM_ROUNDING = 32 * EPS  # share of a sum of products, by the sizes of its factors, that rounding may be
COLUMN_ROUNDING = 1e-13  # share of a column below which it is rounding: coefficients in double precision could not tell
DOUBLE_DOUBLE_ROUNDING = 1e-31  # rounding in twice the digits

# Reciprocal condition number, and share of a column, above which the formula for exchanges has digits
MIN_CONDITION = 1e-7
# Share of a value that rounding may be where it is computed from the Gram matrix, not from residuals
MAX_ROUNDING_SHARE = 1e-10
MIN_VALUE_ERROR = 1e-11  # share of a value that it may always be off by
# Mean over standard deviation of a column beyond which values are computed from the data, not from Gram columns
MAX_MEAN_TO_SPREAD = 1e4
MIN_VARIANCE_SHARE = 1e-20  # share of a column's mean square below which its variance may be rounding
MAX_SQUARE = 1e150  # range of squared columns that need no care
MIN_VALUE_SHARE = 1e-6  # share of the null value below which differences of products of columns have no digits


def gram_rounding(rows: float) -> float:
    """The rounding error of an entry of a Gram matrix on a unit diagonal, a sum over so many rows."""
    return float(0.5 * EPS * (8 + 2 * np.sqrt(rows)))


def has_safe_range(squares: Vector) -> bool:
    """Whether the squares of columns neither overflow nor underflow in products."""
    if not np.isfinite(squares).all() or not (squares > 0).any():
        return False
    some = squares[squares > 0]
    return bool(some.min() > 1 / MAX_SQUARE and some.max() < MAX_SQUARE)


def value_rounding(x: Vector, h: Vector, f0: float, rounded: float = SUM_ROUNDING) -> float:
    """What a value f0 + c'x + x'Hx/2 may be off by, since |H_ij| <= sqrt(h_i h_j) and |c_j| <= sqrt(2 f0 h_j).

    Of several responses (a column of x each) these are added up: the norm over them takes the place of each.
    """
    sizes = np.abs(x.T) @ np.sqrt(h)
    size = float(sizes if x.ndim == 1 else np.linalg.norm(sizes)) + float(np.sqrt(2 * f0))
    return 0.5 * rounded * size * size


def exchange_rounding(
    condition: float, most: float, share: float = MIN_CONDITION, rounded: float = SUM_ROUNDING
) -> float:
    """What the formula's change for an exchange may be off by, in a Gram matrix with H_ij known to within rounding.

    A step d changes that by (sum_l |d_l| sqrt(H_ll))^2. Leaving at a cost c takes |d_l| sqrt(H_ll) <= sqrt(2 c V_l),
    V_l being 1 / (the share of column l that the others leave), and (sum_l sqrt(V_l))^2 <= 1 / condition. A newcomer
    with the share s left comes in by |d| sqrt(H) <= sqrt(2 c / s), and moves the others by as much times sqrt(V_l).
    ``most`` is the largest cost.
    """
    return rounded / condition * (1 + 1 / share) * most
