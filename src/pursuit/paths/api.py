"""``path``: the best model of every size, complete and monotone."""

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from .._utils.progress import progress_callback
from .._utils.types import BoundsLike, ColumnsLike, FilePath, GroupsLike, Seed
from .._utils.validation import check_sizes
from .._utils.wrong_calls import takes_objective
from ..constraints import AtMost
from ..engines import TimeUpError, threads, until
from ..objectives.base import Objective
from ..objectives.point import Point
from ..objectives.sparse_set import SparseSet, check_feasible, first_feasible_size
from ..solvers.auto import Auto
from ..solvers.base import Solver, generator
from ..solvers.path_search import Improve, PathSearch, exchanged
from ..solving.checkpoint import Problem
from ..solving.driver import check_objective, run, seeded
from ..solving.loop import Limits
from ..solving.result import Result
from .checkpoint import PathCheckpoint
from .result import Path

if TYPE_CHECKING:
    from ..engines.dask import Dask as Engine


@takes_objective("(GLM(X, y), range(1, 11))")
def path(
    objective: Objective,
    ks: Iterable[int] | int | None,
    *,
    solver: str | Solver = "auto",
    include: ColumnsLike = (),
    exclude: ColumnsLike = (),
    groups: GroupsLike = None,
    bounds: BoundsLike = None,
    sum_to: float | None = None,
    max_iter: int | None = None,
    tol: float | None = None,
    time_limit: float | None = None,
    callback: Callable[[int, float], object] | bool | None = None,
    random_state: Seed = None,
    checkpoint: FilePath | None = None,
    engine: "Engine | None" = None,
    effort: str | None = None,
) -> Path:
    """Find the best point of every size in ``ks``; none is worse for being larger.

    It works through every size from the forced-in columns to max(ks), so what it gives at k does not depend on which
    other sizes were requested, and a larger max(ks) can only improve it.

    Parameters
    ----------
    objective : GLM or Objective
        As in ``solve``.
    ks : int or sequence of int
        Sizes, in any order; 0 is the model without features. Sizes beyond what there is are capped, and ``reason`` says
        so.
    solver : str or Solver, default "auto"
        As in ``solve``.
    include, exclude : sequence of int or str, or mask
        As in ``solve``.
    groups : sequence, dict, "prefix" or None, default None
        As in ``solve``.
    bounds : tuple (low, high), dict, list or None, default None
        As in ``solve``.
    sum_to : float or None, default None
        As in ``solve``.
    max_iter, tol : int, float or None, default None
        Limits of each run of a solver other than "auto".
    time_limit : float or None, default None
        Seconds for the whole path; what was reached is returned.
    callback : callable, True or None, default None
        Called with (k, value) when a size is first reached; a true return value stops the path there. True shows a bar.
    random_state : int, Generator or None, default None
        Seed for solvers that draw random numbers.
    checkpoint : path or None, default None
        A file in which the sizes so far are kept, about every second and at the end; where it is there already, the
        path goes on from it, or is returned if it had ended. A file of another path is refused.
    engine : dask.distributed.Client, pursuit.engines.Dask or None, default None
        As in ``solve``.
    effort : {"fast", "default", "thorough"} or None, default None
        For solver="auto" only: "fast" (exchanges from the neighbouring sizes, and nothing is claimed), "default", or
        "thorough" (every size is solved with that effort too).

    Returns
    -------
    Path
        A Result per size, smallest first.

    Raises
    ------
    ValueError, TypeError
        Where an argument is wrong; the message names it and says what would be right.

    See Also
    --------
    solve : One size.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> X = np.random.default_rng(0).standard_normal((100, 20))
    >>> y = X[:, 3] - 2 * X[:, 7]
    >>> found = pursuit.path(pursuit.GLM(X, y), range(1, 4))
    >>> found.smallest(score=0.9).support.tolist()
    [3, 7]
    """
    began = time.perf_counter()
    check_objective(objective)
    objective = objective if engine is None else objective.to_engine(engine)
    name, method = seeded(solver, random_state, effort)
    sizes = check_sizes(ks)
    sparse_set = SparseSet(include, exclude, groups, bounds, sum_to)
    objective.expect_search()
    constraint = sparse_set.with_budget(objective, max(sizes[-1], 1))
    constraint, capped = (constraint if sizes[-1] else constraint.with_budget(0)), constraint.capped
    if sizes[0] < len(constraint.include):
        noun = "columns" if constraint.unit_of is None else "groups"
        raise ValueError(f"ks holds {sizes[0]}, but include names {len(constraint.include)} {noun}")
    f = sparse_set.restrict(objective)
    check_feasible(f, constraint.with_budget(sizes[0]))
    first = first_feasible_size(f, constraint)
    limits = Limits(max_iter, tol, time_limit)
    solver_results: dict[int, Result] = {}
    own = isinstance(method, Auto) and method.effort != "thorough"
    improve = exchanged(f) if own else _by_solver(f, method, limits, name, solver_results)
    seed = int(generator(random_state).integers(2**63)) if own else None
    claims = getattr(method, "effort", None) != "fast"
    deadline = None if time_limit is None else began + time_limit
    with progress_callback(callback, "sizes", sizes[-1]) as tell, threads(), np.errstate(all="ignore"), until(deadline):
        search = PathSearch(f, constraint, improve, first, None if callback is None else tell, sizes)
        if checkpoint is None:
            status, reason = _run(search, seed, time_limit, claims)
        else:
            problem = partial(
                Problem.of, f, constraint, name, method, kind="path", sizes=sizes, tol=tol, max_iter=max_iter
            )
            with PathCheckpoint(search, solver_results, checkpoint, problem) as kept:
                status, reason = kept.end or _run(search, None if kept.begun else seed, time_limit, claims)
                if kept.end is None:
                    kept.ended(status, reason)
        wanted = [k for k in dict.fromkeys(min(k, constraint.k) for k in sizes) if k in search.best]
        results = tuple(
            _result(f, constraint.with_budget(k), search.best[k], name, solver_results.get(k)) for k in wanted
        )
    if sparse_set.is_bounded:
        results = tuple(replace(result, bounds=bounds, sum_to=sum_to) for result in results)
    sentences = [capped, reason]
    return Path(
        results,
        objective.null.value,
        objective.lower,
        status,
        "; ".join(s for s in sentences if s),
        time.perf_counter() - began,
        tuple(wanted),
    )


def _run(search: PathSearch, seed: int | None, time_limit: float | None, claims: bool) -> tuple[str, str]:
    """Search to the end, or as far as the limits allow; return how it ended, in a token and a sentence."""
    try:
        if search.go(seed, thorough=claims):
            return "converged", "no size improves from its neighbours"
        return "interrupted", f"stopped by the callback at size {max(search.best)}"
    except TimeUpError:
        limit = "" if time_limit is None else f" of {time_limit:g} s"
        return "time_limit", f"the time limit{limit} was reached after size {max(search.best, default=0)}"
    except KeyboardInterrupt:
        return "interrupted", f"interrupted by the user after size {max(search.best, default=0)}"


def _by_solver(f: Objective, method: Solver, limits: Limits, name: str, solver_results: dict[int, Result]) -> Improve:
    """Another solver from the point; the point itself where that is no better."""

    def improve(constraint: AtMost, point: Point) -> Point:
        result = run(f, constraint, method, point, limits, name)
        if result.value < point.value or constraint.k not in solver_results:
            solver_results[constraint.k] = result
        return result.point.as_start_for(f) if result.value <= point.value else point

    return improve


def _result(f: Objective, constraint: AtMost, best: Point, name: str, solver_results: Result | None) -> Result:
    if (
        solver_results is not None
        and solver_results.value <= best.value
        and np.array_equal(solver_results.point.support, best.support)
    ):
        return solver_results
    reason = ""
    if constraint.count(best.support) < constraint.k:
        reason = "the residual is zero" if best.value <= f.floor else "no further unit lowers the value"
    result = Result.of(f, constraint, best, solver=name, reason=reason)
    if result.reason:
        return result
    why = (
        "the path ended before its exchanges were looked at"
        if solver_results is None
        else "better than what the solver found"
    )
    return replace(result, reason=f"found from a size next to it; {why}")
