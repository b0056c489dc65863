"""What a user should get without thinking: several pursuits, exchanges until none helps, restarts.

1. Kernels search where the objective has them (``objective.quick_search``): for smooth losses on data in memory, first
   on a working set of columns with a test over all columns, for X of any size. Where the test leaves more than a few
   columns, they search on all columns, with several starts and restarts. Other losses are searched on all columns also
   where the test leaves few, up to a limit of stored entries times k: exchanges around the support, or, for sparse or
   wide X, a beam. Several classes are searched on all columns only. Where a path with a search at every size is cheap
   too, its point is the result for the squared loss and a start for others.
2. Elsewhere: GraHTP, OMP, OMPR, OMP to twice the budget and back by dropping the cheapest units (``local_search``'s
   own), each taken to where no exchange is found that helps; the result is no worse than any of them. Then restarts:
   some units of the best point are dropped and forbidden while others come in, and it goes on from there. Where k
   passes over X are not cheap there is no start at twice the budget (``local_search`` has none either), and no restart.
3. Every exchange at the best point is judged: for the squared loss by a formula, for others (``prove``) by a bound from
   duality and by fits, for about as much work as the search on all columns.

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

from .._errors import check_count, check_number
from .._types import Vector
from ..constraints import AtMost
from ..engines import TimeUpError, check_time, late, seconds_left
from ..objectives.base import Objective, Point
from ..objectives.point import from_kernel
from ..searched import Plan, Searched
from ..walked import PathPlan, Walked
from .base import Solver, generator
from .grahtp import GraHTP
from .local_search import HELPS, search, there_and_back, try_rivals, unsettled
from .omp import OMP
from .ompr import OMPR
from .walk import Walk, exchanged

RESTART_SHARE = 0.8  # share of the time that goes to restarts "until the limit"
PATIENCE = 4  # restarts in a row that may be in vain, and one more for every ten units
# Restarts where the kernel does them, and what they may cost as a multiple of what went before: for quadratics, others.
RESTARTS = {True: (400, 6.0), False: (40, 1.5)}
NO_LIMIT = 10**9
JUDGED = 10  # times what counts as cheap up to which exchanges are judged after a pursuit of the objective's own
RESTARTED = 0.1  # share of what counts as cheap up to which there are restarts
# Columns (for losses other than the squared: entries of X, times squared outputs) times k^3 up to which a path with a
# search at every size takes no more than about 0.2 s.
SEARCHED_PATH = 2.5e6
GRAM = 1e8  # multiplications for the Gram matrix that it needs, up to which that is so
MOST = 5e7  # multiplications up to which a path of another loss on some of the columns costs less than the search
BEYOND = 2  # sizes that such a path goes on, since smaller sizes are improved from larger ones
_value = attrgetter("value")
EFFORTS = ("fast", "default", "thorough")
THOROUGH_PATIENCE = 20  # unsuccessful restarts in a row after which a thorough search ends; squared loss: for each unit
DEFAULT_SEED = int(generator(None).integers(2**63))
STARTS = ("grahtp", "omp", "ompr", "there and back")  # OMP first where GraHTP can use its Gram columns


@dataclass(frozen=True)
class Auto(Solver):
    """Several pursuits, then every single exchange until none helps, then restarts.

    Parameters
    ----------
    starts : 1 to 4 (GraHTP; OMP; OMPR; OMP to 2k and back), or None: all where k passes over X are cheap, else three
    restarts : how many, or None: some where that is cheap; "limit": until the time limit
    prove : judge every exchange at the end, True; no, False; None: for about as much work as the search took
    cheap : number of multiplications for a pass over X, times k, up to which a problem counts as cheap (a tenth of
        that, for restarts); unused by the squared loss on data in memory
    effort : "fast" (one search, no restarts), "default", or "thorough" (restarts until twenty in a row, for the squared
        loss k times as many, are unsuccessful or the time limit is reached); what is given above wins over it
    """

    starts: int | None = None
    restarts: int | str | None = None
    prove: bool | None = None
    cheap: float = 2e7
    random_state: Any = None
    effort: str | None = None

    halted: ClassVar[str] = "the starts and restarts came to their end"
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
        fast, thorough = self.effort == "fast", self.effort == "thorough"
        led, searched = (None, False) if self.starts is not None or fast else (yield from self._led(f, constraint))
        given = not np.array_equal(start.support, constraint.forced)
        if led is not None and searched and f.quadratic and not given and not thorough:
            if led.optimality == "swap_optimal" and led.exchange is not None:  # the kernel has judged every exchange
                yield led
            else:
                led = yield from search(f, constraint, led)
            if led.optimality == "swap_optimal":
                return
        if led is not None:
            yield led
        begin = led if led is not None and not (given and start.value < led.value) else start
        quick = None if self.starts is not None else self._quick(f, constraint, begin, restart=thorough or not searched)
        if quick is not None:
            yield from _points(f, constraint, quick, led)
            return
        own = None if self.starts is not None else f.pursuit(constraint, start)
        if own is not None:
            best = start
            for point in own:
                yield point
                best = min(best, point, key=_value)
            if self.prove or f.work * constraint.k <= JUDGED * self.cheap:
                afforded = np.inf if self.prove else 1.0
                yield from search(f, constraint, best, doubts=self.prove is not False, afforded=afforded)
            return
        cheap = f.work * constraint.k <= self.cheap
        best, omp, seen = start, start, set[bytes]()  # supports that have been searched from
        if led is not None:
            better = yield from search(f, constraint, led, doubts=False)
            seen.update(end.support.tobytes() for end in (led, better))
            best = min(best, better, key=_value)
        names = STARTS[: self.starts or (1 if fast else 4 if cheap else 3)]
        for name in ("omp", "grahtp", *names[2:]) if f.quadratic and cheap and len(names) > 1 else names:
            point = start
            for point in _pursued(name, f, constraint, omp):
                yield point
            omp = point if name == "omp" else omp
            if point.support.tobytes() not in seen:
                better = yield from search(f, constraint, point, doubts=False)
                seen.update(end.support.tobytes() for end in (point, better))
                best = min(best, better, key=_value)
        units = constraint.units_of(best.support)
        free, outside = np.setdiff1d(units, constraint.include), np.setdiff1d(constraint.allowed, units)
        if len(free) and len(outside):
            usual = 10 if f.work * constraint.k <= RESTARTED * self.cheap else 0
            for point in self._again(f, constraint, best, seen, usual):
                yield point
                best = min(best, point, key=_value)
        if f.quadratic and best.optimality != "swap_optimal":
            yield from search(f, constraint, best)
        if not fast:
            yield from try_rivals(f, constraint, best)

    def _again(self, f: Objective, constraint: AtMost, best: Point, seen: set[bytes], usual: int) -> Iterator[Point]:
        """Restarts from the best point."""
        rng, idle = generator(self.random_state), 0
        for _ in range(self._restarts(usual)):
            shaken = _refilled(f, constraint, best, rng)
            before = best
            if shaken.support.tobytes() not in seen:
                better = yield from search(f, constraint, shaken, doubts=False)
                seen.update(end.support.tobytes() for end in (shaken, better))
                best = min(best, better, key=_value)
            check_time()  # where nothing new is found nothing is given, and the driver cannot look
            idle = 0 if best.value < before.value else idle + 1
            if idle >= (THOROUGH_PATIENCE if self.effort == "thorough" else PATIENCE) and self.restarts is None:
                return

    def _restarts(self, usual: int) -> int:
        if self.restarts is None:
            return 0 if self.effort == "fast" else NO_LIMIT if self.effort == "thorough" else usual
        return NO_LIMIT if self.restarts == "limit" else int(self.restarts)

    def _led(self, f: Objective, constraint: AtMost) -> Generator[Point, None, tuple[Point | None, bool]]:
        """The path's point of this size, where one kernel call has it, and whether every size had its own search."""
        if f.strides or not (f.quadratic or f.width > 1):
            return None, False
        cost = (constraint.units if f.quadratic else f.work) * constraint.k**3
        searched = (
            self.restarts is None and cost <= SEARCHED_PATH and (not f.quadratic or f.work * constraint.units <= GRAM)
        )
        if f.quadratic and not searched:
            return None, False
        longer = constraint.with_budget(min(constraint.k + BEYOND * searched, len(constraint.allowed)))
        plan = PathPlan(searched, _seed(self.random_state), late, None, (constraint.k,), MOST, constraint.k)
        found = f.quick_path(longer, plan)
        if f.quadratic and not _sure(found):
            plan = plan._replace(only=None)
            point = yield from _walked(f, longer, constraint.k, f.quick_path(longer, plan), plan)
            return point, point is not None
        if found is None or not found.points:
            return None, False
        known = found.by_size()
        at = known[min(constraint.k, max(known))]
        if found.trouble is not None or found.stopped:
            yield f.at(at.support, at.coef, at.free)
            if found.trouble is not None:
                raise found.trouble
            check_time()
        if constraint.count(at.support) < constraint.k and at.value > f.floor:
            return None, False  # columns that depend on each other need more care
        point = from_kernel(f, at)
        if at.exact and at.exchange is not None and at.optimality == "swap_optimal":  # every exchange was judged, but:
            if at.doubtful is not None and len(at.doubtful):
                yield point
            if at.doubtful is None or not unsettled(f, constraint, point, at.doubtful):
                return point.claim("swap_optimal", at.exchange), searched
        # a refit from kept Gram columns knows its gradient without a pass over X
        return (point if at.exact and not f.quadratic else f.refit(at.support, start=point)), searched

    def _quick(self, f: Objective, constraint: AtMost, start: Point, restart: bool) -> Searched | None:
        """What one kernel call finds, where the objective has such a kernel."""
        seed = _seed(self.random_state)
        asked, (restarts, effort) = self.restarts is not None, RESTARTS[f.quadratic]
        patience, effort = (NO_LIMIT, np.inf) if asked else (PATIENCE + constraint.units // 10, effort)
        if self.effort == "thorough" and not asked:
            patience, effort = THOROUGH_PATIENCE * (constraint.k if f.quadratic else 1), np.inf
        prove = int(self.effort != "fast") if self.prove is None else 2 * int(self.prove)
        own = np.empty(0, np.int64) if np.array_equal(start.support, constraint.forced) else start.support
        all_columns = 2 if self.restarts else EFFORTS.index(self.effort or "default")
        plan = Plan(self._restarts(restarts if restart else 0), patience, effort, prove, seed, late, all_columns)
        if self.restarts != "limit":
            return f.quick_search(constraint, own, plan)
        end = time.perf_counter() + RESTART_SHARE * seconds_left()  # the rest is for judging what was found
        found = f.quick_search(constraint, own, plan._replace(ask=lambda: time.perf_counter() > end, prove=0))
        if found is None or not found.points or found.trouble is not None:
            return found
        again = f.quick_search(constraint, found.points[-1][0], plan._replace(restarts=0))
        return again if again is not None and again.points else found


def _sure(found: Walked | None) -> bool:
    """Whether a kernel's path came to its end (or was stopped) and no size of it needs refits."""
    return found is not None and bool(found.points) and (found.sure or found.trouble is not None or found.stopped)


def _walked(
    f: Objective, constraint: AtMost, k: int, found: Walked | None, plan: PathPlan
) -> Generator[Point, None, Point | None]:
    """The point of size k of a path that begins with what a kernel found, as ``path`` has it.

    None where a smaller size is as good: its last columns add nothing.
    """
    walk = Walk(f, constraint, exchanged(f, doubts=False), len(constraint.include))
    try:
        walk.go_on(found, plan)
    except BaseException:
        known = [size for size in walk.best if size <= k]
        if known:
            yield walk.best[max(known)]
        raise
    point = walk.best[k]
    if any(walk.best[size].value <= point.value for size in walk.best if size < k):
        return None
    # a kernel's point has no bound of its own, and the search that follows needs one for its claim
    return point if point.exchange is not None else f.refit(point.support, start=point)


def _seed(random_state: Any) -> int:
    """A seed for a kernel."""
    return DEFAULT_SEED if random_state is None else int(generator(random_state).integers(2**63))


def _pursued(name: str, f: Objective, constraint: AtMost, start: Point) -> Iterator[Point]:
    """One of the starts; those that begin with OMP go on from its end, if it has been there."""
    if name == "there and back":
        return there_and_back(f, constraint, start)
    return {"grahtp": GraHTP(), "omp": OMP(), "ompr": OMPR()}[name].iterate(f, constraint, start)


def _points(f: Objective, constraint: AtMost, quick: Searched, led: Point | None) -> Iterator[Point]:
    """The points of a kernel's search, the last one refitted (unless it is where it started) and with its claim."""
    *before, (support, coef, b, value) = quick.points
    sure = not (quick.doubtful or (f.quadratic and quick.open))  # else the kernel's values are of rounded coefficients
    ended = not f.quadratic and value <= f.floor  # coefficients without end: the refit says so, from its own start
    for earlier in [] if late() or ended else before:  # time that is up ends the run at the first point it gives
        yield _point(f, *earlier) if sure else f.at(*earlier[:3])
    point = _point(f, support, coef, b, value) if sure else f.at(support, coef, b)
    if quick.trouble is not None:
        yield point
        raise quick.trouble
    try:
        same = led is not None and led.refitted and np.array_equal(led.support, support)
        last = led if led is not None and same else f.refit(support, start=None if ended else point)
    except TimeUpError:
        yield point
        raise
    scale = HELPS * f.scale(value)
    if last.value > point.value + 100 * scale and not ended:  # a refit that needs care lost its way
        yield f.at(support, coef, b)
        return
    better = min((f.refit(S, start=last) for S in quick.doubtful), key=_value, default=last)
    if better.value < last.value - scale:
        yield from search(f, constraint, better)
        return
    told = ended or (last.value >= value - scale and last.minimum >= last.value - scale)
    if quick.open < 0:  # time was up before any exchange was judged
        yield last
    elif told and (not quick.open or (quick.unknown is not None and not unsettled(f, constraint, last, quick.unknown))):
        yield last.claim("swap_optimal", quick.exchange)
    elif f.quadratic:  # columns that are nearly combinations of others: refits decide
        yield from search(f, constraint, last)
    else:
        unsure = quick.open or quick.total
        last = last.claim("swap_stationary", quick.exchange, quick.total - unsure, unsure)
        yield last
        if not quick.swept:
            yield from try_rivals(f, constraint, last)


def _point(f: Objective, support: Any, coef: Vector, b: Any, value: float) -> Point:
    return Point(f.dim, support, coef, b, value, lambda: f.at(support, coef, b).gradient.copy()).owned(f)


def _refilled(f: Objective, constraint: AtMost, best: Point, rng: np.random.Generator) -> Point:
    """The best point with some of its free units (up to half) dropped, and others in their places by their gradient."""
    units = constraint.units_of(best.support)
    free = np.setdiff1d(units, constraint.include)
    gone = rng.choice(free, int(rng.integers(1, (len(free) + 1) // 2 + 1)), replace=False)
    if len(np.setdiff1d(constraint.allowed, units)) < len(gone):
        gone = gone[:1]
    left = f.refit(constraint.columns_of(np.setdiff1d(units, gone)), start=best)
    slope = left.gradient.copy()
    slope[constraint.columns_of(gone)] = 0.0
    return f.refit(constraint.top(slope, keep=left.support), start=left)
