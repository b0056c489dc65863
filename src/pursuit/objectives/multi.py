"""Generalised linear models with several outputs and one shared support: multinomial, and several responses.

    f(C, b) = sum_i c_i phi(y_i, C'x_i + b + o_i) + l2/2 ||C||_F^2,     C is p x q

The coordinates are the entries of C, row by row: coordinate j q + r belongs to feature j and output r. A feature is a
group of q coordinates, so every solver, constraint and exchange works on this objective as it stands.
"""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from .. import _core
from .._errors import check_mask, check_number, check_offset, check_weights, named, nearest
from .._lazy import lazy
from .._names import called
from ..constraints import AtMost
from ..data import Data
from ..designs import Design, Rows, as_design, cross
from ..engines import check_time
from ..losses import as_loss
from ..losses.vector import Curve, Multinomial, Responses, VectorLoss
from ..refits import Basis, Fit, Stored, basis, least_norm, minimise
from ..refits.columns import FLOOR, PARTLY, SEPARATED
from ..refits.factor import Factor
from ..refits.minimise import CONVERGED
from . import searched
from .base import Columns, Objective, Point, Vector
from .outputs import Outputs

EPS = float(np.finfo(float).eps)
TRUSTED = 1e-10  # reciprocal condition above which a Gram matrix will do
DIRECT = 200  # unknowns, and samples times squared outputs, up to which the kernel refits
KERNEL = 1e7
SMALL = 64  # coordinates up to which second derivatives are those of gathered columns


class MultiGLM(Objective):
    """A GLM with q outputs and one shared support.

    ``Y`` is n x q, or for ``loss="multinomial"`` a vector of labels; ``loss`` is "multinomial" or "squared". The other
    parameters are those of :class:`pursuit.GLM`.
    """

    convex = True

    def __init__(
        self,
        X: Any,
        Y: Any,
        loss: str | VectorLoss = "multinomial",
        *,
        l2: float = 0.0,
        fit_intercept: bool = True,
        sample_weight: Any = None,
        offset: Any = None,
        standardize: bool = False,
    ) -> None:
        design = as_design(X)
        n, p = design.shape
        self.loss = _loss(loss)
        self.quadratic = self.loss.quadratic
        check_mask(Y, "y")
        self.labels: Columns | None = None  # where each sample has one class, its number
        if self.loss.name == "multinomial" and np.ndim(Y) == 1:
            self.classes, self.labels = np.unique(Y, return_inverse=True)
            Y = np.eye(len(self.classes))[self.labels]
        self.Y = np.ascontiguousarray(Y, dtype=np.float64)
        if self.Y.ndim != 2 or len(self.Y) != n or self.Y.shape[1] == 0:
            raise ValueError(f"y must have one row per row of X, shape ({n}, q), got shape {np.shape(Y)}")
        if not np.isfinite(self.Y).all():
            raise ValueError("y contains NaN or infinity; every target must be finite")
        if self.loss.name == "multinomial" and self.labels is None and _one_hot(self.Y):
            self.labels = self.Y.argmax(axis=1)
        self.width = self.Y.shape[1]
        shift = check_offset(offset, n, self.width)
        self.offset: Any = 0.0 if shift is None else shift
        self.l2, self.fit_intercept = check_number(l2, "l2"), bool(fit_intercept)
        self.c = check_weights(sample_weight, n)
        self.standardize = bool(standardize)
        data: Any = Data(design, Rows(np.zeros(n), self.c), as_loss("squared"))
        if standardize:
            data = data.standardized(self.fit_intercept)
        elif self.fit_intercept:
            data = data.shifted()
        self.design: Design = data.design
        self.dim, self.names = p * self.width, design.names
        self._null: Point | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_null": None}

    @property
    def work(self) -> float:
        return 10.0 * self.width**2 * self.design.nbytes / self.design.dtype.itemsize

    @property
    def null(self) -> Point:
        if self._null is None:
            null = self.refit(np.empty(0, np.int64))
            if not np.isfinite(null.gradient).all():
                bad = np.unique(np.flatnonzero(~np.isfinite(null.gradient)) // self.width)
                where = called(bad, self.names)
                raise ValueError(f"X contains NaN or infinity (or values too large to add up) in {where}")
            self._null = null.detached()  # or it would hold what holds it
        return self._null

    def scale(self, value: float) -> float:
        return max(abs(value), 1e-9 * self.null.value)

    @property
    def floor(self) -> float:  # type: ignore[override]
        if self.l2 > 0:
            return -np.inf
        return 1e-18 * self.null.value if self.quadratic else max(FLOOR * self.null.value, SEPARATED)

    def at(self, support: Columns, coef: Vector, intercept: Any = None) -> Point:
        cols, C = self._matrix(support, coef)
        eta = self.design.matmat(cols, C) + self.offset
        if intercept is None:
            few = Outputs(self.loss, self.Y, self.c, eta, np.empty((len(eta), 0)), 0.0, self.fit_intercept)
            intercept = few.split(minimise(few, few.join(np.empty((0, self.width)), self._start())).z)[1]
        return self._point(support, coef, intercept, eta + intercept, refitted=False)

    def refit(self, support: Columns, start: Point | None = None) -> Point:
        cols = support[:: self.width] // self.width
        if not np.array_equal(self._coordinates(cols), support):
            raise ValueError("a support of several outputs must hold whole features")
        A = self.design.block(cols).dense()
        if self.quadratic:
            C, b, note = self._least_squares(A, Stored(*self.design.stored(cols)))
            return self._point(support, C.ravel(), b, A @ C + b + self.offset, True, note)
        C, b = np.zeros((len(cols), self.width)), self._start()
        if start is not None and (self._null is None or start.value < self._null.value):
            C = start.x[support].reshape(C.shape)
            if self._null is None or self._value(A @ C + start.free + self.offset, C) < self._null.value:
                b = start.free
            else:  # what is left of a start without its other columns may be worse than nothing
                C[:] = 0.0
        C, b, value, endless = self._quick_fit(A, C, b)
        if value is not None:
            least = value - CONVERGED * EPS * abs(value)
            return replace(self._point(support, C.ravel(), b, None, True, value=value), least=least)
        C, b, fit = self._minimised(A, C, b, Stored(*self.design.stored(cols)))
        if endless and not fit.note and self.l2 == 0:
            fit = replace(fit, note=PARTLY, minimiser=False)
        point = self._point(support, C.ravel(), b, A @ C + b + self.offset, True, fit.note, fit.minimiser)
        return replace(point, least=fit.least)

    def curvature(self, point: Point, cols: Columns, v: Vector) -> float:
        features, V = self._matrix(cols, v)
        T = self.design.matmat(features, V)
        if self.fit_intercept:
            T = T - self.c @ T
        eta = self._eta(point)
        return float(self.c @ (T * self.loss.curve(eta).times(T)).sum(axis=1)) + self.l2 * float(v @ v)

    def curvatures(self, point: Point, cols: Columns) -> Vector:
        weights, out = self.c[:, None] * self.loss.curve(self._eta(point)).diagonals(), np.empty(len(cols))
        features, place = np.unique(cols // self.width, return_inverse=True)
        few = 8 * len(features) <= self.dim // self.width
        block = self.design.block(features) if few else None
        for r, mine in enumerate(self._by_output(cols)):
            check_time()
            if len(mine) == 0:
                continue
            w = weights[:, r]
            if block is not None:
                out[mine] = block.curvatures(w, self.fit_intercept)[place[mine]]
                continue
            total = max(float(w.sum()), 1e-300)
            mean, var = self.design.stats(w / total)
            out[mine] = total * (var if self.fit_intercept else var + mean**2)[cols[mine] // self.width]
        return out + self.l2

    def hessian_rows(self, point: Point, cols: Columns, others: Columns | None = None) -> Vector:
        others = np.arange(self.dim) if others is None else others
        curve = self.loss.curve(self._eta(point))
        H = self._small_rows(curve, cols, others) if len(others) <= SMALL else self._rows(curve, cols, others)
        if self.fit_intercept:
            edges = self._edges(curve, cols), self._edges(curve, others)
            H -= edges[0] @ np.linalg.pinv(curve.mean(self.c), rcond=1e-10, hermitian=True) @ edges[1].T
        _, here, there = np.intersect1d(cols, others, assume_unique=True, return_indices=True)
        H[here, there] += self.l2
        return H

    def quick_search(self, constraint: AtMost, start: Columns, plan: searched.Plan) -> "searched.Searched | None":
        """A search for the best features in one kernel call; None where the data are too large for that."""
        p, q = self.dim // self.width, self.width
        if self.labels is None or q < 2 or constraint.units != p:
            return None
        if self.design.lean or not searched.affordable(self.design.shape, q - 1, constraint):
            return None
        even = searched.Evened.of(self.design.block(np.arange(p)).dense(), self.c, self.fit_intercept)
        if even is None:
            return None
        E = self._basis
        kernel = partial(_core.multinomial_search, self.labels, self.c, self._offsets, E)
        found = searched.likelihood(kernel, even, self.l2, q - 1, constraint, constraint.units_of(start), self.floor,
                                    1e-9 * self.null.value, self.fit_intercept, plan)  # fmt: skip
        if found is not None:
            points = [(self._coordinates(S), (Z @ E.T).ravel(), b @ E.T, value) for S, Z, b, value in found.points]
            found = replace(found, points=points, doubtful=[self._coordinates(S) for S in found.doubtful])
        return found

    def _rows(self, curve: Curve, cols: Columns, others: Columns) -> Vector:
        """Second derivatives with the intercepts held, one output of ``others`` after the other."""
        H = np.zeros((len(cols), len(others)))
        features, place = np.unique(cols // self.width, return_inverse=True)
        A, mine = self.design.block(features).dense(), self._by_output(cols)
        diagonal = self.c[:, None] * curve.diagonals()
        u = None if curve.u is None else A[:, place] * (self.c[:, None] * curve.u[:, cols % self.width])
        for s, theirs in enumerate(self._by_output(others)):
            check_time()
            if len(theirs) == 0:
                continue
            own = A[:, place[mine[s]]] * diagonal[:, s, None]
            rows, weighted = mine[s], own
            if u is not None and curve.u is not None:
                rows, weighted = np.arange(len(cols)), u * -curve.u[:, s, None]
                weighted[:, mine[s]] = own
            if len(rows):
                H[np.ix_(rows, theirs)] = cross(self.design, np.asfortranarray(weighted), others[theirs] // self.width)
        return H

    def _small_rows(self, curve: Curve, cols: Columns, others: Columns) -> Vector:
        """The same for few columns: gathered, in two products of matrices."""
        features, place = np.unique(np.concatenate([cols, others]) // self.width, return_inverse=True)
        A, here, there = self.design.block(features).dense(), place[: len(cols)], place[len(cols) :]
        r, s = cols % self.width, others % self.width
        left, right = np.unique(here), np.unique(there)
        pairs = (A[:, left, None] * A[:, None, right]).reshape(len(A), -1)
        own = (pairs.T @ (self.c[:, None] * curve.diagonals())).reshape(len(left), len(right), self.width)
        spot = np.searchsorted(left, here)[:, None], np.searchsorted(right, there)
        beside = np.zeros((len(cols), len(others)))
        if curve.u is not None:
            beside = -(A[:, here] * (self.c[:, None] * curve.u[:, r])).T @ (A[:, there] * curve.u[:, s])
        return np.where(r[:, None] == s, own[(*spot, s)], beside)

    def in_units(self, point: Point) -> tuple[Vector, Any]:
        cols, C = self._matrix(point.support, point.coef)
        pairs = [self.design.in_units(cols, C[:, r], float(point.free[r])) for r in range(self.width)]
        return np.column_stack([u for u, _ in pairs]).ravel(), np.array([b for _, b in pairs])

    def from_units(self, x: Any, intercept: Any = None) -> Point:
        x = np.asarray(x, dtype=np.float64)
        p = self.dim // self.width
        if x.shape != (p, self.width) or not np.isfinite(x).all():
            raise ValueError(f"start must be a finite matrix with one row per column of X, shape ({p}, {self.width})")
        cols = np.flatnonzero(x.any(axis=1))
        b = np.zeros(self.width) if intercept is None else np.asarray(intercept, dtype=np.float64)
        pairs = [self.design.from_units(cols, x[cols, r], float(b[r])) for r in range(self.width)]
        coef = np.column_stack([u for u, _ in pairs]).ravel()
        return self.at(self._coordinates(cols), coef, None if intercept is None else np.array([b for _, b in pairs]))

    def _point(
        self,
        support: Columns,
        coef: Vector,
        b: Vector,
        eta: Vector | None,
        refitted: bool,
        note: str = "",
        minimiser: bool = True,
        value: float | None = None,
    ) -> Point:
        if value is None:
            assert eta is not None
            value = self._value(eta, coef)

        def slope() -> Vector:
            here = self._predicted(support, coef, b) if eta is None else eta
            g = self.design.rmatmat(self.c[:, None] * self.loss.d1(self.Y, here)).ravel()
            g[support] = 0.0 if refitted else g[support] + self.l2 * coef
            return g

        return Point(self.dim, support, coef, b, value, slope, refitted, note, minimiser).owned(self)

    def _value(self, eta: Vector, coef: Vector) -> float:
        return float(self.c @ self.loss.value(self.Y, eta)) + 0.5 * self.l2 * float((coef * coef).sum())

    def _least_squares(self, A: Vector, stored: Stored) -> tuple[Vector, Vector, str]:
        """One factor for all responses, and orthonormal coordinates where that is too close to singular."""
        target = self.Y - self.offset
        centre = self.c @ target if self.fit_intercept else np.zeros(self.width)
        if A.shape[1] == 0:
            return np.empty((0, self.width)), centre, ""
        mean = self.c @ A if self.fit_intercept else np.zeros(A.shape[1])
        W, R = self.c[:, None] * (A - mean), target - centre
        factor = Factor(W.T @ (A - mean) + self.l2 * np.eye(A.shape[1]))
        if factor.rcond > TRUSTED:
            C = factor.solve(W.T @ R)
            return C, centre - mean @ C, ""
        room = self._room(stored)
        if room is None:
            root = np.sqrt(self.c)[:, None]
            C = np.asarray(np.linalg.lstsq(root * (A - mean), root * R, rcond=None)[0], dtype=np.float64)
            return C, centre - mean @ C, ""
        C = self._outward(stored, room, room.Q.T @ (self.c[:, None] * R))
        note = f"the {A.shape[1]} chosen columns have rank {room.Q.shape[1]}, so the minimum-norm solution is given"
        return C, centre - mean @ C, note if room.null.shape[1] else ""

    def _room(self, stored: Stored) -> Basis | None:
        """Orthonormal coordinates for some columns."""
        s = np.where(np.isfinite(stored.s), stored.s, 0.0)
        return basis(stored.A, self.c, 1.0, self.l2 * s**2, self.fit_intercept)

    @staticmethod
    def _outward(stored: Stored, room: Basis, U: Vector) -> Vector:
        s = np.where(np.isfinite(stored.s), stored.s, 1.0)
        C = least_norm(s[:, None] * room.null, s[:, None] * room.outward(U), np.abs(stored.A).max(axis=0) / s)
        return np.where(np.isfinite(stored.s)[:, None], C, 0.0)

    def _quick_fit(self, A: Vector, C: Vector, b: Vector) -> tuple[Vector, Vector, float | None, bool]:
        """The minimiser by the kernel and its value; where that needs more care, how far it came, without a value.

        Last, whether it went where coefficients grow without end.
        """
        m = A.shape[1]
        unknowns = (m + self.fit_intercept) * (self.width - 1)
        if self.labels is None or not 0 < unknowns <= DIRECT or self.c.size * self.width**2 > KERNEL:
            return C, b, None, False
        E = self._basis
        z, value, done, endless = _core.multinomial_fit(
            self.labels, self.c, self._offsets, E, np.asfortranarray(A), np.full(m, self.l2), self.fit_intercept,
            self._bottom, np.ravel(np.vstack([C, b]) @ E),
        )  # fmt: skip
        Z = z.reshape(m + 1, -1) @ E.T
        return Z[:-1], Z[-1], value if done else None, endless

    @lazy
    def _basis(self) -> Vector:
        return np.ascontiguousarray(self.loss.basis(self.width))

    @lazy
    def _offsets(self) -> Vector | None:
        """One offset per sample and class, or None where there are none."""
        return np.broadcast_to(self.offset, self.Y.shape).copy() if np.any(self.offset) else None

    @property
    def _bottom(self) -> float:
        """A value at which the classes count as separated."""
        return -np.inf if self.l2 > 0 else SEPARATED

    def _minimised(self, A: Vector, C: Vector, b: Vector, stored: Stored | None) -> tuple[Vector, Vector, Fit]:
        """The minimiser of a smooth loss, in orthonormal coordinates where the columns allow it."""
        room = None if stored is None or A.shape[1] == 0 else self._room(stored)
        few = Outputs(self.loss, self.Y, self.c, self.offset, A, self.l2, self.fit_intercept)
        if room is None or stored is None:
            fit = minimise(few, few.join(C, b))
            return *few.split(fit.z), fit
        raw = stored.raw(C)
        U = room.inward(stored.A, self.c, 1.0, self.l2 * np.where(np.isfinite(stored.s), stored.s, 0.0) ** 2, raw)
        mean = self.c @ A if self.fit_intercept else np.zeros(A.shape[1])
        there = Outputs(self.loss, self.Y, self.c, self.offset, room.Q, room.ridge, self.fit_intercept)
        fit = minimise(there, there.join(U, b + mean @ C))
        U, b = there.split(fit.z)
        C = self._outward(stored, room, U)
        return C, b - mean @ C, fit

    def _edges(self, curve: Curve, cols: Columns) -> Vector:
        """Mixed second derivatives of the coordinates and the q intercepts."""
        E, output = np.zeros((len(cols), self.width)), cols % self.width
        features, place = np.unique(cols // self.width, return_inverse=True)
        few = len(features) <= max(self.width, self.dim // self.width // 8)
        A = self.design.block(features).dense() if few else None
        own = self._times(A, self.c[:, None] * curve.diagonals(), features)
        if curve.u is not None and A is not None and len(features) <= self.width:
            order = np.argsort(place, kind="stable")
            for j, mine in enumerate(np.split(order, np.searchsorted(place[order], np.arange(1, len(features))))):
                check_time()
                E[mine] = -((self.c * A[:, j])[:, None] * curve.u[:, output[mine]]).T @ curve.u
        elif curve.u is not None:
            for r, mine in enumerate(self._by_output(cols)):
                check_time()
                E[mine] = -self._times(A, (self.c * curve.u[:, r])[:, None] * curve.u, features)[place[mine]]
        E[np.arange(len(cols)), output] = own[place, output]
        return E

    def _times(self, A: Vector | None, w: Vector, features: Columns) -> Vector:
        """X[:, features]' w: by the gathered columns A, or by a pass over X."""
        return self.design.rmatmat(np.ascontiguousarray(w))[features] if A is None else A.T @ w

    def _by_output(self, cols: Columns) -> list[Columns]:
        """Positions of the coordinates of each output, in the order they are given in."""
        output = cols % self.width
        order = np.argsort(output, kind="stable")
        return np.split(order, np.searchsorted(output[order], np.arange(1, self.width)))

    def _eta(self, point: Point) -> Vector:
        return self._predicted(point.support, point.coef, point.free)

    def _predicted(self, support: Columns, coef: Vector, b: Any) -> Vector:
        cols, C = self._matrix(support, coef)
        return np.asarray(self.design.matmat(cols, C) + b + self.offset)

    def _start(self) -> Vector:
        return self.loss.start(self.Y, self.c) if self.fit_intercept else np.zeros(self.width)

    def _matrix(self, support: Columns, coef: Vector) -> tuple[Columns, Vector]:
        """Features and their rows of C; coordinates that are missing are zero."""
        cols = np.unique(support // self.width)
        C = np.zeros((len(cols), self.width))
        C[np.searchsorted(cols, support // self.width), support % self.width] = coef
        return cols, C

    def _coordinates(self, cols: Columns) -> Columns:
        return (cols[:, None] * self.width + np.arange(self.width)).ravel()


def _one_hot(Y: Vector) -> bool:
    return bool(((Y == 0) | (Y == 1)).all() and (Y.sum(axis=1) == 1).all())


def _loss(loss: str | VectorLoss) -> VectorLoss:
    known = {"multinomial": Multinomial, "squared": Responses}
    if isinstance(loss, str):
        name = named(loss, known)
        if name is None:
            raise ValueError(f"loss {loss!r} does not take several outputs; {nearest(loss, known)}")
        return known[name]()
    return loss
