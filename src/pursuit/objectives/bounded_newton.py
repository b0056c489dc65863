"""Minimisers of a smooth function over a few coefficients inside a box, and on one hyperplane.

    min f(z)   s.t.   low <= z <= high,   a'z = t

Damped Newton whose sub-problem is the quadratic model over the same set (``box_qp``): sequential quadratic programming
with linear constraints. Every iterate is feasible, the bounds that hold are found exactly, and the squared loss takes
one step (and a second that refines it). A step that does not help is halved, and the next model gets a ridge.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .base import Columns, Objective, Point
from .box_qp import Sides, box_qp
from .refits import CONVERGED, MAX_NEWTON, SEPARATED, Problem

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
#: Value, gradient and (when asked for) Hessian at z.
System = Callable[[Vector, bool], tuple[float, Vector, Matrix | None]]

HALVINGS = 60
SUFFICIENT = 1e-4  # share of the predicted decrease that a step must bring


@dataclass(frozen=True)
class Feasible:
    """The set: a box, and a hyperplane a'z = t where ``a`` is given."""

    low: Vector
    high: Vector
    a: Vector | None
    t: float

    def with_free(self) -> "Feasible":
        """The same set with one more variable, an intercept, that nothing binds."""
        a = None if self.a is None else np.append(self.a, 0.0)
        return Feasible(np.append(self.low, -np.inf), np.append(self.high, np.inf), a, self.t)

    def sides(self, z: Vector) -> Sides:
        """-1 where z is at its lower bound, 1 at its upper, 0 between."""
        return np.where(z <= self.low, -1, np.where(z >= self.high, 1, 0)).astype(np.int8)


@dataclass(frozen=True)
class Minimum:
    """Where the method ended, and a sentence if it is no minimiser."""

    z: Vector
    value: float
    note: str = ""
    minimiser: bool = True


def minimise(system: System, z: Vector, within: Feasible, bottom: float = -np.inf) -> Minimum:
    """The minimiser from a feasible start; at or below ``bottom`` there is none (separated classes)."""
    value, g, H = system(z, True)
    start, ridge = value, 0.0
    for _ in range(MAX_NEWTON):
        if value <= bottom:
            return Minimum(z, value, "the chosen columns separate the classes, so no finite minimiser exists", False)
        if len(z) == 0:
            return Minimum(z, value)
        assert H is not None
        model = H + ridge * np.diag(np.maximum(H.diagonal(), 1e-3 * H.diagonal().max())) if ridge else H
        t = 0.0 if within.a is None else within.t - float(within.a @ z)
        d = box_qp(model, g, within.low - z, within.high - z, within.a, t, within.sides(z)).d
        decrement = -float(g @ d)
        last = decrement <= CONVERGED * max(abs(value), abs(start - value))
        ahead = np.clip(z + d, within.low, within.high)
        trial, g_trial, H_trial = system(ahead, not last)
        if last:
            return Minimum(ahead, trial) if trial <= value else Minimum(z, value)
        step = 1.0
        while not trial <= value - SUFFICIENT * step * decrement:
            step /= 2
            if step < 0.5**HALVINGS:
                return Minimum(z, value)
            trial = system(np.clip(z + step * d, within.low, within.high), False)[0]
        if step < 1:
            ahead = np.clip(z + step * d, within.low, within.high)
            trial, g_trial, H_trial = system(ahead, True)
        ridge = max(10 * ridge, 1e-6) if step < 0.2 else (0.1 * ridge if ridge > 1e-9 else 0.0)
        z, value, g, H = ahead, trial, g_trial, H_trial
    return Minimum(z, value, f"the refit stopped after {MAX_NEWTON} Newton steps", bottom == -np.inf)


def of_problem(problem: Problem) -> System:
    """A GLM on gathered columns, in (coefficients, intercept)."""
    return problem.system


def bottom_of(problem: Problem) -> float:
    """The mean loss at which a GLM counts as separated; -inf where its minimum is attained."""
    endless = not np.all(problem.l2) and not problem.loss.attained and problem.loss.targets == "binary"
    return SEPARATED if endless else -np.inf


def of_objective(f: Objective, support: Columns, seen: dict[bytes, Point]) -> System:
    """Any objective on a support, the intercept minimised out; the points evaluated are left in ``seen``."""

    def system(z: Vector, hessian: bool) -> tuple[float, Vector, Matrix | None]:
        point = f.at(support, z)
        seen[z.tobytes()] = point
        H = convex(f.hessian_rows(point, support, support)) if hessian else None
        return point.value, np.asarray(point.gradient[support]), H

    return system


def convex(H: Matrix) -> Matrix:
    """H, or where it has negative eigenvalues the matrix with their absolute values."""
    H = 0.5 * (H + H.T)
    values, vectors = np.linalg.eigh(H)
    if len(values) == 0 or values[0] >= -1e-10 * max(values[-1], 1e-300):
        return H
    return (vectors * np.abs(values)) @ vectors.T
