"""What solvers may ask of an objective, and the answers of one that gives only values, gradients and refits.

Inherit :class:`Objective`, give ``dim``, ``at`` and ``refit``, and override what you can do better.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._utils.column_names import Names, column_label
from .._utils.rounding import EPS, SUM_ROUNDING
from .._utils.types import ArrayLike, Columns, ColumnsLike, Flags, GroupsLike, Intercept, Vector
from .._utils.validation import check_start
from ..constraints import AtMost, Exchange
from ..kernels.path import PathPlan, PathPoint, PathSolution
from ..kernels.search import SearchPlan, SearchSolution
from ..kernels.unit_columns import UnitColumns
from ..refits.problem import SupportProblem
from .point import Point, Slope

if TYPE_CHECKING:
    from ..engines.dask import Dask as Engine

# sizes of the coefficients of points that tell functions apart, and how many each has
PROBE_SIZES, N_PROBED = (1e-2, 1.0), 16
VALUE_TOLERANCE = 1e-7  # share by which values and gradients of the same point may differ: other threads, other blocks
DIFFERENCE_STEP = float(np.cbrt(EPS))  # of central differences, relative to x
NEED_SENTENCES = {
    "dual": "a dual method needs a GLM with one output, without sum_to",
    "minibatch": "a stochastic method needs an objective that is a sum over samples",
    "bounds": "bounds and sum_to are for coefficients of columns",
}


class Presented(NamedTuple):
    """A point in the user's terms.

    ``support`` lists columns (or pairs of them, a row each), ``coef`` what belongs to each, ``intercept`` what is free.
    """

    dim: int
    support: Columns
    coef: Vector
    intercept: Intercept
    names: tuple[str, ...] | None


class ExchangeModel(NamedTuple):
    """The quadratic model of f at a refit as exchanges ask for it, all at once: H[cols][:, others], H[cols][:, cols].

    ``diagonal()`` gives H_jj of ``others``, ``block(part)`` H of a slice of them with itself.
    """

    rows: Vector
    small: Vector
    others: Columns
    diagonal: Callable[[], Vector]
    block: Callable[[slice], Vector]


class Objective:
    """A function of ``dim`` coordinates that can be minimised over a support.

    Attributes
    ----------
    smooth, convex : whether gradient steps make sense, whether f is known to be convex
    quadratic : whether the Hessian is the same everywhere, so that its model of f is exact
    lower, floor : a lower bound of f, and a value that nothing below is worth having: at or under it a run ends
    width : coordinates per column of the user's: more than one where a column has several outputs
    small_support_note : a sentence for solutions with fewer units than the budget allows
    skips_sizes : whether a path goes from one requested size to the next, not through every size between
    serializable : whether a point is no more than its numbers, so that it can be kept in a checkpoint
    rounded : share of a second derivative, by the sizes of both columns, that rounding may be
    names : of the user's columns, where they have names
    offers : what solvers may need (:attr:`pursuit.Solver.needs`) and f has
    """

    dim: int
    smooth: bool = True
    convex: bool = False
    quadratic: bool = False
    lower: float = -np.inf
    floor: float = -np.inf
    width: int = 1
    skips_sizes: bool = False
    serializable: bool = True
    rounded: float = SUM_ROUNDING
    small_support_note: str = ""
    names: Names | None = None
    offers: tuple[str, ...] = ("minibatch", "bounds")

    def at(self, support: Columns, coef: Vector, intercept: Intercept | None = None) -> Point:
        """The point with these coefficients; without ``intercept``, with the best one."""
        raise NotImplementedError(f"{type(self).__name__} must define at(support, coef, intercept)")

    def refit(self, support: Columns, start: Point | None = None) -> Point:
        """The minimiser of f over the support.

        Where the minimum is not attained, the best point found with ``minimiser=False`` and a ``note``; where f falls
        without bound, its ``value`` is -inf.
        """
        raise NotImplementedError(f"{type(self).__name__} must define refit(support, start)")

    def refits(self, supports: list[Columns]) -> list[Point]:
        """``refit`` on several supports."""
        return [self.refit(support) for support in supports]

    @property
    def null(self) -> Point:
        """The minimiser over the empty support."""
        return self.refit(np.empty(0, np.int64))

    @property
    def work(self) -> float:
        """Multiplications of one gradient, roughly: solvers that can choose how much to try look at it."""
        return float(self.dim)

    def seconds(self, size: int) -> float:
        """What a gradient and a refit on so many coordinates take, very roughly; 0 where that is not known."""
        return 0.0

    def scale(self, value: float) -> float:
        """What a difference of values is relative to, at this value."""
        return abs(value)

    def support_problem(self, support: Columns) -> Any:
        """f on a support, as a function of its coefficients and what is free."""
        return SupportProblem(self, support)

    def value_at(self, point: Point) -> float:
        """The value at a point, computed anew."""
        return self.at(point.support, point.coef, point.free).value

    def problem_settings(self) -> dict[str, object]:
        """Settings of f by name: a checkpoint belongs to an objective whose settings are equal to these."""
        return {"objective": type(self).__name__, "dim": self.dim}

    def fingerprint(self) -> list[tuple[float, float]]:
        """Numbers that differ between objectives with the same ``problem_settings``, each with its rounding error.

        Here value and gradient of the null model and at fixed points of ``PROBE_SIZES``; data have their own
        (``Data.sketch``).
        """
        return [number for point in (self.null, *self._probes()) for number in _numbers(point)]

    def _probes(self) -> Iterator[Point | None]:
        """Points with a few coefficients; None where f cannot be evaluated."""
        support = np.unique(np.linspace(0, self.dim - 1, min(self.dim, N_PROBED)).astype(np.int64))
        for size in PROBE_SIZES:
            try:
                yield self.at(support, size * np.cos(1.7 * np.arange(len(support)) + 0.3))
            except (ArithmeticError, ValueError, RuntimeError):  # a function of the user's, outside its domain
                yield None

    def to_engine(self, engine: "Engine") -> "Objective":
        """The same objective with its rows on the workers of an engine."""
        raise TypeError(f"{type(self).__name__} has no rows that could be on workers: leave engine out")

    def forget(self) -> None:
        """Drop caches beside the data; they are computed again when needed."""

    def expect_search(self) -> None:
        """Prepare for a search over all columns: what it needs of them may come from the first pass over the data."""

    # derivatives

    def curvature(self, point: Point, cols: Columns, v: Vector) -> float:
        """v'Hv for the Hessian at ``point`` and a direction v on ``cols``, the intercept minimised out."""
        return float(v @ self._turn(point, cols, v)[cols])

    def curvatures(self, point: Point, cols: Columns) -> Vector:
        """H_jj at ``point`` for the given columns, the intercept minimised out."""
        one = np.ones(1)
        return np.array([self._turn(point, cols[i : i + 1], one)[cols[i]] for i in range(len(cols))])

    def mean_curvature(self, point: Point, cols: Columns, v: Vector) -> float:
        """sum_j v_j^2 H_jj over ``cols``, for a safeguarded step: an estimate will do where H_jj is expensive."""
        return float(v**2 @ self.curvatures(point, cols))

    def hessian_rows(self, point: Point, cols: Columns, others: Columns | None = None) -> Vector:
        """H[cols][:, others] at ``point`` (others: all columns), the intercept minimised out."""
        one, columns = np.ones(1), np.arange(self.dim) if others is None else others
        rows = [self._turn(point, cols[i : i + 1], one)[columns] for i in range(len(cols))]
        return np.array(rows).reshape(len(cols), len(columns))

    def _turn(self, point: Point, cols: Columns, v: Vector) -> Vector:
        """H v for a direction on ``cols``: the central difference of the gradient along it."""
        h = DIFFERENCE_STEP * max(1.0, float(np.abs(point.coef).max(initial=0.0))) / max(float(np.abs(v).max()), 1e-300)
        wide = np.union1d(point.support, cols)
        x, d = point.x, np.zeros(self.dim)
        d[cols] = h * v
        ahead, behind = self.at(wide, (x + d)[wide]), self.at(wide, (x - d)[wide])
        return (ahead.gradient - behind.gradient) / (2 * h)

    # for solvers

    def exchange_model(self, point: Point, cols: Columns, others: Columns | None = None) -> ExchangeModel:
        """The model by which exchanges at a refit with the support ``cols`` are ranked (others: all columns)."""
        columns, rows = np.arange(self.dim) if others is None else others, self.hessian_rows(point, cols, others)
        small = rows[:, cols] if others is None else rows if others is cols else self.hessian_rows(point, cols, cols)
        return ExchangeModel(
            rows,
            small,
            columns,
            lambda: self.curvatures(point, columns),
            lambda part: self.hessian_rows(point, columns[part], columns[part]),
        )

    def removal_costs(self, point: Point) -> Vector | None:
        """What dropping each coordinate of a refit costs, by a way of f's own; None: by the quadratic model."""
        return None

    def ranked_exchanges(self, constraint: AtMost, point: Point, most: int) -> list[Exchange] | None:
        """The ``most`` best exchanges at a refit, by a way of f's own; None: by the quadratic model."""
        return None

    def unit_columns(self) -> UnitColumns | None:
        """Columns and target of the least squares problem that f is, in a dense copy; None where it is none."""
        return None

    @property
    def far_from_zero(self) -> bool:
        """Whether columns have means so large beside their spread that products of columns have lost digits."""
        return False

    def combinations(self, support: Columns, cols: Columns) -> Flags:
        """Which columns are known to be exact combinations of a support's, so that none helps on top of it."""
        return np.zeros(len(cols), np.bool_)

    def exchange_bounds(self, support: Columns, newcomer: int) -> Vector | None:
        """Lower bounds of what exchanging each column of a support for the newcomer changes f by; None: not known."""
        return None

    def open_exchanges(
        self, constraint: AtMost, point: Point, afforded: float = 1.0
    ) -> tuple[list[tuple[int, int]], int] | None:
        """Exchanges at a refit (leave, enter) that no bound excludes from lowering f, and how many there are in all.

        None where f has no such bound, or where it is too expensive; ``afforded`` is a multiple of what usually is not.
        """
        return None

    def pursuit(self, constraint: AtMost, start: Point) -> Iterator[Point] | None:
        """A pursuit of f's own, which ``auto`` takes in place of its starts; None where there is none."""
        return None

    def quick_search(self, constraint: AtMost, start: Columns, plan: SearchPlan) -> SearchSolution | None:
        """A search for the best support in one kernel call; None where there is none, or the data are too large."""
        return None

    def best_subset(self, constraint: AtMost, plan: SearchPlan | PathPlan) -> PathPoint | None:
        """The best support, every exchange judged, in one kernel call from the data; None where more is needed."""
        return None

    def quick_path(self, constraint: AtMost, plan: PathPlan) -> PathSolution | None:
        """The best support of every size up to the budget in one kernel call; None where there is no such kernel."""
        return None

    def ridged(self, weights: Vector) -> "Objective":
        """The objective f + sum_j weights_j/2 x_j^2."""
        from .wrapped import Ridged

        return Ridged(self, weights)

    def minibatch(self, rng: np.random.Generator, share: float) -> Slope:
        """The gradient over a random share of the samples, an unbiased estimate; here of all: without variance."""
        return lambda support, coef, intercept: (self.at(support, coef, intercept).gradient, 0.0)

    def dual(self) -> Any:
        """The ``Dual`` (``pursuit.objectives.dual``) of f, or the sentence that says why there is none."""
        self.require("dual")

    def require(self, need: str) -> None:
        """Raise, in a sentence, where f cannot give what a solver needs."""
        if need not in self.offers:
            raise TypeError(f"{NEED_SENTENCES.get(need, f'the solver needs {need!r}')}, got {type(self).__name__}")

    def feasible(self, point: Point, constraint: AtMost) -> Point:
        """The point, or where it is outside the set that f is restricted to, one inside."""
        return point

    def infeasibility(self, constraint: AtMost) -> str:
        """Why no point of the sparse set is in the set that f is restricted to; empty where there is one."""
        return ""

    # the user's terms

    def sparse_set(
        self, k: int, include: ColumnsLike = (), exclude: ColumnsLike = (), groups: GroupsLike = None
    ) -> AtMost:
        """The sparse set over the coordinates, from what a user says of columns."""
        columns = AtMost(k, self.dim // self.width, include, exclude, groups, self.names)
        return columns if self.width == 1 else columns.spread(self.width)

    def present(self, point: Point) -> Presented:
        """The point in the user's terms: units, columns, names."""
        support, (coef, free) = point.support.copy(), self.in_units(point)
        if self.width > 1:
            support, coef = np.unique(support // self.width), coef.reshape(-1, self.width)
        names = None if self.names is None else tuple(self.names[j] for j in support)
        return Presented(self.dim // self.width, support, np.array(coef), free, names)

    def coordinates(self, cols: Columns) -> Columns:
        """The coordinates of columns."""
        return cols if self.width == 1 else (cols[:, None] * self.width + np.arange(self.width)).ravel()

    def copies(self, one: int, other: int) -> bool:
        """Whether two coordinates belong to columns that are the same, but perhaps for their units."""
        return False

    def column_label(self, cols: Columns) -> str:
        """What a person calls these coordinates."""
        return column_label(cols if self.width == 1 else np.unique(cols // self.width), self.names)

    def in_units(self, point: Point) -> tuple[Vector, Intercept]:
        """Coefficients on the support and what is free, in the units of the user's data."""
        return point.coef, point.free

    def from_units(self, x: ArrayLike, intercept: Intercept | None = None) -> Point:
        """The point of a user's vector of length p."""
        x = check_start(x, f"a vector of {self.dim} numbers")
        if x.shape != (self.dim,) or not np.isfinite(x).all():
            raise ValueError(f"start must be a finite vector of length {self.dim}")
        support = np.flatnonzero(x)
        return self.at(support, x[support], intercept)


def _numbers(point: Point | None) -> list[tuple[float, float]]:
    """A point's value and two numbers of its gradient, with their rounding."""
    if point is None:
        return [(np.nan, 0.0)]
    g = point.gradient
    size = float(np.linalg.norm(g))
    room = VALUE_TOLERANCE * max(abs(point.value), size, 1e-300)
    return [(float(point.value), room), (size, room), (float(g @ np.cos(1.7 * np.arange(len(g)))), room)]
