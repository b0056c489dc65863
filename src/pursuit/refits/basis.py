"""Coordinates in which columns of any scale, mean and near-dependence are harmless.

    <a, b> = curve sum_i c_i a_i b_i + sum_l ridge_l T_la T_lb,     Q = A T orthonormal in it (and to 1: an intercept)

In u with v = T u a smooth loss whose phi'' is ``curve`` has the identity for its Hessian. T comes from a Cholesky
factor where the columns are far from dependent, else from Gram-Schmidt in twice the digits (core/exactly.hpp), which
also tells exact combinations (left out) from columns that are merely close.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from .. import _core
from .._utils.rounding import COLUMN_ROUNDING, DOUBLE_DOUBLE_ROUNDING
from .._utils.types import Matrix, Vector
from .factor import Factor

MIN_CHOLESKY_CONDITION = 1e-10  # reciprocal condition, on a unit diagonal, above which a Cholesky factor will do
MAX_DOUBLE_DOUBLE_WORK = 2e8  # n m^2 up to which twice the digits are affordable
MAX_SIZE_RATIO = 1e6  # ratio of the columns' sizes above which a least norm is meant in even ones
EXACT_COMBINATION_SHARE = 1e-25  # the same for an exact combination of other columns


@dataclass(frozen=True)
class Stored:
    """Columns as they are stored, A, of which a problem's are (A_j - m_j) / s_j; s is inf for a column that is zero."""

    travels: ClassVar[bool] = True

    A: Matrix
    m: Vector
    s: Vector

    def raw(self, v: Vector) -> Vector:
        """Coefficients of A from those of the problem's columns."""
        return v / (self.s if v.ndim == 1 else self.s[:, None])


@dataclass(frozen=True)
class Basis:
    """Q (n x r), T (m x r), the ridge that is left on u, and the combinations of columns that vanish (m x (m - r)).

    ``whole`` is the basis with columns that differ from a combination of others by rounding only; None: this one is.
    ``error`` is that of Q: what is left of a column has as many digits less as it is smaller.
    """

    Q: Matrix
    T: Matrix
    ridge: Vector
    null: Matrix
    whole: "Basis | None" = None
    error: float = 0.0

    def inward(self, A: Matrix, c: Vector, curve: float, ridge: Vector, w: Vector) -> Vector:
        """u of raw coefficients w: the projection of A w (and of w, in the ridge)."""
        weights = c if w.ndim == 1 else c[:, None]
        return np.asarray(curve * (self.Q.T @ (weights * (A @ w))) + self.T.T @ _by(ridge, w))

    def outward(self, u: Vector) -> Vector:
        """Raw coefficients; of the many for dependent columns see ``least_norm``."""
        return np.asarray(self.T @ u)


def basis(A: Matrix, c: Vector, curve: float, ridge: Vector, intercept: bool) -> Basis | None:
    """Orthonormal coordinates for the columns of A; None where that would cost too much."""
    n, m = A.shape
    found = _by_factor(A, c, curve, ridge, intercept)
    if found is None:
        if n * m * m > MAX_DOUBLE_DOUBLE_WORK:
            return None
        found = _by_digits(A, c, curve, ridge, intercept, COLUMN_ROUNDING)
        if found.null.shape[1]:
            whole = _by_digits(A, c, curve, ridge, intercept, EXACT_COMBINATION_SHARE)
            if whole.null.shape[1] < found.null.shape[1]:
                found = replace(found, whole=_rotated(whole, ridge))
    return _rotated(found, ridge)


def _rotated(room: Basis, ridge: Vector) -> Basis:
    """The same coordinates, turned until the ridge is one number each."""
    if not ridge.any():
        return room
    values, V = np.linalg.eigh(room.T.T @ _by(ridge, room.T))
    return replace(room, Q=np.asfortranarray(room.Q @ V), T=room.T @ V, ridge=np.maximum(values, 0.0))


def least_norm(null: Matrix, v: Vector, size: Vector) -> Vector:
    """v (a vector, or columns) without what it has of the directions that change nothing.

    ``size`` is that of the columns: where they are too far apart for one norm, the norm is that of v times them.
    """
    if null.shape[1] == 0:
        return v
    used = size[size > 0]
    if len(used) and used.max() > MAX_SIZE_RATIO * used.min():
        size = np.where(size > 0, size, used.max())
        even = size if v.ndim == 1 else size[:, None]
        return least_norm(size[:, None] * null, even * v, np.ones(len(size))) / even
    N = np.linalg.qr(null / np.abs(null).max(axis=0))[0]
    return np.asarray(v - N @ (N.T @ v))


def _by_factor(A: Matrix, c: Vector, curve: float, ridge: Vector, intercept: bool) -> Basis | None:
    """The same from the Gram matrix of centred columns, while its condition is harmless."""
    size = np.abs(A).max(axis=0, initial=0.0)
    if not ((size > 1e-120) & (size < 1e120)).all():
        return None
    B = A
    if intercept:
        B = A - c @ A
        B -= c @ B
    H = curve * _core.Matrix(np.asfortranarray(B)).gram(c)
    if (H.diagonal() <= curve * (COLUMN_ROUNDING * size) ** 2).any():  # constant, but for rounding
        return None
    H[np.diag_indices_from(H)] += ridge
    factor = Factor(H)
    if factor.rcond < MIN_CHOLESKY_CONDITION:
        return None
    L = np.tril(factor.L)
    T = factor.s[:, None] * np.linalg.inv(L).T
    return Basis(np.asfortranarray(B @ T), T, np.zeros(A.shape[1]), np.empty((A.shape[1], 0)))


def _by_digits(A: Matrix, c: Vector, curve: float, ridge: Vector, intercept: bool, nothing: float) -> Basis:
    """By Gram-Schmidt in twice the digits; columns of which at most a share of ``nothing`` is new are left out."""
    Q, T, left = _core.orthonormal(np.asfortranarray(A), curve * c, ridge, intercept, nothing)
    alive = left > 0
    error = DOUBLE_DOUBLE_ROUNDING * len(c) / float(left[alive].min(initial=1.0))
    return Basis(Q[:, alive], T[:, alive], np.zeros(int(alive.sum())), T[:, ~alive], error=error)


def _by(ridge: Vector, w: Vector) -> Vector:
    return ridge * w if w.ndim == 1 else ridge[:, None] * w
