"""Small symmetric systems: the one Cholesky factor of the library, and what to do where there is none."""

import numpy as np
from scipy.linalg import lapack

from .._utils.types import Matrix, Vector

MIN_GOOD_CONDITION = 1e-6  # reciprocal condition above which one step minimises a quadratic, and no second look is due
RANK_TOLERANCE = 1e-12  # eigenvalues below this share of the largest, on a unit diagonal, count as zero


class Factor:
    """Cholesky of a matrix scaled to a unit diagonal, with its reciprocal condition number (0 when it fails).

    ``quick`` takes the ratio of the pivots for it, which is at least as large: enough for a step that is safeguarded.
    """

    def __init__(self, H: Matrix, quick: bool = False) -> None:
        self.s = unit_scale(H)
        scaled = H * self.s * self.s[:, None]
        dead = np.flatnonzero(self.s == 0)
        scaled[dead, dead] = 1.0
        norm = 0.0 if quick else float(np.abs(scaled).sum(axis=0).max(initial=0.0))
        self.L, info = lapack.dpotrf(scaled, lower=1, overwrite_a=1, clean=0)
        if info != 0 or dead.size:
            self.rcond = 0.0
        elif quick or len(H) == 0:
            pivots = self.L.diagonal()
            self.rcond = float(pivots.min(initial=1.0) / pivots.max(initial=1.0)) ** 2
        else:
            self.rcond = float(lapack.dpocon(self.L, norm, uplo="L")[0])

    def solve(self, g: Vector) -> Vector:
        """H^-1 g, for a vector or for columns."""
        s = self.s if g.ndim == 1 else self.s[:, None]
        return np.asarray(s * lapack.dpotrs(self.L, s * g, lower=1)[0])


def unit_scale(H: Matrix) -> Vector:
    """s with s_i H_ii s_i = 1; 0 where H_ii is not positive."""
    diagonal = H.diagonal()
    return np.where(diagonal > 0, 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0)), 0.0)


def pseudo_solve(H: Matrix, g: Vector) -> Vector:
    """A solution of H x = g, directions with next to no curvature (on a unit diagonal) left out."""
    s = unit_scale(H)
    values, vectors = np.linalg.eigh(H * s * s[:, None])
    keep = values > max(RANK_TOLERANCE * values[-1], 0.0)
    V = s[:, None] * vectors[:, keep]
    return np.asarray((V / values[keep]) @ (V.T @ g))


def absolute(H: Matrix) -> Matrix:
    """H, or where it has negative eigenvalues the matrix with their absolute values."""
    H = 0.5 * (H + H.T)
    values, vectors = np.linalg.eigh(H)
    if len(values) == 0 or values[0] >= -1e-10 * max(values[-1], 1e-300):
        return H
    return (vectors * np.abs(values)) @ vectors.T


def newton_direction(H: Matrix, g: Vector) -> Vector:
    """-|H|^-1 g: Newton's direction where H is positive, a descent direction anywhere."""
    values, vectors = np.linalg.eigh(H)
    size = np.abs(values)
    return -(vectors @ ((vectors.T @ g) / np.maximum(size, max(1e-12 * size.max(initial=0.0), 1e-300))))
