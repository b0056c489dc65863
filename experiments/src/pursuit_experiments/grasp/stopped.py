"""A GLM whose minimisations over a support end early, as those of plain GraSP must where the data are separable."""

from dataclasses import dataclass

import numpy as np

from pursuit._utils.types import Columns, Intercept, Vector
from pursuit.objectives import GLM, Point
from pursuit.objectives.wrapped import Wrapped

MOST = 500  # steps of an inner minimisation


@dataclass(frozen=True)
class Rule:
    """How to minimise: a method of SciPy, its option that takes the tolerance, whether from the last iterate."""

    method: str
    option: str
    warm: bool


GRADIENT = Rule("BFGS", "gtol", warm=True)  # until no entry of the gradient exceeds the tolerance
CHANGE = Rule("L-BFGS-B", "ftol", warm=False)  # until f falls by less than it, relative to max(f, 1), in a step
CHANGE_WARM = Rule("L-BFGS-B", "ftol", warm=True)


class Stopped(Wrapped):
    """f, minimised over a support by a rule until a tolerance is met.

    The paper says neither how it minimises nor when it stops. On separable columns the infimum 0 is not attained, and
    what is returned, cut and counted depends on both. It has no ``floor``: nothing ends a run early.
    """

    def __init__(self, f: GLM, tol: float, rule: Rule = GRADIENT) -> None:
        super().__init__(f)
        self.glm, self.tol, self.rule = f, tol, rule

    @property
    def null(self) -> Point:
        return self.f.null

    def at(self, support: Columns, coef: Vector, intercept: Intercept | None = None) -> Point:
        return self.f.at(support, coef, intercept)

    def refit(self, support: Columns, start: Point | None = None) -> Point:
        from scipy.optimize import minimize

        if len(support) == 0:
            return self.null
        few, rule = self.glm.support_problem(support).gather_columns(), self.rule

        def f(z: Vector) -> tuple[float, Vector]:
            state = few.at(z, hessian=False)
            return state.value, state.gradient

        begin = few.join(np.zeros(len(support)), 0.0)
        if rule.warm and start is not None:
            begin = few.join(start.x[support], start.free)
        options = {"gtol": 0.0, "maxiter": MOST, rule.option: self.tol}
        return self.at(support, *few.split(minimize(f, begin, jac=True, method=rule.method, options=options).x))
