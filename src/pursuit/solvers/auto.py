"""What a user should get without thinking: a search in one kernel call, and the claim that its numbers allow.

1. **SearchPlan**: from ``effort`` and the options, how many restarts there are and what they may cost.
2. **Kernel**: for smooth losses on data in memory. Where a path with a search at every size is cheap, its point is the
   result for the squared loss and a start for others. Elsewhere the search (``objective.quick_search``) runs on a
   working set of columns with a test over all columns, and on all columns where the test leaves more than a few.
3. **Claim**: for the squared loss every exchange at the best point is judged by a formula, for others (``prove``) by a
   bound from duality and by fits. Columns whose exchanges the formula cannot judge are refitted.

Objectives without a kernel (groups, bounds, functions, operators, rows in parts, on disk or on Dask) take pursuits in
Python (:mod:`.multistart`).

Invariant: the result is exchange-optimal for the squared loss. For other losses it is exchange-stationary by the
quadratic model, and exchange-optimal only where every exchange was excluded by the bound or fitted to its minimum.
docs/search.md has the details and what is claimed when.
"""

import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np

from .._utils.rounding import MIN_VALUE_SHARE
from .._utils.types import Columns, Seed, Vector
from .._utils.validation import check_count, check_number
from ..constraints import AtMost, Exchange
from ..engines import TimeUpError, check_time, late, seconds_left
from ..kernels.path import MAX_GRAM_WORK, MAX_SEARCHED_WORK, MAX_THOROUGH_COLUMNS, PathPlan, PathSolution
from ..kernels.search import SearchPlan, SearchSolution
from ..objectives.base import Objective, Point
from ..objectives.point import from_kernel
from .base import Solver, generator
from .exchanges import reported_by_basis
from .local_search import MIN_IMPROVEMENT, search, try_rivals, unsettled
from .multistart import STARTS, Multistart, multistart
from .omp import OMP
from .path_search import PathSearch, exchanged

RESTART_SHARE = 0.8  # share of the time that goes to restarts "until the limit"
PATIENCE = 4  # unsuccessful restarts in a row that end a search, and one more for every UNITS_PER_RESTART units
# Restarts where the kernel does them, and what they may cost as a multiple of what went before: for quadratics, others.
UNITS_PER_RESTART = {True: 5, False: 10}
RESTART_LIMITS = {True: (1000, 8.0), False: (40, 1.5)}
# That multiple for several responses, each restart of which costs more: of 40 problems of 500 x 1000 with five
# responses (ten of them to choose it) none has a lower value with 8
SEVERAL_RESPONSES_EFFORT = 0.5
NO_LIMIT = 10**9
# times what counts as cheap up to which exchanges are judged after a pursuit of the objective's own
MAX_JUDGING_FACTOR = 10
MAX_RESTART_SHARE = 0.1  # share of what counts as cheap up to which there are restarts in Python
SIZES_BEYOND = 2  # sizes that a path goes on, since smaller sizes are improved from larger ones
# units times k^3 (one search: k^2) up to which a kernel takes some milliseconds, and calls nothing back
MAX_UNINTERRUPTED_WORK = 2e5
EFFORTS = ("fast", "default", "thorough")
THOROUGH_PATIENCE = 20  # unsuccessful restarts in a row after which a thorough search ends; squared loss: for each unit
DEFAULT_SEED = int(generator(None).integers(2**63))
_value = attrgetter("value")


@dataclass(frozen=True)
class Auto(Solver):
    """Several pursuits, then every single exchange until none helps, then restarts.

    Parameters
    ----------
    starts : int or None, default None
        1 to 4 of GraHTP, OMP, OMPR, OMP to 2k and back. None: all where k passes over X are cheap, else three.
    restarts : int, "limit" or None, default None
        How many. "limit": until the time limit. None: some where that is cheap.
    prove : bool or None, default None
        Whether to judge every exchange at the end. None: for about as much work as the search took.
    cheap : float, default 2e7
        Number of multiplications for a pass over X, times k, up to which a problem counts as cheap (a tenth of that,
        for restarts); unused by the squared loss on data in memory.
    random_state : int, Generator or None, default None
        Seed of the restarts; ``solve(random_state=...)`` fills it.
    effort : {"fast", "default", "thorough"} or None, default None
        "fast": one search, no restarts. "thorough": restarts until twenty in a row, for the squared loss k times as
        many, are unsuccessful or the time limit is reached. What is given above wins over it.
    relax : float or None, default None
        Run at ``relax`` times the budget, keep the k largest and refit.
    last : bool, default False
        Give the last point in place of the best one, as printed algorithms do.

    See Also
    --------
    LocalSearch : The exchanges alone.

    Notes
    -----
    The result says ``optimality="swap_optimal"`` only where every exchange of one column was judged (docs/search.md).

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> X = np.random.default_rng(0).standard_normal((100, 20))
    >>> y = X[:, 3] - 2 * X[:, 7]
    >>> pursuit.solve(pursuit.GLM(X, y), 2, solver=pursuit.Auto(restarts=5)).support.tolist()
    [3, 7]
    """

    starts: int | None = None
    restarts: int | str | None = None
    prove: bool | None = None
    cheap: float = 2e7
    random_state: Seed = None
    effort: str | None = None

    halted: ClassVar[str] = "the search finished"
    turns: ClassVar[int] = 3
    revisits: ClassVar[bool] = True
    searches: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if isinstance(self.restarts, str) and self.restarts != "limit":
            raise ValueError(f"restarts must be a number, 'limit' or None, got {self.restarts!r}")
        if self.restarts is not None and self.restarts != "limit":
            check_count(self.restarts, "restarts")
        if self.starts is not None:
            check_count(self.starts, "starts", 1, len(STARTS))
        if self.prove not in (None, True, False):
            raise ValueError(f"prove must be True, False or None, got {self.prove!r}")
        check_number(self.cheap, "cheap")
        if self.effort is not None and not (isinstance(self.effort, str) and self.effort in EFFORTS):
            raise ValueError(f"effort must be one of {', '.join(map(repr, EFFORTS))}, got {self.effort!r}")

    def iterate(self, f: Objective, constraint: AtMost, start: Point) -> Iterator[Point]:
        if self.restarts == "limit" and seconds_left() == np.inf:
            raise ValueError(
                "restarts='limit' goes on until the time limit: give a time_limit, or a number of restarts"
            )
        known = None
        if self.starts is None:
            given = start.support.tobytes() != constraint.forced.tobytes()
            known = None if self.effort == "fast" else (yield from self._on_path(f, constraint, start))
            if known is not None:
                yield known
                if not given and self.effort != "thorough":
                    if known.optimality != "swap_optimal":
                        yield from search(f, constraint, known)
                    return
            begin = known if known is not None and not (given and start.value < known.value) else start
            found = self._search(f, constraint, begin, restart=self.effort == "thorough" or known is None)
            if found is not None:
                yield from _claimed(f, constraint, found, known)
                return
            own = f.pursuit(constraint, start)
            if own is not None:
                yield from self._judged(f, constraint, start, own)
                return
        yield from multistart(f, constraint, start, known, self._multistart(f.work * constraint.k))

    def at_once(self, f: Objective, constraint: AtMost) -> Point | None:
        plain = self.starts is None and self.restarts is None and self.effort != "thorough"
        if not plain or not f.quadratic or f.skips_sizes or constraint.k < 1:
            return None
        units, k = constraint.units, constraint.k
        if self.effort == "fast":
            small = units * k**2 <= MAX_UNINTERRUPTED_WORK
            at = (
                f.best_subset(constraint, self._plan(f, constraint, False)._replace(should_stop=None))
                if small
                else None
            )
        else:
            longer, plan = self._path_plan(constraint)
            plan = plan._replace(should_stop=None)
            small = (
                units * longer.k**3 <= MAX_UNINTERRUPTED_WORK
                and units <= MAX_THOROUGH_COLUMNS
                and f.work * units <= MAX_GRAM_WORK
            )
            at = f.best_subset(longer, plan) if small else None
        if at is None:
            return None
        point = from_kernel(f, at)
        return _settled(f, constraint, point, at.exchange, at.doubtful)

    def _path_plan(self, constraint: AtMost) -> tuple[AtMost, PathPlan]:
        """A path that goes on beyond k, since smaller sizes are improved from larger ones; its point of size k.

        Of one free unit every choice is judged, and larger sizes have nothing to add.
        """
        k = constraint.k
        beyond = SIZES_BEYOND if k - len(constraint.include) > 1 else 0
        longer = constraint.with_budget(min(k + beyond, len(constraint.allowed)))
        return longer, PathPlan(True, _seed(self.random_state), late, None, (k,), k)

    def _on_path(self, f: Objective, constraint: AtMost, start: Point) -> Generator[Point, None, Point | None]:
        """The point of this size on a path with a search at every size, where that is cheap (squared loss)."""
        units, k = constraint.units, constraint.k
        cheap = units * k**3 <= MAX_SEARCHED_WORK and units <= MAX_THOROUGH_COLUMNS and f.work * units <= MAX_GRAM_WORK
        if f.skips_sizes or not f.quadratic or self.restarts is not None or not cheap:
            return None
        longer, plan = self._path_plan(constraint)
        best: Point | None = None
        found = f.quick_path(longer, plan)
        known = found.by_size() if found is not None else {}
        at = known[min(k, max(known))] if known else None
        if found is not None and at is not None and (found.trouble is not None or found.stopped):
            yield f.at(at.support, at.coef, at.free)
            if found.trouble is not None:
                raise found.trouble
            check_time()
        if at is not None and at.value <= MIN_VALUE_SHARE * f.null.value:
            exact = start  # many supports explain y: OMP's does not depend on rounding, nor on how rows are weighted
            for exact in OMP().iterate(f, constraint, start):
                yield exact
            if exact.value <= f.floor:
                return exact
            best = f.refit(at.support) if constraint.count(at.support) == k else exact
            at = None
        if at is not None and (constraint.count(at.support) == k or at.value <= f.floor):
            point = from_kernel(f, at)
            if not (at.exact and at.exchange is not None and at.optimality == "swap_optimal"):
                return f.refit(at.support, start=point)
            if at.doubtful is not None and len(at.doubtful):
                yield point
            settled = _settled(f, constraint, point, at.exchange, at.doubtful)
            if settled is not None:
                return settled
        # as ``path`` does; refits go on from there, also where columns close to dependent ended the kernel before k
        plan = plan._replace(only=None)
        again = yield from _continued(f, constraint, longer, f.quick_path(longer, plan), plan)
        return best if best is not None and again is not None and best.value < again.value else again

    def _search(self, f: Objective, constraint: AtMost, start: Point, restart: bool) -> SearchSolution | None:
        """What one kernel call finds, where the objective has such a kernel."""
        own = start.support[:0] if start.support.tobytes() == constraint.forced.tobytes() else start.support
        plan = self._plan(f, constraint, restart)
        if self.restarts != "limit":
            return f.quick_search(constraint, own, plan)
        end = time.perf_counter() + RESTART_SHARE * seconds_left()  # the rest is for judging what was found
        found = f.quick_search(constraint, own, plan._replace(should_stop=lambda: time.perf_counter() > end, prove=0))
        if found is None or not found.points or found.trouble is not None:
            return found
        again = f.quick_search(constraint, found.points[-1][0], plan._replace(restarts=0))
        return again if again is not None and again.points else found

    def _plan(self, f: Objective, constraint: AtMost, restart: bool) -> SearchPlan:
        """Restarts, patience and proof of a search in a kernel."""
        requested, (restarts, effort) = self.restarts is not None, RESTART_LIMITS[f.quadratic]
        effort = SEVERAL_RESPONSES_EFFORT if f.quadratic and f.width > 1 else effort
        patience, effort = (
            (NO_LIMIT, np.inf) if requested else (PATIENCE + constraint.units // UNITS_PER_RESTART[f.quadratic], effort)
        )
        if self.effort == "thorough" and not requested:
            patience, effort = THOROUGH_PATIENCE * (constraint.k if f.quadratic else 1), np.inf
        prove = int(self.effort != "fast") if self.prove is None else 2 * int(self.prove)
        all_columns = 2 if self.restarts else EFFORTS.index(self.effort or "default")
        restarts = self._restarts(restarts if restart else 0)
        return SearchPlan(restarts, patience, effort, prove, _seed(self.random_state), late, all_columns)

    def _restarts(self, usual: int) -> int:
        if self.restarts is None:
            return 0 if self.effort == "fast" else NO_LIMIT if self.effort == "thorough" else usual
        return NO_LIMIT if self.restarts == "limit" else int(self.restarts)

    def _multistart(self, work: float) -> Multistart:
        """The plan of pursuits in Python, for so many multiplications of k passes."""
        fast = self.effort == "fast"
        starts = self.starts or (1 if fast else len(STARTS) if work <= self.cheap else 3)
        patience = THOROUGH_PATIENCE if self.effort == "thorough" else PATIENCE
        return Multistart(
            starts,
            self._restarts(10 if work <= MAX_RESTART_SHARE * self.cheap else 0),
            NO_LIMIT if self.restarts is not None else patience,
            self.random_state,
            not fast,
        )

    def _judged(self, f: Objective, constraint: AtMost, start: Point, own: Iterator[Point]) -> Iterator[Point]:
        """A pursuit of the objective's own, and the exchanges at its end where that is affordable."""
        best = start
        for point in own:
            yield point
            best = min(best, point, key=_value)
        if self.prove or f.work * constraint.k <= MAX_JUDGING_FACTOR * self.cheap:
            afforded = np.inf if self.prove else 1.0
            yield from search(f, constraint, best, doubts=self.prove is not False, afforded=afforded)


def _continued(
    f: Objective, constraint: AtMost, longer: AtMost, found: PathSolution | None, plan: PathPlan
) -> Generator[Point, None, Point | None]:
    """The point of size k of a path that begins with what a kernel found, as ``path`` has it.

    None where a smaller size is as good: its last columns add nothing.
    """
    path = PathSearch(f, longer, exchanged(f, doubts=False), len(constraint.include))
    try:
        path.go_on(found, plan)
    except BaseException:
        sizes = [size for size in path.best if size <= constraint.k]
        if sizes:
            yield path.best[max(sizes)]
        raise
    point = path.best[constraint.k]
    if any(path.best[size].value <= point.value for size in path.best if size < constraint.k):
        return None
    # a kernel's point has no bound of its own, and the search that follows needs one for its claim
    return point if point.exchange is not None else f.refit(point.support, start=point)


def _on_data(f: Objective, constraint: AtMost, point: Point) -> Generator[Point, None, Point]:
    """From a refit of which so little is left that products of columns have no digits: OMP to k units, exchanges."""
    yield point  # at the floor the run ends here
    end = point
    if constraint.count(point.support) < constraint.k:
        for end in OMP().iterate(f, constraint, point):
            yield end
    return (yield from search(f, constraint, end))


def _seed(random_state: Seed) -> int:
    """A seed for a kernel."""
    return DEFAULT_SEED if random_state is None else int(generator(random_state).integers(2**63))


def _claimed(f: Objective, constraint: AtMost, found: SearchSolution, known: Point | None) -> Iterator[Point]:
    """The end of a kernel's search, refitted (unless it is ``known``), with its claim; and what refits find from it."""
    support, coef, b, value = found.points[-1]
    sure = not (
        found.doubtful or (f.quadratic and found.n_unchecked)
    )  # else the kernel's values are of rounded coefficients
    ended = not f.quadratic and value <= f.floor  # coefficients without end: the refit says so, from its own start
    point = _point(f, support, coef, b, value) if sure else f.at(support, coef, b)
    if found.trouble is not None:
        yield point
        raise found.trouble
    try:
        same = known is not None and known.refitted and np.array_equal(known.support, support)
        last = known if known is not None and same else f.refit(support, start=None if ended else point)
    except TimeUpError:
        yield point
        raise
    scale = MIN_IMPROVEMENT * f.scale(value)
    if last.value > point.value + 100 * scale and not ended:  # a refit that needs care did not converge
        yield f.at(support, coef, b)
        return
    better = min((f.refit(S, start=last) for S in found.doubtful), key=_value, default=last)
    if better.value < last.value - scale:
        yield from search(f, constraint, better)
        return
    units, exchange = constraint.units_of(last.support), found.exchange
    if exchange is not None and (exchange.leave[0] not in units or exchange.enter[0] in units):
        exchange = None  # the one that led to f's floor, where no other was judged
    agrees = ended or (last.value >= value - scale and last.lower_bound >= last.value - scale)
    if found.n_unchecked < 0:  # time was up before any exchange was judged
        yield last
        return
    judged = agrees and (not found.n_unchecked or found.unknown is not None)
    settled = _settled(f, constraint, last, exchange, found.unknown) if judged else None
    if settled is not None:
        yield settled
    elif f.quadratic:  # columns that are nearly combinations of others: refits decide
        yield from _on_data(f, constraint, last)
    else:
        unsure = found.n_unchecked or found.total
        last = last.claim("swap_stationary", exchange, found.total - unsure, unsure)
        yield last
        if found.unknown is not None:  # columns that vary too little for the kernel
            yield from try_rivals(f, constraint, last)


def _settled(
    f: Objective, constraint: AtMost, point: Point, exchange: Exchange | None, newcomers: Columns | None
) -> Point | None:
    """The point with its claim, where all exchanges are judged but those with some newcomers; None if one may help."""
    if newcomers is not None and len(newcomers):
        if unsettled(f, constraint, point, newcomers):
            return None
        near = reported_by_basis(f, constraint, point)  # which none of these need help to be
        if near is not None and (exchange is None or near.change < exchange.change):
            exchange = near._replace(change=max(near.change, 0.0))
    return point.claim("swap_optimal", exchange)


def _point(f: Objective, support: Columns, coef: Vector, b: Any, value: float) -> Point:
    return Point(f.dim, support, coef, b, value, lambda: f.at(support, coef, b).gradient.copy()).bind(f)
