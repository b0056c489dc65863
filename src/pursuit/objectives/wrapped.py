"""An objective over another one: what it does not change is the other's."""

from dataclasses import replace

import numpy as np

from .._utils.types import ArrayLike, Columns, Intercept, Vector
from ..refits import minimise
from .base import Objective, Point


class Wrapped(Objective):
    """f itself, for subclasses to change."""

    def __init__(self, f: Objective) -> None:
        self.f, self.dim, self.width, self.names = f, f.dim, f.width, f.names
        self.smooth, self.convex, self.quadratic, self.lower = f.smooth, f.convex, f.quadratic, f.lower
        self.rounded, self.serializable = f.rounded, f.serializable

    @property
    def work(self) -> float:
        return self.f.work

    def seconds(self, size: int) -> float:
        return self.f.seconds(size)

    def scale(self, value: float) -> float:
        return self.f.scale(value)

    def curvature(self, point: Point, cols: Columns, v: Vector) -> float:
        return self.f.curvature(point, cols, v)

    def curvatures(self, point: Point, cols: Columns) -> Vector:
        return self.f.curvatures(point, cols)

    def hessian_rows(self, point: Point, cols: Columns, others: Columns | None = None) -> Vector:
        return self.f.hessian_rows(point, cols, others)

    def in_units(self, point: Point) -> tuple[Vector, Intercept]:
        return self.f.in_units(point)

    def from_units(self, x: ArrayLike, intercept: Intercept | None = None) -> Point:
        start = self.f.from_units(x, intercept)
        return self.at(start.support, start.coef, start.free)


class Ridged(Wrapped):
    """f + sum_j w_j/2 x_j^2 for any f, refitted by Newton's method with f's own derivatives."""

    def __init__(self, f: Objective, w: Vector) -> None:
        super().__init__(f)
        self.w = w

    @property
    def null(self) -> Point:
        return self.f.null

    def at(self, support: Columns, coef: Vector, intercept: Intercept | None = None) -> Point:
        plain = self.f.at(support, coef, intercept)

        def slope() -> Vector:
            g = plain.gradient.copy()
            g[support] += self.w[support] * coef
            return g

        value = plain.value + 0.5 * float(coef @ (self.w[support] * coef))
        return replace(plain, value=value, slope=slope, refitted=False)

    def refit(self, support: Columns, start: Point | None = None) -> Point:
        x = np.zeros(self.dim) if start is None else start.x
        problem = self.support_problem(support)
        fit = minimise(problem, x[support])
        point = problem.point(fit.z)
        return replace(
            point, refitted=fit.converged, note=fit.note, minimiser=fit.minimiser, support_bound=fit.lower_bound
        )

    def curvature(self, point: Point, cols: Columns, v: Vector) -> float:
        return super().curvature(point, cols, v) + float(v @ (self.w[cols] * v))

    def curvatures(self, point: Point, cols: Columns) -> Vector:
        return super().curvatures(point, cols) + self.w[cols]

    def hessian_rows(self, point: Point, cols: Columns, others: Columns | None = None) -> Vector:
        H = super().hessian_rows(point, cols, others).copy()
        columns = np.arange(self.dim) if others is None else others
        H[cols[:, None] == columns] += self.w[cols[np.isin(cols, columns)]]
        return H
