"""The only loop of the library.

It asks a solver for points, keeps the best, sees cycles, watches the limits, records the trace, calls back, and ends
with the best point so far whatever happens: a limit, Ctrl-C, a point that a solver may not give.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .._utils.arrays import without
from .._utils.progress import Progress
from .._utils.validation import check_count, check_number
from ..constraints import AtMost
from ..engines import TimeUpError, until
from ..objectives.base import Objective, Point
from ..refits import NotFiniteError
from ..solvers.base import Solver
from .result import Record, Result, certificate_of

MAX_ITER = 10_000
UNLIMITED_ITERATIONS = 10**9
GAP_CLOSED = "the duality gap is closed: by Theorem 1 of the DIHT paper the minimum is global"
MIN_GAIN_SHARE = 1e-14  # share of a value that a column more must gain at least: sums in two orders differ by some ulp
VALUE_TOLERANCE = 1e-12  # share by which values of one minimiser may differ, computed in two ways


def record_bar() -> Callable[[Record], None]:
    """A bar for iterations: how many there were, and the best value."""
    bar = Progress("iterations", lines=True)

    def show(record: Record) -> None:
        bar(record.iteration, float(record.best))

    return show


@dataclass(frozen=True)
class Limits:
    """When a run ends at the latest, see :func:`pursuit.solve`."""

    max_iter: int | None = None
    tol: float | None = None
    time_limit: float | None = None
    callback: Callable[[Record], object] | bool | None = None

    def __post_init__(self) -> None:
        if self.max_iter is not None:
            check_count(self.max_iter, "max_iter", 1)
        if self.tol is not None:
            check_number(self.tol, "tol")
        if self.time_limit is not None:
            check_number(self.time_limit, "time_limit")
        if self.callback is True:
            object.__setattr__(self, "callback", record_bar())
        elif self.callback is not None and not callable(self.callback):
            raise TypeError(
                f"callback must be a function of a Record, True for a bar, or None; got {type(self.callback).__name__}"
            )


def _breach(point: object, f: Objective, constraint: AtMost) -> str:
    """What is wrong with a point that a solver gave: nothing but its own word holds it to the sparse set."""
    if not isinstance(point, Point):
        return f"a {type(point).__name__}, not a point"
    support = point.support
    if len(support) and not (support[0] >= 0 and support[-1] < f.dim and (support[1:] > support[:-1]).all()):
        return "a point whose support is not a sorted set of columns"
    if len(point.coef) != len(support):
        return f"a point with {len(point.coef)} coefficients on {len(support)} columns"
    if constraint.allows(support):
        return ""
    if constraint.count(support) > constraint.k:
        return f"a point with {constraint.count(support)} units, more than k={constraint.k} allows"
    return "a point that uses what exclude forbids" if constraint.uses_forbidden(support) else "a point without include"


class Loop:
    """One run of a solver: what was seen so far, and why it ended."""

    def __init__(self, limits: Limits) -> None:
        self.began = time.perf_counter()
        self.tol, self.seconds, self.callback = limits.tol, limits.time_limit, limits.callback
        self.limit = limits.max_iter or (MAX_ITER if limits.time_limit is None else UNLIMITED_ITERATIONS)
        self.trace: list[Record] = []
        self.seen: set[tuple[bytes, float, str]] = set()
        self.status, self.reason, self.optimality = "converged", "", "none"
        self.gives_last = False  # in place of the best point
        self.lower: float | None = None  # the best bound from below that a point carried

    def go(self, name: str, solver: Solver, f: Objective, constraint: AtMost, start: Point) -> None:
        self.best, self.last, floor = start, start, f.floor
        self.gives_last = solver.last
        try:
            if not constraint.count(start.support) and start.value <= floor:
                self._end("converged", "the residual is zero without any column")
                return
            if not constraint.k:
                self._end("converged", "k=0 leaves nothing to choose")
                return
            if self._late():
                return
            with until(None if self.seconds is None else self.began + self.seconds):
                for point in solver.iterate(f, constraint, start):
                    wrong = _breach(point, f, constraint)
                    if wrong:
                        self._end("failed", f"solver {name!r} gave {wrong}; the best point before that is given")
                        return
                    if self._stop(point, floor, not solver.revisits):
                        return
        except TimeUpError:
            self._out_of_time()
            return
        except NotFiniteError as trouble:
            self._end("failed", f"{trouble}; the best point before that is given")
            return
        except KeyboardInterrupt:
            self._end("interrupted", "interrupted by the user; the best point so far is given")
            return
        self._end("converged", solver.halted, solver.claims)

    def result(self, f: Objective, constraint: AtMost, name: str) -> Result:
        """The best point so far as a Result, with the trace and the reason of the end."""
        return Result.of(
            f,
            constraint,
            self.best,
            solver=name,
            status=self.status,
            reason=self.reason,
            trace=tuple(self.trace),
            seconds=time.perf_counter() - self.began,
            optimality=self.optimality,
            lower=self.lower,
        )

    def take(self, point: Point, solver: Solver) -> None:
        """End with a point that a solver had at once."""
        self.best = self.last = point
        size, seconds = len(point.support), time.perf_counter() - self.began
        self.trace.append(Record(1, point.value, point.value, seconds, size, size))
        self._end("converged", solver.halted, solver.claims)

    def _stop(self, point: Point, floor: float, cycles: bool) -> bool:
        """Take note of a point; True when the run is over."""
        if np.isinf(point.value) and not point.minimiser:
            return self._end("no_minimiser", point.note)
        if not (np.isfinite(point.value) and np.isfinite(point.coef).all()):
            return self._end("failed", "the objective became NaN or infinite; the best point before that is given")
        if self.gives_last:
            self.best = point
        stronger = point.optimality != "none" or not point.minimiser or point.refitted > self.best.refitted
        larger = len(point.support) > len(self.best.support)
        less = self.best.value - point.value
        if less > (MIN_GAIN_SHARE * abs(point.value) if larger else 0.0) or (less == 0 and stronger):
            claimed = self.best.optimality != "none" and np.array_equal(point.support, self.best.support)
            if claimed and point.optimality == "none" and point.refitted:  # the same solution, but for rounding
                best = self.best
                point = point.claim(best.optimality, best.exchange, best.n_checked, best.n_unchecked)
            self.best = point
        elif self._proves_best(point):
            self.best = self.best.claim(point.optimality, point.exchange, point.n_checked, point.n_unchecked)
        before, self.last = self.last, point
        changed = len(without(point.support, before.support))
        seconds = time.perf_counter() - self.began
        if point.lower is not None:
            self.lower = point.lower if self.lower is None else max(self.lower, point.lower)
        count, size = len(self.trace) + 1, len(point.support)
        record = Record(count, point.value, self.best.value, seconds, size, changed, self.lower)
        self.trace.append(record)
        if callable(self.callback) and self.callback(record):
            return self._end("interrupted", "stopped by the callback; the best point so far is given")
        if point.value <= floor:
            return self._end("converged", "the fit is exact: the residual is zero")
        if certificate_of(self.best.value, self.lower) == "proved":
            return self._end("converged", GAP_CLOSED)
        key = (point.support.tobytes(), point.value, f"{point.optimality} {point.refitted}")
        if cycles and key in self.seen:
            return self._end("converged", "the iterates began to cycle; the best point of the cycle is given")
        self.seen.add(key)
        if self.tol is not None and self.lower is not None:  # a dual method's value may stay while the dual rises
            if self.best.value - self.lower <= self.tol * abs(self.best.value):
                return self._end("converged", f"the duality gap is at most tol={self.tol:g} of the value")
        elif self.tol is not None and not changed and before.value - point.value <= self.tol * abs(before.value):
            return self._end("converged", f"the value fell by less than tol={self.tol:g}")
        if count >= self.limit:
            noun = "iteration" if self.limit == 1 else "iterations"
            return self._end("max_iter", f"the limit of {self.limit} {noun} was reached")
        return self._late()

    def _proves_best(self, point: Point) -> bool:
        """Whether a point is the best one but for rounding, and only of this one something is known."""
        best = self.best
        return (
            best.optimality == "none" != point.optimality
            and best.refitted
            and point.refitted
            and point.value <= best.value + VALUE_TOLERANCE * abs(best.value)
            and np.array_equal(point.support, best.support)
        )

    def _late(self) -> bool:
        over = self.seconds is not None and time.perf_counter() - self.began >= self.seconds
        return over and self._out_of_time()

    def _out_of_time(self) -> bool:
        limit = "" if self.seconds is None else f" of {self.seconds:g} s"  # or it is a limit of the caller
        return self._end("time_limit", f"the time limit{limit} was reached")

    def _end(self, status: str, reason: str, optimality: str = "none") -> bool:
        self.status, self.reason, self.optimality = status, reason, optimality
        return True
