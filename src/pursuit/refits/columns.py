"""A loss on a few columns, as a function of their coefficients and the intercept; on rows that are here, or in parts.

sum_i c_i phi(y_i, A_i v + b + o_i) + sum_j ridge_j/2 v_j^2

With q outputs v is m x q and b has q entries. The variables z are then the coefficients in the directions of the
outputs that matter (``loss.basis``; for classes q - 1 of them, since a constant added to all classes changes no
probability), row by row, the intercepts last.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._utils.lazy import lazy
from .._utils.types import Intercept, Matrix, Vector
from ..designs.blocks import DenseBlock, NewtonSystem, ProductBlock, Quick
from ..designs.rows import Rows
from ..designs.sparse import SparseBlock
from ..designs.standardized import StandardizedBlock
from ..engines import check_time, seconds_left
from ..losses import DiagonalHessian, Loss, RowHessian
from ..losses.row_hessians import SoftmaxHessian
from .basis import Stored
from .problem import Fit, Line, SmoothProblem, State

MAX_DIRECT_VARIABLES = 400  # variables of several outputs up to which their Hessian is formed
MAX_KERNEL_VARIABLES = 1000  # variables, and rows times squared classes, up to which the kernel refits classes
MAX_KERNEL_WORK = 1e7
MAX_HESSIAN_COLUMNS = 1500  # columns beyond which no m x m Hessian is formed
# sparse columns beyond which products with the Hessian come first, and how many
MIN_PRODUCT_COLUMNS, MAX_FIRST_PRODUCTS = 300, 600
MAX_KERNEL_COLUMNS = 100  # columns up to which the kernel does a whole refit: its own Cholesky is no LAPACK
# squared pivots, and at the end the reciprocal condition, on a unit diagonal, at which the kernel gives up
MIN_PIVOT_SHARE = 1e-11
KERNEL_DECREMENT = 1e-13  # Newton decrement, relative to the height, at which the kernel is done
SEPARATED_LOSS = 1e-14  # mean loss at which data count as separated
ORTHONORMAL_COPIES = 8  # of the columns, that orthonormal coordinates make
MAX_DENSE_COPY = 1e8  # n m up to which a dense copy of the columns is made
MAX_SPARSE_COPY = 5e6  # the same for sparse columns

SEPARATION = "the chosen columns separate the classes, so no finite minimiser exists (set l2 > 0)"
NO_COUNTS = "every count is zero, so no finite minimiser exists (set l2 > 0)"


@dataclass(frozen=True)
class Fitted:
    """Coefficients, intercept, value and lower bound; a sentence if there is something to say; a kinked loss's dual."""

    coef: Vector
    b: Intercept
    value: float
    lower_bound: float
    note: str = ""
    minimiser: bool = True
    dual: Vector | None = None
    full_gradient: Vector | None = None  # X'(c phi') for all columns, where it was known at the end
    converged: bool = True  # False where the refit ran out of steps


@dataclass(frozen=True)
class _RowState:
    """What a state knows of the rows: eta, the Hessian in eta and, if that came with it, X'(c phi')."""

    eta: Vector
    W: RowHessian
    full_gradient: Vector | None


@dataclass(frozen=True, eq=False)
class LossOnColumns(SmoothProblem):
    """A loss on a few columns, with its ridge (one number or one per column) and perhaps an intercept.

    ``lower`` is a lower bound of the loss, ``ends`` the least and the largest target; ``stored`` gives the columns as
    the user stored them (else: the block's own). What needs the rows comes last, as functions of (v, b) and
    without the ridge: answers of disjoint rows add up.
    """

    loss: Loss
    ridge: float | Vector
    intercept: bool
    lower: float = field()  # without the default of SmoothProblem
    ends: tuple[float, float]
    block: Any  # a Block; None where rows are in parts
    rows: Any  # Rows; None where they are in parts
    stored: Callable[[], Stored] | None = None
    outputs: int = field(default=1, kw_only=True)
    room: float = field(default=np.inf, kw_only=True)  # columns that may be kept in memory
    direct: bool = field(default=False, kw_only=True)  # whether a Hessian is formed although products may be cheaper

    convex = True

    @property
    def quadratic(self) -> bool:  # type: ignore[override]
        return self.loss.quadratic

    @property
    def steep(self) -> bool:  # type: ignore[override]
        return not np.isfinite(self.loss.smoothness)

    @property
    def by_products(self) -> bool:
        """Whether no Hessian is formed."""
        if self.outputs > 1:
            return (self.width + self.intercept) * self.directions > MAX_DIRECT_VARIABLES
        return self.width > MAX_HESSIAN_COLUMNS or self.products_only or self.tried_by_products

    @property
    def tried_by_products(self) -> bool:
        """Whether conjugate gradients come first: products with sparse columns are cheap, and a ridge bounds them."""
        worth = self.sparse and self.width > MIN_PRODUCT_COLUMNS and not self.quadratic and not self.direct
        return bool(worth and np.all(self.ridge))

    @property
    def sparse(self) -> bool:
        return isinstance(self.block, SparseBlock | StandardizedBlock)

    @property
    def affordable(self) -> bool:
        """Whether a dense copy of the columns is."""
        most = MAX_SPARSE_COPY if self.sparse else MAX_DENSE_COPY
        return self.entries <= most and ORTHONORMAL_COPIES * self.width <= self.room

    @property
    def patience(self) -> float:  # type: ignore[override]
        """Half the products that a gather takes: two make one with the Hessian; or what a Hessian is worth."""
        if self.tried_by_products and self.width <= MAX_HESSIAN_COLUMNS:
            return MAX_FIRST_PRODUCTS
        return 0.5 * self.width if self.products_only and self.affordable else np.inf

    @property
    def endless(self) -> str:  # type: ignore[override]
        return SEPARATION if self.loss.targets in ("binary", "classes") else NO_COUNTS

    @property
    def bottom(self) -> float:  # type: ignore[override]
        low, high = self.ends
        if self.loss.attained or (np.all(self.ridge) and not (self.intercept and low == high)):
            return -np.inf  # an intercept has no ridge
        return SEPARATED_LOSS if self.loss.targets in ("binary", "classes") or low == high == 0 else -np.inf

    @lazy
    def turn(self) -> Matrix:
        """The directions of the outputs that matter, q x r, with orthonormal columns."""
        return self.loss.basis(self.outputs)

    @property
    def directions(self) -> int:
        """How many variables a column has."""
        return 1 if self.outputs == 1 else self.turn.shape[1]

    def split(self, z: Vector) -> tuple[Vector, Intercept]:
        """Coefficients and intercept."""
        if self.outputs > 1:
            Z = z.reshape(-1, self.turn.shape[1]) @ self.turn.T
            return Z[: self.width], Z[self.width] if self.intercept else np.zeros(self.outputs)
        return z[: self.width], float(z[self.width]) if self.intercept else 0.0

    def join(self, v: Vector, b: Intercept) -> Vector:
        if self.outputs > 1:
            return np.ravel((np.vstack([v, b]) if self.intercept else v) @ self.turn)
        return np.append(v, b) if self.intercept else np.array(v, dtype=np.float64)

    def _ridged(self, v: Vector) -> Vector:
        """The derivative of the ridge's term."""
        return np.asarray((self.ridge if v.ndim == 1 or np.ndim(self.ridge) == 0 else self.ridge[:, None]) * v)  # type: ignore[index]

    def penalty(self, v: Vector) -> float:
        return 0.5 * float(np.vdot(v, self._ridged(v)))

    def penalty_at(self, z: Vector) -> float:
        return self.penalty(self.split(z)[0])

    def at(self, z: Vector, hessian: bool = True) -> State:
        m, (v, b), r = self.width, self.split(z), self.directions
        H = cache = None
        if self.by_products:
            value, g, cache = self.value_and_gradient(v, b)
        else:
            value, g, H = self.system(v, b, hessian)
        g[:m] += self._ridged(v)
        size = (m + self.intercept) * r
        if H is not None:
            H = H[:size, :size]
            H[np.arange(m * r), np.arange(m * r)] += (
                self.ridge if r == 1 else np.repeat(np.broadcast_to(self.ridge, m), r)
            )
        g = g if self.outputs == 1 else np.ravel(g @ self.turn)
        return State(z, value + self.penalty(v), g[:size], None if H is None else lambda: H, cache)

    def line(self, here: State, d: Vector) -> Line:
        """Each trial costs O(n) only."""
        (v, b), (dv, db) = self.split(here.z), self.split(d)
        loss = self.along(here.cache, v, b, dv, db)
        vv, vd, dd = (float(np.vdot(one, self._ridged(other))) for one, other in ((v, v), (v, dv), (dv, dv)))

        def trial(t: float) -> tuple[float, float, State | None]:
            value, slope = loss(t)
            return value + 0.5 * (vv + 2 * t * vd + t * t * dd), slope + vd + t * dd, None

        return trial

    def product(self, here: State) -> Callable[[Vector], Vector] | None:
        times = self.curved(here.cache, *self.split(here.z))

        def apply(u: Vector) -> Vector:
            v, b = self.split(u)
            head, tail = times(v, b)
            return self.join(head + self._ridged(v), tail)

        return apply

    def diagonal(self, here: State) -> Vector | None:
        if (
            self.block is None or self.products_only or self.outputs > 1
        ):  # rows elsewhere, and columns of an operator, would have to be gathered
            return None
        W = self.terms(here.z)[2] if here.cache is None else here.cache.W
        if not isinstance(W, DiagonalHessian):
            return None
        return self.join(self.block.curvatures(W.w, False) + self.ridge, float(W.w.sum()))

    def curve(self) -> Matrix | None:
        if not np.isfinite(self.loss.smoothness):
            return None
        size = self.width + self.intercept
        bound = self.loss.smoothness * self.bound()[:size, :size]
        return bound if self.outputs == 1 else np.asarray(np.kron(bound, np.eye(self.turn.shape[1])))

    def ending(self, fit: Fit) -> Fitted:
        """The end of a minimisation on these columns."""
        v, b = self.split(fit.z)
        full_gradient = fit.at.cache.full_gradient if isinstance(fit.at.cache, _RowState) else None
        return Fitted(
            v.copy(),
            b,
            fit.value,
            fit.lower_bound,
            fit.note,
            fit.minimiser,
            full_gradient=full_gradient,
            converged=fit.converged,
        )

    # the rows

    @property
    def scattered(self) -> bool:
        """Whether the columns are something else than one dense array."""
        return not isinstance(self.block, DenseBlock)

    @property
    def width(self) -> int:
        return self.block.width

    @property
    def entries(self) -> int:
        return len(self.rows.y) * self.width

    @property
    def products_only(self) -> bool:
        return self.block.products_only

    def system(self, v: Vector, b: Intercept, hessian: bool) -> NewtonSystem:
        """Value, gradient (columns, then b; of several outputs (m + 1) x q), Hessian in the variables z."""
        if self.outputs == 1:
            return self.block.newton(self.loss, self.rows, v, b, hessian)
        eta = self.rows.shift(self.block.matvec(v), b)
        value, d1 = self.loss.first_order(self.rows.y, eta, self.rows.c)
        G = np.vstack([self.block.rmatvec(d1), d1.sum(axis=0)])
        if not hessian:
            return value, G, None
        D = np.column_stack([self.block.dense(), np.ones(len(eta))])
        return value, G, _output_hessian(D, self.loss.row_hessian(self.rows.y, eta, self.rows.c), self.turn)

    def eta(self, z: Vector) -> Vector:
        v, b = self.split(z)
        return self.rows.shift(self.block.matvec(v), b)

    def terms(self, z: Vector) -> tuple[float, Vector, RowHessian]:
        """The loss's sum and its first and second derivative in eta, at z."""
        return self.loss.terms(self.rows.y, self.eta(z), self.rows.c)

    def value_and_gradient(self, v: Vector, b: Intercept) -> tuple[float, Vector, Any]:
        """Value, gradient and the state of the rows, which is cached: each product with the columns is expensive."""
        eta = self.rows.shift(self.block.matvec(v), b)
        value, d1, W = self.loss.terms(self.rows.y, eta, self.rows.c)
        full_gradient = self.block.weighted_transpose(d1) if isinstance(self.block, ProductBlock) else None
        g = self.block.rmatvec(d1) if full_gradient is None else full_gradient[self.block.cols]
        gradient = np.append(g, d1.sum()) if d1.ndim == 1 else np.vstack([g, d1.sum(axis=0)])
        return value, gradient, _RowState(eta, W, full_gradient)

    def along(
        self, cache: Any, v: Vector, b: Intercept, dv: Vector, db: Intercept
    ) -> Callable[[float], tuple[float, float]]:
        """From t to the loss at (v, b) + t (dv, db) and its slope: O(rows) a trial."""
        eta = self.rows.shift(self.block.matvec(v), b) if cache is None else cache.eta
        turn = self.block.matvec(dv) + db

        def trial(t: float) -> tuple[float, float]:
            value, d1 = self.loss.first_order(self.rows.y, eta + t * turn, self.rows.c)
            return value, float(np.vdot(d1, turn))

        return trial

    def curved(self, cache: Any, v: Vector, b: Intercept) -> Callable[[Vector, Intercept], tuple[Vector, Intercept]]:
        """From (u, a) to the product with the Hessian."""
        W = self.terms(self.join(v, b))[2] if cache is None else cache.W
        if self.outputs > 1 or not isinstance(W, DiagonalHessian):

            def coupled(u: Vector, a: Intercept) -> tuple[Vector, Intercept]:
                d = W.times(self.block.matvec(u) + a)
                return self.block.rmatvec(d), d.sum(axis=0)

            return coupled
        w = W.w
        flat = (w == 0) & (self.rows.c > 0)
        if flat.any() and np.isfinite(self.loss.smoothness):  # a little curvature where the loss has none
            w = np.where(flat, 1e-4 * self.loss.smoothness * self.rows.c, w)

        def times(u: Vector, a: Intercept) -> tuple[Vector, Intercept]:
            return self.block.hessian_product(w, u, float(a))

        return times

    def bound(self) -> Matrix:
        """Weighted sums of products of the columns and of 1: times the largest phi'' no Hessian exceeds it."""
        m, c = self.width, self.rows.c
        G = np.empty((m + 1, m + 1))
        G[:m, :m] = self.block.gram(c)
        G[m, :m] = G[:m, m] = self.block.rmatvec(c)
        G[m, m] = c.sum()
        return G

    def curves(self, z: Vector) -> tuple[float, float]:
        """The least and the largest c phi'' at z, of rows that count."""
        used = self.terms(z)[2].diagonal()[self.rows.c > 0]
        return float(used.min(initial=np.inf)), float(used.max(initial=0.0))

    def reach(self, d: Vector) -> float:
        """The largest change of a row's eta in direction d."""
        dv, db = self.split(d)
        return float(np.abs(self.block.matvec(dv) + db)[self.rows.c > 0].max(initial=0.0))

    def kernel_fit(self, z: Vector) -> Quick | None:
        """A refit in one call of the kernel, as far as that goes; None where it has nothing to say."""
        m = self.width
        if m > MAX_KERNEL_COLUMNS or len(z) == 0:
            return None
        start = z if self.intercept else np.append(z, 0.0)
        limits = (self.bottom, self.lower, KERNEL_DECREMENT, MIN_PIVOT_SHARE, seconds_left())
        found = self.block.fit(self.loss, self.rows, np.broadcast_to(self.ridge, m), self.intercept, start, limits)
        if found is not None and not found[2]:
            check_time()
        return None if found is None else (found[0][: len(z)], *found[1:])

    def fit_classes(self, C: Matrix, b: Intercept) -> tuple[Matrix, Intercept, float | None, bool]:
        """The minimiser of a multinomial loss by its kernel, and its value; None: how far it came.

        Last, whether it went where coefficients grow without end.
        """
        m, q = self.width, self.outputs
        variables = (m + self.intercept) * (q - 1)
        small = (
            not self.scattered and 0 < variables <= MAX_KERNEL_VARIABLES and len(self.rows.c) * q**2 <= MAX_KERNEL_WORK
        )
        labels = one_hot(self.loss, self.rows.y) if small else None
        if labels is None:
            return C, b, None, False
        E = np.ascontiguousarray(self.turn)
        z, value, done, endless = _core.multinomial_fit(
            labels,
            self.rows.c,
            self.rows.offset,
            E,
            np.asfortranarray(self.block.dense()),
            np.array(np.broadcast_to(self.ridge, m)),
            self.intercept,
            self.bottom,
            np.ravel(np.vstack([C, b]) @ E),
        )
        Z = z.reshape(m + 1, -1) @ E.T
        return Z[:-1], Z[-1], value if done else None, endless

    def target_sums(self) -> tuple[Vector, Vector, float]:
        """Weighted sums of the columns, of the targets of the squared loss, and of 1."""
        c = self.rows.c
        return c @ self.block.dense(), c @ self._target(), float(c.sum())

    def normal_equations(self, mean: Vector, level: Vector) -> tuple[Matrix, Matrix]:
        """Weighted products of columns less ``mean`` with each other, and with targets less ``level``."""
        A = self.block.dense() - mean
        W = self.rows.c[:, None] * A
        return W.T @ A, W.T @ (self._target() - level)

    def _target(self) -> Vector:
        return self.rows.y if self.rows.offset is None else self.rows.y - self.rows.offset

    def response(self, r: int) -> "LossOnColumns":
        """The squared loss of one of several responses."""
        y, offset = self.rows.y[:, r], self.rows.offset
        offset = None if offset is None else np.ascontiguousarray(offset if offset.ndim == 1 else offset[:, r])
        return replace(self, rows=replace(self.rows, y=np.ascontiguousarray(y), offset=offset), outputs=1)

    def gather_rows(self) -> "LossOnColumns":
        """The same with all rows in one place."""
        return self

    def gather_columns(self) -> "LossOnColumns":
        """The same with the columns gathered in one dense array."""
        return replace(self, block=DenseBlock(self.block.dense())) if self.scattered else self

    def to_arrays(self) -> tuple[Matrix, Rows, Stored | None]:
        """The columns, what belongs to the rows, and the columns as they are stored."""
        return self.block.dense(), self.rows, None if self.stored is None else self.stored()

    def columns(self) -> Stored | None:
        """The columns as they are stored; None where they are too many for a dense copy."""
        if not self.affordable:
            return None
        if self.stored is not None:
            return self.stored()
        return Stored(self.block.dense(), np.zeros(self.width), np.ones(self.width))


def _output_hessian(D: Matrix, W: RowHessian, turn: Matrix) -> Matrix:
    """sum_i (d_i d_i') x (T' W_i T), T the directions of the outputs: products of matrices only."""
    m, r = D.shape[1], turn.shape[1]
    out = np.zeros((m * r, m * r))
    if not isinstance(W, SoftmaxHessian):  # responses do not couple
        for s in range(r):
            out[s::r, s::r] = D.T @ (W.diagonal()[:, s, None] * D)
        return out
    for rows, T, P in W.pieces(turn):
        A, c = D[rows], W.c[rows, None]
        pairs = (A[:, :, None] * A[:, None, :]).reshape(len(A), m * m)
        h = (pairs.T @ (c * P)).reshape(m, m, -1)
        out += (T.T @ (h[..., None] * T)).transpose(0, 2, 1, 3).reshape(m * r, m * r)
        u = (A[:, :, None] * (P @ T)[:, None, :]).reshape(len(A), m * r)
        out -= u.T @ (c * u)
    return out


def one_hot(loss: Loss, Y: Matrix) -> NDArray[np.int64] | None:
    """The class of each row, where the targets of a multinomial loss are classes and not shares."""
    if loss.name != "multinomial" or not (((Y == 0) | (Y == 1)).all() and (Y.sum(axis=1) == 1).all()):
        return None
    return Y.argmax(axis=1)
