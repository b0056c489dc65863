"""Gaussian graphical models: the log-determinant objective over symmetric pairs.

    f(W) = tr(S W) - log det W,   W symmetric, positive definite, at most k pairs of off-diagonal entries non-zero

(X.-T. Yuan, P. Li, T. Zhang, JMLR 18 (2018), section 5.3; mathematics and measurements in docs/graphs.md). Coordinates
are the pairs i < j, the diagonal is what is free, as an intercept is: every solver sees off-diagonal entries, the
diagonal minimised out. Everything inside is on the correlation scale; values and what is presented are in units of S.

| question | answer | cost |
|---|---|---|
| refit on a graph | dual ascent over nodes (``refits.graph``); ADMM where eigenvalue bounds bind | O(p k) a sweep |
| at: off-diagonal entries without a diagonal | the best diagonal, by Newton | O(p^3) a step |
| curvatures | exact, the diagonal minimised out | O(p^2) a pair |
| exchanges | node bounds rank, four-node bounds exclude (core/graph_bounds.hpp) | O(p^2 d^2), O(k p^2) |
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .._utils.lazy import lazy
from .._utils.types import ArrayLike, Columns, ColumnsLike, Flags, GroupsLike, Intercept, Vector
from .._utils.validation import check_count, check_number, check_start
from ..constraints import AtMost, Exchange
from ..data.sketch import form_sketch
from ..engines import check_time
from ..kernels import graph as graph_kernel
from ..kernels.path import PathPlan, PathPoint, PathSolution
from ..refits import NotFiniteError
from ..refits.graph import EDGE_TOLERANCE, GraphFit, graph_refit
from ..refits.graph_admm import graph_admm
from .base import Objective, Presented
from .covariance import check_bounds, correlations
from .graph_point import Inverse, best_diagonal, inverted
from .pairs import Pairs
from .point import Point

BOUND_ROUNDING = 1e-9  # share of an eigenvalue bound that rounding may be beyond it
MAX_BOUNDED_EXCHANGES = 2e7  # that are judged by the four-node bound
# multiplications for one sweep of the dual for each exchange that this leaves, to judge them further
MAX_DUAL_SWEEP_WORK = 3e8
DUAL_SWEEPS = 12  # of the dual for one exchange
MIN_IMPROVEMENT = 1e-10  # share of p by which an exchange must lower f to count


class LogDet(Objective):
    """Gaussian log-likelihood of precision matrices W with a limited number of edges: tr(S W) - log det W.

    Parameters
    ----------
    covariance : array or data frame of shape (p, p)
        S, symmetric and positive semidefinite; a data frame's columns name the variables.
    n_samples : int or None, default None
        Number of rows behind S, which limits its rank. None: the rank is that of the numbers.
    eigenvalues : tuple of float (alpha, beta), "paper" or None, default None
        Bounds of the eigenvalues of W in the units of S. "paper" is the rule of the GraHTP paper (Lu 2009, xi = 0.01),
        which can cut off the optimum and is for reproducing the paper only.
    shrinkage : float, default 0
        From 0 to 1: S is replaced by (1 - t) S + t diag(S), under which (t > 0) every graph has an optimum.
    names : sequence of str or None, default None
        Names of the variables.

    See Also
    --------
    SparsePrecision : The estimator, from rows.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> W = np.eye(4) + 0.4 * (np.eye(4, k=1) + np.eye(4, k=-1))
    >>> pursuit.solve(pursuit.LogDet(np.linalg.inv(W)), 3).support.tolist()
    [[0, 1], [1, 2], [2, 3]]
    """

    smooth, convex = True, True
    offers: tuple[str, ...] = ()
    serializable = False
    skips_sizes = True
    small_support_note = "no further edge was found that adds to these and leaves an optimum"

    def __init__(
        self,
        covariance: ArrayLike,
        *,
        n_samples: int | None = None,
        eigenvalues: tuple[float | None, float | None] | None = None,
        shrinkage: float = 0.0,
        names: Sequence[object] | None = None,
    ) -> None:
        given = correlations(covariance, n_samples, names)
        self.shrinkage = check_number(shrinkage, "shrinkage")
        if self.shrinkage > 1:
            raise ValueError(f"shrinkage must be a number from 0 to 1, got {shrinkage}")
        self.eigenvalues = check_bounds(eigenvalues, lambda: given.R * np.outer(given.scales, given.scales))
        self.R = (1.0 - self.shrinkage) * given.R
        np.fill_diagonal(self.R, 1.0)
        self.p, self.scales, self.names = len(self.R), given.scales, given.names
        self.rank = self.p if self.shrinkage else given.rank
        self.same, self.said = given.same, given.said
        if self.shrinkage or self.limited:
            self.same = given.same[:0]
        elif self.said:
            self.said += ", so that without shrinkage no edge can join them"
        self.pairs = Pairs(self.p, self.names)  # of which those that are the same may not be edges
        self.dim = self.pairs.count
        self.units = 2.0 * float(np.log(self.scales).sum())  # what values in units of S have more

    @property
    def limited(self) -> bool:
        """Whether eigenvalues have bounds."""
        return self.eigenvalues != (0.0, np.inf)

    @lazy
    def lower(self) -> float:
        """The value of the complete graph, which is that of S^-1; -inf where S is singular, or W has bounds."""
        found = inverted(self.R) if self.rank == self.p and not self.limited else None
        return -np.inf if found is None else found[0] + self.p + self.units

    def problem_settings(self) -> dict[str, object]:
        return {
            **super().problem_settings(),
            "eigenvalues": self.eigenvalues,
            "shrinkage": self.shrinkage,
            "rank": int(self.rank),
        }

    def fingerprint(self) -> list[tuple[float, float]]:
        return [(value, room) for value, room in form_sketch(self.R, np.log(self.scales)).tolist()]

    # points

    @lazy
    def null(self) -> Point:
        """The diagonal alone."""
        d = np.clip(1.0 / self.scales**2, *self.eigenvalues) * self.scales**2
        return self._point(np.empty(0, np.int64), np.empty(0), d, np.diag(1.0 / d), refitted=True)

    def at(self, support: Columns, coef: Vector, intercept: Intercept | None = None) -> Point:
        """The point with these off-diagonal entries; without a diagonal, with the best one; +inf where W is not > 0."""
        off = self._matrix(support, coef, np.zeros(self.p))
        d = best_diagonal(off) if intercept is None else np.asarray(intercept, np.float64)
        W = off + np.diag(d)
        found = inverted(W)
        if found is None:
            nowhere = _nowhere("the matrix is not positive definite")
            return Point(self.dim, support, coef, d, np.inf, nowhere).bind(self)
        value = float(d.sum() + 2.0 * self._entries(support) @ coef) - found[0] + self.units
        value = value if self._inside(W) else np.inf
        return Point(self.dim, support, coef, d, value, Inverse(self.R, self.pairs, found[1])).bind(self)

    def refit(self, support: Columns, start: Point | None = None) -> Point:
        check_time()
        if not len(support):
            return self.null
        edges = self.pairs.edges(support)
        fit = graph_refit(self.R, edges, start=None if start is None else self._warm(start))
        if fit is not None and self._inside(fit.W):
            return self._fitted(support, fit)
        if self.limited:
            return self._bounded(support, edges)
        note = (
            f"on a graph of {len(support)} edges that was met (or that include asks for) tr(S W) - log det W has no "
            f"minimum, as S has rank {self.rank}; with shrinkage above 0 every graph has one"
        )
        nothing = np.zeros(len(support))
        return Point(
            self.dim,
            support,
            nothing,
            np.ones(self.p),
            np.inf,
            _nowhere(note),
            note=note,
            minimiser=False,
            support_bound=-np.inf,
        ).bind(self)

    def _fitted(self, support: Columns, fit: GraphFit) -> Point:
        sure = fit.gap <= EDGE_TOLERANCE
        note = "" if sure else f"the refit ended where the inverse of W is {fit.gap:.1e} from S on the graph"
        return self._point(support, fit.w, fit.d, fit.Sigma, fit.value + self.units, sure, note)

    def _bounded(self, support: Columns, edges: Columns) -> Point:
        """The refit where bounds of eigenvalues bind, which are in the units of S."""
        s = self.scales
        S = self.R * s * s[:, None]
        Omega, value, _, converged = graph_admm(S, edges, *self.eigenvalues)
        W = Omega * s * s[:, None]
        found = inverted(W)
        if found is None:
            raise NotFiniteError("the refit within bounds of eigenvalues did not converge")
        note = "bounds of eigenvalues bind" if converged else "the refit within bounds of eigenvalues did not converge"
        i, j = edges.T
        return Point(
            self.dim,
            support,
            W[i, j],
            W.diagonal().copy(),
            value,
            Inverse(self.R, self.pairs, found[1]),
            converged,
            note,
            support_bound=-np.inf,
        ).bind(self)

    def _point(
        self,
        support: Columns,
        coef: Vector,
        d: Vector,
        Sigma: Vector,
        value: float | None = None,
        refitted: bool = False,
        note: str = "",
    ) -> Point:
        if value is None:  # of a diagonal
            value = float(d.sum() - np.log(d).sum()) + self.units
        slope = Inverse(self.R, self.pairs, Sigma, support if refitted else None)
        return Point(self.dim, support, coef, d, value, slope, refitted, note).bind(self)

    def _inverse(self, point: Point) -> Inverse:
        """W^-1 of a point: what it came with, or computed anew."""
        if isinstance(point.slope, Inverse):
            return point.slope
        again = self.at(point.support, point.coef, point.free).slope
        if not isinstance(again, Inverse):
            raise NotFiniteError("the matrix is not positive definite")
        return again

    def _warm(self, start: Point) -> Vector | None:
        return start.slope.Sigma if isinstance(start.slope, Inverse) else None

    def _matrix(self, support: Columns, coef: Vector, d: Vector) -> Vector:
        W = np.diag(np.asarray(d, np.float64))
        i, j = self.pairs.edges(support).T
        W[i, j] = W[j, i] = coef
        return W

    def _entries(self, support: Columns) -> Vector:
        i, j = self.pairs.edges(support).T
        return np.asarray(self.R[i, j])

    def _inside(self, W: Vector) -> bool:
        if not self.limited:
            return True
        low, high = self.eigenvalues
        values = np.linalg.eigvalsh(W / self.scales / self.scales[:, None])
        return bool(values[0] >= low * (1 - BOUND_ROUNDING) and values[-1] <= high * (1 + BOUND_ROUNDING))

    @property
    def work(self) -> float:
        """An inverse."""
        return float(self.p) ** 3

    def scale(self, value: float) -> float:
        """p, which tr(S W) is at every refit: values themselves depend on units."""
        return float(self.p)

    # derivatives

    def curvature(self, point: Point, cols: Columns, v: Vector) -> float:
        return self._inverse(point).curvature(cols, v)

    def curvatures(self, point: Point, cols: Columns) -> Vector:
        return self._inverse(point).curvatures(cols)

    def hessian_rows(self, point: Point, cols: Columns, others: Columns | None = None) -> Vector:
        return self._inverse(point).rows(cols, np.arange(self.dim) if others is None else others)

    # exchanges

    def removal_costs(self, point: Point) -> Vector | None:
        """Bounds at nodes of what dropping each edge of a refit costs."""
        nothing = self.pairs.edges(np.empty(0, np.int64))
        return graph_kernel.ranked_exchanges(self.R, self._fit(point), nothing, None, 0).cost

    def ranked_exchanges(self, constraint: AtMost, point: Point, most: int) -> list[Exchange] | None:
        """The best exchanges by bounds at nodes."""
        if not len(point.support):
            return []
        include, forbidden = self._limits(constraint)
        found = graph_kernel.ranked_exchanges(self.R, self._fit(point), include, forbidden, most)
        leave, enter = point.support[found.leave], self.pairs.numbers(found.enter)
        return [
            Exchange((int(i),), (int(j),), float(change))
            for i, j, change in zip(leave, enter, found.change, strict=True)
        ]

    def open_exchanges(
        self, constraint: AtMost, point: Point, afforded: float = 1.0
    ) -> tuple[list[tuple[int, int]], int] | None:
        """Exchanges that no bound excludes, and how many there are in all; None where that is too expensive to know."""
        free = len(point.support) - len(constraint.include)
        total = free * (len(constraint.allowed) - len(point.support))
        if total > afforded * MAX_BOUNDED_EXCHANGES or self.limited or not point.refitted:
            return None
        include, forbidden = self._limits(constraint)
        cost = 2.0 * self.p * len(point.support) + self.p**3 / 3
        most = int(min(afforded * MAX_DUAL_SWEEP_WORK / cost, 1e15))
        least = point.value - self.units - MIN_IMPROVEMENT * self.p
        found = graph_kernel.open_exchanges(self.R, self._fit(point), include, forbidden, least, DUAL_SWEEPS, most)
        check_time()
        if not found.whole:
            return None
        leave, enter = point.support[found.leave], self.pairs.numbers(found.enter)
        return [(int(i), int(j)) for i, j in zip(leave, enter, strict=True)], found.n_checked

    def pursuit(self, constraint: AtMost, start: Point) -> Iterator[Point] | None:
        """Grow, exchange, an optimistic pass, in one kernel call."""
        include, forbidden = self._limits(constraint)
        grown = graph_kernel.search_graphs(
            self.R,
            [constraint.k],
            include=include,
            start=self.pairs.edges(start.support),
            forbidden=forbidden,
            thorough=True,
        )
        return self._grown(grown)

    def _grown(self, grown: graph_kernel.GraphPath) -> Iterator[Point]:
        for fit in grown.fits:
            support = self.pairs.numbers(fit.edges)
            point = self._fitted(support, fit) if self._inside(fit.W) else self.refit(support)
            yield point.claim("swap_stationary")
        if grown.trouble is not None:
            raise grown.trouble
        check_time()

    def quick_path(self, constraint: AtMost, plan: PathPlan) -> PathSolution | None:
        """The requested sizes, in one kernel call."""
        if self.limited:
            return None
        include, forbidden = self._limits(constraint)
        tell = plan.reached
        grown = graph_kernel.search_graphs(
            self.R,
            plan.sizes,
            include=include,
            forbidden=forbidden,
            should_stop=plan.should_stop,
            thorough=plan.thorough,
            reached=None if tell is None else (lambda size, value: bool(tell(size, value + self.units))),
        )
        points = [
            PathPoint(
                self.pairs.numbers(fit.edges),
                fit.w,
                fit.d,
                fit.value + self.units,
                "swap_stationary",
                fit.gap <= EDGE_TOLERANCE,
            )
            for fit in grown.fits
        ]
        return PathSolution(plan.sizes[0], points, grown.stopped, grown.trouble, plan.sizes) if points else None

    def _fit(self, point: Point) -> GraphFit:
        edges, inverse = self.pairs.edges(point.support), self._inverse(point)
        return GraphFit(edges, point.coef, np.asarray(point.free), inverse.Sigma, point.value - self.units, 0.0)

    def _limits(self, constraint: AtMost) -> tuple[Columns, Flags | None]:
        """What is forced in, as edges, and what is forbidden, as a mask."""
        forbidden = self.pairs.mask(constraint.exclude) if len(constraint.exclude) else None
        return self.pairs.edges(constraint.include), forbidden

    # the user's terms

    def sparse_set(
        self, k: int, include: ColumnsLike = (), exclude: ColumnsLike = (), groups: GroupsLike = None
    ) -> AtMost:
        """At most k edges; ``include``, ``exclude``: pairs of indices or names, or a p x p mask."""
        k = check_count(k, "k")
        if groups is not None:
            raise ValueError("groups are for columns; a graph's edges have none")
        forced, forbidden = self.pairs.chosen(include, "include"), self.pairs.chosen(exclude, "exclude")
        forbidden = np.union1d(forbidden, np.setdiff1d(self.pairs.numbers(self.same), forced))
        both = np.intersect1d(forced, forbidden)
        if both.size:
            raise ValueError(f"include and exclude overlap: {self.pairs.column_label(both)} in both")
        if len(forced) > k:
            raise ValueError(f"include names {len(forced)} edges, more than k={k} allows")
        allowed = self.dim - len(forbidden)
        some = forbidden if allowed else forbidden[:-1]  # a set that allows nothing has a budget of nothing
        constraint = AtMost(max(k, 1), self.dim, forced, some).with_budget(min(k, allowed))
        capped = f"k={k} was capped at the {allowed} edge{'s' * (allowed != 1)} there can be" if k > allowed else ""
        unsafe = not self.limited and constraint.k >= self.rank * (self.rank + 1) // 2
        many = f"at k={constraint.k} and rank {self.rank} some graphs have no optimum, and are left out"
        constraint.capped = "; ".join(s for s in (capped, many if unsafe else "", self.said) if s)
        return constraint

    def column_label(self, cols: Columns) -> str:
        return self.pairs.column_label(cols)

    def present(self, point: Point) -> Presented:
        coef, d = self.in_units(point)
        names = None if self.names is None else tuple(self.pairs.name(int(e)) for e in point.support)
        return Presented(self.p, self.pairs.edges(point.support), coef, d, names)

    def in_units(self, point: Point) -> tuple[Vector, Intercept]:
        i, j = self.pairs.edges(point.support).T
        return point.coef / self.scales[i] / self.scales[j], point.free / self.scales**2

    def from_units(self, x: ArrayLike, intercept: Intercept | None = None) -> Point:
        """The point of a user's p x p matrix in the units of S^-1; its diagonal is minimised out."""
        W = check_start(x, f"a {self.p} x {self.p} matrix")
        if W.shape != (self.p, self.p) or not np.isfinite(W).all():
            raise ValueError(f"start must be a finite {self.p} x {self.p} matrix")
        W = 0.5 * (W + W.T) * self.scales * self.scales[:, None]
        support = np.flatnonzero(W[self.pairs.ends])
        return self.at(support, W[self.pairs.ends][support])


def _nowhere(why: str) -> Any:
    def slope() -> Vector:
        raise NotFiniteError(why)

    return slope
