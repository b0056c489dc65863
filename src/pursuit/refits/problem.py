"""A smooth function of few variables, and where a minimisation of it ended."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._utils.types import Columns, Intercept, Matrix, Vector
from .box_qp import Sides

if TYPE_CHECKING:
    from ..objectives.base import Objective
    from ..objectives.point import Point


@dataclass(frozen=True)
class State:
    """f at z: value, gradient, and the Hessian on request (None: there is none)."""

    z: Vector
    value: float
    gradient: Vector
    hessian: Callable[[], Matrix] | None = None
    cache: Any = None  # of the function's own kind: what the function stores for its next evaluation at this state

    @property
    def finite(self) -> bool:
        return bool(np.isfinite(self.value) and np.isfinite(self.gradient).all())


#: From t to f(z + t d), its slope in t, and the whole state there if that was computed on the way.
Line = Callable[[float], tuple[float, float, State | None]]


class SmoothProblem:
    """Subclasses give ``at``; the rest is what a minimiser may know beyond it.

    Attributes
    ----------
    outputs : how many outputs a row has
    convex, quadratic : whether f is known to be convex, and to have the same Hessian everywhere
    steep : whether f may rise faster than any quadratic (an exponential): where it began says nothing of its size
    patience : products with the Hessian after which the caller has a better way
    lower : a lower bound of f, -inf where none is known: gaps are relative to the height above it
    bottom, endless : at a value of ``bottom`` there is no minimiser, and the sentence that says so
    """

    outputs: int = 1
    convex: bool = False
    quadratic: bool = False
    steep: bool = False
    patience: float = np.inf
    lower: float = -np.inf
    bottom: float = -np.inf
    endless: str = ""

    def at(self, z: Vector, hessian: bool = True) -> State:
        """f at z; ``hessian=False``: only the value and the gradient will be looked at."""
        raise NotImplementedError

    def line(self, here: State, d: Vector) -> Line:
        """f along d, by default each trial a whole evaluation."""

        def trial(t: float) -> tuple[float, float, State | None]:
            ahead = self.at(here.z + t * d)
            return ahead.value, float(ahead.gradient @ d) if ahead.finite else np.nan, ahead

        return trial

    def product(self, here: State) -> Callable[[Vector], Vector] | None:
        """v -> H v where no Hessian is formed; None where that is not to be had either."""
        return None

    def diagonal(self, here: State) -> Vector | None:
        """H_jj where no Hessian is formed and they are cheap; None elsewhere."""
        return None

    def curve(self) -> Matrix | None:
        """A matrix that no Hessian of f exceeds; None where there is none."""
        return None

    def penalty_at(self, z: Vector) -> float:
        """What a ridge adds to f at z."""
        return 0.0


class SupportProblem(SmoothProblem):
    """f over the coefficients of a support; the points that were evaluated are left in ``seen``."""

    intercept = products_only = False  # is not among the variables; nor are there columns to gather

    def __init__(self, f: "Objective", support: Columns) -> None:
        self.f, self.support = f, support
        self.convex = f.convex
        self.seen: dict[bytes, Point] = {}

    def at(self, z: Vector, hessian: bool = True) -> State:
        point = self.f.at(self.support, z)
        self.seen[z.tobytes()], S = point, self.support
        return State(z, point.value, point.gradient[S], lambda: self.f.hessian_rows(point, S, S))

    def join(self, coef: Vector, free: Intercept) -> Vector:
        return np.array(coef, dtype=np.float64)

    def split(self, z: Vector) -> tuple[Vector, Intercept]:
        """Coefficients and what is free."""
        return z, self.point(z).free

    def point(self, z: Vector) -> "Point":
        """The point at coefficients that have been evaluated."""
        return self.seen[z.tobytes()]


@dataclass(frozen=True)
class FeasibleSet:
    """A box, and a hyperplane a'z = t where ``a`` is given."""

    low: Vector
    high: Vector
    a: Vector | None
    t: float

    def with_free(self, count: int = 1) -> "FeasibleSet":
        """The same set with ``count`` variables more, the intercepts, that nothing binds."""
        free = np.full(count, np.inf)
        a = None if self.a is None else np.append(self.a, 0.0 * np.ones(count))
        return FeasibleSet(np.append(self.low, -free), np.append(self.high, free), a, self.t)

    def sides(self, z: Vector) -> Sides:
        """-1 where z is at its lower bound, 1 at its upper, 0 between."""
        return np.where(z <= self.low, -1, np.where(z >= self.high, 1, 0)).astype(np.int8)


@dataclass(frozen=True)
class Fit:
    """Where a minimisation ended.

    ``value`` is -inf where f falls without bound, inf outside its domain; ``lower_bound`` is one of f over its
    variables (-inf where none is known); ``note`` is a sentence if there is something to say, and ``minimiser`` is
    False where the infimum is not attained.
    """

    at: State
    value: float
    converged: bool = True
    note: str = ""
    minimiser: bool = True
    lower_bound: float = -np.inf

    @property
    def z(self) -> Vector:
        return self.at.z
