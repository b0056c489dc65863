"""A point and the function it belongs to.

Everything that is known of an iterate travels in its :class:`Point`: value and gradient are of the same x, always.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .._lazy import lazy

Vector = NDArray[np.float64]
Columns = NDArray[np.int64]


def _no_slope() -> Vector:
    raise RuntimeError("the gradient of a result's or a pickled point is not kept; evaluate it with objective.at(...)")


class Exchange(NamedTuple):
    """Units that leave, units that enter, and the change of f this brings (by the quadratic model at the point)."""

    leave: tuple[int, ...]
    enter: tuple[int, ...]
    change: float


@dataclass(frozen=True, eq=False)
class Point:
    """A k-sparse iterate: sorted support, the coefficients on it, intercept, value; the gradient when asked for.

    ``refitted`` says that x minimises f over its support; ``note`` is a sentence about how (rank, separation), and
    ``minimiser`` is False where that minimum is not attained. ``optimality`` is what has been proved of the point,
    ``exchange`` the cheapest way to another support, ``looked_at`` how many exchanges were refitted or excluded, and
    ``open`` how many were not, where all were to be. ``lower`` is a lower bound of f over the sparse set that was known
    when the point was made, ``least`` one over the point's own support (-inf: none is known; None: the value, if this
    is a minimiser without a note). ``dual`` holds the dual variables of a refit whose loss has kinks (they are not
    pickled).
    """

    dim: int
    support: Columns
    coef: Vector
    free: Any  # what is never counted and never penalised: the intercept, or one per output
    value: float
    slope: Callable[[], Vector] = field(repr=False)
    refitted: bool = False
    note: str = ""
    minimiser: bool = True
    optimality: str = "none"
    exchange: Exchange | None = None
    looked_at: int = 0
    open: int = 0
    lower: float | None = None
    least: float | None = None
    dual: Vector | None = field(default=None, repr=False)

    @lazy
    def gradient(self) -> Vector:
        """The gradient of f over all coordinates, at this point; computed once."""
        gradient = self.slope()
        gradient.setflags(write=False)
        return gradient

    def claim(
        self, optimality: str, exchange: Exchange | None = None, looked_at: int = 0, left_open: int = 0
    ) -> "Point":
        """The same point, with what has been proved of it (a gradient at hand comes along)."""
        return self._with(optimality=optimality, exchange=exchange, looked_at=looked_at, open=left_open)

    def bounded(self, lower: float) -> "Point":
        """The same point, with a lower bound of f over the sparse set."""
        return self._with(lower=lower)

    def detached(self) -> "Point":
        """The same point without the way to its data: its gradient is known if it was asked for before."""
        return self._with(slope=_no_slope, dual=None)

    def _with(self, **known: Any) -> "Point":
        twin = replace(self, **known)
        if "gradient" in self.__dict__:
            twin.__dict__["gradient"] = self.gradient
        return twin

    def __getstate__(self) -> dict[str, Any]:
        """Pickled points keep their coefficients and value; the way to the data (``slope``) stays behind."""
        return {**self.__dict__, "slope": _no_slope, "dual": None}

    @property
    def known_gradient(self) -> Vector | None:
        """The gradient, if it is at hand or can be had."""
        return None if self.slope is _no_slope and "gradient" not in self.__dict__ else self.gradient

    @property
    def minimum(self) -> float:
        """A lower bound of f over the point's support, -inf where none is known."""
        if self.least is not None:
            return self.least
        return self.value if self.refitted and self.minimiser and not self.note else -np.inf

    @property
    def x(self) -> Vector:
        """The point as a vector of length p, a fresh one at each call."""
        x = np.zeros(self.dim)
        x[self.support] = self.coef
        return x


#: From (support, coef, intercept) to the gradient over all coordinates and the derivative in the intercept.
Slope = Callable[[Columns, Vector, float], tuple[Vector, float]]


class Objective(Protocol):
    """A function of p coordinates that can be minimised over a support."""

    dim: int

    @property
    def work(self) -> float:
        """Multiplications of one gradient, roughly: solvers that can choose how much to try look at it."""

    @property
    def smooth(self) -> bool:
        """Whether gradient steps with a curvature-based length make sense."""

    @property
    def convex(self) -> bool:
        """Whether f is known to be convex."""

    @property
    def quadratic(self) -> bool:
        """Whether the Hessian is the same everywhere, so that its model of f is exact."""

    @property
    def null(self) -> Point:
        """The minimiser over the empty support."""

    @property
    def lower(self) -> float:
        """A lower bound of f, -inf where none is known."""

    def scale(self, value: float) -> float:
        """What a difference of values is relative to, at this value."""

    @property
    def floor(self) -> float:
        """A value that nothing below is worth having: at or under it the driver stops."""

    def at(self, support: Columns, coef: Vector, intercept: float | None = None) -> Point:
        """The point with these coefficients; without ``intercept``, with the best one."""

    def refit(self, support: Columns, start: Point | None = None) -> Point:
        """The minimiser of f over the support.

        Where the minimum is not attained, the best point found with ``minimiser=False`` and a ``note``; where f falls
        without bound, its ``value`` is -inf.
        """

    def curvature(self, point: Point, cols: Columns, v: Vector) -> float:
        """v'Hv for the Hessian at ``point`` and a direction v on ``cols``, the intercept minimised out."""

    def curvatures(self, point: Point, cols: Columns) -> Vector:
        """H_jj at ``point`` for the columns asked for, the intercept minimised out."""

    def mean_curvature(self, point: Point, cols: Columns, v: Vector) -> float:
        """sum_j v_j^2 H_jj over ``cols``, for a step that is safeguarded: an estimate will do where H_jj is dear."""

    def hessian_rows(self, point: Point, cols: Columns, others: Columns | None = None) -> Vector:
        """H[cols][:, others] at ``point`` (others: all columns), the intercept minimised out."""

    def ridged(self, weights: Vector) -> "Objective":
        """The objective f + sum_j weights_j/2 x_j^2."""

    def minibatch(self, rng: np.random.Generator, share: float) -> "Slope":
        """The gradient over a random share of the samples: an unbiased estimate, of the same samples at every call."""

    def in_units(self, point: Point) -> tuple[Vector, float]:
        """Coefficients on the support and intercept in the units of the user's data."""

    def from_units(self, x: Any, intercept: float | None = None) -> Point:
        """The point of a user's vector of length p."""
