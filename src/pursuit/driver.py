"""``solve``: the only loop of the library.

It asks a solver for points, keeps the best, sees cycles, watches the limits, records the trace, calls back, and
returns a Result whatever happens: a limit or Ctrl-C ends with the best point so far.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ._errors import check_count, check_number
from ._names import called
from ._sorted import without
from .constraints import AtMost
from .engines import TimeUpError, threads, until
from .objectives.base import Exchange, Objective, Point
from .objectives.bounded import Bounded
from .refits import NotFiniteError
from .results import Record, Result
from .solvers.base import Solver, as_solver
from .solvers.relaxed import relaxed

MAX_ITER = 10_000
ENDLESS = 10**9
PROVED = 1e-6  # share of the value at which a duality gap counts as closed


def solve(
    objective: Objective,
    k: int,
    *,
    solver: str | Solver = "auto",
    include: Any = (),
    exclude: Any = (),
    groups: Any = None,
    bounds: Any = None,
    sum_to: float | None = None,
    start: Any = None,
    max_iter: int | None = None,
    tol: float | None = None,
    time_limit: float | None = None,
    callback: Callable[[Record], Any] | None = None,
    random_state: Any = None,
) -> Result:
    """Minimise an objective over at most k coordinates.

    Parameters
    ----------
    objective : ``GLM(...)`` or anything with its methods
    k : budget; above the number of columns it is capped, and ``reason`` says so
    solver : a name (``pursuit.list_solvers()``) or an instance
    include, exclude : columns that must, must not be chosen: indices, names (where X is a data frame), or a mask with
        one entry per column; those included count in k
    groups : one label per column; groups enter whole and k counts groups
    bounds : (low, high) for the coefficients in the units of X: numbers, arrays of length p, or None for no bound
    sum_to : what the coefficients, in the units of X, must sum to
    start : a Result, or a vector of length p in the units of X
    max_iter, time_limit : limits in iterations and seconds; the best point so far is returned
    tol : stop when the value falls by less than this share from one iteration to the next
    callback : called with a Record after each iteration; a true return value stops the run
    random_state : seed for solvers that draw random numbers
    """
    _check_objective(objective)
    name, method = as_solver(solver)
    constraint = _constraint(objective, k, include, exclude, groups)
    if bounds is not None or sum_to is not None:
        objective = Bounded(objective, bounds, sum_to)
        objective.check(constraint)
    method = _told(method, random_state=random_state)
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be a function of a Record, got {type(callback).__name__}")
    run = _Run(
        limit=(MAX_ITER if time_limit is None else ENDLESS)
        if max_iter is None
        else check_count(max_iter, "max_iter", 1),
        tol=None if tol is None else check_number(tol, "tol"),
        seconds=None if time_limit is None else check_number(time_limit, "time_limit"),
        callback=callback,
    )
    with threads(), np.errstate(all="ignore"):
        first = _start(objective, constraint, start)
        if not np.isfinite(first.value):
            raise ValueError("the objective is not finite at the start; give a start where it is")
        run.go(name, relaxed(method), objective, constraint, first)
        if isinstance(objective, Bounded) and not objective.holds(run.best):
            feasible = objective.refit(objective.widest(constraint))
            if run.status == "converged":  # no support that was met can reach the sum: once more, from one that does
                run.go(name, relaxed(method), objective, constraint, feasible)
            run.best = min(run.best, feasible, key=lambda point: point.value)
        best = _spare(objective, constraint, run.best)
        coef, intercept = objective.in_units(best)
    support = best.support
    width = _width(objective)
    if width > 1:
        support, coef = np.unique(support // width), coef.reshape(-1, width)
    status = run.status if best.minimiser else "no_minimiser"
    optimality = _optimality(objective, constraint, best, run)
    sentences = [constraint.capped, run.reason, _words(optimality, best), best.note]
    names = _names(objective)
    return Result(
        dim=objective.dim // width,
        support=support,
        coef=coef,
        intercept=intercept,
        value=best.value,
        status=status,
        reason="; ".join(sentence for sentence in sentences if sentence),
        n_iter=len(run.trace),
        seconds=time.perf_counter() - run.began,
        trace=tuple(run.trace),
        optimality=optimality,
        exchange=best.exchange,
        next_best=next_best(best.exchange, constraint, width, names),
        certificate=run.certificate,
        lower=run.lower,
        solver=name,
        k=constraint.k,
        point=best.detached(),
        constraint=constraint,
        bounds=bounds,
        sum_to=sum_to,
        names=None if names is None else tuple(names[j] for j in support),
    )


def _check_objective(objective: Any) -> None:
    if all(callable(getattr(objective, method, None)) for method in ("at", "refit")):
        return
    advice = "an estimator has fit(X, y) for that" if hasattr(objective, "fit") else "for data: solve(GLM(X, y), k)"
    raise TypeError(f"objective must be one that solve can minimise, got {type(objective).__name__}; {advice}")


def next_best(exchange: Exchange | None, constraint: AtMost, width: int, names: Sequence[str] | None) -> str:
    """The next best exchange in words, by the names of columns where they have names."""
    if exchange is None:
        return ""
    leave, enter = (
        called(np.unique(constraint.columns_of(np.array(units)) // width), names)
        for units in (exchange.leave, exchange.enter)
    )
    how = "raise" if exchange.change >= 0 else "lower"
    return f"{enter} instead of {leave} would {how} the value by about {abs(exchange.change):.3g}"


def _spare(f: Objective, constraint: AtMost, best: Point) -> Point:
    """A point at the floor without the units that it does not need."""
    if not best.refitted or best.value > f.floor:
        return best
    norms = constraint.norms(best.x)
    units = constraint.units_of(best.support)
    for unit in sorted(without(units, constraint.include), key=lambda u: norms[u]):
        fewer = f.refit(constraint.columns_of(without(constraint.units_of(best.support), np.array([unit]))), start=best)
        if fewer.value <= max(f.floor, best.value):
            best = fewer
    return best


def _optimality(f: Objective, constraint: AtMost, best: Point, run: "_Run") -> str:
    """What is known of the best point; where nothing can be exchanged or is left to explain: that no exchange helps."""
    units = constraint.units_of(best.support)
    stuck = len(without(constraint.allowed, units)) == 0 or len(without(units, constraint.include)) == 0
    full = len(units) == constraint.k
    exact = best.value <= f.floor
    if exact or (stuck and full and best.refitted and best.minimum >= best.value - 1e-9 * f.scale(best.value)):
        return "swap_optimal"
    return best.optimality if best.optimality != "none" else run.optimality


def _words(optimality: str, best: Point) -> str:
    """What an optimality means, in a sentence; a solver's own rule is in its own."""
    if optimality == "swap_optimal":
        return "no single exchange helps"
    if optimality != "swap_stationary":
        return ""
    if best.open:
        return f"no exchange was found that helps; {best.open} of {best.looked_at + best.open} are not excluded"
    if best.looked_at > 1:
        return f"none of the {best.looked_at} best-ranked exchanges helps"
    return "the best-ranked exchange does not help" if best.looked_at else "the model of f sees no exchange that helps"


def _constraint(f: Objective, k: int, include: Any, exclude: Any, groups: Any) -> AtMost:
    """The sparse set over the objective's coordinates; with q outputs a column is a group of q of them."""
    width = _width(f)
    if width == 1:
        return AtMost(k, f.dim, include, exclude, groups, _names(f))
    columns = AtMost(k, f.dim // width, include, exclude, groups, _names(f))  # checks the user's indices and labels
    labels = np.arange(columns.dim) if columns.unit_of is None else columns.unit_of
    inside, outside = (columns.ordered(units)[0] * width for units in (columns.include, columns.exclude))
    whole = AtMost(k, f.dim, inside, outside, np.repeat(labels, width))
    whole.capped = columns.capped
    return whole


def _width(f: Objective) -> int:
    """Coordinates per column: more than one where a column has several outputs."""
    return getattr(f, "width", 1)


def _names(f: Objective) -> Sequence[str] | None:
    """The names of the columns, where they have names."""
    return getattr(f, "names", None)


def _told(solver: Solver, **known: Any) -> Solver:
    """The solver with what only this call knows, where it has a field for it that is still unset."""
    fields = {key: value for key, value in known.items() if value is not None and getattr(solver, key, 0) is None}
    return type(solver)(**{**vars(solver), **fields}) if fields else solver


def _start(f: Objective, constraint: AtMost, start: Any) -> Point:
    """A point to begin from: the caller's, or the refit on the forced-in columns."""
    null = f.null  # also the check that the data are finite
    if start is None:
        return f.refit(constraint.forced) if constraint.include.size else null
    point = start if isinstance(start, Point) else getattr(start, "point", None)
    if point is None:
        point = f.from_units(start)
    if point.dim != f.dim:
        raise ValueError(f"start has {point.dim} coordinates, but the objective has {f.dim}")
    if constraint.allows(point.support):
        return f.at(point.support, point.coef, point.free)
    if constraint.count(point.support) > constraint.k:
        raise ValueError(f"start uses {constraint.count(point.support)} columns, more than k={constraint.k} allows")
    if constraint.uses_forbidden(point.support):
        raise ValueError("start uses a column that exclude forbids")
    return f.refit(constraint.top(point.x, within=point.support), start=point)  # what is forced in comes first


def _breach(point: Any, f: Objective, constraint: AtMost) -> str:
    """What is wrong with a point that a solver gave: nothing but its own word holds it to the sparse set."""
    if not isinstance(point, Point):
        return f"a {type(point).__name__}, not a point"
    support = point.support
    if len(support) and not (support[0] >= 0 and support[-1] < f.dim and (np.diff(support) > 0).all()):
        return "a point whose support is not a sorted set of columns"
    if len(point.coef) != len(support):
        return f"a point with {len(point.coef)} coefficients on {len(support)} columns"
    if constraint.allows(support):
        return ""
    if constraint.count(support) > constraint.k:
        return f"a point with {constraint.count(support)} units, more than k={constraint.k} allows"
    return "a point that uses what exclude forbids" if constraint.uses_forbidden(support) else "a point without include"


class _Run:
    """One run of a solver: what was seen so far, and why it ended."""

    def __init__(
        self, limit: int, tol: float | None, seconds: float | None, callback: Callable[[Record], Any] | None
    ) -> None:
        self.began = time.perf_counter()
        self.limit, self.tol, self.seconds, self.callback = limit, tol, seconds, callback
        self.trace: list[Record] = []
        self.seen: set[tuple[bytes, float, str]] = set()
        self.status, self.reason, self.optimality = "converged", "", "none"
        self.lower: float | None = None  # the best bound from below that a point carried

    @property
    def certificate(self) -> str:
        if self.lower is None:
            return "none"
        return "proved" if self.best.value - self.lower <= PROVED * abs(self.best.value) else "bounded"

    def go(self, name: str, solver: Solver, f: Objective, constraint: AtMost, start: Point) -> None:
        self.best = self.last = start
        try:
            if not constraint.count(start.support) and start.value <= f.floor:
                self._end("converged", "nothing is left to explain")
                return
            if self._late():
                return
            with until(None if self.seconds is None else self.began + self.seconds):
                for point in solver.iterate(f, constraint, start):
                    wrong = _breach(point, f, constraint)
                    if wrong:
                        self._end("failed", f"solver {name!r} gave {wrong}; the best point before that is given")
                        return
                    if self._stop(point, f.floor, not solver.revisits):
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

    def _stop(self, point: Point, floor: float, cycles: bool) -> bool:
        """Take note of a point; True when the run is over."""
        if point.value == -np.inf and not point.minimiser:
            return self._end("no_minimiser", point.note)
        if not (np.isfinite(point.value) and np.isfinite(point.coef).all()):
            return self._end("failed", "the objective became NaN or infinite; the best point before that is given")
        told = point.optimality != "none" or not point.minimiser or point.refitted > self.best.refitted
        if point.value < self.best.value or (point.value == self.best.value and told):
            claimed = self.best.optimality != "none" and np.array_equal(point.support, self.best.support)
            if claimed and point.optimality == "none" and point.refitted:  # the same solution, but for rounding
                best = self.best
                point = point.claim(best.optimality, best.exchange, best.looked_at, best.open)
            self.best = point
        before, self.last = self.last, point
        changed = len(without(point.support, before.support))
        seconds = time.perf_counter() - self.began
        if point.lower is not None:
            self.lower = point.lower if self.lower is None else max(self.lower, point.lower)
        size = len(point.support)
        record = Record(len(self.trace) + 1, point.value, self.best.value, seconds, size, changed, self.lower)
        self.trace.append(record)
        if self.callback is not None and self.callback(record):
            return self._end("interrupted", "stopped by the callback; the best point so far is given")
        if point.value <= floor:
            return self._end("converged", "the fit is exact: nothing is left to explain")
        if self.certificate == "proved":
            return self._end(
                "converged", "the duality gap is closed: by Theorem 1 of the DIHT paper the minimum is global"
            )
        key = (point.support.tobytes(), point.value, f"{point.optimality} {point.refitted}")
        if cycles and key in self.seen:
            return self._end("converged", "the iterates began to cycle; the best point of the cycle is given")
        self.seen.add(key)
        if self.tol is not None and not changed and before.value - point.value <= self.tol * abs(before.value):
            return self._end("converged", f"the value fell by less than tol={self.tol:g}")
        if len(self.trace) >= self.limit:
            return self._end(
                "max_iter", f"the limit of {self.limit} iteration{'' if self.limit == 1 else 's'} was reached"
            )
        return self._late()

    def _late(self) -> bool:
        if self.seconds is not None and time.perf_counter() - self.began >= self.seconds:
            return self._out_of_time()
        return False

    def _out_of_time(self) -> bool:
        limit = "" if self.seconds is None else f" of {self.seconds:g} s"  # or it is the limit of whoever called
        return self._end("time_limit", f"the time limit{limit} was reached")

    def _end(self, status: str, reason: str, optimality: str = "none") -> bool:
        self.status, self.reason, self.optimality = status, reason, optimality
        return True
