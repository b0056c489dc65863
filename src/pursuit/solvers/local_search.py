"""Exhaustive local search: among all exchanges of one unit, take the best, while it helps.

K. Axiotis, M. Sviridenko, "Sparse Convex Optimization via Adaptively Regularized Hard Thresholding" (2020), section 4,
describes it in words; the closed form of all exchanges is in docs/notation.md.

| text | here |
|---|---|
| all single exchanges | ``exchanges(f, constraint, point)`` |
| the exchanged support, refitted | ``f.refit(apply(...))`` |

A sweep over all columns comes first and last, sweeps over the columns of largest gradient between: the last full sweep
proves the end state.
Cost per sweep over m columns: 2 k^2 m flops, and k Hessian rows of m columns (2 n k m, kept for the squared loss).
For other losses the formula is a model. Where it finds nothing more, exchanges are ranked at the refits of S - i.
Invariant: values fall strictly; for the squared loss no single exchange improves the last point.
"""

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._utils.arrays import without
from .._utils.types import Vector
from ..constraints import AtMost, Exchange
from ..objectives.base import Objective, Point
from .base import Solver
from .exchanges import MIN_IMPROVEMENT, Ranked, apply, exchanges, follow_by_basis, newcomers, removals
from .omp import OMP
from .rivals import affordable, nearest

MAX_FULL_SWEEP_UNITS = 2000  # units up to which a sweep is always a full one
# share of f that a model may err by: exchanges that it puts further above zero are not refitted
MODEL_ERROR_SHARE = 0.01
# exchanges beyond the formula's reach that are refitted, a tenth of that where a refit is expensive
MAX_JUDGED_EXCHANGES = 200
# multiple of what `auto` affords for exchanges ranked at S - i, up to which local search tries them
RANKED_WORK_FACTOR = 30.0
REMOVAL_TRIES_FACTOR = 4  # times `tries`: exchanges ranked at S - i, over all i, that are refitted
MAX_CHEAP_REFIT_WORK = 2e7  # multiplications for a pass over X, times k, up to which it is not

Pair = tuple[int, int]  # the unit that leaves, the unit that enters
Tried = dict[Pair, tuple[float, float]]  # exchanges that were refitted: a lower bound of f on each one's support, f


@dataclass(frozen=True)
class LocalSearch(Solver):
    """Best single exchange while it helps; for the squared loss it ends where, proved, none does.

    Parameters
    ----------
    candidates : int, default 8
        Units tried before all others, a multiple of k.
    tries : int, default 5
        Exchanges that are refitted before a sweep counts as unsuccessful (losses other than squared).
    cheap : float, default 2e7
        Number of multiplications for a pass over X, times k, up to which a start from nothing goes to 2k and back.
    relax : float or None, default None
        Run at ``relax`` times the budget, keep the k largest and refit.
    last : bool, default False
        Give the last point in place of the best one, as printed algorithms do.

    See Also
    --------
    Auto : With several starts and restarts.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> X = np.random.default_rng(0).standard_normal((100, 20))
    >>> y = X[:, 3] - 2 * X[:, 7]
    >>> pursuit.solve(pursuit.GLM(X, y), 2, solver=pursuit.LocalSearch()).optimality
    'swap_optimal'
    """

    candidates: int = 8
    tries: int = 5
    cheap: float = 2e7

    halted: ClassVar[str] = "the search for exchanges finished"
    turns: ClassVar[int] = 2

    def iterate(self, f: Objective, constraint: AtMost, start: Point) -> Iterator[Point]:
        point = start
        if constraint.count(start.support) < constraint.k or not start.refitted:
            begin = f.refit(start.support, start=start)
            fill = there_and_back if f.work * constraint.k <= self.cheap else OMP().iterate
            for point in fill(f, constraint, begin):
                yield point
        end = yield from search(f, constraint, point, self.candidates, self.tries)
        yield from try_rivals(f, constraint, end, self.candidates, self.tries, RANKED_WORK_FACTOR)


def search(
    f: Objective,
    constraint: AtMost,
    point: Point,
    candidates: int = 8,
    tries: int = 5,
    doubts: bool = True,
    afforded: float = 1.0,
    judged: dict[bytes, Point] | None = None,
) -> Generator[Point, None, Point]:
    """Exchanges from a refitted point until none helps; the last point, which is also returned, carries the claim.

    Without ``doubts`` pairs that the formula cannot judge are left alone, and if there are any nothing is claimed.
    ``afforded`` is a multiple of the usual effort to judge exchanges where the formula is a model. ``judged`` has the
    ends of earlier searches of this size and effort, by their supports: a search that comes to one of them ends there.
    """
    # a quadratic's Hessian rows are kept from sweep to sweep, so that sweeping over all columns costs little more
    few = not f.quadratic and constraint.units > max(MAX_FULL_SWEEP_UNITS, 4 * candidates * constraint.k)
    n_unchecked = total = 0
    every = True  # a sweep over all first: mostly it is the last; what it finds is followed up among candidates
    tried: Tried = {}
    while True:
        known = None if judged is None else judged.get(point.support.tobytes())
        if known is not None:
            yield known
            return known
        units = None if every else constraint.units_of(constraint.top(point.gradient, candidates * constraint.k))
        ranked = exchanges(f, constraint, point, units, 1 if f.quadratic else tries)
        better = _improve(f, constraint, point, ranked, tried)
        if better is None and every and f.quadratic:
            enough = point.value - MIN_IMPROVEMENT * f.scale(point.value)
            sure = not len(ranked.doubtful) and min([point.lower_bound, *(low for low, _ in tried.values())]) >= enough
            if doubts and not sure:
                better, sure = _doubts(f, constraint, point, ranked, tried)
        elif better is None and every:
            better, sure, n_unchecked, total = _excluded(f, constraint, point, tried, afforded * doubts)
        if better is not None:
            point, every, tried = better, not few, {}
            yield point
        elif not every:
            every = True
        else:
            full = constraint.count(point.support) == constraint.k  # else a unit could still come in
            n_checked = max(len(tried), total - n_unchecked)
            claim = "swap_optimal" if sure and full else "swap_stationary"
            point = point.claim(claim, _next_best(f, point, ranked, tried), n_checked, n_unchecked)
            if judged is not None:
                judged[point.support.tobytes()] = point
            yield point
            return point


def _improve(f: Objective, constraint: AtMost, point: Point, ranked: Ranked, tried: Tried) -> Point | None:
    """The first of the ranked exchanges, not tried before, that lowers f by more than rounding, refitted."""
    scale = f.scale(point.value)
    if (
        ranked.pairs is not None and ranked.best[0].change < -MIN_IMPROVEMENT * scale
    ):  # refits of such columns are expensive
        first = ranked.best[0]
        end = follow_by_basis(f, constraint, apply(constraint, point.support, first.leave, first.enter), point.value)
        better = f.refit(end, start=point)
        if better.value < point.value - 1e-12 * scale:
            return better
    for turn, move in enumerate(ranked.best):
        if move.change > (-1e-11 * scale if f.quadratic else MODEL_ERROR_SHARE * scale) and (f.quadratic or turn > 0):
            return None
        trial = _tried(f, constraint, point, (move.leave[0], move.enter[0]), tried)
        if trial is not None and trial.value < point.value - 1e-12 * scale:
            return trial
    return None


def _doubts(f: Objective, constraint: AtMost, point: Point, ranked: Ranked, tried: Tried) -> tuple[Point | None, bool]:
    """An exchange that helps among those that the formula cannot judge; else whether none of them can."""
    enough = point.value - MIN_IMPROVEMENT * f.scale(point.value)
    most = MAX_JUDGED_EXCHANGES if f.work * constraint.k <= MAX_CHEAP_REFIT_WORK else MAX_JUDGED_EXCHANGES // 10
    unknown = {pair for pair, (low, _) in tried.items() if low < enough}  # refitted, but not to where they may lie
    newcomers = sorted({*ranked.doubtful.tolist(), *(enter for _, enter in unknown)})
    if len(newcomers) > most:
        return None, False
    helpful = set(unsettled(f, constraint, point, newcomers))
    pairs = ranked.pairs
    if pairs is None:
        pairs = [(i, j) for j in ranked.doubtful.tolist() for i in ranked.free.tolist()]
    bounds = _bounds(f, constraint, point, [pair for pair in pairs if pair[1] in helpful])
    if len(newcomers) + sum(bound < enough for bound in bounds.values()) > most:
        return None, False
    for pair, bound in bounds.items():
        if bound >= max(enough, min((value for _, value in tried.values()), default=np.inf)):
            break  # nor does one of the following pairs help, and none of them is the next best
        trial = _tried(f, constraint, point, pair, tried)
        if trial is not None and trial.value < point.value - 1e-12 * f.scale(point.value):
            return trial, False
    least = (max(low, bounds.get(pair, low)) for pair, (low, _) in tried.items() if pair[1] in helpful)
    sure = min([point.lower_bound, *least]) >= enough
    if sure and ranked.pairs is None:  # the others do not help either, but one may be the next best exchange
        others = [(i, j) for j in ranked.doubtful.tolist() if j not in helpful for i in ranked.free.tolist()]
        for pair in others[: most - len(newcomers) - len(pairs)]:
            _tried(f, constraint, point, pair, tried)
    return None, sure


def _bounds(f: Objective, constraint: AtMost, point: Point, pairs: list[Pair]) -> dict[Pair, float]:
    """Lower bounds of f after each exchange, the lowest first; -inf where there is none."""
    changes, units = dict[int, Vector | None](), constraint.units_of(point.support)
    if constraint.by_blocks(f.width):
        changes = {j: f.exchange_bounds(units, j) for j in sorted({enter for _, enter in pairs})}
    position = {j: i for i, j in enumerate(units.tolist())}

    def bound(pair: Pair) -> float:
        known = changes.get(pair[1])
        return -np.inf if known is None else point.lower_bound + float(known[position[pair[0]]])

    return dict(sorted(((pair, bound(pair)) for pair in pairs), key=lambda judged: (judged[1], judged[0])))


def _excluded(
    f: Objective, constraint: AtMost, point: Point, tried: Tried, afforded: float
) -> tuple[Point | None, bool, int, int]:
    """An exchange that helps among those that no bound excludes; else whether none does, how many stay open, of all."""
    found = f.open_exchanges(constraint, point, afforded) if afforded else None
    if found is None:
        return None, False, 0, 0
    pairs, total = found
    enough = point.value - MIN_IMPROVEMENT * f.scale(point.value)
    if len(pairs) > afforded * (
        MAX_JUDGED_EXCHANGES if f.work * constraint.k <= MAX_CHEAP_REFIT_WORK else MAX_JUDGED_EXCHANGES // 10
    ):
        return None, False, len(pairs), total
    for pair in pairs:
        trial = _tried(f, constraint, point, pair, tried)
        if trial is not None and trial.value < point.value - 1e-12 * f.scale(point.value):
            return trial, False, 0, total
    unsure = sum(tried[pair][0] < enough for pair in pairs)
    return None, not unsure and point.lower_bound >= enough, unsure, total


def unsettled(f: Objective, constraint: AtMost, point: Point, newcomers: Any) -> list[int]:
    """The units outside that may help in an exchange, among some: all others do not even help on top of the support."""
    enough, left = point.value - MIN_IMPROVEMENT * f.scale(point.value), np.asarray(newcomers, np.int64)
    units = constraint.units_of(point.support)
    if constraint.by_blocks(f.width) and len(left) and point.lower_bound >= enough:
        left = left[~f.combinations(units, left)]
    return [j for j in left.tolist() if f.refit(constraint.columns_of(np.union1d(units, [j]))).lower_bound < enough]


def _tried(
    f: Objective, constraint: AtMost, point: Point, pair: Pair, tried: Tried, start: Point | None = None
) -> Point | None:
    """The refit after an exchange, from a start (the point itself); None where that was looked at before."""
    if pair in tried:
        return None
    trial = f.refit(apply(constraint, point.support, (pair[0],), (pair[1],)), start=start or point)
    tried[pair] = trial.lower_bound, trial.value
    return trial


def _next_best(f: Objective, point: Point, ranked: Ranked, tried: Tried) -> Exchange | None:
    """The cheapest exchange: by the formula where that is exact, and by refits; what was tried has not helped."""
    best = ranked.reported if f.quadratic else None if tried else next(iter(ranked.best), None)
    if tried:
        (leave, enter), (_, value) = min(tried.items(), key=lambda known: known[1][1])
        if best is None or value - point.value < best.change:
            best = Exchange((leave,), (enter,), value - point.value)
    return best if best is None else best._replace(change=max(best.change, 0.0))


def try_rivals(
    f: Objective, constraint: AtMost, point: Point, candidates: int = 8, tries: int = 5, afforded: float = 1.0
) -> Generator[Point, None, Point]:
    """From the end of a search: on while an exchange helps that is ranked where the unit that leaves is gone.

    The quadratic model at S misjudges what it costs to drop a unit. So S - i is refitted for every unit i and the units
    outside are ranked there; the best-ranked exchanges are refitted, and so are every unit's nearest rivals by the
    model at S, which a summary shows. Only where the formula is a model, and that is affordable
    (:mod:`pursuit.solvers.rivals`) or no more than ``afforded`` times as expensive.
    """
    # what a refit of a user's function takes is not known
    worth = f.smooth and not f.quadratic and (f.width > 1 or f.seconds(constraint.k) > 0)
    while worth and point.optimality != "swap_optimal" and point.value > f.floor:
        units, tried = constraint.units_of(point.support), Tried()
        if not (len(point.support) and point.refitted and affordable(f, len(units), len(point.support), afforded)):
            break
        better = _improve_without(f, constraint, point, tried, candidates, tries) or _improve_by_rivals(
            f, constraint, point, tried
        )
        if better is not None:
            yield better
            point = yield from search(f, constraint, better, candidates, tries, doubts=False)
            continue
        best = _next_best(f, point, Ranked([], units[:0], units[:0]), tried)
        less = MIN_IMPROVEMENT * f.scale(point.value)
        if best is not None and (point.exchange is None or best.change < point.exchange.change - less):
            n_checked = point.n_checked if point.n_unchecked else max(point.n_checked, len(tried))
            point = point.claim(point.optimality, best, n_checked, point.n_unchecked)
            yield point
        break
    return point


def _improve_without(
    f: Objective, constraint: AtMost, point: Point, tried: Tried, candidates: int, tries: int
) -> Point | None:
    """The first exchange that helps among those that rank best at the refits without one unit."""
    units = constraint.units_of(point.support)
    few = constraint.units > max(MAX_FULL_SWEEP_UNITS, 4 * candidates * constraint.k)
    ranked: list[tuple[float, Pair, Point]] = []
    for leave in without(units, constraint.include).tolist():
        part = f.refit(constraint.columns_of(without(units, np.array([leave]))), start=point)
        some = constraint.units_of(constraint.top(part.gradient, candidates * constraint.k)) if few else None
        outside, gains = newcomers(f, constraint, part, units, tries, some)
        ranked += [
            (part.value - gain, (leave, enter), part)
            for enter, gain in zip(outside.tolist(), gains.tolist(), strict=True)
        ]
    ranked.sort(key=lambda exchange: exchange[0])
    for _, pair, part in ranked[: REMOVAL_TRIES_FACTOR * tries]:
        trial = _tried(f, constraint, point, pair, tried, part)
        if trial is not None and trial.value < point.value - MIN_IMPROVEMENT * f.scale(point.value):
            return trial
    return None


def _improve_by_rivals(f: Objective, constraint: AtMost, point: Point, tried: Tried) -> Point | None:
    """The best exchange that helps among every unit's nearest rivals by the model at the point."""
    best = point
    for leave, (outside, _) in zip(
        constraint.units_of(point.support).tolist(), nearest(f, constraint, point), strict=True
    ):
        trials = [_tried(f, constraint, point, (leave, enter), tried) for enter in outside.tolist()]
        best = min([best, *(trial for trial in trials if trial is not None)], key=lambda at: at.value)
    return best if best.value < point.value - MIN_IMPROVEMENT * f.scale(point.value) else None


def there_and_back(f: Objective, constraint: AtMost, start: Point) -> Iterator[Point]:
    """Forward to twice the budget, then drop the cheapest unit until the budget holds; only the end is yielded."""
    point = start
    for point in OMP().iterate(f, constraint.with_budget(2 * constraint.k), start):
        if point.value <= f.floor:
            break
    while constraint.count(point.support) > constraint.k:
        units, cost = removals(f, constraint, point)
        point = f.refit(constraint.columns_of(np.delete(units, int(np.argmin(cost)))), start=point)
    yield point
