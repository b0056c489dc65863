"""Minimisers of a GLM over a few gathered columns.

    min over (v, b) of   sum_i c_i phi(y_i, A_i v + b + o_i) + sum_j ridge_j/2 v_j^2

| method | when | cost |
|---|---|---|
| Cholesky on the Gram, refined once, in one kernel call | squared loss | n m^2 + m^3/3 flops, once |
| damped Newton in one kernel call | smooth losses, nothing unusual | n m^2 + m^3/3 per step |
| ``minimise`` | sparse columns, more than the kernel takes on, far from dependent | the same |
| ``minimise`` in orthonormal coordinates (``basis``) | where the kernel gave up | the same, and the basis |
| ``minimise`` by conjugate gradients | m above ``LARGE`` | 4 n m per inner step |
| the same, and what is gathered where it takes too long | columns of an operator | two products per inner step |
| the hinge | see ``hinge`` | |

A fit in orthonormal coordinates is the minimum for the data as they are stored. Its coefficients are then rounded, and
the value that is reported is theirs, computed in twice the digits; where rounding alone has cost something (columns
equal to ten digits), a note says so and ``least`` keeps the minimum.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import lstsq

from .. import _core
from .._types import Matrix, Vector
from ..designs.base import DenseBlock, NewtonSystem, ProductBlock, Quick, Rows, joined
from ..engines import Map, check_time, in_turn, seconds_left, total
from ..losses.base import Loss
from .basis import TRUSTED, Basis, Stored, basis, least_norm
from .factor import Factor
from .few import Few, Fit, Line, State
from .minimise import minimise

LARGE = 1500  # columns beyond which no m x m Hessian is formed
QUICK = 100  # columns up to which the kernel does a whole refit: its own Cholesky is no LAPACK
SINGULAR = 1e-11  # squared pivots, on a unit diagonal, at which the kernel gives up
DECREMENT = 1e-13  # Newton decrement, relative to the height, at which the kernel is done
SEPARATED = 1e-14  # mean loss at which data count as separated
GATHERED = 1e8  # n m up to which a dense copy of the columns is made
EXACT = 1e-11  # share of the height by which a value may be off where nothing was unusual
ROUNDED = 1e-9  # share of the height that rounded coefficients may cost without a word
FLOOR = 64 * float(np.finfo(float).eps)  # share of the null model's height that is nothing

SEPARATION = "the chosen columns separate the classes, so no finite minimiser exists (set l2 > 0)"
PARTLY = "the chosen columns tell some rows' class for sure, so no finite minimiser exists (set l2 > 0)"
SURE = 1e-9  # phi'' of a row, beside the largest, below which its class may be told for sure
STILL_MOVING = 0.1  # change of eta in a Newton step that gains nothing, at which coefficients grow without end
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
        return self.width > LARGE or self.lean

    @property
    def affordable(self) -> bool:
        """Whether a dense copy of the columns is."""
        return self.entries <= GATHERED

    @property
    def patience(self) -> float:  # type: ignore[override]
        """Half the products that a gather takes: two make one with the Hessian."""
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
        loss = self.along(here, v, b, dv, db)
        vv, vd, dd = float(v @ (self.ridge * v)), float(v @ (self.ridge * dv)), float(dv @ (self.ridge * dv))

        def trial(t: float) -> tuple[float, float, State | None]:
            value, slope = loss(t)
            return value + 0.5 * (vv + 2 * t * vd + t * t * dd), slope + vd + t * dd, None

        return trial

    def product(self, here: State) -> Callable[[Vector], Vector] | None:
        times = self.curved(here, *self.split(here.z))

        def apply(u: Vector) -> Vector:
            v, b = self.split(u)
            head, tail = times(v, b)
            return self.join(head + self.ridge * v, tail)

        return apply

    def curve(self) -> Matrix | None:
        if not np.isfinite(self.loss.smoothness):
            return None
        size = self.width + self.intercept
        return self.loss.smoothness * self.bound()[:size, :size]

    def ending(self, fit: Fit) -> Fitted:
        """The end of a minimisation on these columns."""
        v, b = self.split(fit.z)
        pull = fit.at.kept.pull if isinstance(fit.at.kept, _Here) else None
        return Fitted(v.copy(), b, fit.value, fit.least, fit.note, fit.minimiser, pull=pull)

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

    def along(self, here: State, v: Vector, b: float, dv: Vector, db: float) -> Callable[[float], tuple[float, float]]:
        """From t to the loss at (v, b) + t (dv, db) and its slope: O(rows) a trial."""
        eta = self.rows.shift(self.block.matvec(v), b) if here.kept is None else here.kept.eta
        turn = self.block.matvec(dv) + db

        def trial(t: float) -> tuple[float, float]:
            value, d1, _ = self.loss.terms(self.rows.y, eta + t * turn, self.rows.c)
            return value, float(d1 @ turn)

        return trial

    def curved(self, here: State, v: Vector, b: float) -> Callable[[Vector, float], tuple[Vector, float]]:
        """From (u, a) to the product with the Hessian."""
        w = self.terms(here.z)[2] if here.kept is None else here.kept.curve
        flat = (w == 0) & (self.rows.c > 0)
        if flat.any() and np.isfinite(self.loss.smoothness):  # a little curvature where the loss has none
            w = np.where(flat, 1e-4 * self.loss.smoothness * self.rows.c, w)

        def times(u: Vector, a: float) -> tuple[Vector, float]:
            turn = w * (self.block.matvec(u) + a)
            return self.block.rmatvec(turn), float(turn.sum())

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

    scattered: ClassVar[bool] = True  # type: ignore[misc]
    lean: ClassVar[bool] = False  # type: ignore[misc]

    def _sum(self, ask: Callable[[Any], Any]) -> Any:
        return total(self.each(ask, self.parts))

    @property
    def width(self) -> int:
        return self.parts[0].width

    @property
    def entries(self) -> int:
        return sum(part.entries for part in self.parts)

    def system(self, v: Vector, b: float, hessian: bool) -> NewtonSystem:
        return self._sum(lambda part: part.system(v, b, hessian))

    def in_parts(self, v: Vector, b: float) -> tuple[float, Vector, Any]:
        answers = self.each(lambda part: part.in_parts(v, b), self.parts)
        return *total([answer[:2] for answer in answers]), [answer[2] for answer in answers]

    def along(self, here: State, v: Vector, b: float, dv: Vector, db: float) -> Callable[[float], tuple[float, float]]:
        lines = self._kept(here, lambda part, there: part.along(there, v, b, dv, db))
        return lambda t: total(self.each(lambda line: line(t), lines))

    def curved(self, here: State, v: Vector, b: float) -> Callable[[Vector, float], tuple[Vector, float]]:
        products = self._kept(here, lambda part, there: part.curved(there, v, b))
        return lambda u, a: total(self.each(lambda times: times(u, a), products))

    def _kept(self, here: State, ask: Callable[[Any, State], Any]) -> list[Any]:
        """One answer per part at a state, each with what that part keeps of it."""
        kept = [None] * len(self.parts) if here.kept is None else here.kept
        states = [replace(here, kept=own) for own in kept]
        return self.each(lambda pair: ask(*pair), list(zip(self.parts, states, strict=True)))

    def bound(self) -> Matrix:
        return self._sum(lambda part: part.bound())

    def curves(self, z: Vector) -> tuple[float, float]:
        own = np.append(*self.split(z))  # parts always have an intercept
        ranges = self.each(lambda part: part.curves(own), self.parts)
        return min(low for low, _ in ranges), max(high for _, high in ranges)

    def reach(self, d: Vector) -> float:
        own = np.append(*self.split(d))
        return max(self.each(lambda part: part.reach(own), self.parts))

    def together(self) -> "LossOnColumns":
        """The few columns of all parts in one place; the rows' own numbers come along."""
        here = self.each(lambda part: part.together(), self.parts)
        A = np.asfortranarray(np.concatenate([part.block.dense() for part in here]))

        def stored() -> Stored:
            own = self.each(lambda part: part.stored(), here)
            return replace(own[0], A=np.asfortranarray(np.concatenate([some.A for some in own])))

        rows = joined([part.rows for part in here])
        return LossOnColumns(
            self.loss, self.ridge, self.intercept, self.lower, self.ends, DenseBlock(A), rows,
            None if here[0].stored is None else stored,
        )  # fmt: skip

    here = together

    def quick(self, z: Vector) -> None:
        return None


def best_intercept(loss: Loss, rows: Rows, b: float = 0.0) -> float:
    """The best intercept on top of the offset of some rows."""
    known = None if rows.offset is None else loss.intercept(rows.y, rows.c, rows.offset)
    if known is not None:
        return known
    nothing = DenseBlock(np.empty((len(rows.y), 0), order="F"))
    ends = float(rows.y.min()), float(rows.y.max())
    return intercept_of(LossOnColumns(loss, 0.0, True, loss.infimum(rows.y, rows.c), ends, nothing, rows), b)


def intercept_of(few: LossOnColumns, b: float = 0.0) -> float:
    """The best intercept where there are no columns."""
    fit = refit(few, np.empty(0), b)
    return fit.b if not fit.note else _bisected(few, fit.b)


def _bisected(few: LossOnColumns, b: float) -> float:
    """The best intercept where Newton's method is lost: offsets so far apart that phi'' vanishes between them."""

    def slope(b: float) -> float:
        return float(few.at(np.array([b]), hessian=False).gradient[0])

    sign, step = (1.0 if slope(b) < 0 else -1.0), 1.0
    while sign * slope(b + sign * step) < 0:
        step *= 2
        if step > 1e300:
            return b
    near, far = b, b + sign * step
    while near != (middle := near + (far - near) / 2) != far:
        near, far = (middle, far) if sign * slope(middle) < 0 else (near, middle)
    return far


def refit(few: LossOnColumns, coef: Vector, b: float) -> Fitted:
    """The minimiser, by the method that fits the loss; (coef, b) is a start."""
    if not few.loss.smooth:
        from .hinge import hinge  # which uses this

        return hinge(few.here())
    z = few.join(coef, b)
    known = few.quick(z)
    if known is not None and known[2]:
        v, b = few.split(known[0])
        least, without_end = known[1] - EXACT * max(known[1] - few.lower, 0.0), _endless(few, known[0])
        return Fitted(v.copy(), b, known[1], least, PARTLY if without_end else "", not without_end)
    if few.width == 0 or few.by_products:
        fit = minimise(few, z)
        if fit.converged or not fit.minimiser or few.patience == np.inf:
            return few.ending(fit)
        few = replace(few.together(), stored=None)
        return refit(few, *few.split(fit.z))
    if few.scattered:  # orthonormal coordinates are dense: only where the columns need them
        fit = minimise(few, z)
        end = few.at(fit.z).hessian
        if fit.converged and not fit.note and end is not None and Factor(end()).rcond > TRUSTED:
            without_end = _endless(few, fit.z)
            return replace(few.ending(fit), note=PARTLY, minimiser=False) if without_end else few.ending(fit)
        z = fit.z if np.isfinite(fit.z).all() else z
        if not few.affordable:
            return _unrefined(few, z)
    here = few.together()
    stored = here.columns()
    if few.loss.quadratic and few.width >= len(here.rows.y) and stored is not None:
        wide = interpolated(here)
        if wide is not None:
            return wide
    room = None if stored is None else coordinates(here, stored, z)
    if stored is None or room is None:
        return _unrefined(few, z)
    return in_coordinates(here, stored, room, z)


def _endless(few: LossOnColumns, z: Vector) -> bool:
    """Whether f has no minimiser near z, where it has settled: a Newton step still moves rows whose class is sure."""
    if few.loss.targets != "binary" or few.loss.attained or few.bottom == -np.inf or few.width == 0:
        return False
    low, high = few.curves(z)
    if low > SURE * high:
        return False
    here = few.at(z)
    if here.hessian is None:
        return False
    reach = few.reach(-Factor(here.hessian(), quick=True).solve(here.gradient))
    return bool(np.isfinite(reach) and reach >= STILL_MOVING)


def coordinates(few: LossOnColumns, stored: Stored, z: Vector) -> Basis | None:
    """Orthonormal ones for the columns at hand."""
    return basis(stored.A, few.rows.c, _curve(few, z), _raw_ridge(few, stored), few.intercept)


def in_coordinates(few: LossOnColumns, stored: Stored, room: Basis, z: Vector) -> Fitted:
    """The minimiser by way of orthonormal coordinates, and back."""
    u = room.inward(stored.A, few.rows.c, _curve(few, z), _raw_ridge(few, stored), stored.raw(few.split(z)[0]))
    fit = _there(few, room, u if np.isfinite(u).all() else 0 * u)
    found = _back(few, stored, room, fit.z[: room.Q.shape[1]], float(fit.z[-1]) if few.intercept else 0.0)
    if not fit.note and _endless(replace(few, block=DenseBlock(room.Q), ridge=room.ridge, stored=None), fit.z):
        fit = replace(fit, note=PARTLY, minimiser=False)
    notes, least = [fit.note], fit.least
    if room.null.shape[1]:
        notes.append(dependent(few.width, room.Q.shape[1]))
    if room.whole is not None:  # columns that differ by rounding only: what that could explain is not given
        whole = _there(few, room.whole, np.zeros(room.whole.Q.shape[1])).least
        least = min(least, whole - 10 * room.whole.error * max(fit.value - few.lower, 0.0))
    lost = found.value - fit.value
    if fit.minimiser and lost > ROUNDED * max(fit.value - few.lower, FLOOR * _height(few)):
        notes.append(f"the chosen columns are equal to many digits, and rounded coefficients cost {lost:.1e}")
    return replace(
        found, least=min(least, found.value), note="; ".join(filter(None, notes)), minimiser=fit.minimiser
    )  # fmt: skip


def _there(few: LossOnColumns, room: Basis, u: Vector) -> Fit:
    """The minimiser in orthonormal coordinates, from u (and the best intercept)."""
    there = replace(few, block=DenseBlock(room.Q), ridge=room.ridge, stored=None)
    start = there.join(u, 0.0)
    if few.intercept:
        start[-1] = best_intercept(few.loss, replace(few.rows, offset=there.eta(start)))
    known = there.quick(start)
    if known is None or not known[2]:
        return minimise(there, start)
    least = known[1] - EXACT * max(known[1] - few.lower, 0.0)
    return Fit(State(known[0], known[1], np.empty(0)), known[1], least=least)


def _back(few: LossOnColumns, stored: Stored, room: Basis, u: Vector, b: float) -> Fitted:
    """Rounded coefficients for u (and b), the best intercept for them, and their value."""
    scale = np.where(np.isfinite(stored.s), stored.s, 1.0)
    v = least_norm(scale[:, None] * room.null, scale * room.outward(u), np.abs(stored.A).max(axis=0) / scale)
    v = np.where(np.isfinite(stored.s), v, 0.0)
    w, rows = stored.raw(v), few.rows
    plain = _core.exact_eta(np.asfortranarray(stored.A), w, 0.0, rows.offset)
    if few.intercept:
        b = best_intercept(few.loss, replace(rows, offset=plain), b - float(rows.c @ plain))
        plain = _core.exact_eta(np.asfortranarray(stored.A), w, b, rows.offset)
    value = few.loss.terms(rows.y, plain, rows.c)[0] + few.penalty(v)
    return Fitted(v, b + float(stored.m @ w), value, -np.inf)


def interpolated(few: LossOnColumns) -> Fitted | None:
    """Least squares with as many columns as rows: the minimum-norm solution, if nothing is left to explain."""
    if np.any(few.ridge):
        return None
    A, rows = few.block.dense(), few.rows
    target = rows.y if rows.offset is None else rows.y - rows.offset
    mean = rows.c @ A if few.intercept else np.zeros(few.width)
    centre = float(rows.c @ target) if few.intercept else 0.0
    root, scale = np.sqrt(rows.c), np.sqrt(np.maximum(rows.c @ (A - mean) ** 2, 1e-300))
    W, r = root[:, None] * (A - mean), root * (target - centre)
    v, _, rank, _ = lstsq(W / scale.max(), r, cond=1e-12, lapack_driver="gelsd", check_finite=False)
    v = v / scale.max()
    z = few.join(v, centre - float(mean @ v))
    value = few.at(z, hessian=False).value
    if not value <= FLOOR * _height(few):
        return None
    note = "" if rank == few.width else dependent(few.width, rank)
    return Fitted(v, few.split(z)[1], value, 0.0, note)


def _unrefined(few: LossOnColumns, z: Vector) -> Fitted:
    """Too much data for orthonormal coordinates: what the columns themselves give, and how far that can be trusted."""
    fit = minimise(few, z)
    state = few.at(fit.z)
    sure = state.hessian is None or Factor(state.hessian(), quick=True).rcond > SINGULAR
    if sure or fit.note:
        return few.ending(fit)
    note = "the chosen columns are close to dependent, and too many for a refit in more digits"
    return replace(few.ending(fit), note=note, least=few.lower)


def _curve(few: LossOnColumns, z: Vector) -> float:
    """The largest phi'', or where there is none its mean at the start."""
    if np.isfinite(few.loss.smoothness):
        return float(few.loss.smoothness)
    mean = float(few.terms(z)[2].sum())
    return mean if 1e-6 < mean < 1e6 else 1.0


def _raw_ridge(few: LossOnColumns, stored: Stored) -> Vector:
    s = np.where(np.isfinite(stored.s), stored.s, 0.0)
    return np.broadcast_to(few.ridge, s.shape) * s**2


def _height(few: LossOnColumns) -> float:
    """How far the model without features is above the loss's infimum, roughly."""
    eta = few.rows.shift(np.zeros(len(few.rows.y)), 0.0)
    start = few.loss.start(few.rows.y - (eta if few.loss.quadratic else 0.0), few.rows.c) if few.intercept else 0.0
    return few.loss.terms(few.rows.y, eta + start, few.rows.c)[0] - few.lower


def dependent(m: int, rank: int) -> str:
    return f"the {m} chosen columns have rank {rank}, so the minimum-norm solution is given"
