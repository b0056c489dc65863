"""What an objective can leave to others: everything that follows from ``at`` (value and gradient) and ``refit``.

Inherit :class:`ObjectiveDefaults`, give ``dim``, ``at`` and ``refit``, and override what you can do better.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from ..refits import minimise
from .asked import Asked
from .base import Columns, Objective, Point, Slope, Vector

STEP = float(np.cbrt(np.finfo(float).eps))  # of central differences, relative to x


class ObjectiveDefaults(Asked):
    """Defaults for an objective without an intercept, in the user's own units."""

    smooth: bool = True
    convex: bool = False
    quadratic: bool = False
    floor: float = -np.inf
    lower: float = -np.inf

    def at(self, support: Columns, coef: Vector, intercept: float | None = None) -> Point:
        raise NotImplementedError(f"{type(self).__name__} must define at(support, coef, intercept)")

    def refit(self, support: Columns, start: Point | None = None) -> Point:
        raise NotImplementedError(f"{type(self).__name__} must define refit(support, start)")

    @property
    def work(self) -> float:
        return float(self.dim)

    def scale(self, value: float) -> float:
        return abs(value)

    @property
    def null(self) -> Point:
        return self.refit(np.empty(0, np.int64))

    def curvature(self, point: Point, cols: Columns, v: Vector) -> float:
        return float(v @ self._turn(point, cols, v)[cols])

    def curvatures(self, point: Point, cols: Columns) -> Vector:
        one = np.ones(1)
        return np.array([self._turn(point, cols[i : i + 1], one)[cols[i]] for i in range(len(cols))])

    def mean_curvature(self, point: Point, cols: Columns, v: Vector) -> float:
        return float(v**2 @ self.curvatures(point, cols))

    def hessian_rows(self, point: Point, cols: Columns, others: Columns | None = None) -> Vector:
        one, columns = np.ones(1), np.arange(self.dim) if others is None else others
        rows = [self._turn(point, cols[i : i + 1], one)[columns] for i in range(len(cols))]
        return np.array(rows).reshape(len(cols), len(columns))

    def _turn(self, point: Point, cols: Columns, v: Vector) -> Vector:
        """H v for a direction on ``cols``: the central difference of the gradient along it."""
        h = STEP * max(1.0, float(np.abs(point.coef).max(initial=0.0))) / max(float(np.abs(v).max()), 1e-300)
        wide = np.union1d(point.support, cols)
        x, d = point.x, np.zeros(self.dim)
        d[cols] = h * v
        ahead, behind = self.at(wide, (x + d)[wide]), self.at(wide, (x - d)[wide])
        return (ahead.gradient - behind.gradient) / (2 * h)

    def ridged(self, weights: Vector) -> Objective:
        return Ridged(self, weights)

    def minibatch(self, rng: np.random.Generator, share: float) -> Slope:
        """All of f: an estimate without variance."""
        return lambda support, coef, intercept: (self.at(support, coef, intercept).gradient, 0.0)

    def from_units(self, x: Any, intercept: float | None = None) -> Point:
        x = np.asarray(x, dtype=np.float64)
        if x.shape != (self.dim,) or not np.isfinite(x).all():
            raise ValueError(f"start must be a finite vector of length {self.dim}")
        support = np.flatnonzero(x)
        return self.at(support, x[support], intercept)


class Ridged(ObjectiveDefaults):
    """f + sum_j w_j/2 x_j^2 for any f, refitted by Newton's method with f's own derivatives."""

    def __init__(self, f: Objective, w: Vector) -> None:
        self.f, self.w = f, w
        self.dim, self.smooth, self.quadratic, self.lower = f.dim, f.smooth, f.quadratic, f.lower
        self.convex, self.width, self.names = f.convex, f.width, f.names

    @property
    def null(self) -> Point:
        return self.f.null

    @property
    def work(self) -> float:
        return self.f.work

    def scale(self, value: float) -> float:
        return self.f.scale(value)

    def in_units(self, point: Point) -> tuple[Vector, Any]:
        return self.f.in_units(point)

    def from_units(self, x: Any, intercept: float | None = None) -> Point:
        start = self.f.from_units(x, intercept)
        return self.at(start.support, start.coef, start.free)

    def at(self, support: Columns, coef: Vector, intercept: float | None = None) -> Point:
        plain = self.f.at(support, coef, intercept)

        def slope() -> Vector:
            g = plain.gradient.copy()
            g[support] += self.w[support] * coef
            return g

        value = plain.value + 0.5 * float(coef @ (self.w[support] * coef))
        return replace(plain, value=value, slope=slope, refitted=False)

    def refit(self, support: Columns, start: Point | None = None) -> Point:
        x = np.zeros(self.dim) if start is None else start.x
        few = self.few(support)
        fit = minimise(few, x[support])
        point = few.point(fit.z)
        return replace(point, refitted=fit.converged, note=fit.note, minimiser=fit.minimiser, least=fit.least)

    def curvature(self, point: Point, cols: Columns, v: Vector) -> float:
        return self.f.curvature(point, cols, v) + float(v @ (self.w[cols] * v))

    def curvatures(self, point: Point, cols: Columns) -> Vector:
        return self.f.curvatures(point, cols) + self.w[cols]

    def hessian_rows(self, point: Point, cols: Columns, others: Columns | None = None) -> Vector:
        H = self.f.hessian_rows(point, cols, others).copy()
        columns = np.arange(self.dim) if others is None else others
        H[cols[:, None] == columns] += self.w[cols[np.isin(cols, columns)]]
        return H
