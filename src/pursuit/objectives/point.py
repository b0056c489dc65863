"""A k-sparse point.

Everything that is known of an iterate travels in its :class:`Point`: value and gradient are of the same x, always.
"""

import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from .._utils.lazy import lazy
from .._utils.rounding import MAX_ROUNDING_SHARE
from .._utils.types import Columns, Intercept, Vector
from ..constraints import Exchange
from ..kernels.path import PathPoint

if TYPE_CHECKING:
    from .base import Objective


def _no_slope() -> Vector:
    raise RuntimeError("the gradient of a result's or a pickled point is not kept; evaluate it with objective.at(...)")


@dataclass(frozen=True, eq=False)
class Point:
    """A k-sparse iterate: support, coefficients, intercept, value, and the gradient when it is needed.

    Attributes
    ----------
    dim : int
        Number of coordinates.
    support : array of int
        Sorted indices of the coordinates that may be non-zero.
    coef : array
        The coefficients on the support.
    free : float or array
        What is not counted: the intercept; of a graph its diagonal.
    value : float
        The objective at this point.
    slope : callable
        Computes the gradient; ``gradient`` calls it once.
    refitted : bool
        Whether x minimises f over its support.
    note : str
        A sentence about how (rank, separation).
    minimiser : bool
        False where that minimum is not attained.
    optimality : str
        What has been proved of the point.
    exchange : Exchange or None
        The cheapest way to another support.
    n_checked : int
        How many exchanges were refitted or excluded.
    n_unchecked : int
        How many were not, where all were to be.
    lower : float or None
        A lower bound of f over the sparse set that was known when the point was made.
    support_bound : float or None
        A lower bound over the point's own support; -inf: none is known; None: the value, if this is a minimiser without
        a note.

    See Also
    --------
    Result : What users get: the best point in their own units.

    Notes
    -----
    ``owner`` refers weakly to the objective; it is not pickled, and ``dataclasses.replace`` forgets it.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> X = np.random.default_rng(0).standard_normal((100, 20))
    >>> point = pursuit.GLM(X, X[:, 3]).refit(np.array([3, 7]))
    >>> point.coef.round(6).tolist()
    [1.0, 0.0]
    """

    dim: int
    support: Columns
    coef: Vector
    free: Intercept  # what is never counted and never penalised: the intercept, or one per output
    value: float
    slope: Callable[[], Vector] = field(repr=False)
    refitted: bool = False
    note: str = ""
    minimiser: bool = True
    optimality: str = "none"
    exchange: Exchange | None = None
    n_checked: int = 0
    n_unchecked: int = 0
    lower: float | None = None
    support_bound: float | None = None
    owner: Callable[[], Any] | None = field(default=None, init=False, repr=False)

    @lazy
    def gradient(self) -> Vector:
        """The gradient of f over all coordinates, at this point; computed once."""
        gradient = self.slope()
        gradient.setflags(write=False)
        return gradient

    def claim(
        self, optimality: str, exchange: Exchange | None = None, n_checked: int = 0, n_unchecked: int = 0
    ) -> "Point":
        """The same point, with what has been proved of it (a gradient at hand comes along)."""
        return self._with(optimality=optimality, exchange=exchange, n_checked=n_checked, n_unchecked=n_unchecked)

    def bounded(self, lower: float) -> "Point":
        """The same point, with a lower bound of f over the sparse set."""
        return self._with(lower=lower)

    def weaken(self, support_bound: float, note: str = "") -> "Point":
        """The same point, with a lower bound of f over its support and perhaps a sentence more."""
        return self._with(
            support_bound=min(support_bound, self.lower_bound), note="; ".join(filter(None, (self.note, note)))
        )

    def detached(self) -> "Point":
        """The same point without the way to its data: its gradient is known if it was computed before."""
        return self._with(slope=_no_slope)

    def bind(self, f: "Objective") -> "Point":
        """This point, knowing its objective: as a start for the same one it needs no evaluation."""
        self.__dict__["owner"] = weakref.ref(f)
        return self

    def as_start_for(self, f: "Objective") -> "Point":
        """The point as a start for f: as it is where f made it, but for what was claimed of it; else evaluated."""
        support, coef, free = self.support, self.coef, self.free
        if self.owner is None or self.owner() is not f or not np.isfinite(self.value):
            return f.at(support, coef, free)
        slope = (lambda: f.at(support, coef, free).gradient.copy()) if self.slope is _no_slope else self.slope
        return self._with(slope=slope, optimality="none", exchange=None, n_checked=0, n_unchecked=0, lower=None)

    def _with(self, **known: Any) -> "Point":
        """A twin with other fields; unlike ``replace`` it keeps the gradient and the owner."""
        twin: Point = object.__new__(type(self))
        twin.__dict__.update(self.__dict__, **known)
        return twin

    def __getstate__(self) -> dict[str, object]:
        """Pickled points keep their coefficients and value; the way to the data (``slope``) stays behind."""
        return {**self.__dict__, "slope": _no_slope, "owner": None}

    @property
    def known_gradient(self) -> Vector | None:
        """The gradient, if it is at hand or can be had."""
        return None if self.slope is _no_slope and "gradient" not in self.__dict__ else self.gradient

    @property
    def lower_bound(self) -> float:
        """A lower bound of f over the point's support, -inf where none is known."""
        if self.support_bound is not None:
            return self.support_bound
        return self.value if self.refitted and self.minimiser and not self.note else -np.inf

    @property
    def x(self) -> Vector:
        """The point as a vector of length p, a fresh one at each call."""
        x = np.zeros(self.dim)
        x[self.support] = self.coef
        return x


def from_kernel(f: "Objective", at: PathPoint) -> Point:
    """A point that a kernel found; reading its gradient is a pass over the data."""
    support, coef, free = at.support, at.coef, 0.0 if at.free is None else at.free
    point = Point(
        f.dim,
        support,
        coef,
        free,
        at.value,
        lambda: f.at(support, coef, free).gradient.copy(),
        at.exact,
        support_bound=(1 - MAX_ROUNDING_SHARE) * at.value if at.lower_bound is None and at.exact else at.lower_bound,
    )
    return point.bind(f)


#: From (support, coef, intercept) to the gradient over all coordinates and the derivative in the intercept.
Slope = Callable[[Columns, Vector, Intercept], tuple[Vector, Intercept]]
