"""From size to size: the best point of every number of units, each found from its neighbours.

Stage K begins when no size up to K - 1 can be improved from its neighbours:

    up      the best point of K - 1 and the unit that promises most, then exchanges until none helps
    settle  whenever the best point of a size is new: from it one unit down and one unit up, exchanges, again

So what is known at the end of stage K does not depend on how far the path goes on, and a longer path only improves it.
Where a stage finds nothing new below (the rule), it costs one refit, one gradient and a sweep over the exchanges.
Invariant: values never rise with the size.
"""

from collections import deque
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from .._utils.types import Columns
from ..constraints import AtMost
from ..engines import check_time, late
from ..kernels.path import PathPlan, PathPoint, PathSolution
from ..kernels.search import SearchPlan
from ..objectives.base import Objective
from ..objectives.point import Point, from_kernel
from .exchanges import removals
from .group_path import group_path
from .local_search import search, unsettled

MIN_IMPROVEMENT = 1e-11  # share of f by which a point must be better to be taken for new
MAX_LIGHT_REFITS = 2  # exchanges that a light search refits before a point counts as one where none helps
MAX_DOUBTFUL_REFITS = 5  # columns up to which refits are cheaper than a sweep over all exchanges
# of what a unit more gained: where dropping one leads further up than that, a light search does not go down
MAX_DROP_TO_GAIN = 0.5

#: From a size's sparse set and a refitted point of it to a point that is no worse.
Improve = Callable[[AtMost, Point], Point]


def exchanged(f: Objective, **limits: Any) -> Improve:
    """Exchanges of one unit until none helps; a support at which that was judged is not judged again."""
    judged: dict[int, dict[bytes, Point]] = {}

    def improve(constraint: AtMost, point: Point) -> Point:
        known = judged.setdefault(constraint.k, {})
        return deque(search(f, constraint, point, judged=known, **limits), maxlen=1)[-1]

    return improve


def every_size(f: Objective, constraint: AtMost, sizes: Sequence[int] = ()) -> dict[int, Point]:
    """The best points found of every size from what is forced in to ``constraint.k``, without many starts.

    For callers that need many paths (folds, half-samples) and no Results; points of a kernel are not refitted.
    Where ``sizes`` are given only these (and ``constraint.k``) are searched for; those between are passed through, and
    where f strides (``Objective.skips_sizes``) left out. It spares what a kernel spares too (core/path_search.hpp).
    """
    grouped = group_path(f, constraint, sizes)
    if grouped is not None:
        return grouped
    improve = exchanged(f, tries=MAX_LIGHT_REFITS, doubts=False)
    path = PathSearch(f, constraint, improve, len(constraint.include), sizes=sizes, light=True)
    path.go(0, thorough=False)
    return path.best


class PathSearch:
    """The best points so far, by size (``best``); ``reached`` is called with a size when it is reached, true stops."""

    def __init__(
        self,
        f: Objective,
        constraint: AtMost,
        improve: Improve,
        first: int,
        reached: Callable[[int, float], object] | None = None,
        sizes: Sequence[int] = (),
        light: bool = False,
    ) -> None:
        steps: Any = {first, constraint.k, *sizes} if f.skips_sizes else range(first, constraint.k + 1)
        self.sizes = sorted(size for size in steps if first <= size <= constraint.k)
        self.wanted = {first, constraint.k, *sizes} if light and sizes else set(self.sizes)
        self.f, self.constraint, self.improve, self.first, self.light = f, constraint, improve, first, light
        self.reached = None if reached is None else (lambda size, value: bool(reached(size, value)))
        self.best: dict[int, Point] = {}
        self.seen: set[tuple[int, bytes]] = set()  # sizes and supports that were improved from
        self.on_stage: Callable[[], Any] | None = None  # called after each stage
        self.stopped = False

    def go(self, seed: int | None, thorough: bool) -> bool:
        """All stages, in a kernel as far as there is one (unless ``seed`` is None); False where ``reached`` stopped."""
        wanted = [size for size in self.sizes if size in self.wanted]
        plan = None if seed is None else PathPlan(thorough, seed, late, self.reached, wanted)
        return self.go_on(None if plan is None else self.f.quick_path(self.constraint, plan), plan)

    def go_on(self, found: PathSolution | None, plan: PathPlan | None) -> bool:
        """The stages that a kernel with this ``plan`` has left to do."""
        try:
            return self._stages(found, plan)
        finally:
            self._in_order()

    def _stages(self, found: PathSolution | None, plan: PathPlan | None) -> bool:
        if found is not None and plan is not None:
            self._take(found, plan)
        last = max(self.best, default=self.first - 1)
        for size in (size for size in self.sizes if size > last):
            if self.stopped:
                break
            if size == self.first:
                self._begin()
            else:
                self._stage(size)
            if self.on_stage is not None:
                self.on_stage()
            self.stopped = self.reached is not None and bool(self.reached(size, self.best[size].value))
        return not self.stopped

    def _in_order(self) -> None:
        """No size worse than the one below, not even by rounding; what was proved of that is not proved of this."""
        for less, size in pairwise(sorted(self.best)):
            below, known = self.best[less], self.best[size]
            if below.value < known.value:
                known = below
            if self.constraint.count(known.support) < size and known.value > self.f.floor:
                known = known.claim("stationary")  # a unit more may help, though none was found
            self.best[size] = known

    def _take(self, found: PathSolution, plan: PathPlan) -> None:
        """What one kernel call found; thoroughly: refitted, with claims, and again where it is not sure of itself."""
        points, thorough = found.by_size(), plan.thorough
        for size, at in points.items():
            self.best[size] = self._refitted(size, at) if thorough else from_kernel(self.f, at)
        if found.trouble is not None:
            raise found.trouble
        check_time()
        self.stopped = found.stopped
        if thorough and 1 in points:
            self._single(plan.seed)
        for size in points:
            if thorough and self.best[size].optimality == "none":
                self._improve(size)

    def _single(self, seed: int) -> None:
        """The best single column where every one of them is fitted: a ranking by gradients may miss it."""
        f = self.f
        if self.first > 0 or f.quadratic or f.width > 1 or self.stopped:
            return
        plan = SearchPlan(0, 0, 0.0, 0, seed, late)
        found = f.quick_search(self.constraint.with_budget(1), np.empty(0, np.int64), plan)
        if found is None or not found.points or found.trouble is not None:
            return
        point, known = f.refit(found.points[-1][0]), self.best[1]
        if point.value < known.value - MIN_IMPROVEMENT * f.scale(known.value):
            self.best[1] = point
            self._settle(1, max(self.best))

    def _refitted(self, size: int, at: PathPoint) -> Point:
        """A kernel's point, refitted, with what is known of it."""
        point = from_kernel(self.f, at)
        if not at.exact:
            point = self.f.refit(at.support, start=point) if len(at.support) else self.f.null
        room = MIN_IMPROVEMENT * self.f.scale(at.value)
        if (
            at.optimality == "swap_optimal"
            and not min(point.value - at.value, point.lower_bound - point.value) >= -20 * room
        ):
            return point  # the kernel's numbers had fewer digits than it thought
        doubtful = at.doubtful if at.doubtful is not None else ()
        if len(doubtful) > MAX_DOUBTFUL_REFITS:
            return point
        if len(doubtful) and unsettled(self.f, self.constraint.with_budget(size), point, doubtful):
            return point
        return point.claim(at.optimality, None, 1)

    def _improve(self, size: int) -> None:
        """Refits decide where the kernel could not, and what they find is handed to the other sizes."""
        constraint, known = self.constraint.with_budget(size), self.best[size]
        if constraint.count(known.support) == 0 or size == len(constraint.include):
            return
        better = self.improve(constraint, known)
        self.best[size] = better if better.value <= known.value else known
        if better.value < known.value - MIN_IMPROVEMENT * self.f.scale(known.value):
            self._settle(size, max(self.best))

    def _begin(self) -> None:
        constraint = self.constraint.with_budget(self.first)
        forced = constraint.forced
        point = self.f.feasible(self.f.refit(forced) if len(forced) else self.f.null, constraint)
        self.best[self.first] = point if self.first == len(constraint.include) else self.improve(constraint, point)

    def _stage(self, size: int) -> None:
        less = self.sizes[self.sizes.index(size) - 1]
        below = self.best[less]
        self.best[size] = below  # with at most so many units it is one of this size too
        if below.value <= self.f.floor:
            return
        try:
            self._step(less, size)
            if size in self.wanted:
                self._settle(size, size)
        except BaseException:
            if self.best[size] is below:  # the size was not reached
                del self.best[size]
            raise

    def _settle(self, size: int, last: int) -> None:
        """From a new point to the sizes next to it, while that finds new ones."""
        new = [size]
        while new:
            at = new.pop()
            place = self.sizes.index(at)
            near = self.sizes[max(place - 1, 0) : place] + self.sizes[place + 1 : place + 2]
            new += [to for to in near if self.first < to <= last and to in self.wanted and self._step(at, to)]

    def _step(self, at: int, size: int) -> bool:
        """From the best point of one size to the next one up or down; whether that is better than what was known."""
        check_time()
        f, constraint, point = self.f, self.constraint.with_budget(size), self.best[at]
        if constraint.count(point.support) > size:
            units, cost = removals(f, constraint, point)
            gone = np.argsort(cost, kind="stable")[: len(units) - size]
            value = self.best[size].value
            if self.light and point.value + float(cost[gone].sum()) > value + MAX_DROP_TO_GAIN * (value - point.value):
                return False
            support = constraint.columns_of(np.delete(units, gone))
        elif constraint.count(point.support) < size:
            support = constraint.top(point.gradient, keep=point.support)
        else:
            support = point.support
        if not self._unseen(size, support):
            return False
        better = f.refit(support, start=point)
        if size in self.wanted:
            better = self.improve(constraint, better)
        self._unseen(size, better.support)
        known = self.best[size]
        if not better.value < known.value - MIN_IMPROVEMENT * f.scale(known.value):
            if len(known.support) == len(better.support) and np.array_equal(known.support, better.support):
                self.best[size] = better if better.value <= known.value else known
            return False
        self.best[size] = better
        return True

    def _unseen(self, size: int, support: Columns) -> bool:
        key = size, support.tobytes()
        new = key not in self.seen
        self.seen.add(key)
        return new
