"""The squared loss from sums that were added up elsewhere: over blocks of a file, on workers, in a database.

    f(x, b) = (yy - 2 x'xy + x' gram x) / (2 n)  +  l2/2 ||x||^2        without an intercept;
                                                                        with one, the same about the means

Everything else is a GLM's, on rows that have these sums (:mod:`pursuit.data.sums`). Sums of products have half of the
digits of the rows, and no claim may rest on the other half: a refit's lower bound is what every Gram matrix within
rounding of this one leaves, and columns that are equal to eight digits are columns about which nothing is claimed.
"""

from collections.abc import Sequence

import numpy as np

from .._utils.column_names import check_names, get_column_names
from .._utils.rounding import SUM_ROUNDING, value_rounding
from .._utils.row_order import warn_column_order
from .._utils.types import ArrayLike, Columns, Matrix, Vector
from .._utils.validation import check_array, check_number
from ..data.sums import Sums, check_spread
from ..refits.factor import Factor
from .glm import GLM
from .point import Point

MAX_ASYMMETRY = 1e-8  # of an entry, on a unit diagonal, that counts as rounding
MIN_EIGENVALUE_TO_ROUNDING = 8  # times the rounding of a Gram matrix that its least eigenvalue must be
UNCERTAIN_VALUE = "the sums do not tell the chosen columns apart, so the value is known only roughly"


class Quadratic(GLM):
    """The squared loss from sums over rows: X'X, X'y, y'y and n, to be minimised over k-sparse coefficients.

    Parameters
    ----------
    gram : array or data frame of shape (p, p)
        The sum of x x' over rows (with weights: the weighted sum), as it comes from adding up blocks; nothing is
        divided by n and nothing is centred. Add up in double precision: of sums in single precision little can be
        claimed.
    xy : array of shape (p,)
        The sum of x y.
    yy : float
        The sum of y^2.
    n : float
        The number of rows; with weights their sum.
    mean : array of shape (p,) or None, default None
        The means of the columns (the plain sums divided by n). With ``ymean``: there is an intercept, and it is
        minimised out. Without them there is none.
    ymean : float or None, default None
        The mean of y.
    l2 : float or array of shape (p,), default 0
        Ridge as in ``GLM``.
    names : sequence of str or None, default None
        Names of the columns; None: those of ``gram`` where it is a data frame.
    shift : array of shape (p,) or None, default None
        Where the sums are about other numbers than zero, these: all five are then sums (and means) of x - shift and
        y - yshift. Where means are much larger than spreads that is the way to add up: any row will do for a shift, as
        long as it is the same for all blocks.
    yshift : float, default 0
        The same for y.

    See Also
    --------
    GLM : From rows.

    Notes
    -----
    Coefficients and intercept are those for X and y. Solvers that look at rows (svrght, diht, sdiht) are refused. A
    claim (``swap_optimal``, ``proved``) is made of the function that these sums give, with their last digits in doubt;
    where columns are so close to dependent, or so far from zero, that too few digits are left, it is not made.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> X, y = np.random.default_rng(0).standard_normal((100, 5)), np.arange(100.0)
    >>> f = pursuit.Quadratic(X.T @ X, X.T @ y, y @ y, 100, mean=X.mean(axis=0), ymean=y.mean())
    >>> pursuit.solve(f, 2).support.tolist() == pursuit.solve(pursuit.GLM(X, y), 2).support.tolist()
    True
    """

    offers: tuple[str, ...] = ("bounds", "proof")

    def __init__(
        self,
        gram: ArrayLike,
        xy: ArrayLike,
        yy: float,
        n: float,
        *,
        mean: ArrayLike | None = None,
        ymean: float | None = None,
        l2: ArrayLike = 0.0,
        names: Sequence[object] | None = None,
        shift: ArrayLike | None = None,
        yshift: float = 0.0,
    ) -> None:
        own = get_column_names(gram)
        H, n, unit = _symmetric(gram), check_number(n, "n", strict=True), _unit(gram, xy)
        p = len(H)
        own = own if names is None else check_names(names, p, "gram")
        warn_column_order(own, gram=gram, xy=xy, mean=mean, shift=shift)
        yshift = check_number(yshift, "yshift", low=-np.inf)
        c, square = _one_each(xy, "xy", p), check_number(yy, "yy")
        size = np.append(H.diagonal(), square) * (unit / n)
        if (mean is None) != (ymean is None):
            raise ValueError("mean and ymean go together: give both for an intercept, or neither")
        if mean is None:
            if shift is not None or yshift:
                raise ValueError("shift and yshift need an intercept, which takes them up: give mean and ymean too")
            sums = Sums((H / n, c / n, square / n), size, n, None, 0.0, own)
        else:
            m, level = _one_each(mean, "mean", p), check_number(ymean, "ymean", low=-np.inf)
            origin = np.zeros(p) if shift is None else _one_each(shift, "shift", p)
            G, left = check_spread(H, m, n, own), square / n - level**2
            if left < -1e-10 * square / n:
                raise ValueError("ymean is too large for yy and n: are all three of the same rows?")
            form = G, c / n - level * m, max(left, 0.0)
            sums = Sums(form, size, n, m + origin, level + yshift, own)
        super().__init__(sums, loss="squared", l2=l2, fit_intercept=mean is not None)
        self.rounded = SUM_ROUNDING * float(sums.coarse.max(initial=1.0)) ** 2

    def require(self, need: str) -> None:
        if need not in self.offers:
            raise TypeError("the solver looks at rows one by one, and a Quadratic has only their sums; use GLM(X, y)")

    @property
    def floor(self) -> float:  # type: ignore[override]
        """Sums about the means do not tell from nothing what is within their rounding; others never come there."""
        return max(super().floor, 4 * SUM_ROUNDING * self.null.value) if not np.any(self.ridge) else super().floor

    def refit_on_data(self, support: Columns, start: Point | None = None) -> Point:
        return self._within_rounding(super().refit_on_data(support, start))

    def _within_rounding(self, point: Point) -> Point:
        """The point with the least value that it may have, the sums being known to within rounding."""
        S, (coarse, coarse_y) = point.support, self.data.rounding_scale(point.support)
        H, at = self.data.gram(S, True)[0][:, S], np.arange(len(S))
        squares = coarse**2 * H.diagonal()
        H[at, at] += self._ridge(S)
        if (
            len(S)
            and not Factor(H).rcond > MIN_EIGENVALUE_TO_ROUNDING * len(S) * SUM_ROUNDING * float(coarse.max()) ** 2
        ):
            return point.weaken(self.lower, UNCERTAIN_VALUE)
        return point.weaken(point.value - 2 * value_rounding(point.coef, squares, coarse_y**2 * self.null.value))


def _symmetric(gram: ArrayLike) -> Matrix:
    H = check_array(gram, "gram")
    if H.ndim != 2 or H.shape[0] != H.shape[1] or len(H) == 0:
        raise ValueError(f"gram must be a square matrix, a row and a column for each column of X, got shape {H.shape}")
    diagonal = H.diagonal()
    if (diagonal < 0).any():
        raise ValueError(f"gram must have no negative number on its diagonal, got {diagonal.min():g}")
    size = np.sqrt(diagonal)
    apart = np.abs(H - H.T) - MAX_ASYMMETRY * np.outer(size, size)
    if apart.max() > 0:
        i, j = np.unravel_index(int(apart.argmax()), apart.shape)
        raise ValueError(
            f"gram must be symmetric, but entries ({i}, {j}) and ({j}, {i}) are {H[i, j]:g} and {H[j, i]:g}"
        )
    return 0.5 * (H + H.T)


def _unit(*given: ArrayLike) -> float:
    """How many times coarser than double precision the numbers are."""
    kinds = [getattr(array, "dtype", None) for array in given]
    return max([1.0, *(float(np.finfo(kind).eps) * 2.0**52 for kind in kinds if kind is not None and kind.kind == "f")])


def _one_each(values: ArrayLike, name: str, p: int) -> Vector:
    given = check_array(values, name)
    if given.shape != (p,):
        raise ValueError(f"{name} must have one entry per column of gram, shape ({p},), got shape {given.shape}")
    return given
