"""How much of a known sparse signal an estimate has found: the measures of the papers' experiments."""

from typing import TypeAlias

import numpy as np

from .._utils.types import ArrayLike, Columns, Vector
from .._utils.validation import check_array
from ..solving.result import Result

Coefficients: TypeAlias = ArrayLike | Result  # of all columns, or a Result with them


def exact_recovery(truth: Coefficients, estimate: Coefficients) -> bool:
    """Whether the k* largest coefficients of an estimate are the support of the truth, k* its size.

    Parameters
    ----------
    truth : array of shape (p,)
        The true coefficients, k* of them not zero.
    estimate : array of shape (p,) or Result
        What was estimated, perhaps with more than k* coefficients.

    Returns
    -------
    bool
        Whether it holds.

    Raises
    ------
    ValueError
        Where the two are not vectors of one length.

    See Also
    --------
    relaxed_recovery : Whether the support of the truth is among that of the estimate.

    Notes
    -----
    GraHTP's "exact support recovery", supp(w, k*) = supp(w*) (section 6.1 and Theorem 8). For an estimate with k*
    coefficients it is equality of supports, and the mean over replications the percentage of successful support
    recovery (PSSR) of the DIHT paper.

    Examples
    --------
    >>> import pursuit
    >>> pursuit.exact_recovery([1.0, 0.0, 2.0], [0.5, 0.1, 3.0])
    True
    >>> pursuit.exact_recovery([1.0, 0.0, 2.0], [0.1, 0.5, 3.0])
    False
    """
    a, b = _pair(truth, estimate)
    true = np.flatnonzero(a)
    if np.count_nonzero(b) < len(true):
        return False
    top = np.argsort(-np.abs(b), kind="stable")[: len(true)]
    return bool(np.array_equal(np.sort(top), true))


def relaxed_recovery(truth: Coefficients, estimate: Coefficients) -> bool:
    """Whether every column of the truth's support is in that of an estimate.

    Parameters
    ----------
    truth : array of shape (p,)
        The true coefficients.
    estimate : array of shape (p,) or Result
        What was estimated.

    Returns
    -------
    bool
        Whether it holds.

    Raises
    ------
    ValueError
        Where the two are not vectors of one length.

    See Also
    --------
    exact_recovery : Whether the largest coefficients of the estimate are those of the truth.

    Notes
    -----
    GraHTP's "relaxed support recovery", supp(w*) within supp(w) (section 6.1; the conclusion of Corollary 7).

    Examples
    --------
    >>> import pursuit
    >>> pursuit.relaxed_recovery([1.0, 0.0, 2.0], [0.1, 0.5, 3.0])
    True
    >>> pursuit.relaxed_recovery([1.0, 0.0, 2.0], [0.0, 0.5, 3.0])
    False
    """
    a, b = _pair(truth, estimate)
    return bool(np.all(b[a != 0] != 0))


def support_f1(truth: Coefficients, estimate: Coefficients) -> float:
    """The F score of the support: the harmonic mean of precision and recall.

    Parameters
    ----------
    truth : array of shape (p,)
        The true coefficients.
    estimate : array of shape (p,) or Result
        What was estimated.

    Returns
    -------
    float
        Between 0 and 1; 1 where both supports are empty.

    Raises
    ------
    ValueError
        Where the two are not vectors of one length.

    See Also
    --------
    support_mcc : The same question by Matthews' correlation coefficient.

    Examples
    --------
    >>> import pursuit
    >>> pursuit.support_f1([1.0, 0.0, 2.0], [0.5, 0.1, 3.0])
    0.8
    """
    found, true, both, _ = _counts(truth, estimate)
    return 2.0 * both / (found + true) if found + true else 1.0


def support_mcc(truth: Coefficients, estimate: Coefficients) -> float:
    """Matthews' correlation between the true and the estimated support.

    Parameters
    ----------
    truth : array of shape (p,)
        The true coefficients.
    estimate : array of shape (p,) or Result
        What was estimated.

    Returns
    -------
    float
        Between -1 and 1; 0 where one of the supports is empty or has all columns.

    Raises
    ------
    ValueError
        Where the two are not vectors of one length.

    See Also
    --------
    support_f1 : The same question by the F1 score.

    Examples
    --------
    >>> import pursuit
    >>> pursuit.support_mcc([1.0, 0.0, 2.0, 0.0], [0.5, 0.0, 3.0, 0.0])
    1.0
    """
    found, true, both, p = _counts(truth, estimate)
    spread = float(found) * (p - found) * true * (p - true)
    return (p * both - found * true) / float(np.sqrt(spread)) if spread > 0 else 0.0


def relative_error(truth: Coefficients, estimate: Coefficients) -> float:
    """The Euclidean distance of an estimate to the truth, as a share of the truth's norm.

    Parameters
    ----------
    truth : array of shape (p,)
        The true coefficients, not all zero.
    estimate : array of shape (p,) or Result
        What was estimated.

    Returns
    -------
    float
        The error.

    Raises
    ------
    ValueError
        Where all true coefficients are zero.

    See Also
    --------
    exact_recovery : Whether the support was found.

    Examples
    --------
    >>> import pursuit
    >>> pursuit.relative_error([3.0, 4.0], [3.0, 0.0])
    0.8
    """
    a, b = _pair(truth, estimate)
    size = float(np.linalg.norm(a))
    if size == 0:
        raise ValueError("truth must have a coefficient that is not zero: the error is relative to its norm")
    return float(np.linalg.norm(b - a)) / size


def _counts(truth: Coefficients, estimate: Coefficients) -> tuple[int, int, int, int]:
    """How many columns were found, are true, are both, are there."""
    a, b = _pair(truth, estimate)
    found, true = np.flatnonzero(b), np.flatnonzero(a)
    return len(found), len(true), len(_common(found, true)), len(a)


def _common(one: Columns, other: Columns) -> Columns:
    return np.intersect1d(one, other, assume_unique=True)


def _pair(truth: Coefficients, estimate: Coefficients) -> tuple[Vector, Vector]:
    a, b = (check_array(_coefficients(given), name) for given, name in ((truth, "truth"), (estimate, "estimate")))
    if a.ndim != 1 or a.shape != b.shape:
        raise ValueError(f"estimate must be a vector as long as truth, got shapes {a.shape} and {b.shape}")
    return a, b


def _coefficients(given: Coefficients) -> ArrayLike:
    """A vector; the coefficients of a Result, in full."""
    return given.x if isinstance(given, Result) else given
