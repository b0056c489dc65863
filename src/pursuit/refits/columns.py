"""A loss on a few columns, as a function of their coefficients and the intercept; on rows that are here, or in parts.

sum_i c_i phi(y_i, A_i v + b + o_i) + sum_j ridge_j/2 v_j^2
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from .._types import Matrix, Vector
from ..designs.base import DenseBlock, NewtonSystem, ProductBlock, Quick, joined
from ..designs.sparse import SparseBlock
from ..designs.standardized import StandardizedBlock
from ..engines import Ask, Map, check_time, in_turn, seconds_left, total
from ..losses.base import Loss
from .basis import Stored
from .few import Few, Fit, Line, State

LARGE = 1500  # columns beyond which no m x m Hessian is formed
MODERATE, PATIENT = 300, 600  # sparse columns beyond which products with the Hessian come first, and how many
QUICK = 100  # columns up to which the kernel does a whole refit: its own Cholesky is no LAPACK
SINGULAR = (
    1e-11  # squared pivots, and at the end the reciprocal condition, on a unit diagonal, at which the kernel gives up
)
DECREMENT = 1e-13  # Newton decrement, relative to the height, at which the kernel is done
SEPARATED = 1e-14  # mean loss at which data count as separated
COPIES = 8  # of the columns, that orthonormal coordinates make
GATHERED = 1e8  # n m up to which a dense copy of the columns is made
SPREAD_OUT = 5e6  # the same for sparse columns

SEPARATION = "the chosen columns separate the classes, so no finite minimiser exists (set l2 > 0)"
NO_COUNTS = "every count is zero, so no finite minimiser exists (set l2 > 0)"


@dataclass(frozen=True)
class Fitted:
    """Coefficients, intercept, value and lower bound; a sentence if there is something to say; a kinked loss's dual."""

    coef: Vector
    b: float
    value: float
    least: float
    note: str = ""
    minimiser: bool = True
    dual: Vector | None = None
    pull: Vector | None = None  # X'(c phi') for all columns, where it was known at the end
    converged: bool = True  # False where the refit ran out of steps


@dataclass(frozen=True)
class _Here:
    """What a state knows of the rows: eta, c phi'' and, if that came with it, X'(c phi')."""

    eta: Vector
    curve: Vector
    pull: Vector | None


@dataclass(frozen=True, eq=False)
class LossOnColumns(Few):
    """A loss on a few columns, with its ridge (one number or one per column) and perhaps an intercept.

    ``lower`` is a lower bound of the loss, ``ends`` the least and the largest target; ``stored`` gives the columns as
    the user stored them (else: the block's own). What is asked of the rows comes last, as functions of (v, b) and
    without the ridge: answers of disjoint rows add up.
    """

    loss: Loss
    ridge: float | Vector
    intercept: bool
    lower: float = field()  # without the default of Few
    ends: tuple[float, float]
    block: Any  # a Block
    rows: Any  # Rows
    stored: Callable[[], Stored] | None = None
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
        return self.width > LARGE or self.lean or self.tried_by_products

    @property
    def tried_by_products(self) -> bool:
        """Whether conjugate gradients come first: products with sparse columns are cheap, and a ridge bounds them."""
        worth = self.sparse and self.width > MODERATE and not self.quadratic and not self.direct
        return bool(worth and np.all(self.ridge))

    @property
    def sparse(self) -> bool:
        return isinstance(self.block, SparseBlock | StandardizedBlock)

    @property
    def affordable(self) -> bool:
        """Whether a dense copy of the columns is."""
        most = SPREAD_OUT if self.sparse else GATHERED
        return self.entries <= most and COPIES * self.width <= self.room

    @property
    def patience(self) -> float:  # type: ignore[override]
        """Half the products that a gather takes: two make one with the Hessian; or what a Hessian is worth."""
        if self.tried_by_products and self.width <= LARGE:
            return PATIENT
        return 0.5 * self.width if self.lean and self.affordable else np.inf

    @property
    def endless(self) -> str:  # type: ignore[override]
        return SEPARATION if self.loss.targets == "binary" else NO_COUNTS

    @property
    def bottom(self) -> float:  # type: ignore[override]
        low, high = self.ends
        if self.loss.attained or (np.all(self.ridge) and not (self.intercept and low == high)):
            return -np.inf  # an intercept has no ridge
        return SEPARATED if self.loss.targets == "binary" or low == high == 0 else -np.inf

    def split(self, z: Vector) -> tuple[Vector, float]:
        """Coefficients and intercept."""
        return z[: self.width], float(z[self.width]) if self.intercept else 0.0

    def join(self, v: Vector, b: float) -> Vector:
        return np.append(v, b) if self.intercept else np.array(v, dtype=np.float64)

    def penalty(self, v: Vector) -> float:
        return 0.5 * float(v @ (self.ridge * v))

    def at(self, z: Vector, hessian: bool = True) -> State:
        m, (v, b) = self.width, self.split(z)
        H = kept = None
        if self.by_products:
            value, g, kept = self.in_parts(v, b)
        else:
            value, g, H = self.system(v, b, hessian)
        g[:m] += self.ridge * v
        if H is not None:
            H[np.arange(m), np.arange(m)] += self.ridge
        if not self.intercept:
            g, H = g[:m], None if H is None else H[:m, :m]
        return State(z, value + self.penalty(v), g, None if H is None else lambda: H, kept)

    def line(self, here: State, d: Vector) -> Line:
        """Each trial costs O(n) only."""
        (v, b), (dv, db) = self.split(here.z), self.split(d)
        loss = self.along(here.kept, v, b, dv, db)
        vv, vd, dd = float(v @ (self.ridge * v)), float(v @ (self.ridge * dv)), float(dv @ (self.ridge * dv))

        def trial(t: float) -> tuple[float, float, State | None]:
            value, slope = loss(t)
            return value + 0.5 * (vv + 2 * t * vd + t * t * dd), slope + vd + t * dd, None

        return trial

    def product(self, here: State) -> Callable[[Vector], Vector] | None:
        times = self.curved(here.kept, *self.split(here.z))

        def apply(u: Vector) -> Vector:
            v, b = self.split(u)
            head, tail = times(v, b)
            return self.join(head + self.ridge * v, tail)

        return apply

    def diagonal(self, here: State) -> Vector | None:
        if self.block is None or self.lean:  # rows elsewhere, and columns of an operator, would have to be gathered
            return None
        w = self.terms(here.z)[2] if here.kept is None else here.kept.curve
        return self.join(self.block.curvatures(w, False) + self.ridge, float(w.sum()))

    def curve(self) -> Matrix | None:
        if not np.isfinite(self.loss.smoothness):
            return None
        size = self.width + self.intercept
        return self.loss.smoothness * self.bound()[:size, :size]

    def ending(self, fit: Fit) -> Fitted:
        """The end of a minimisation on these columns."""
        v, b = self.split(fit.z)
        pull = fit.at.kept.pull if isinstance(fit.at.kept, _Here) else None
        return Fitted(v.copy(), b, fit.value, fit.least, fit.note, fit.minimiser, pull=pull, converged=fit.converged)

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
    def lean(self) -> bool:
        return self.block.lean

    def system(self, v: Vector, b: float, hessian: bool) -> NewtonSystem:
        """Value, gradient (columns, then b), Hessian."""
        return self.block.newton(self.loss, self.rows, v, b, hessian)

    def eta(self, z: Vector) -> Vector:
        v, b = self.split(z)
        return self.rows.shift(self.block.matvec(v), b)

    def terms(self, z: Vector) -> tuple[float, Vector, Vector]:
        """The loss's sum, c phi' and c phi'' at z."""
        return self.loss.terms(self.rows.y, self.eta(z), self.rows.c)

    def in_parts(self, v: Vector, b: float) -> tuple[float, Vector, Any]:
        """Each product with the columns is dear: what is known of the rows is kept."""
        eta = self.rows.shift(self.block.matvec(v), b)
        value, d1, d2 = self.loss.terms(self.rows.y, eta, self.rows.c)
        pull = self.block.pull(d1) if isinstance(self.block, ProductBlock) else None
        g = self.block.rmatvec(d1) if pull is None else pull[self.block.cols]  # type: ignore[attr-defined]
        return value, np.append(g, d1.sum()), _Here(eta, d2, pull)

    def along(self, kept: Any, v: Vector, b: float, dv: Vector, db: float) -> Callable[[float], tuple[float, float]]:
        """From t to the loss at (v, b) + t (dv, db) and its slope: O(rows) a trial."""
        eta = self.rows.shift(self.block.matvec(v), b) if kept is None else kept.eta
        turn = self.block.matvec(dv) + db

        def trial(t: float) -> tuple[float, float]:
            value, d1, _ = self.loss.terms(self.rows.y, eta + t * turn, self.rows.c)
            return value, float(d1 @ turn)

        return trial

    def curved(self, kept: Any, v: Vector, b: float) -> Callable[[Vector, float], tuple[Vector, float]]:
        """From (u, a) to the product with the Hessian."""
        w = self.terms(self.join(v, b))[2] if kept is None else kept.curve
        flat = (w == 0) & (self.rows.c > 0)
        if flat.any() and np.isfinite(self.loss.smoothness):  # a little curvature where the loss has none
            w = np.where(flat, 1e-4 * self.loss.smoothness * self.rows.c, w)

        def times(u: Vector, a: float) -> tuple[Vector, float]:
            return self.block.turned(w, u, a)

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
        used = self.terms(z)[2][self.rows.c > 0]
        return float(used.min(initial=np.inf)), float(used.max(initial=0.0))

    def reach(self, d: Vector) -> float:
        """The largest change of a row's eta in direction d."""
        dv, db = self.split(d)
        return float(np.abs(self.block.matvec(dv) + db)[self.rows.c > 0].max(initial=0.0))

    def quick(self, z: Vector) -> Quick | None:
        """A refit in one call of the kernel, as far as that goes; None where it has nothing to say."""
        m = self.width
        if m > QUICK or len(z) == 0:
            return None
        start = z if self.intercept else np.append(z, 0.0)
        limits = (self.bottom, self.lower, DECREMENT, SINGULAR, seconds_left())
        found = self.block.fit(self.loss, self.rows, np.broadcast_to(self.ridge, m), self.intercept, start, limits)
        if found is not None and not found[2]:
            check_time()
        return None if found is None else (found[0][: len(z)], *found[1:])

    def here(self) -> "LossOnColumns":
        """The same with all rows in one place."""
        return self

    def together(self) -> "LossOnColumns":
        """The same with the columns gathered in one dense array."""
        return replace(self, block=DenseBlock(self.block.dense())) if self.scattered else self

    def numbers(self) -> tuple[Matrix, Any, Stored | None]:
        """The columns, what belongs to the rows, and the columns as they are stored."""
        return self.block.dense(), self.rows, None if self.stored is None else self.stored()

    def columns(self) -> Stored | None:
        """The columns as they are stored; None where they are too many for a dense copy."""
        if not self.affordable:
            return None
        if self.stored is not None:
            return self.stored()
        return Stored(self.block.dense(), np.zeros(self.width), np.ones(self.width))


@dataclass(frozen=True, eq=False)
class ColumnsInParts(LossOnColumns):
    """The same on rows that lie in several parts: whatever is asked of them is asked of each, by ``each``."""

    parts: Sequence[LossOnColumns] = ()
    each: Map = in_turn
    size: tuple[int, int] = (0, 0)  # columns, and numbers in them
    near: bool = True  # whether rows may be brought here

    scattered: ClassVar[bool] = True  # type: ignore[misc]
    lean: ClassVar[bool] = False  # type: ignore[misc]

    def _sum(self, name: str, *args: Any) -> Any:
        return total(self.each(Ask(name, *args), self.parts))

    @property
    def width(self) -> int:
        return self.size[0]

    @property
    def entries(self) -> int:
        return self.size[1]

    @property
    def affordable(self) -> bool:
        return self.near and super().affordable

    def system(self, v: Vector, b: float, hessian: bool) -> NewtonSystem:
        return self._sum("system", v, b, hessian)

    def in_parts(self, v: Vector, b: float) -> tuple[float, Vector, Any]:
        answers = self.each(Ask("in_parts", v, b), self.parts)
        return *total([answer[:2] for answer in answers]), [answer[2] for answer in answers]

    def line(self, here: State, d: Vector) -> Line:
        """Where an answer takes longer on its way than in the making, a trial is a whole evaluation."""
        return super().line(here, d) if self.near or self.by_products else Few.line(self, here, d)

    def along(self, kept: Any, v: Vector, b: float, dv: Vector, db: float) -> Callable[[float], tuple[float, float]]:
        lines = self.each(Ask("along", v, b, dv, db), self.parts, self._own(kept))
        return lambda t: total(self.each(Ask("__call__", t), lines))

    def curved(self, kept: Any, v: Vector, b: float) -> Callable[[Vector, float], tuple[Vector, float]]:
        products = self.each(Ask("curved", v, b), self.parts, self._own(kept))
        return lambda u, a: total(self.each(Ask("__call__", u, a), products))

    def _own(self, kept: Any) -> Sequence[Any]:
        """What each part keeps of a state."""
        return [None] * len(self.parts) if kept is None else kept

    def bound(self) -> Matrix:
        return self._sum("bound")

    def curves(self, z: Vector) -> tuple[float, float]:
        own = np.append(*self.split(z))  # parts always have an intercept
        ranges = self.each(Ask("curves", own), self.parts)
        return min(low for low, _ in ranges), max(high for _, high in ranges)

    def reach(self, d: Vector) -> float:
        own = np.append(*self.split(d))
        return max(self.each(Ask("reach", own), self.parts))

    def together(self) -> "LossOnColumns":
        """The few columns of all parts in one place; the rows' own numbers come along."""
        A, rows, stored = self.numbers()
        return LossOnColumns(
            self.loss, self.ridge, self.intercept, self.lower, self.ends, DenseBlock(A), rows,
            None if stored is None else lambda: stored,
        )  # fmt: skip

    def numbers(self) -> tuple[Matrix, Any, Stored | None]:
        blocks, rows, stored = zip(*self.each(Ask("numbers"), self.parts), strict=True)
        A = np.asfortranarray(np.concatenate(blocks))
        if stored[0] is None:
            return A, joined(rows), None
        return A, joined(rows), replace(stored[0], A=np.asfortranarray(np.concatenate([some.A for some in stored])))

    def here(self) -> "LossOnColumns":
        if COPIES * self.width > self.room:
            raise ValueError(
                f"loss {self.loss.name!r} needs its {self.width} columns in memory, which has room for "
                f"{int(self.room / COPIES)}: allow more of it, or take loss='squared_hinge'"
            )
        return self.together()

    def quick(self, z: Vector) -> None:
        return None
