"""The Hessian of an objective over sparse directions: products and rows, and the whole matrix only where p is small.

With an intercept the Hessian is that of min_b f(x, b). Two of them matter for a GLM:

| Hessian | matrix | what it is good for |
|---|---|---|
| at a point | X'WX + l2, W = diag(c phi'') | its eigenvalues are at most f's smoothness, at least its convexity |
| ``hessian_bound`` | sup phi'' X'CX + l2 | no Hessian of f exceeds it: its eigenvalues bound the smoothness |
"""

from collections.abc import Callable

import numpy as np

from .._utils.lazy import lazy
from .._utils.types import Columns, Matrix, Vector
from ..data.sums import Sums
from ..losses import DiagonalHessian
from ..objectives.base import Objective, Point
from ..objectives.glm import GLM

MAX_DENSE_COLUMNS = 2000  # columns up to which the whole matrix is formed
MAX_DUAL_ROWS = 2500  # rows up to which X X' is formed in place of X'X
ROWS_AT_A_TIME = 64  # of the matrix, computed together


class SparseHessian:
    """A symmetric matrix H of order ``dim``, by its rows and its products with sparse vectors.

    Parameters
    ----------
    dim : int
        Its order.
    rows : callable
        ``rows(cols)`` gives H[cols], shape (m, dim).
    diagonal : callable
        ``diagonal()`` gives H_jj for all j.
    times : callable or None
        ``times(cols, V)`` gives H[:, cols] @ V; by default from ``rows``.
    dual : callable or None
        ``dual()`` gives the eigenvalues of H - ``ridge`` I that may not be zero, from a small matrix.
    ridge : float
        A number that H - ridge I is known to be positive semidefinite for.
    rank : float
        An upper bound of the rank of H - ridge I.
    """

    def __init__(
        self,
        dim: int,
        rows: Callable[[Columns], Matrix],
        diagonal: Callable[[], Vector],
        times: Callable[[Columns, Matrix], Matrix] | None = None,
        dual: Callable[[], Vector] | None = None,
        ridge: float = 0.0,
        rank: float = np.inf,
    ) -> None:
        self.dim, self.ridge, self.rank = dim, ridge, rank
        self._rows, self._diagonal, self._times, self._dual = rows, diagonal, times, dual

    @lazy
    def full(self) -> Matrix | None:
        """The whole matrix; None where p is large."""
        if self.dim > MAX_DENSE_COLUMNS:
            return None
        H = np.array(self._rows(np.arange(self.dim)), dtype=np.float64)
        return 0.5 * (H + H.T)

    @lazy
    def diagonal(self) -> Vector:
        return np.array(self._diagonal() if self.full is None else self.full.diagonal(), dtype=np.float64)

    def rows(self, cols: Columns) -> Matrix:
        """H[cols], shape (m, dim)."""
        if self.full is not None:
            return self.full[cols]
        pieces = [self._rows(cols[low : low + ROWS_AT_A_TIME]) for low in range(0, len(cols), ROWS_AT_A_TIME)]
        return np.concatenate(pieces) if pieces else np.empty((0, self.dim))

    def times(self, cols: Columns, V: Matrix) -> Matrix:
        """H[:, cols] @ V."""
        if self.full is not None:
            return self.full[:, cols] @ V
        return self.rows(cols).T @ V if self._times is None else self._times(cols, V)

    @lazy
    def spectrum(self) -> Vector | None:
        """All eigenvalues; where p is large those of H - ridge I that may not be zero, or None."""
        if self.full is not None:
            return np.asarray(np.linalg.eigvalsh(self.full), dtype=np.float64)
        return None if self._dual is None else self._dual()


def hessian_at(f: Objective, point: Point) -> SparseHessian:
    """The Hessian of f at a point."""
    if isinstance(f, GLM):
        return _glm_hessian(f, point, bound=False)
    every = np.arange(f.dim)
    return SparseHessian(f.dim, lambda cols: f.hessian_rows(point, cols), lambda: f.curvatures(point, every))


def hessian_bound(f: Objective) -> SparseHessian | None:
    """A matrix that no Hessian of f exceeds; None where there is none."""
    if isinstance(f, GLM) and np.isfinite(f.loss.smoothness) and f.loss.smooth:
        return _glm_hessian(f, f.null, bound=True)
    return None


def _glm_hessian(f: GLM, point: Point, bound: bool) -> SparseHessian:
    if f.outputs > 1 and not f.quadratic:
        raise TypeError("curvature needs an objective with one output, or several responses of the squared loss")
    p, data, centred = f.data.shape[1], f.data, f.fit_intercept
    ridge, lowest = np.broadcast_to(f.ridge, p), float(np.min(f.ridge))
    if f.quadratic:
        model = data.metric()
    else:
        model = data.model(point.support, point.coef, point.free)
        model = model.bounding() if bound else model
    every = np.arange(p)

    def rows(cols: Columns) -> Matrix:
        H = np.array(data.gram(cols, centred)[0] if isinstance(data, Sums) else model.rows(cols, None, centred))
        H[np.arange(len(cols)), cols] += ridge[cols]
        return H

    def diagonal() -> Vector:
        return np.asarray(model.squares(every, centred) + ridge)

    W = getattr(model, "W", None)
    rank = data.shape[0] - (1 if centred else 0) if data.whole else np.inf
    if not (data.whole and data.near and isinstance(W, DiagonalHessian)):
        return SparseHessian(p, rows, diagonal, ridge=lowest, rank=rank)
    w, design = W.w, data.design
    weight = float(w.sum())

    def times(cols: Columns, V: Matrix) -> Matrix:
        T = design.matmat(cols, np.ascontiguousarray(V))
        if centred and weight > 0:
            T = T - w @ T / weight
        out = np.array(design.rmatmat(np.ascontiguousarray(w[:, None] * T)))
        out[cols] += ridge[cols][:, None] * V
        return out

    def dual() -> Vector:
        """The eigenvalues of W^1/2 (X - mean)(X - mean)' W^1/2, and what a ridge that varies may add."""
        n, root = data.shape[0], np.sqrt(w)
        K = np.zeros((n, n))
        for low in range(0, p, 256):
            A = design.block(every[low : low + 256]).dense().copy(order="F")
            if centred and weight > 0:
                A -= w @ A / weight
            A *= root[:, None]
            K += A @ A.T
        return np.asarray(np.linalg.eigvalsh(K) + float(np.max(ridge) - lowest), dtype=np.float64)

    small = data.shape[0] <= MAX_DUAL_ROWS and not data.products_only
    return SparseHessian(p, rows, diagonal, times, dual if small else None, lowest, rank)
