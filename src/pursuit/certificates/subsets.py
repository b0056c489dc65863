"""The statistician's table: the proved best subsets of each size, with runners-up."""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._errors import check_k, check_number, named
from .._names import chosen
from ..driver import solve
from ..engines import threads
from ..objectives.base import Point
from ..objectives.glm import GLM
from .certificate import sparse_problem
from .tree import Tree

CRITERIA = ("rss", "r2", "adjusted_r2", "cp", "aic", "bic")


@dataclass(frozen=True)
class Subset:
    """One row: the ``rank``-th best subset of ``k`` columns and its criteria (sums of weighted squares)."""

    k: int
    rank: int
    support: tuple[int, ...]
    rss: float
    r2: float
    adjusted_r2: float
    cp: float
    aic: float
    bic: float
    proved: bool
    names: tuple[str, ...] | None = None  # of the columns, where X was a data frame


class Subsets(list[Subset]):
    """A list of :class:`Subset`, smallest size first, best first within a size."""

    def to_frame(self) -> Any:
        """The table as a pandas DataFrame."""
        import pandas as pd

        frame = pd.DataFrame([vars(row) for row in self])
        return frame.drop(columns="names") if all(row.names is None for row in self) else frame

    def best(self, criterion: str = "bic") -> Subset:
        """The row with the best value of a criterion (rss, r2, adjusted_r2, cp, aic, bic)."""
        name = named(criterion, CRITERIA) if isinstance(criterion, str) else None
        if name is None:
            raise ValueError(f"criterion must be one of {', '.join(CRITERIA)}, got {criterion!r}")
        sign = -1 if name in ("r2", "adjusted_r2") else 1
        return min(self, key=lambda row: sign * getattr(row, name))


def best_subsets(
    X: Any,
    y: Any,
    kmax: int,
    nbest: int = 1,
    *,
    l2: float = 0.0,
    fit_intercept: bool = True,
    sample_weight: Any = None,
    include: Any = (),
    exclude: Any = (),
    time_limit: float | None = None,
) -> Subsets:
    """The ``nbest`` best subsets of each size 1..kmax for linear regression, proved by branch and bound.

    Cp uses the residual variance of the model with all columns where there are more rows than columns, else that of the
    best model of size ``kmax``. AIC and BIC are n log(rss/n) plus 2 or log n per coefficient, intercept included.
    ``include`` and ``exclude`` are as in :func:`pursuit.solve`. ``proved`` is False for a size at which ``time_limit``
    (seconds, for the whole table) came first.
    """
    kmax, nbest = check_k(kmax, "kmax"), check_k(nbest, "nbest")
    deadline = None if time_limit is None else time.perf_counter() + check_number(time_limit, "time_limit")
    f = GLM(X, y, l2=l2, fit_intercept=fit_intercept, sample_weight=sample_weight)
    n = f.data.shape[0]
    found: list[tuple[int, int, Point, bool]] = []
    include, exclude = (
        chosen(cols, name, f.dim, f.names) for cols, name in ((include, "include"), (exclude, "exclude"))
    )
    if len(include) > kmax:
        raise ValueError(f"include names {len(include)} columns, more than kmax={kmax} allows")
    with threads():
        for k in range(max(1, len(include)), min(kmax, f.dim) + 1):
            constraint = f.sparse_set(k, include, exclude)
            if constraint.k < k:
                break
            known = solve(f, k, include=include, exclude=exclude).point
            tree = Tree(1e-9, f.scale, nbest, deadline)
            if len(known.support) == k:
                tree.offer(tuple(int(j) for j in known.support), known.value)
            lower = tree.run(sparse_problem(f, constraint, known), effort=200)
            points = sorted((f.refit_on_data(np.array(s)) for s in tree.found), key=lambda point: point.value)
            for rank, point in enumerate(points, 1):
                room = 1e-8 * f.scale(point.value)
                sure = point.value <= lower + room and point.value <= max(point.minimum, f.lower) + room
                found.append((k, rank, point, sure or point.value <= f.nothing))
        total = 2 * n * f.null.value
        wide = n > f.dim + 1
        full = f.refit(np.arange(f.dim)) if wide else found[-1][2]
        noise = 2 * n * full.value / max(n - (f.dim if wide else found[-1][0]) - fit_intercept, 1)
    table = Subsets()
    for k, rank, point, proved in found:
        rss, terms = 2 * n * point.value, k + fit_intercept
        r2 = 1 - rss / total if total > 0 else 0.0
        adjusted = 1 - (1 - r2) * (n - fit_intercept) / max(n - terms, 1)
        cp, level = rss / max(noise, 1e-300) - n + 2 * terms, n * float(np.log(max(rss, 1e-300) / n))
        aic, bic = level + 2 * terms, level + terms * float(np.log(n))
        support = tuple(int(j) for j in point.support)
        names = None if f.names is None else tuple(f.names[j] for j in support)
        table.append(Subset(k, rank, support, rss, r2, adjusted, cp, aic, bic, proved, names))
    return table
