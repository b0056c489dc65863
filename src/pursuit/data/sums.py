"""Data of which only sums are left: rows that have the same sums stand in for those that are gone.

With G = X'X / n about the means (or about zero, without an intercept), on a unit diagonal,

    G = R'R,   R'r = X'y / n,   r'r = y'y / n        the rows (R, r): as many as columns, and one for what y has left

so that the squared loss on them is the one on the rows that were added up, for every x. With an intercept a reflection
turns them so that their means vanish: an intercept then is what it always is.

**Rounding.** A sum of products knows G_ij to within u a_i a_j sqrt(G_ii G_jj), a_j^2 being the mean square about the
point that sums are about over the variance (1 about the means). That much is added to the diagonal, and where it does
not make G positive (with y as one more column) the sums are coarser than they say. ``rounding_scale`` gives the
factors a_j to code that makes claims.
"""

from typing import Any, ClassVar

import numpy as np
from scipy.linalg import lapack, solve_triangular

from .._utils.column_names import Names, column_label
from .._utils.rounding import SUM_ROUNDING
from .._utils.types import Columns, Intercept, Matrix, Vector
from ..designs import Dense, Rows
from ..losses import Squared
from .answers import QuadraticForm
from .rows import Data
from .sketch import form_sketch

MAX_LOST_DIGITS = 7  # powers of ten that sums may be coarser than rounding makes them
MIN_VARIANCE_SHARE = 1e-10  # share of a column's mean square that must be left when its mean is taken off


class Sums(Data):
    """The squared loss from sums; ``counted`` rows were added up, ``mean`` and ``ymean`` are None without an intercept.

    ``form`` is (G, X'y / n, y'y / n) about the means, ``size`` the mean squares of the columns and, last, of y that
    were added up.
    """

    whole: ClassVar[bool] = False

    def __init__(
        self,
        form: tuple[Matrix, Vector, float],
        size: Vector,
        n: float,
        mean: Vector | None,
        ymean: float,
        names: Names | None,
    ) -> None:
        self.G, self.c, square = form
        spread = np.append(self.G.diagonal(), square)
        self.coarse = np.sqrt(np.divide(size, spread, out=np.ones(len(size)), where=spread > 0))
        self.counted, self.mean, self.ymean = int(n) if n == int(n) else n, mean, ymean
        scale = np.sqrt(self.G.diagonal())
        s = np.divide(1.0, scale, out=np.zeros(len(scale)), where=scale > 0)
        R, r, more = _factored(self.G * s * s[:, None], s * self.c, square, self.coarse)
        self.coarse *= np.sqrt(more)
        super().__init__(*_rows(R * scale, r, names, mean is not None), Squared())

    def __getstate__(self) -> dict[str, object]:
        own = ("G", "c", "coarse", "counted", "mean", "ymean")
        return {**super().__getstate__(), **{name: self.__dict__[name] for name in own}}

    def rounding_scale(self, cols: Columns) -> tuple[Vector, float]:
        return np.maximum(self.coarse[cols], 1.0), max(float(self.coarse[-1]), 1.0)

    def gram(self, cols: Columns, centred: bool) -> tuple[Matrix, Vector]:
        return self.G[cols], np.zeros(len(cols))

    def form(self, m: Vector, s: Vector, level: Intercept) -> QuadraticForm:
        """From the sums themselves, without what the stand-in rows have more on the diagonal; m and level are 0."""
        return QuadraticForm(self.G / s / s[:, None], self.c / s, np.zeros(len(s)), 0.0)

    def sketch(self) -> Matrix:
        """Of the sums themselves: the rows that stand in for them have other bits on other machines."""
        scale = np.sqrt(self.G.diagonal())
        even = np.divide(1.0, scale, out=np.zeros(len(scale)), where=scale > 0)
        level = max(float(self.rows.c @ self.rows.y**2), 1e-300)
        places = [] if self.mean is None else [self.mean * even, np.array([self.ymean / np.sqrt(level)])]
        sizes = np.log(np.append(np.maximum(self.G.diagonal(), 1e-300), [level, self.counted]))
        return form_sketch(self.G * even * even[:, None], self.c * even / np.sqrt(level), sizes, *places)

    def origin(self) -> None:
        return None

    def in_units(self, cols: Columns, coef: Vector, b: Intercept) -> tuple[Vector, Intercept]:
        return coef, b if self.mean is None else b + self.ymean - float(self.mean[cols] @ coef)

    def from_units(self, cols: Columns, coef: Vector, b: Intercept) -> tuple[Vector, Intercept]:
        return coef, b if self.mean is None else b - self.ymean + float(self.mean[cols] @ coef)

    @property
    def local(self) -> Any:
        raise self._gone

    def take(self, rows: Columns, scale: float) -> Data:
        raise self._gone

    def weighted(self, c: Any) -> Data:
        raise self._gone

    def folds(self, labels: Columns) -> Any:
        raise self._gone

    @property
    def _gone(self) -> TypeError:
        return TypeError("sums hold no rows, of which this needs some: use GLM(X, y), or sums of those rows alone")


def _factored(even: Matrix, linear: Vector, square: float, coarse: Vector) -> tuple[Matrix, Vector, float]:
    """R, r, and what multiple of SUM_ROUNDING was added to the diagonal so that there are rows with such sums.

    At least that is added: in a direction that rounding may have made too short, r would be too long.
    """
    used, y_noise = np.flatnonzero(even.diagonal()), SUM_ROUNDING * float(coarse[-1]) ** 2
    trouble = "gram must be positive semidefinite, about the means where these are given: no rows have such sums"
    for more in 10.0 ** np.arange(MAX_LOST_DIGITS):
        H = even[np.ix_(used, used)]
        H[np.arange(len(used)), np.arange(len(used))] += more * SUM_ROUNDING * coarse[used] ** 2
        L, info = lapack.dpotrf(H, lower=1, overwrite_a=1)
        if info == 0:
            r = solve_triangular(L, linear[used], lower=True) if len(used) else np.empty(0)
            left = (1 + more * y_noise) * square - float(r @ r)
            if left >= 0:
                R = np.zeros((len(used), len(even)))
                R[:, used] = L.T
                return R, np.append(r, np.sqrt(left)), more
            trouble = "yy is too small for xy and gram: no rows have such sums (are they all sums of the same rows?)"
    raise ValueError(trouble)


def _rows(R: Matrix, r: Vector, names: Names | None, intercept: bool) -> tuple[Dense, Rows]:
    """The factor as rows that weigh the same, with means of zero where there is an intercept."""
    A = np.vstack([R, np.zeros(R.shape[1])])
    A, y = (_reflected(A), _reflected(r[:, None])[:, 0]) if intercept else (A, r)
    m = len(A)
    design = Dense(np.asfortranarray(np.sqrt(m) * A))
    design.names = names
    return design, Rows(np.sqrt(m) * y, np.full(m, 1 / m))


def _reflected(A: Matrix) -> Matrix:
    """A zero row on top, and then the reflection that takes this row to equal parts of all: column means vanish."""
    A = np.vstack([np.zeros((1, A.shape[1])), A])
    v = np.full(len(A), -1 / np.sqrt(len(A)))
    v[0] += 1.0
    return A - np.outer(v, (2 / (v @ v)) * (v @ A))


def check_spread(gram: Matrix, mean: Vector, n: float, names: Names | None) -> Matrix:
    """gram / n about the means, or a sentence about columns whose mean square is all mean."""
    square = gram.diagonal() / n
    G = gram / n - np.outer(mean, mean)
    lost = (G.diagonal() <= MIN_VARIANCE_SHARE * square) & (square > 0)
    if (G.diagonal() < -MIN_VARIANCE_SHARE * square).any():
        where = column_label(np.flatnonzero(G.diagonal() < -MIN_VARIANCE_SHARE * square), names)
        raise ValueError(f"mean is too large for gram and n in {where}: are all three of the same rows?")
    if lost.any():
        where = column_label(np.flatnonzero(lost), names)
        raise ValueError(
            f"gram shows no spread about the mean in {where}: constant columns are to be left out, and where means are "
            "far larger than the spread, sums are to be taken about a common shift"
        )
    return G
