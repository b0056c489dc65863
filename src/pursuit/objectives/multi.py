"""Generalised linear models with several outputs and one shared support: multinomial, and several responses.

    f(C, b) = sum_i c_i phi(y_i, C'x_i + b + o_i) + l2/2 ||C||_F^2,     C is p x q

The coordinates are the entries of C, row by row: coordinate j q + r belongs to feature j and output r. A feature is a
group of q coordinates, so every solver, constraint and exchange works on this objective as it stands.
"""

from typing import Any

import numpy as np

from .._errors import check_number, check_weights, nearest
from ..designs import Design, Standardized, as_design, cross
from ..losses.vector import Multinomial, Responses, VectorLoss
from .base import Columns, Point, Vector
from .defaults import ObjectiveDefaults
from .refits import SEPARATED, Factor, pseudo_solve

MAX_NEWTON = 100
DIRECT = 400  # unknowns up to which the Hessian is assembled


class MultiGLM(ObjectiveDefaults):
    """A GLM with q outputs and one shared support.

    ``Y`` is n x q, or for ``loss="multinomial"`` a vector of labels; ``loss`` is "multinomial" or "squared". The other
    parameters are those of :class:`pursuit.GLM`.
    """

    smooth = True

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
        if self.loss.name == "multinomial" and np.ndim(Y) == 1:
            self.classes, codes = np.unique(Y, return_inverse=True)
            Y = np.eye(len(self.classes))[codes]
        self.Y = np.ascontiguousarray(Y, dtype=np.float64)
        if self.Y.ndim != 2 or len(self.Y) != n or self.Y.shape[1] == 0:
            raise ValueError(f"y must have one row per row of X, shape ({n}, q), got shape {np.shape(Y)}")
        if not np.isfinite(self.Y).all():
            raise ValueError("y contains NaN or infinity; every target must be finite")
        self.width = self.Y.shape[1]
        self.offset = 0.0 if offset is None else np.asarray(offset, dtype=np.float64).reshape(n, -1)
        if not np.isfinite(self.offset).all():
            raise ValueError("offset contains NaN or infinity")
        self.l2, self.fit_intercept = check_number(l2, "l2"), bool(fit_intercept)
        self.c = check_weights(sample_weight, n)
        self.standardize = bool(standardize)
        self.design: Design = Standardized(design, self.c, self.fit_intercept) if standardize else design
        self.dim = p * self.width
        self._null: Point | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_null": None}

    @property
    def work(self) -> float:
        return 10.0 * self.width**2 * self.design.nbytes / self.design.dtype.itemsize

    @property
    def null(self) -> Point:
        if self._null is None:
            self._null = self.refit(np.empty(0, np.int64))
            if not np.isfinite(self._null.gradient).all():
                bad = int(np.flatnonzero(~np.isfinite(self._null.gradient))[0]) // self.width
                raise ValueError(f"X contains NaN or infinity (or values too large to add up) in column {bad}")
        return self._null

    @property
    def floor(self) -> float:  # type: ignore[override]
        if self.l2 > 0:
            return -np.inf
        return 1e-18 * self.null.value if self.quadratic else 1e-9

    def at(self, support: Columns, coef: Vector, intercept: Any = None) -> Point:
        cols, C = self._matrix(support, coef)
        eta = self.design.matmat(cols, C) + self.offset
        if intercept is None:
            intercept = self._newton(np.empty((len(eta), 0)), np.empty((0, self.width)), self._start(), eta)[1]
        return self._point(support, coef, intercept, eta + intercept, refitted=False)

    def refit(self, support: Columns, start: Point | None = None) -> Point:
        cols = np.unique(support // self.width)
        if len(cols) * self.width != len(support):
            raise ValueError("a support of several outputs must hold whole features")
        C, b = np.zeros((len(cols), self.width)), self._start()
        if start is not None:
            b = start.intercept
            _, here, there = np.intersect1d(support, start.support, assume_unique=True, return_indices=True)
            C.reshape(-1)[here] = start.coef[there]
        A = self.design.block(cols).dense()
        if self.quadratic:
            C, b, note, minimiser = *self._least_squares(A), "", True
        else:
            C, b, note, minimiser = self._newton(A, C, b, self.offset)
        if not self.quadratic:  # adding a constant to all classes changes no probability: centre
            C, b = (C - C.mean(axis=1, keepdims=True) if self.l2 == 0 else C), b - b.mean()
        return self._point(support, C.ravel(), b, A @ C + b + self.offset, True, note, minimiser)

    def curvature(self, point: Point, cols: Columns, v: Vector) -> float:
        features, V = self._matrix(cols, v)
        T = self.design.matmat(features, V)
        if self.fit_intercept:
            T = T - self.c @ T
        eta = self._eta(point)
        return float(self.c @ (T * self.loss.turn(eta, T)).sum(axis=1)) + self.l2 * float(v @ v)

    def curvatures(self, point: Point, cols: Columns) -> Vector:
        eta, out = self._eta(point), np.empty(len(cols))
        for r in range(self.width):
            mine = np.flatnonzero(cols % self.width == r)
            w = self.c * self.loss.weights(eta, r, r)
            out[mine] = self._variances(w, cols[mine] // self.width)
        return out + self.l2

    def hessian_rows(self, point: Point, cols: Columns, others: Columns | None = None) -> Vector:
        others = np.arange(self.dim) if others is None else others
        eta, H = self._eta(point), np.zeros((len(cols), len(others)))
        edges = self._edges(eta, cols), self._edges(eta, others)
        for r in range(self.width):
            mine = np.flatnonzero(cols % self.width == r)
            if len(mine) == 0:
                continue
            A = self.design.block(cols[mine] // self.width).dense()
            for s in range(self.width):
                theirs = np.flatnonzero(others % self.width == s)
                w = self.c * self.loss.weights(eta, r, s)
                if len(theirs) and w.any():
                    weighted = np.asfortranarray(A * w[:, None])
                    H[np.ix_(mine, theirs)] = cross(self.design, weighted, others[theirs] // self.width)
        if self.fit_intercept:
            H -= edges[0] @ np.linalg.pinv(self._corner(eta), rcond=1e-10, hermitian=True) @ edges[1].T
        _, here, there = np.intersect1d(cols, others, assume_unique=True, return_indices=True)
        H[here, there] += self.l2
        return H

    def in_units(self, point: Point) -> tuple[Vector, Any]:
        cols, C = self._matrix(point.support, point.coef)
        pairs = [self.design.in_units(cols, C[:, r], float(point.intercept[r])) for r in range(self.width)]
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
        eta: Vector,
        refitted: bool,
        note: str = "",
        minimiser: bool = True,
    ) -> Point:
        value = float(self.c @ self.loss.value(self.Y, eta)) + 0.5 * self.l2 * float(coef @ coef)

        def slope() -> Vector:
            g = self.design.rmatmat(self.c[:, None] * self.loss.d1(self.Y, eta)).ravel()
            g[support] = 0.0 if refitted else g[support] + self.l2 * coef
            return g

        return Point(self.dim, support, coef, b, value, slope, refitted, note, minimiser)

    def _least_squares(self, A: Vector) -> tuple[Vector, Vector]:
        target = self.Y - self.offset
        mean = self.c @ A if self.fit_intercept else np.zeros(A.shape[1])
        centre = self.c @ target if self.fit_intercept else np.zeros(self.width)
        W, R = self.c[:, None] * (A - mean), target - centre
        H = W.T @ (A - mean) + self.l2 * np.eye(A.shape[1])
        if len(H) == 0:
            return np.empty((0, self.width)), centre
        factor = Factor(H)
        if factor.rcond > 1e-10:
            C = np.column_stack([factor.solve(column) for column in (W.T @ R).T])
        else:
            C = np.asarray(np.linalg.lstsq(H, W.T @ R, rcond=1e-14)[0], dtype=np.float64)
        return C, centre - mean @ C

    def _newton(self, A: Vector, C: Vector, b: Vector, offset: Any) -> tuple[Vector, Vector, str, bool]:
        """Newton with conjugate gradients, which bear with the directions that change nothing."""
        design = np.column_stack([A, np.ones(len(A))]) if self.fit_intercept else A
        Z = np.vstack([C, b[None, :]]) if self.fit_intercept else C.copy()
        ridge = np.full((len(Z), 1), self.l2)
        if self.fit_intercept:
            ridge[-1] = 0.0

        def evaluate(Z: Vector) -> tuple[float, Vector]:
            eta = design @ Z + offset
            return float(self.c @ self.loss.value(self.Y, eta)) + 0.5 * float((ridge * Z * Z).sum()), eta

        value, eta = evaluate(Z)
        first, note, minimiser = value, "", True
        for _ in range(MAX_NEWTON):
            if self.l2 == 0 and not self.loss.attained and value <= SEPARATED:
                note = "the chosen columns separate the classes, so no finite minimiser exists (set l2 > 0)"
                minimiser = False
                break
            g = design.T @ (self.c[:, None] * self.loss.d1(self.Y, eta)) + ridge * Z
            if g.size == 0:
                break
            D: Vector = self._direction(design, eta, ridge, g)
            slope = float((g * D).sum())
            t = 1.0
            trial, ahead = evaluate(Z + D)
            while trial > value + 1e-4 * t * slope and t > 1e-10:
                t /= 2
                trial, ahead = evaluate(Z + t * D)
            if not trial < value:
                break
            done = -slope <= 1e-13 * max(abs(value), abs(first - value))
            Z, value, eta = Z + t * D, trial, ahead
            if done:
                break
        return (Z[:-1], Z[-1], note, minimiser) if self.fit_intercept else (Z, np.zeros(self.width), note, minimiser)

    def _direction(self, design: Vector, eta: Vector, ridge: Vector, g: Vector) -> Vector:
        if g.size <= DIRECT:
            return self._solve(design, eta, ridge, g)

        def apply(V: Vector) -> Vector:
            return design.T @ (self.c[:, None] * self.loss.turn(eta, design @ V)) + ridge * V

        scale = np.sqrt(np.maximum(np.einsum("i,ij,ij->j", self.c, design, design), 1e-300))[:, None]
        D, r = np.zeros_like(g), -g / scale
        v, rr = r.copy(), float((r * r).sum())
        goal = 1e-20 * rr
        for _ in range(4 * g.size):
            Hv = apply(v / scale) / scale
            curve = float((v * Hv).sum())
            if curve <= 1e-300:
                break
            t = rr / curve
            D += t * v
            r -= t * Hv
            rr, before = float((r * r).sum()), rr
            if rr <= goal:
                break
            v = r + (rr / before) * v
        return D / scale if D.any() else -g

    def _solve(self, design: Vector, eta: Vector, ridge: Vector, g: Vector) -> Vector:
        """Newton's direction from the assembled Hessian, in the outputs' directions that matter."""
        m, q = g.shape
        Q = self.loss.basis(q)
        H = np.zeros((m, q, m, q))
        for r in range(q):
            for s in range(r, q):
                w = self.c * self.loss.weights(eta, r, s)
                H[:, r, :, s] = H[:, s, :, r] = design.T @ (w[:, None] * design)
        size = m * Q.shape[1]
        small = np.einsum("arbs,rt,su->atbu", H, Q, Q, optimize=True).reshape(size, size)
        small[np.arange(size), np.arange(size)] += np.repeat(ridge[:, 0], Q.shape[1])
        factor, down = Factor(small), (g @ Q).ravel()
        direction = -factor.solve(down) if factor.rcond > 1e-12 else -pseudo_solve(small, down)
        return direction.reshape(m, -1) @ Q.T

    def _variances(self, w: Vector, cols: Columns) -> Vector:
        total = max(float(w.sum()), 1e-300)
        if 8 * len(cols) > self.dim // self.width:
            mean, var = self.design.stats(w / total)
            return total * (var if self.fit_intercept else var + mean**2)[cols]
        first, second = self.design.block(cols).moments(w)
        return np.maximum(0.0, second - first**2 / total) if self.fit_intercept else second

    def _edges(self, eta: Vector, cols: Columns) -> Vector:
        """Mixed second derivatives of the coordinates and the q intercepts."""
        E = np.empty((len(cols), self.width))
        every = [self.c * self.loss.weights(eta, r, s) for r in range(self.width) for s in range(self.width)]
        sums = self.design.rmatmat(np.ascontiguousarray(np.column_stack(every)))
        for r in range(self.width):
            mine = np.flatnonzero(cols % self.width == r)
            E[mine] = sums[cols[mine] // self.width, r * self.width : (r + 1) * self.width]
        return E

    def _corner(self, eta: Vector) -> Vector:
        q = range(self.width)
        return np.array([[float(self.c @ self.loss.weights(eta, r, s)) for s in q] for r in q])

    def _eta(self, point: Point) -> Vector:
        cols, C = self._matrix(point.support, point.coef)
        return np.asarray(self.design.matmat(cols, C) + point.intercept + self.offset)

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


def _loss(loss: str | VectorLoss) -> VectorLoss:
    known = {"multinomial": Multinomial, "squared": Responses}
    if isinstance(loss, str):
        if loss not in known:
            raise ValueError(f"loss {loss!r} does not take several outputs; {nearest(loss, known)}")
        return known[loss]()
    return loss
