"""``solve``: minimise an objective over at most k coordinates; ``run``: the same without the checks of arguments."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np

from .._utils.arrays import without
from .._utils.types import ArrayLike, BoundsLike, ColumnsLike, FilePath, GroupsLike, Seed
from .._utils.wrong_calls import takes_objective
from ..constraints import AtMost
from ..engines import seconds_left, threads
from ..objectives.base import Objective
from ..objectives.point import Point
from ..objectives.sparse_set import SparseSet, check_feasible
from ..solvers.base import Solver, as_solver
from ..solvers.relaxed import relaxed
from .checkpoint import Checkpoint, Problem
from .loop import Limits, Loop
from .replay import EvaluationLog
from .result import Record, Result

if TYPE_CHECKING:
    from ..engines.dask import Dask as Engine

UNLIMITED = Limits()
# budget up to which no run is refused, and hours that a run may take beyond it
MAX_UNCHECKED_BUDGET, MAX_HOURS = 1000, 1.0


@takes_objective("(GLM(X, y), k)")
def solve(
    objective: Objective,
    k: int,
    *,
    solver: str | Solver = "auto",
    include: ColumnsLike = (),
    exclude: ColumnsLike = (),
    groups: GroupsLike = None,
    bounds: BoundsLike = None,
    sum_to: float | None = None,
    start: "Point | Result | ArrayLike | None" = None,
    max_iter: int | None = None,
    tol: float | None = None,
    time_limit: float | None = None,
    callback: Callable[[Record], object] | bool | None = None,
    random_state: Seed = None,
    checkpoint: FilePath | None = None,
    engine: "Engine | None" = None,
    effort: str | None = None,
) -> Result:
    """Minimise an objective over at most k coordinates.

    Parameters
    ----------
    objective : GLM or Objective
        ``GLM(...)`` or anything with its methods.
    k : int
        Budget; above the number of columns it is capped, and ``reason`` says so.
    solver : str or Solver, default "auto"
        A name (``pursuit.list_solvers()``) or an instance.
    include, exclude : sequence of int or str, or mask
        Columns that must, must not be chosen: indices, names (where X is a data frame), or a mask with one entry per
        column; those included count in k.
    groups : sequence, dict, "prefix" or None, default None
        One label per column, a dict or list of groups' columns, or "prefix"; groups enter whole and k counts them.
    bounds : tuple (low, high), dict, list or None, default None
        Bounds of the coefficients in the units of X: numbers, arrays of length p, or None for no bound.
    sum_to : float or None, default None
        What the coefficients, in the units of X, must sum to.
    start : Result, array of shape (p,) or None, default None
        A Result (of another objective, such as the standardised one, it is converted), or a vector in the units of X.
    max_iter : int or None, default None
        Limit in iterations; the best point so far is returned.
    tol : float or None, default None
        Stop when the value falls by less than this share from one iteration to the next (diht, sdiht: when the gap to
        the dual is at most this share of the value).
    time_limit : float or None, default None
        Limit in seconds; the best point so far is returned.
    callback : callable or None, default None
        Called with a Record after each iteration; a true return value stops the run.
    random_state : int, Generator or None, default None
        Seed for solvers that draw random numbers.
    checkpoint : path or None, default None
        A file in which the run is kept, about every second and at its end; where it is there already, the run goes on
        from it, and one that had ended is returned as it was. A file of another problem, of other data too, is refused,
        and so is one that another run is using.
    engine : dask.distributed.Client, pursuit.engines.Dask or None, default None
        The rows are sent to its workers, and the sums over rows computed there.
    effort : {"fast", "default", "thorough"} or None, default None
        For solver="auto" only (docs/search.md has measured times and values).

    Returns
    -------
    Result
        The best point that was found, and how the run ended.

    Raises
    ------
    ValueError, TypeError
        Where an argument is wrong; the message names it and says what would be right.

    See Also
    --------
    path : Every size at once.
    certify : How good the result is.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> X = np.random.default_rng(0).standard_normal((100, 20))
    >>> y = X[:, 3] - 2 * X[:, 7]
    >>> result = pursuit.solve(pursuit.GLM(X, y), 2)
    >>> result.support.tolist(), result.coef.round(6).tolist()
    ([3, 7], [1.0, -2.0])
    """
    check_objective(objective)
    objective = objective if engine is None else objective.to_engine(engine)
    name, method = seeded(solver, random_state, effort)
    sparse_set = SparseSet(include, exclude, groups, bounds, sum_to)
    constraint = sparse_set.with_budget(objective, k)
    limits = Limits(max_iter, tol, time_limit, callback)
    f = sparse_set.restrict(objective)
    check_feasible(f, constraint)
    with _evaluation_log(checkpoint, constraint, name, method, start, f) as log:
        result = run(f, constraint, method, start, limits, name, log)
    return replace(result, bounds=bounds, sum_to=sum_to) if sparse_set.is_bounded else result


def _evaluation_log(
    path: FilePath | None,
    constraint: AtMost,
    name: str,
    method: Solver,
    start: "Point | Result | ArrayLike | None",
    f: Objective,
) -> AbstractContextManager[EvaluationLog | None]:
    """Where a run is written down; None where there is no checkpoint."""
    if path is None:
        return nullcontext()
    begin = [start.x, start.intercept] if isinstance(start, Result) else start.x if isinstance(start, Point) else start
    begin = None if start is None else np.asarray(begin) if not isinstance(begin, list) else begin
    with threads(), np.errstate(all="ignore"):
        return EvaluationLog(
            f, Checkpoint(path, partial(Problem.of, f, constraint, name, method, kind="solve", start=begin))
        )


def seeded(solver: str | Solver, random_state: Seed, effort: str | None = None) -> tuple[str, Solver]:
    """A solver and its name; ``random_state`` and ``effort`` are set where it has them and they are still unset."""
    name, method = as_solver(solver)
    if effort is not None:
        if "effort" not in vars(method):
            raise ValueError(f"effort={effort!r} is for solver='auto' only, got solver={name!r}: leave effort out")
        method = type(method)(**{**vars(method), "effort": vars(method)["effort"] or effort})
    if random_state is not None and vars(method).get("random_state", 0) is None:
        method = type(method)(**{**vars(method), "random_state": random_state})
    return name, method


def run(
    f: Objective,
    constraint: AtMost,
    solver: str | Solver = "auto",
    start: "Point | Result | ArrayLike | None" = None,
    limits: Limits = UNLIMITED,
    name: str | None = None,
    log: EvaluationLog | None = None,
) -> Result:
    """One solver on one sparse set (``f.sparse_set(k)``, ``constraint.with_budget(k)``); ``name`` is the one to show.

    ``start`` is as in ``solve``: a Result of the same f is gone on from without a pass over the data.
    """
    own, method = (name, solver) if name is not None and isinstance(solver, Solver) else as_solver(solver)
    for need in method.needs:
        f.require(need)
    name = name or own
    _check_cost(f, constraint, method, limits, name)
    method, loop = relaxed(method), Loop(limits)
    with threads(), np.errstate(all="ignore"):
        if log is not None and log.restore(loop):
            return loop.result(f, constraint, name)
        if start is None and log is None and limits == UNLIMITED and seconds_left() == np.inf:
            point = method.at_once(f, constraint)
            if point is not None:
                loop.take(point, method)
                return loop.result(f, constraint, name)
        recorded = f if log is None else log.recording_objective()
        if method.searches:
            f.expect_search()
        first = _start(f, constraint, start)
        if not np.isfinite(first.value):
            raise ValueError(f"the objective is not finite at the start; {first.note or 'give a start where it is'}")
        loop.go(name, method, recorded, constraint, first)
        feasible = f.feasible(loop.best, constraint)
        if feasible is not loop.best:
            if loop.status == "converged":  # no support that was met will do: once more, from one that does
                loop.go(name, method, recorded, constraint, feasible)
            loop.best = min(loop.best, feasible, key=lambda point: point.value)
        loop.best = _spare(f, constraint, loop.best)
        if log is not None:
            log.record_end(loop)
        return loop.result(f, constraint, name)


def _check_cost(f: Objective, constraint: AtMost, solver: Solver, limits: Limits, name: str) -> None:
    """Raise where a solver that goes unit by unit would take hours, and there is no limit of time."""
    if constraint.k <= MAX_UNCHECKED_BUDGET or limits.time_limit is not None or seconds_left() < np.inf:
        return
    turns = min(solver.turns * constraint.k, limits.max_iter or np.inf)
    hours = turns * f.seconds(constraint.k) / 3600
    if hours > MAX_HOURS:
        raise ValueError(
            f"solver {name!r} goes unit by unit: k={constraint.k} takes about {turns} gradients over all columns and "
            f"refits on up to {constraint.k} of them, {hours:.0f} hours or more; solver='grahtp' chooses all at once, "
            "or give a time_limit"
        )


@cache
def _unknown(kind: type) -> list[str]:
    """What a class itself lacks of an objective; attributes such as ``dim`` may be its instances'."""
    wanted = [name for name in (*Objective.__annotations__, *vars(Objective)) if not name.startswith("_")]
    return [name for name in wanted if not hasattr(kind, name)]


def check_objective(objective: "Objective") -> None:
    kind: type = type(objective)
    lacks = [name for name in _unknown(kind) if name not in getattr(objective, "__dict__", ())]
    if not lacks:
        return
    if "at" not in lacks and "refit" not in lacks:
        words = f"{', '.join(lacks)}: inherit ObjectiveDefaults, and give dim, at and refit"
        raise TypeError(f"objective {kind.__name__} has no {words}")
    advice = "an estimator has fit(X, y) for that" if hasattr(objective, "fit") else "for data: solve(GLM(X, y), k)"
    raise TypeError(f"objective must be one that solve can minimise, got {kind.__name__}; {advice}")


def _spare(f: Objective, constraint: AtMost, best: Point) -> Point:
    """A point at the floor without the units that it does not need."""
    if not best.refitted or best.value > f.floor:
        return best
    norms, units = constraint.norms(best.x), constraint.units_of(best.support)
    for unit in sorted(without(units, constraint.include), key=lambda u: norms[u]):
        fewer = f.refit(constraint.columns_of(without(constraint.units_of(best.support), np.array([unit]))), start=best)
        if fewer.value <= max(f.floor, best.value):
            best = fewer
    return best


def _point(f: Objective, start: "Point | Result | ArrayLike") -> Point:
    """A start as a point of f; a Result of another objective is converted through the user's units."""
    point = start.point if isinstance(start, Result) else start if isinstance(start, Point) else f.from_units(start)
    if point.dim != f.dim:
        raise ValueError(f"start has {point.dim} coordinates, but the objective has {f.dim}")
    if np.shape(point.free) != np.shape(f.null.free):
        raise ValueError("start is the solution of an objective with another number of outputs")
    own = point.owner is not None and point.owner() is f
    return f.from_units(start.x, start.intercept) if isinstance(start, Result) and not own else point


def _start(f: Objective, constraint: AtMost, start: "Point | Result | ArrayLike | None") -> Point:
    """A point to begin from: the caller's, or the refit on the forced-in columns."""
    null = f.null  # also the check that the data are finite
    if start is None:
        return f.refit(constraint.forced) if constraint.include.size else null
    point = _point(f, start)
    if constraint.allows(point.support):
        return point.as_start_for(f)
    if constraint.count(point.support) > constraint.k:
        raise ValueError(f"start uses {constraint.count(point.support)} columns, more than k={constraint.k} allows")
    if constraint.uses_forbidden(point.support):
        raise ValueError("start uses a column that exclude forbids")
    return f.refit(constraint.top(point.x, within=point.support), start=point)  # what is forced in comes first
