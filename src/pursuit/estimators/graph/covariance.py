"""Covariances of rows about their mean or about the means of their classes, in two passes over X."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..._utils.column_names import column_label
from ..._utils.rounding import EPS
from ..._utils.types import Columns, Flags, Matrix, Vector

CONSTANT_TOLERANCE = 8 * EPS  # times a column's largest entry: the standard deviation of a constant
SQUARABLE_RANGE = 1e-140, 1e140  # sizes of entries between which variances are neither 0 nor infinite


class CovarianceEstimate(NamedTuple):
    """``means``, a row each (one, or one per class), the covariance about them divided by n, and its rank at most."""

    means: Matrix
    covariance: Matrix
    rank: int


def estimate_covariance(
    X: Matrix, weights: Vector, codes: Columns | None = None, classes: int = 1, centred: bool = True
) -> CovarianceEstimate:
    """The maximum-likelihood covariance of the rows, of which ``weights`` sum to one; O(n p^2).

    ``codes`` are the classes of the rows as numbers; a class without a row has the mean 0. With ``centred=False`` the
    means are 0.
    """
    n, p = X.shape
    codes = np.zeros(n, np.int64) if codes is None else codes
    means, met = np.zeros((classes, p)), 0
    for label in range(classes if centred else 0):
        rows = np.flatnonzero((codes == label) & (weights > 0))
        if len(rows):
            means[label], met = _mean(X[rows], weights[rows] / weights[rows].sum()), met + 1
    rank = _count_distinct_rows(X, weights, codes, p + met) - met
    return CovarianceEstimate(means, second_moment(X, weights, codes, means), max(0, min(p, rank)))


def _count_distinct_rows(X: Matrix, weights: Vector, codes: Columns, most: int) -> int:
    """How many rows differ within their classes, counted up to ``most``: a repeated row adds nothing to the rank."""
    seen: set[tuple[int, int]] = set()
    for i in np.flatnonzero(weights > 0):
        seen.add((hash(X[i].tobytes()), int(codes[i])))
        if len(seen) == most:
            break
    return len(seen)


def second_moment(X: Matrix, weights: Vector, codes: Columns, means: Matrix) -> Matrix:
    """The weighted mean of (x - mean of its class)(x - mean of its class)'."""
    apart = X - means[codes] if len(means) > 1 else X - means[0]
    apart *= np.sqrt(weights)[:, None]
    return apart.T @ apart


def check_variances(X: Matrix, covariance: Matrix, names: Sequence[str] | None, where: str = "") -> None:
    """Raise, in a sentence with their names, where columns do not vary, or cannot be squared."""
    check_magnitudes(X, names)
    flat = np.flatnonzero(flat_columns(X, covariance))
    if len(flat):
        are, them = ("is", "it") if len(flat) == 1 else ("are", "them")
        raise ValueError(f"{column_label(flat, names)} {are} constant{where}; leave {them} out")


def check_magnitudes(X: Matrix, names: Sequence[str] | None) -> None:
    """Raise where the variance of a column would be lost."""
    size = np.abs(X).max(axis=0)
    odd = np.flatnonzero(((size < SQUARABLE_RANGE[0]) & (size > 0)) | (size > SQUARABLE_RANGE[1]))
    if len(odd):
        holds, them = ("holds", "it") if len(odd) == 1 else ("hold", "them")
        raise ValueError(f"{column_label(odd, names)} {holds} numbers too large or too small to square; rescale {them}")


def flat_columns(X: Matrix, covariance: Matrix) -> Flags:
    """Which columns have no variance but rounding."""
    return np.asarray(np.sqrt(covariance.diagonal()) <= CONSTANT_TOLERANCE * np.abs(X).max(axis=0))


def replace_constant_columns(covariance: Matrix, flat: Flags, variance: Vector) -> Matrix:
    """The same with these columns as if they were independent of all others and had this variance."""
    S = covariance.copy()
    S[flat], S[:, flat] = 0.0, 0.0
    S[flat, flat] = variance[flat]
    return S


def _mean(X: Matrix, weights: Vector) -> Vector:
    first = X[0]  # so that a column far from zero loses no digits
    return np.asarray(first + weights @ (X - first))
