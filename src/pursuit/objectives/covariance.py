"""A covariance matrix that a user brings: checked, on the correlation scale, with its rank."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .._utils.column_names import check_names, column_label, get_column_names
from .._utils.row_order import warn_column_order
from .._utils.types import ArrayLike, Columns, Matrix, Vector
from .._utils.validation import check_array, check_count, check_number, format_list
from ..refits import eigenvalue_bounds

ASYMMETRY = 1e-8  # of an entry, on the correlation scale, that counts as rounding; and of an eigenvalue below zero
SAME = 1e-10  # how far from 1 the correlation of two columns is that count as one


@dataclass(frozen=True)
class Correlations:
    """R = S_ij / (s_i s_j) with a unit diagonal, s, what the variables are called, and the rank of R.

    ``same`` are pairs of variables that are the same but for their units, ``said`` is a sentence about them.
    """

    R: Vector
    scales: Vector
    names: tuple[str, ...] | None
    rank: int
    same: Columns
    said: str


def correlations(covariance: ArrayLike, n_samples: int | None, names: Sequence[object] | None) -> Correlations:
    """Of a symmetric, positive semidefinite matrix with a positive diagonal; else an error says where it is not."""
    own = get_column_names(covariance)
    warn_column_order(own, covariance=covariance)
    S = check_array(covariance, "covariance")
    if S.ndim != 2 or S.shape[0] != S.shape[1]:
        raise ValueError(f"covariance must be a square matrix, got shape {S.shape}")
    p = len(S)
    if p < 2:
        raise ValueError(f"covariance must be of at least 2 variables, got {p}")
    own = own if names is None else check_names(names, p, "covariance")
    variance = S.diagonal()
    if not (variance > 0).all():
        raise ValueError(
            f"covariance has no positive variance for {column_label(np.flatnonzero(~(variance > 0)), own)}"
        )
    scales = np.sqrt(variance)
    R = S / scales / scales[:, None]
    apart = np.abs(R - R.T)
    if apart.max() > ASYMMETRY:
        i, j = np.unravel_index(int(apart.argmax()), apart.shape)
        raise ValueError(
            f"covariance must be symmetric, but entries ({i}, {j}) and ({j}, {i}) are {S[i, j]:g} and {S[j, i]:g}"
        )
    R = 0.5 * (R + R.T)
    np.fill_diagonal(R, 1.0)
    values = np.linalg.eigvalsh(R)
    if values[0] < -ASYMMETRY * p:
        raise ValueError(
            "covariance must be positive semidefinite, but its smallest eigenvalue (on a unit diagonal) is "
            f"{values[0]:.3g}"
        )
    rank = int((values > 1e-10 * values[-1]).sum())
    if n_samples is not None:
        rank = min(rank, check_count(n_samples, "n_samples", 1))
    same = np.argwhere(np.triu(np.abs(R) >= 1 - SAME, 1))
    return Correlations(np.clip(R, -1.0, 1.0), scales, own, rank, same, _same(same, own))


def check_bounds(
    eigenvalues: tuple[float | None, float | None] | None, covariance: Callable[[], Matrix]
) -> tuple[float, float]:
    """Bounds (alpha, beta) of eigenvalues; none are 0 and infinity, "paper" those of Lu's rule for a covariance."""
    if eigenvalues is None:
        return 0.0, np.inf
    if isinstance(eigenvalues, str) and eigenvalues.casefold() == "paper":
        return eigenvalue_bounds(covariance())
    wanted = "eigenvalues must be (alpha, beta), bounds with 0 <= alpha < beta, or 'paper'"
    ends = list(eigenvalues) if np.iterable(eigenvalues) and not isinstance(eigenvalues, str) else []
    if len(ends) != 2:
        raise ValueError(f"{wanted}, got {eigenvalues!r}")
    alpha = check_number(0.0 if ends[0] is None else ends[0], "the lower bound of eigenvalues")
    beta = ends[1]
    beta = np.inf if beta is None or beta == np.inf else check_number(beta, "the upper bound of eigenvalues")
    if not alpha < beta:
        raise ValueError(f"{wanted}, got {eigenvalues!r}")
    return alpha, beta


def _same(same: Columns, names: tuple[str, ...] | None) -> str:
    """A sentence about variables that are multiples of others."""
    if not len(same):
        return ""
    node = str if names is None else (lambda v: names[v])
    some = format_list((f"{node(a)} and {node(b)}" for a, b in same), 3)
    return f"variables are the same but for their units ({some})"
