"""Bounds of extreme s-sparse eigenvalues that hold for every support.

For a symmetric positive semidefinite H, any S with |S| <= s:

| bound | of the largest | of the smallest |
|---|---|---|
| all columns | largest eigenvalue of H | smallest eigenvalue of H |
| Gershgorin | max_j H_jj + the s-1 largest of the other |H_jl| | min_j H_jj - these |
| trace | the sum of the s largest H_jj | |
| ridge | | l2, since H - l2 I is positive semidefinite |
| enumeration | exact, where there are few supports | exact |

Each bound is widened by what rounding may have done.
"""

from itertools import combinations
from math import comb

import numpy as np

from .._utils.lazy import lazy
from .._utils.rounding import EPS
from .._utils.types import Matrix, Vector
from .hessian import SparseHessian

MAX_ENUMERATED = 4000  # supports that are all looked at
EIGENVALUE_ROUNDING = 64 * EPS  # of an eigenvalue, for each column
PAIR_SIZE = 2  # size of supports that are all looked at by a formula


class Outer:
    """Bounds of the extreme s-sparse eigenvalues of one matrix.

    Parameters
    ----------
    H : SparseHessian
        Positive semidefinite.
    """

    def __init__(self, H: SparseHessian) -> None:
        self.H = H
        self._exact: dict[int, tuple[float, float] | None] = {}

    @lazy
    def noise(self) -> float:
        """What rounding may do to an eigenvalue of H on one column."""
        return EIGENVALUE_ROUNDING * float(np.abs(self.H.diagonal).max(initial=0.0))

    @lazy
    def sorted_rows(self) -> Matrix | None:
        """Sums of the largest off-diagonal entries: entry (m, j) adds the m largest of column j."""
        if self.H.full is None:
            return None
        A = np.abs(self.H.full)
        np.fill_diagonal(A, 0.0)
        A = -np.sort(-A, axis=0)
        return np.concatenate([np.zeros((1, self.H.dim)), np.cumsum(A, axis=0)])

    def largest(self, s: int) -> tuple[float, str]:
        """An upper bound of the largest s-sparse eigenvalue, and which bound it is."""
        s = min(s, self.H.dim)
        room, diagonal = self.noise * self.H.dim, self.H.diagonal
        exact = self.exact(s)
        if exact is not None:
            return exact[1] + self.noise * s, "all supports"
        bounds = [(float(np.sort(diagonal)[-s:].sum()) + room, "trace")]
        if self.sorted_rows is not None:
            bounds.append((float((diagonal + self.sorted_rows[s - 1]).max()) + room, "Gershgorin"))
        spectrum = self.H.spectrum
        if spectrum is not None:
            top = float(spectrum[-1]) + (0.0 if self.H.full is not None else self.H.ridge)
            bounds.append((top + room + EIGENVALUE_ROUNDING * self.H.dim * abs(top), "all columns"))
        return min(bounds)

    def smallest(self, s: int) -> tuple[float, str]:
        """A lower bound of the smallest s-sparse eigenvalue, and which bound it is."""
        s = min(s, self.H.dim)
        room, diagonal = self.noise * self.H.dim, self.H.diagonal
        exact = self.exact(s)
        if exact is not None:
            return max((exact[0] - self.noise * s, "all supports"), (self.H.ridge, "ridge"))
        bounds = [(self.H.ridge, "ridge")]
        if self.sorted_rows is not None:
            bounds.append((float((diagonal - self.sorted_rows[s - 1]).min()) - room, "Gershgorin"))
        if self.H.full is not None and self.H.spectrum is not None:
            spectrum = self.H.spectrum
            bounds.append(
                (float(spectrum[0]) - room - EIGENVALUE_ROUNDING * self.H.dim * float(spectrum[-1]), "all columns")
            )
        return max(bounds)

    def exact(self, s: int) -> tuple[float, float] | None:
        """The smallest and the largest s-sparse eigenvalue over all supports; None where there are too many."""
        if s not in self._exact:
            self._exact[s] = self._enumerate(s)
        return self._exact[s]

    def _enumerate(self, s: int) -> tuple[float, float] | None:
        H, p = self.H.full, self.H.dim
        if s == 1:
            return float(self.H.diagonal.min()), float(self.H.diagonal.max())
        if H is None:
            return None
        if s == PAIR_SIZE:
            return _pairs(H)
        if comb(p, s) > MAX_ENUMERATED or comb(p, s) * s**3 > 1e3 * MAX_ENUMERATED:
            return None
        supports = np.array(list(combinations(range(p), s)))
        values = np.linalg.eigvalsh(H[supports[:, :, None], supports[:, None, :]])
        return float(values[:, 0].min()), float(values[:, -1].max())


def _pairs(H: Matrix) -> tuple[float, float]:
    """The extreme eigenvalues of all 2 x 2 blocks, by their formula."""
    d: Vector = H.diagonal()
    low, high = np.inf, -np.inf
    for j in range(len(d) - 1):
        mean, half = 0.5 * (d[j] + d[j + 1 :]), 0.5 * (d[j] - d[j + 1 :])
        root = np.sqrt(half**2 + H[j, j + 1 :] ** 2)
        low, high = min(low, float((mean - root).min())), max(high, float((mean + root).max()))
    return low, high
