"""Generalised linear models with several outputs and one shared support: multinomial, and several responses.

    f(C, b) = sum_i c_i phi(y_i, C'x_i + b + o_i) + l2/2 ||C||_F^2,     C is p x q

The coordinates are the entries of C, row by row: coordinate j q + r belongs to feature j and output r. A feature is a
group of q coordinates, so every solver, constraint and exchange works on this objective as it stands.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from .. import _core, searched, walked
from .._described import described
from .._errors import check_flag, check_number, check_start, named, nearest
from .._lazy import lazy
from .._names import called
from .._types import Columns, Vector
from ..constraints import AtMost
from ..data import as_data, by_output, placed
from ..engines import check_time
from ..losses.vector import Multinomial, Responses, VectorLoss
from ..refits.columns import SEPARATED
from ..refits.methods import FLOOR
from ..refits.outputs import one_hot
from .base import Objective, Point


class MultiGLM(Objective):
    """A GLM with q outputs and one shared support.

    ``loss`` is "multinomial" or "squared". For "multinomial" ``Y`` is a vector of labels (text or whole numbers), or a
    matrix of shares of the classes (at least 0, every row sums to 1); for "squared" it is n x q numbers. The other
    parameters are those of :class:`pursuit.GLM`.
    """

    convex = True

    def __init__(
        self,
        X: Any,
        Y: Any = None,
        loss: str | VectorLoss = "multinomial",
        *,
        l2: float = 0.0,
        fit_intercept: bool = True,
        sample_weight: Any = None,
        offset: Any = None,
        standardize: bool = False,
    ) -> None:
        self.loss = _loss(loss)
        data: Any = as_data(X, Y, self.loss, sample_weight, offset)
        self.quadratic = self.loss.quadratic
        self.l2, self.fit_intercept = check_number(l2, "l2"), check_flag(fit_intercept, "fit_intercept")
        self.standardize = check_flag(standardize, "standardize")
        if self.standardize:
            data = data.standardized(self.fit_intercept)
        elif self.fit_intercept:
            data = data.shifted()
        self.data, self.names, self.width = data, data.names, data.outputs
        self.dim = data.shape[1] * self.width
        self._null: Point | None = None

    def on(self, engine: Any) -> "MultiGLM":
        return type(self)(
            placed(self.data.raw, engine), loss=self.loss, l2=self.l2, fit_intercept=self.fit_intercept,
            standardize=self.standardize,
        )  # fmt: skip

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_null": None}

    def marks(self) -> dict[str, Any]:
        settings = {"loss": described(self.loss), "l2": self.l2, "fit_intercept": self.fit_intercept}
        shift = None if self.standardize or self.data.view is None else described(self.data.view[0])
        return {**super().marks(), **settings, "standardize": self.standardize, "shift of the columns": shift}

    def fingerprint(self) -> list[tuple[float, float]]:
        return [*super().fingerprint(), *map(tuple, self.data.raw.sketch().tolist())]

    def _probes(self) -> Iterator[Point | None]:
        return iter(()) if type(self.loss) in (Multinomial, Responses) else super()._probes()

    @property
    def work(self) -> float:
        return 10.0 * self.width**2 * self.data.nbytes / self.data.dtype.itemsize

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
        if not self.fit_intercept:  # a start may come from an objective that has one
            intercept = self._start
        elif intercept is None:
            intercept = self.data.held(cols, C).best_intercept(self._start)
        value, G, _ = self.data.at(cols, C, intercept)
        gradient = G.ravel()
        gradient[support] += self.l2 * coef
        value += 0.5 * self.l2 * float(coef @ coef)
        return Point(self.dim, support, coef, intercept, value, lambda: gradient).owned(self)

    def refit(self, support: Columns, start: Point | None = None) -> Point:
        cols = support[:: self.width] // self.width
        if not np.array_equal(self._coordinates(cols), support):
            raise ValueError("a support of several outputs must hold whole features")
        few = self.data.few(cols, self.l2, self.fit_intercept)
        C, b = np.zeros((len(cols), self.width)), self._start
        if start is not None and not self.quadratic and (self._null is None or start.value < self._null.value):
            left = start.x[support].reshape(C.shape)
            if self._null is None or few.value(left, start.free) < self._null.value:
                C, b = left, start.free  # else what is left without its other columns is worse than nothing
        fit = few.refit(C, b)

        def slope() -> Vector:
            g = self.data.at(cols, fit.C, fit.b).gradient.ravel()
            g[support] = 0.0
            return g

        return Point(
            self.dim, support, fit.C.ravel(), fit.b, fit.value, slope, fit.converged, fit.note, fit.minimiser,
            least=fit.least,
        ).owned(self)  # fmt: skip

    def curvature(self, point: Point, cols: Columns, v: Vector) -> float:
        model = self._model(point)
        bent, edge = model.turned(*self._matrix(cols, v))
        if self.fit_intercept:
            bent -= float(edge @ _inverse(model.level()) @ edge)
        return max(bent, 0.0) + self.l2 * float(v @ v)

    def curvatures(self, point: Point, cols: Columns) -> Vector:
        model, out = self._model(point), np.empty(len(cols))
        for r, mine in enumerate(by_output(cols, self.width)):
            check_time()
            if len(mine):
                out[mine] = model.spread(r, cols[mine] // self.width).moment(self.fit_intercept)
        return out + self.l2

    def hessian_rows(self, point: Point, cols: Columns, others: Columns | None = None) -> Vector:
        others, model = np.arange(self.dim) if others is None else others, self._model(point)
        H = model.entries(cols, others)
        if self.fit_intercept:
            H -= model.edges(cols) @ _inverse(model.level()) @ model.edges(others).T
        _, here, there = np.intersect1d(cols, others, assume_unique=True, return_indices=True)
        H[here, there] += self.l2
        return H

    def quick_search(self, constraint: AtMost, start: Columns, plan: searched.Plan) -> "searched.Searched | None":
        """A search for the best features in one kernel call; None where the data are too large for that."""
        small = self._copied(constraint)
        if small is None:
            return None
        given, even, E = small
        found = searched.likelihood(
            partial(_core.multinomial_search, *given), even, self.l2, self.width - 1, constraint,
            constraint.units_of(start), self.floor, 1e-9 * self.null.value, self.fit_intercept, plan,
        )  # fmt: skip
        if found is None:
            return None
        points = [(self._coordinates(S), (Z @ E.T).ravel(), b @ E.T, value) for S, Z, b, value in found.points]
        return replace(found, points=points, doubtful=[self._coordinates(S) for S in found.doubtful])

    def copies(self, one: int, other: int) -> bool:
        return not self.data.lean and self.data.copies(one // self.width, other // self.width, self.fit_intercept)

    def quick_path(self, constraint: AtMost, plan: walked.PathPlan) -> "walked.Walked | None":
        small = None if constraint.k < 1 else self._copied(constraint)
        if small is None:
            return None
        given, even, E = small
        found = walked.likelihood(partial(_core.multinomial_path, *given), even, self.l2, self.width - 1, constraint,
                                  self.floor, 1e-9 * self.null.value, self.fit_intercept, plan)  # fmt: skip
        if found is None:
            return None
        points = [
            at._replace(support=self._coordinates(at.support), coef=(at.coef @ E.T).ravel(), free=at.free @ E.T)
            for at in found.points
        ]
        return replace(found, points=points)

    def _copied(self, constraint: AtMost) -> tuple[tuple[Any, ...], searched.EvenColumns, Vector] | None:
        """What the kernels of classes ask for, and the basis of their coefficients; None: the data are too large."""
        p, q = self.data.shape[1], self.width
        if q < 2 or constraint.units != p or self.loss.quadratic:
            return None
        if self.data.lean or not (
            self.data.near and searched.affordable(float(np.prod(self.data.shape)), q - 1, constraint)
        ):
            return None
        A, rows = self.data.copied()
        labels, even = one_hot(self.loss, rows.y), searched.EvenColumns.dense(A, rows.c, self.fit_intercept)
        if labels is None or even is None:
            return None
        E = np.ascontiguousarray(self.loss.basis(q))
        return (labels, rows.c, rows.offset, E), even, E

    def in_units(self, point: Point) -> tuple[Vector, Any]:
        cols, C = self._matrix(point.support, point.coef)
        pairs = [self.data.in_units(cols, C[:, r], float(point.free[r])) for r in range(self.width)]
        return np.column_stack([u for u, _ in pairs]).ravel(), np.array([b for _, b in pairs])

    def from_units(self, x: Any, intercept: Any = None) -> Point:
        p = self.dim // self.width
        x = check_start(x, f"a matrix of shape ({p}, {self.width})")
        if x.shape != (p, self.width) or not np.isfinite(x).all():
            raise ValueError(f"start must be a finite matrix with one row per column of X, shape ({p}, {self.width})")
        cols = np.flatnonzero(x.any(axis=1))
        b = np.zeros(self.width) if intercept is None else np.asarray(intercept, dtype=np.float64)
        pairs = [self.data.from_units(cols, x[cols, r], float(b[r])) for r in range(self.width)]
        coef = np.column_stack([u for u, _ in pairs]).ravel()
        return self.at(self._coordinates(cols), coef, None if intercept is None else np.array([b for _, b in pairs]))

    @lazy
    def _start(self) -> Vector:
        return self.data.start() if self.fit_intercept else np.zeros(self.width)

    def _model(self, point: Point) -> Any:
        return self.data.model(*self._matrix(point.support, point.coef), point.free)

    def _matrix(self, support: Columns, coef: Vector) -> tuple[Columns, Vector]:
        """Features and their rows of C; coordinates that are missing are zero."""
        cols = np.unique(support // self.width)
        C = np.zeros((len(cols), self.width))
        C[np.searchsorted(cols, support // self.width), support % self.width] = coef
        return cols, C

    def _coordinates(self, cols: Columns) -> Columns:
        return (cols[:, None] * self.width + np.arange(self.width)).ravel()


def _inverse(level: Vector) -> Vector:
    """Of second derivatives in the intercepts: zero where a common constant changes nothing."""
    return np.asarray(np.linalg.pinv(level, rcond=1e-10, hermitian=True), dtype=np.float64)


def _loss(loss: str | VectorLoss) -> VectorLoss:
    known: dict[str, type[VectorLoss]] = {"multinomial": Multinomial, "squared": Responses}
    if isinstance(loss, type) and issubclass(loss, VectorLoss):
        return loss()
    if isinstance(loss, str):
        name = named(loss, known)
        if name is None:
            raise ValueError(f"loss {loss!r} does not take several outputs; {nearest(loss, known)}")
        return known[name]()
    if not isinstance(loss, VectorLoss):
        raise TypeError(f"loss of MultiGLM must be 'multinomial' or 'squared', got {type(loss).__name__}")
    return loss
