"""Precision matrices: the paper's simulation (6.3.1), its methods, and their tuning by rows that were not fitted to.

X.-T. Yuan, P. Li, T. Zhang, JMLR 18 (2018), Algorithm 2 (``GraHTP`` on ``LogDet``); the other greedy methods run on the
same objective. The graphical lasso (Friedman et al. 2008) is scikit-learn's.
"""

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from pursuit import LogDet, Solver
    from pursuit.objectives.point import Point
    from pursuit.selection.graphs import Parted

ROWS, CHANCE = 100, 0.1
GREEDY = ("GraHTP", "GraSP", "FBS", "FoBa")
PENALTIES, HIGH, LOW = 25, 0.95, 0.03  # of the graphical lasso: how many, and shares of the one that leaves no edge
PATIENCE = 3  # fits in a row that score less than the best one, at which tuning ends


class Fit(NamedTuple):
    """A precision matrix in the units of the data.

    ``seconds`` of the processor it takes alone; ``more``, where fits share a run, after the one before it.
    """

    W: np.ndarray
    seconds: float
    more: float

    @property
    def edges(self) -> int:
        return int(np.count_nonzero(np.triu(self.W, 1)))

    @property
    def known(self) -> bool:
        """Whether it was fitted: a graph may have no optimum."""
        return bool(np.isfinite(self.W).all())


class Tuned(NamedTuple):
    """The fit with the best score; ``spent``: seconds for all that were tried; ``last``: none beyond it was tried."""

    best: Fit
    spent: float
    last: bool


def truth(p: int, rng: np.random.Generator) -> np.ndarray:
    """Theta + sigma I: ones with probability 0.1, and the diagonal that makes the condition number p."""
    upper = np.triu(rng.random((p, p)) < CHANCE, 1).astype(float)
    theta = upper + upper.T
    low, high = np.linalg.eigvalsh(theta)[[0, -1]]
    return np.asarray(theta + (high - p * low) / (p - 1) * np.eye(p))


def drawn(omega: np.ndarray, rng: np.random.Generator) -> "Parted":
    """Covariances of rows to fit, and of as many other rows about the mean of the first."""
    from pursuit.selection.graphs import Parted

    p, root = len(omega), np.linalg.cholesky(np.linalg.inv(omega)).T
    train, tune = (rng.standard_normal((ROWS, p)) @ root for _ in range(2))
    mean = train.mean(axis=0)
    S, T = ((rows - mean).T @ (rows - mean) / ROWS for rows in (train, tune))
    return Parted(S, min(p, ROWS - 1), T, ROWS)


def sample(p: int, seed: int, copy: int) -> tuple[np.ndarray, "Parted"]:
    """A truth and its two samples."""
    rng = np.random.default_rng([seed, p, copy])
    omega = truth(p, rng)
    return omega, drawn(omega, rng)


def sizes_of(p: int, least: float = 0.25, most: float = 4.0, steps: int = 4) -> list[int]:
    """Edge counts from a quarter of p to four times p, ``steps`` to each doubling."""
    count = round(steps * np.log2(most / least)) + 1
    return [int(min(k, p * (p - 1) // 2)) for k in np.unique(np.geomspace(least * p, most * p, count).round())]


def likelihood(W: np.ndarray, T: np.ndarray) -> float:
    """Twice the Gaussian log-likelihood of a row, less what is the same for all; -inf where W is not fit for it."""
    sign, logdet = np.linalg.slogdet(W) if np.isfinite(W).all() else (0, 0)
    return float(logdet - np.sum(W * T)) if sign > 0 else -np.inf


def tuned(fits: Iterable[Fit], score: Callable[[Fit], float], patience: int = PATIENCE) -> Tuned:
    best, top, worse, spent = None, -np.inf, 0, 0.0
    for fit in fits:
        now, spent = score(fit), spent + fit.more
        best, top, worse = (fit, now, 0) if best is None or now > top else (best, top, worse + 1)
        if worse == patience:
            break
    if best is None:
        raise ValueError("no precision matrix to choose from")
    return Tuned(best, spent, worse == 0)


def solvers() -> dict[str, "Solver"]:
    """Our defaults: GraHTP's step from the curvature, halved until f falls; GraSP refits after its cut."""
    from pursuit import FBS, FoBa, GraHTP, GraSP

    return dict(zip(GREEDY, (GraHTP(), GraSP(), FBS(), FoBa()), strict=True))


def greedy(name: str, S: np.ndarray, rows: int, sizes: Sequence[int]) -> Iterator[Fit]:
    """A method at every number of edges in turn, ``rows`` being behind S; lazily, so that tuning may end early."""
    from pursuit import LogDet

    f, solver = LogDet(S, n_samples=rows), solvers()[name]
    return _grown(f, solver, sizes) if solver.turns else _anew(f, solver, sizes)


def _anew(f: "LogDet", solver: "Solver", sizes: Sequence[int]) -> Iterator[Fit]:
    from pursuit import solve

    for k in sizes:
        began = time.process_time()
        try:
            W = solve(f, k, solver=solver).x
        except ValueError:  # no graph that was met has an optimum
            W = np.full((f.p, f.p), np.nan)
        yield _timed(W, began)


def _timed(W: np.ndarray, began: float) -> Fit:
    seconds = time.process_time() - began
    return Fit(W, seconds, seconds)


def _grown(f: "LogDet", solver: "Solver", sizes: Sequence[int]) -> Iterator[Fit]:
    """One edge at a time: a run to the largest size is on its way a run to each smaller one, ended there.

    FoBa stands at a size when its next step is forward. The clock stops while others use what was found.
    """
    from pursuit.engines import threads

    left, stood, spent, reported = list(sizes), f.null, 0.0, 0.0
    steps = solver.iterate(f, f.sparse_set(left[-1]), stood)
    while left:
        began = time.process_time()
        with threads(1), np.errstate(all="ignore"):
            point = next(steps, None)
        step = time.process_time() - began
        if len(stood.support) == left[0] and (point is None or len(point.support) > left[0]):
            yield Fit(_matrix(f, stood), spent, spent - reported)
            left, reported = left[1:], spent
        if point is None:
            return
        stood, spent = point, spent + step


def _matrix(f: "LogDet", point: "Point") -> np.ndarray:
    _, support, coef, diagonal, _ = f.present(point)
    W, (i, j) = np.diag(diagonal), support.T
    W[i, j] = W[j, i] = coef
    return W


def lasso_path(S: np.ndarray) -> Iterator[Fit]:
    """The graphical lasso from the penalty that leaves no edge down, as far as scikit-learn comes."""
    from sklearn.covariance import graphical_lasso

    top = np.abs(S - np.diag(S.diagonal())).max()
    for alpha in top * np.geomspace(HIGH, LOW, PENALTIES):
        began = time.process_time()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                W = graphical_lasso(S, alpha, max_iter=200, tol=1e-3)[1]
        except FloatingPointError:  # "Non SPD result", or too ill-conditioned
            return
        fit = _timed(W, began)
        if not fit.known or np.linalg.slogdet(W)[0] <= 0:
            return
        yield fit


def our_rule(part: "Parted") -> Fit:
    """Edges, shrinkage and l1 by held-out likelihood, with the grids and the last fit of ``SparsePrecisionCV``."""
    from pursuit import LogDet
    from pursuit.kernels.graph import graph_path
    from pursuit.refits.graph import graph_refit
    from pursuit.selection.graphs import choose_graph, edge_counts

    began, p = time.process_time(), len(part.train)
    most = min(p * (p - 1) // 2, p * part.rank // 4 if part.rank < p else p * p)
    found = choose_graph([part], sizes=edge_counts(p, most), most=most)
    f = LogDet(part.train, n_samples=ROWS, shrinkage=found.shrinkage)
    fit: Any = graph_path(f.R, [k for k in found.sizes if k <= found.k])[-1]
    if found.l1 > 0:
        fit = graph_refit(LogDet(part.train).R, fit.edges, l1=found.l1, start=fit.Sigma)
    return _timed(fit.W / np.outer(f.scales, f.scales), began)
