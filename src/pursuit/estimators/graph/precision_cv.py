"""``SparsePrecisionCV``: how many edges, how much shrinkage and how much l1, by what was held out or by EBIC."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Self, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..._utils.row_order import warn_row_order
from ..._utils.types import ArrayLike, Columns, Folds, Matrix, MatrixLike, Vector
from ..._utils.validation import check_choice, check_count, check_fraction, check_number
from ...engines import threads, time_limited
from ...objectives.logdet import LogDet
from ...paths import every_size
from ...refits.graph import graph_refit
from ...selection import rows_that_count, splits
from ...selection.graphs import L1S, RULES, SHRINKAGES, GraphChoice, Parted, choose_graph, edge_counts, must_stay
from ...solving.result import Result
from ..parameter_docs import describe
from .base import GraphModel, correlations
from .covariance import CovarianceEstimate, check_variances, estimate_covariance, second_moment
from .edges import allowed_edges, cap_message, resolve_edges, well_posed
from .precision import GRAPH_ATTRIBUTES, GRAPH_PARAMETERS

T = TypeVar("T")


@dataclass(eq=False, repr=False)
class SparsePrecisionCV(GraphModel):
    __doc__ = f"""A precision matrix whose number of edges is chosen so that it fits rows that it has not seen.

    The graph is searched on the correlation matrix shrunk by t, its entries are fitted to the unshrunk one with an l1
    term (without l1: to the shrunk one). Triples (n_edges, t, l1) compete by the Gaussian log-likelihood of held-out
    rows; those whose l1 sets an edge to zero (with fewer rows than columns: one in ten) do not take part.

    Parameters
    ----------
    n_edges : int, list of int, or None, default None
        A number is taken as it is, a list is chosen from. None: 20 numbers from 0 to five per column, and on while the
        largest is best; with fewer rows than columns no further than half as many neighbours a column as there are
        rows to train on.
    shrinkage : float, list of float, or None, default None
        From 0 to 1; None: 0, 0.3, 0.5 and 0.6 (0 for "ebic").
    l1 : float, list of float, or None, default None
        None: 14 of them from 0 to 0.3 (0 for "ebic"). Where there are several, 0 competes without shrinkage only.
    cv : int, splitter or iterable of (training rows, test rows), default 5
        A number of folds shuffles the rows first, with seed ``random_state`` or 0. Folds standardise columns by
        themselves.
    {GRAPH_PARAMETERS}
    rule : {{"min", "1se", "ebic"}}, default "min"
        The best held-out log-likelihood; the fewest edges within a standard error of it (of the difference, over
        folds); or the least -2 log-likelihood + n_edges (log n + 4 gamma log p) of all rows (Foygel and Drton 2010).
    gamma : float, default 0.5
        Of "ebic": 0 is BIC, more asks more of an edge where there are many columns.
    n_jobs : int or None, default None
        Threads; None: all that OMP_NUM_THREADS and the machine allow.

    Attributes
    ----------
    {GRAPH_ATTRIBUTES}
    shrinkage_, l1_ : float
        What was chosen, next to ``n_edges_``.
    cv_results_ : dict of array
        One row per triple that was tried in every fold: ``n_edges``, ``shrinkage``, ``l1``, whether it was
        ``eligible``, ``mean_test_score`` (log-likelihood per row in the units of X), ``std_test_score`` over folds,
        ``std_error`` of the mean, and every fold's ``split0_test_score``; for "ebic" the one score is that of all rows,
        and ``ebic`` is there.

    See Also
    --------
    SparsePrecision : With a given number of edges.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pursuit import SparsePrecisionCV
    >>> X, _ = load_iris(return_X_y=True, as_frame=True)
    >>> model = SparsePrecisionCV().fit(X)
    >>> int(model.adjacency_.sum()) // 2 == model.n_edges_
    True
    """

    n_edges: Sequence[int] | int | None = None
    shrinkage: Sequence[float] | float | None = None
    l1: Sequence[float] | float | None = None
    cv: Folds = 5
    _: KW_ONLY
    rule: str = "min"
    gamma: float = 0.5
    n_jobs: int | None = None

    @describe
    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        cv_groups: ArrayLike | None = None,
    ) -> Self:
        """Choose the number of edges and fit.

        Parameters
        ----------
        {dense_rows}
        {no_target}
        {weights}
        cv_groups : array of shape (n,) or None, default None
            Groups of the rows: a number of folds keeps them whole.

        {fitted}

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from pursuit import SparsePrecisionCV
        >>> X, _ = load_iris(return_X_y=True, as_frame=True)
        >>> model = SparsePrecisionCV(n_edges=[0, 2, 4], shrinkage=0, l1=0).fit(X)
        >>> model.n_edges_ in (0, 2, 4)
        True
        """
        check_choice(self.rule, "rule", RULES)
        warn_row_order(X, cv_groups=cv_groups)
        advice = "fewer n_edges, shrinkage, l1 or folds"
        with threads(self.n_jobs), time_limited(self.time_limit, "every fold was fitted", advice):
            X, weights, found = self._samples(X, sample_weight)
            folds, note = self._folds(X, weights, rows_that_count(sample_weight, weights), found, cv_groups)
            choice = self._choose(folds, found)
        with threads(self.n_jobs):
            f = self._objective(found.covariance, int((weights > 0).sum()), choice.shrinkage)
            result, R = self._search(f, choice), correlations(found.covariance)
            l1, lowered = _that_keeps(R, result.support, choice, min(fold.rank for fold in folds))
            notes = [_explain_choice(choice, self.rule), lowered, choice.reason, note]
            self._store(f, result, l1, R, found.means[0], notes)
        self.shrinkage_, self.l1_, self.cv_results_ = choice.shrinkage, l1, choice.table
        return self

    def _folds(
        self, X: Matrix, weights: Vector, counts: Vector, found: CovarianceEstimate, cv_groups: ArrayLike | None
    ) -> tuple[list[Parted], str]:
        """Covariances of the folds; for a criterion, of all rows twice."""
        if self.rule == "ebic":
            if cv_groups is not None:
                raise ValueError("rule='ebic' holds out no rows, so cv_groups has no use: leave it out, or rule='min'")
            return [Parted(found.covariance, found.rank, found.covariance, float(counts.sum()))], ""
        pairs, note = splits(self.cv, X, np.zeros(len(X)), cv_groups, False, self.random_state, weights)
        return [self._part(X, weights, counts, *pair, number) for number, pair in enumerate(pairs)], note

    def _part(self, X: Matrix, weights: Vector, counts: Vector, train: Columns, test: Columns, number: int) -> Parted:
        rows, others = train[weights[train] > 0], test[weights[test] > 0]
        found = estimate_covariance(X[rows], weights[rows] / weights[rows].sum(), centred=not self.assume_centered)
        check_variances(X[rows], found.covariance, self._names, f" in the rows that fold {number} of cv trains on")
        share = weights[others] / weights[others].sum()
        apart = second_moment(X[others], share, np.zeros(len(others), np.int64), found.means)
        return Parted(found.covariance, found.rank, apart, float(counts[others].sum()))

    def _choose(self, folds: list[Parted], found: CovarianceEstimate) -> GraphChoice:
        gamma = check_number(self.gamma, "gamma")
        single = self.rule == "ebic"
        ts: tuple[float, ...] = (0.0,) if single else SHRINKAGES
        if self.shrinkage is not None:
            ts = tuple(check_fraction(t, "shrinkage") for t in _as_list(self.shrinkage, "shrinkage"))
        l1s: tuple[float, ...] = (0.0,) if single or self.eigenvalues is not None else L1S
        if self.l1 is not None:
            l1s = tuple(self._check_l1(l1) for l1 in _as_list(self.l1, "l1"))
        f = self._objective(found.covariance, None, max(ts))
        include, forbidden = resolve_edges(f, self.include, self.exclude)
        allowed = allowed_edges(forbidden)
        rank = min(fold.rank for fold in folds)
        carried = allowed if rank == f.p else min(allowed, f.p * rank // 4, f.dim if max(ts) > 0 else well_posed(rank))
        sizes = edge_counts(f.p, carried) if self.n_edges is None else _as_list(self.n_edges, "n_edges")
        counts = [check_count(k, "n_edges") for k in sizes]
        wanted = {min(max(k, len(include)), allowed) for k in counts}
        choice = choose_graph(
            folds,
            sizes=sorted(wanted),
            shrinkages=ts,
            l1s=l1s,
            rule=self.rule,
            gamma=gamma,
            include=include,
            forbidden=forbidden,
            most=carried if self.n_edges is None else 0,
        )
        notes = (cap_message(max(counts), allowed), choice.reason)
        return choice._replace(reason="; ".join(sentence for sentence in notes if sentence))

    def _search(self, f: LogDet, choice: GraphChoice) -> Result:
        """The graph of all rows: along the sizes, the search of the folds, unless another one was requested."""
        if self.solver != "auto" or self.eigenvalues is not None:
            return self._solve(f, choice.k)
        include, exclude = (() if given is None else given for given in (self.include, self.exclude))
        constraint = f.sparse_set(choice.k, include, exclude)
        found = every_size(f, constraint, [k for k in choice.sizes if k <= choice.k])
        point = found[max(found)]
        return Result.of(f, constraint, f.refit(point.support, start=point), solver="auto")

    def _stability_settings(self) -> tuple[int, float]:
        """Up to how many edges half-samples select, and the shrinkage they do it with: what was chosen."""
        check_is_fitted(self)
        return self.n_edges_, self.shrinkage_


def _as_list(values: Sequence[T] | T, name: str) -> list[T]:
    """A number, or several, as a list."""
    if isinstance(values, str | bytes | dict):
        raise TypeError(f"{name} must be a number, a list of numbers, or None, got {values!r}")
    entries = list(values) if np.iterable(values) else [values]
    if not entries:
        raise ValueError(f"{name} is empty; give at least one number, or None")
    return entries


def _that_keeps(R: Matrix, edges: Columns, choice: GraphChoice, rank: int) -> tuple[float, str]:
    """The chosen l1, or the next below it that keeps edges of the graph of all rows as folds did; a sentence then.

    Not 0 with shrinkage: entries would be fitted to another matrix, which no fold has tried.
    """
    least = 0.0 if choice.shrinkage == 0 else min((l1 for l1 in choice.l1s if l1 > 0), default=0.0)
    for l1 in (l1 for l1 in reversed(choice.l1s) if least <= l1 <= choice.l1):
        fit = graph_refit(R, edges, l1=l1) if l1 > 0 else None
        if fit is None or np.count_nonzero(fit.w) >= must_stay(len(edges), rank, len(R)):
            notes = f"l1={choice.l1:g} was chosen, and lowered to {l1:g}, where the edges stay"
            return l1, notes if l1 < choice.l1 else ""
    return choice.l1, ""


def _explain_choice(choice: GraphChoice, rule: str) -> str:
    """Why these, in a sentence."""
    if rule == "ebic":
        return f"n_edges={choice.k} has the least EBIC"
    if rule == "1se":
        return f"n_edges={choice.k} are the fewest within one standard error of the best held-out likelihood"
    return f"n_edges={choice.k}, shrinkage={choice.shrinkage:g} and l1={choice.l1:g} have the best held-out likelihood"
