"""How many edges, how much shrinkage, how much l1: by the Gaussian likelihood of rows that were held out.

In every fold, on its own correlation matrix R (s: the square roots of the diagonal of its covariance matrix):

| what | how |
|---|---|
| the graph | k edges by search on R_t = (1 - t) R + t I, warm from size to size |
| W, l1 = 0 | that of the search: least tr(R_t W) - log det W on the graph |
| W, l1 > 0 | least tr(R W) - log det W + l1 sum of abs(W_ij), i != j, on the graph; R unshrunk, warm from l1 to l1 |
| its score | (log det W - tr(T W) - p log 2 pi) / 2 - sum log s, a row's mean log-likelihood, T = test_ij / (s_i s_j) |

Shrinkage finds graphs that hold on other rows, and l1 values that do: both in the values estimate worse, and shrunk
values alone are tried only where l1 is not to be chosen. A triple (k, t, l1) is eligible where l1 leaves all k edges;
with a rank below p, where graphs that are as good have many more edges, nine in ten of them.
Cost: a path per fold and shrinkage, in threads, and a warm refit per triple until too many edges go.

EBIC (Foygel and Drton 2010) holds nothing out: -2 log-likelihood + k log n + 4 gamma k log p.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .._utils.types import Array, Columns, Flags, Matrix, Vector
from .._utils.validation import check_choice
from ..engines import check_time, in_threads, threads
from ..kernels.graph import NO_EDGES, graph_path
from ..refits.graph import GraphFit, graph_refit
from .choose import paired

RULES = ("min", "1se", "ebic")
SHRINKAGES = (0.0, 0.3, 0.5, 0.6)
L1S = (0.0, 0.02, 0.04, 0.06, 0.08, 0.1, 0.11, 0.12, 0.13, 0.14, 0.15, 0.17, 0.2, 0.3)
MIN_REMAINING_EDGES = 0.9  # share of edges that l1 must leave where the rank is below p
EXTENSION_FACTORS = (1.15, 1.3, 1.5, 1.75, 2.0)  # where the largest size is best, sizes go on at these multiples of it
DEFAULT_EDGE_COUNTS = 20  # edge counts by default
DEFAULT_MAX_DEGREE = 10  # neighbours of a column, on average, that these go to at first
# how far a refit converges that is only scored: to the first, to the second over all rows
SCORED_TOLERANCE, SCORED_NATS = 1e-4, 0.01
TIE_FACTOR = 10  # times that: scores that are closer are equal, and fewer edges, less shrinkage, less l1 win


class Parted(NamedTuple):
    """Covariance of rows that train about their mean, its rank, and that of ``n_test`` other rows about this mean."""

    train: Matrix
    rank: int
    test: Matrix
    n_test: float


class GraphChoice(NamedTuple):
    """What was chosen, from which grids; ``scores`` (sizes, shrinkages, l1s, folds) are -inf where nothing was scored.

    ``stderr`` are standard errors over folds. ``table``: one row per triple with a score in every fold.
    """

    k: int
    shrinkage: float
    l1: float
    scores: Matrix
    stderr: Matrix
    reason: str
    sizes: tuple[int, ...]
    shrinkages: tuple[float, ...]
    l1s: tuple[float, ...]
    table: dict[str, Array]


def edge_counts(p: int, most: int) -> tuple[int, ...]:
    """About 20 edge counts from 0 on, closer where there are few, to ten neighbours a column or ``most`` edges."""
    end = min(most, DEFAULT_MAX_DEGREE * p // 2)
    return tuple(np.unique(np.round(end * np.linspace(0, 1, DEFAULT_EDGE_COUNTS) ** 2).astype(int)).tolist())


def must_stay(k: int, rank: int, p: int) -> float:
    """How many of k edges l1 must leave."""
    return k if rank >= p else MIN_REMAINING_EDGES * k


def choose_graph(
    folds: Sequence[Parted],
    *,
    sizes: Sequence[int],
    shrinkages: Sequence[float] = SHRINKAGES,
    l1s: Sequence[float] = L1S,
    rule: str = "min",
    gamma: float = 0.5,
    include: Columns = NO_EDGES,
    forbidden: Flags | None = None,
    most: int = 0,
    tol: float | None = None,
    n_jobs: int | None = None,
) -> GraphChoice:
    """Choose (k, t, l1) with the best held-out score, or for "1se" the fewest edges within a standard error of it.

    That is the error of the difference, over folds. "ebic" takes one fold whose test rows are those that train. Where
    the largest of ``sizes`` is best, they go on to ``most``.
    """
    check_choice(rule, "rule", RULES)
    ks, ts, lams = tuple(sorted(set(sizes))), tuple(sorted(set(shrinkages))), tuple(sorted(set(l1s)))
    tol = min(SCORED_TOLERANCE, SCORED_NATS / sum(fold.n_test for fold in folds)) if tol is None else tol
    with threads(n_jobs), np.errstate(all="ignore"):
        seen = _tried(folds, ks, ts, lams, include, forbidden, tol)
        while True:
            goal = _goal(seen, rule, gamma)
            at = _best(seen, goal, rule, TIE_FACTOR * tol)
            more = _further(seen.sizes, most)
            if at[0] < len(seen.sizes) - 1 or not more:
                break
            seen = seen.on(_tried(folds, more, ts, lams, include, forbidden, tol))
    k, t, l1 = seen.sizes[at[0]], ts[at[1]], lams[at[2]]
    notes = _ends(k, seen.sizes, "n_edges", seen.pairs), _ends(t, ts, "shrinkage", 1.0), _ends(l1, lams, "l1", np.inf)
    lost = "" if seen.stay[at].all() else f"l1={l1:g} sets too many of n_edges={k} edges to zero in some of the folds"
    if not seen.known[at]:
        lost = f"n_edges={k} is more than the rows of some fold can carry without shrinkage"
    reason = "; ".join(note for note in (*notes, lost) if note)
    table = seen.table(ts, lams) | ({"ebic": _ebic(seen, gamma)[seen.known]} if rule == "ebic" else {})
    return GraphChoice(k, t, l1, seen.scores, seen.stderr, reason, seen.sizes, ts, lams, table)


@dataclass(frozen=True)
class _Seen:
    """Held-out scores, and whether enough edges stay: (sizes, shrinkages, l1s, folds); ``n``: rows held out."""

    sizes: tuple[int, ...]
    scores: Matrix
    stay: Flags
    n: Vector
    p: int

    def on(self, more: "_Seen") -> "_Seen":
        scores, stay = np.concatenate([self.scores, more.scores]), np.concatenate([self.stay, more.stay])
        return _Seen((*self.sizes, *more.sizes), scores, stay, self.n, self.p)

    @property
    def pairs(self) -> int:
        return self.p * (self.p - 1) // 2

    @property
    def known(self) -> Flags:
        """Which triples have a score in every fold."""
        return np.asarray(np.isfinite(self.scores).all(axis=-1))

    @property
    def mean(self) -> Matrix:
        return np.asarray(np.where(self.known, self.scores @ (self.n / self.n.sum()), -np.inf))

    @property
    def stderr(self) -> Matrix:
        out = np.zeros(self.known.shape)
        out[self.known] = paired(self.scores[self.known])
        return out

    def table(self, ts: Sequence[float], lams: Sequence[float]) -> dict[str, Array]:
        names, known = ("n_edges", "shrinkage", "l1"), self.known
        grids = np.meshgrid(self.sizes, ts, lams, indexing="ij")
        out = {name: grid[known] for name, grid in zip(names, grids, strict=True)}
        out["eligible"] = np.asarray(self.stay.all(axis=-1))[known]
        out |= {f"split{v}_test_score": self.scores[known][:, v] for v in range(len(self.n))}
        return out | {
            "mean_test_score": self.mean[known],
            "std_test_score": self.scores[known].std(axis=-1),
            "std_error": self.stderr[known],
        }


def _tried(
    folds: Sequence[Parted],
    sizes: tuple[int, ...],
    ts: Sequence[float],
    lams: Sequence[float],
    include: Columns,
    forbidden: Flags | None,
    tol: float,
) -> _Seen:
    """Every triple on every fold; a thread has a fold and a shrinkage."""
    tasks = [(fold, t) for t in ts for fold in folds]
    found = in_threads(lambda task: _along(task[0], task[1], sizes, lams, include, forbidden, tol), tasks)
    shape = len(ts), len(folds), len(sizes), len(lams)
    scores, stay = (np.array(part).reshape(shape).transpose(2, 0, 3, 1) for part in zip(*found, strict=True))
    return _Seen(sizes, scores, stay, np.array([fold.n_test for fold in folds]), len(folds[0].train))


def _along(
    fold: Parted,
    t: float,
    sizes: Sequence[int],
    lams: Sequence[float],
    include: Columns,
    forbidden: Flags | None,
    tol: float,
) -> tuple[Matrix, Flags]:
    """Scores along a path, (sizes, l1s); sizes at which some graph has no optimum need shrinkage."""
    s = np.sqrt(fold.train.diagonal())
    R, T = fold.train / np.outer(s, s), fold.test / np.outer(s, s)
    shrunk = (1 - t) * R
    for matrix in (R, shrunk):
        np.fill_diagonal(matrix, 1.0)
    constant = len(s) * np.log(2 * np.pi) / 2 + np.log(s).sum()
    scores, stay = np.full((len(sizes), len(lams)), -np.inf), np.zeros((len(sizes), len(lams)), bool)
    carried = [k for k in sizes if t > 0 or k < fold.rank * (fold.rank + 1) // 2]
    found = graph_path(shrunk, carried, include=include, forbidden=forbidden, tol=tol)
    check_time()
    for i, fit in enumerate(found):
        edges = fit.edges
        for j, l1 in enumerate(lams):
            if l1 == 0 < t and len(lams) > 1:
                continue
            refitted = graph_refit(R, edges, l1=l1, start=fit.Sigma, tol=tol) if l1 > 0 else fit
            if refitted is None:
                break
            fit = refitted
            scores[i, j] = _likelihood(fit, R if l1 > 0 else shrunk, T, l1) - constant
            stay[i, j] = np.count_nonzero(fit.w) >= must_stay(sizes[i], fold.rank, len(s))
            if not stay[i, j]:
                break
    return scores, stay


def _likelihood(fit: GraphFit, R: Matrix, T: Matrix, l1: float) -> float:
    """(log det W - tr(T W)) / 2 in O(p + k), since the fit's value has log det W in it."""
    i, j = fit.edges.T
    trace = fit.d.sum() + 2 * fit.w @ R[i, j] + 2 * l1 * np.abs(fit.w).sum()
    return float(trace - fit.value - fit.d @ T.diagonal() - 2 * fit.w @ T[i, j]) / 2


def _goal(seen: _Seen, rule: str, gamma: float) -> Matrix:
    """What is to be largest, -inf where a triple is not eligible; all are where none is."""
    goal, stay = -_ebic(seen, gamma) if rule == "ebic" else seen.mean, seen.stay.all(axis=-1)
    return np.asarray(np.where(stay | ~stay.any(), goal, -np.inf))


def _ebic(seen: _Seen, gamma: float) -> Matrix:
    n = seen.n.sum()
    each = np.log(n) + 4 * gamma * np.log(seen.p)
    return np.asarray(-2 * n * seen.mean + each * np.array(seen.sizes)[:, None, None])


def _best(seen: _Seen, goal: Matrix, rule: str, same: float) -> tuple[int, int, int]:
    """Where the goal is largest, or, for "1se", the first size near that, at its best (t, l1)."""
    flat = goal.reshape(len(goal), -1)
    top = flat.max(axis=1)
    own, size = (flat >= top[:, None] - same).argmax(axis=1), int(np.argmax(top >= top.max() - same))
    if rule == "1se":
        known = np.flatnonzero(np.isfinite(top))
        each = seen.scores.reshape(*flat.shape, -1)[known, own[known]]
        short = top[size] - top[known] - paired(each - each[known == size])
        size = int(known[np.argmax(short <= 0)])
    t, l1 = np.unravel_index(own[size], goal.shape[1:])
    return size, int(t), int(l1)


def _further(sizes: tuple[int, ...], most: int) -> tuple[int, ...]:
    """Sizes up to twice as large."""
    return tuple(sorted({k for times in EXTENSION_FACTORS if (k := min(most, int(times * sizes[-1]))) > sizes[-1]}))


def _ends(value: float, grid: Sequence[float], name: str, highest: float) -> str:
    """A sentence where the choice is at the end of a grid that could have gone on."""
    if len(grid) > 1 and value == grid[-1] < highest:
        return f"{name}={value:g} is the largest that was tried, and a larger one may be better"
    if len(grid) > 1 and value == grid[0] > 0:
        return f"{name}={value:g} is the smallest that was tried, and a smaller one may be better"
    return ""
