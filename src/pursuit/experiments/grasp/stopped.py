"""A GLM whose minimisations over a support end early, as those of plain GraSP must where the data are separable."""

import numpy as np

from pursuit._types import Columns, Vector
from pursuit.objectives import GLM, Point
from pursuit.objectives.wrapped import Wrapped

MOST = 500  # steps of an inner minimisation


class Stopped(Wrapped):
    """f, minimised over a support by SciPy's BFGS until no entry of the gradient exceeds ``tol``.

    The paper says neither how it minimises nor when it stops. On separable columns the infimum 0 is not attained, and
    what is returned, cut and counted depends on ``tol``. It has no ``floor``: nothing ends a run early.
    """

    def __init__(self, f: GLM, tol: float) -> None:
        super().__init__(f)
        self.glm, self.tol = f, tol

    @property
    def null(self) -> Point:
        return self.f.null

    def at(self, support: Columns, coef: Vector, intercept: float | None = None) -> Point:
        return self.f.at(support, coef, intercept)

    def refit(self, support: Columns, start: Point | None = None) -> Point:
        from scipy.optimize import minimize

        if len(support) == 0:
            return self.null
        few = self.glm.few(support).together()

        def f(z: Vector) -> tuple[float, Vector]:
            state = few.at(z, hessian=False)
            return state.value, state.gradient

        begin = few.join(
            np.zeros(len(support)) if start is None else start.x[support], 0.0 if start is None else start.free
        )
        end = minimize(f, begin, jac=True, method="BFGS", options={"gtol": self.tol, "maxiter": MOST})
        return self.at(support, *few.split(end.x))
