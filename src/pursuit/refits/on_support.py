"""Any objective on a support, as a function of its coefficients there (the intercept minimised out)."""

from typing import Any

import numpy as np

from .._utils.types import Columns, Vector
from .few import Few, State


class OnSupport(Few):
    """f over the coefficients of a support; the points that were evaluated are left in ``seen``."""

    intercept = lean = False  # is not among the variables; nor are there columns to gather

    def __init__(self, f: Any, support: Columns) -> None:
        self.f, self.support = f, support
        self.convex = f.convex
        self.seen: dict[bytes, Any] = {}

    def at(self, z: Vector, hessian: bool = True) -> State:
        point = self.f.at(self.support, z)
        self.seen[z.tobytes()], S = point, self.support
        return State(z, point.value, point.gradient[S], lambda: self.f.hessian_rows(point, S, S))

    def join(self, coef: Vector, free: Any) -> Vector:
        return np.array(coef, dtype=np.float64)

    def split(self, z: Vector) -> tuple[Vector, Any]:
        """Coefficients and what is free."""
        return z, self.point(z).free

    def point(self, z: Vector) -> Any:
        """The point at coefficients that have been evaluated."""
        return self.seen[z.tobytes()]
