"""``SparseLDA``: linear discriminant analysis with a sparse precision matrix (Yuan, Li and Zhang, JMLR 2018, 6.3.2).

| paper | here |
|---|---|
| delta_l(x) = x' Omega mu_l - mu_l' Omega mu_l / 2 + log pi_l | ``decision_function``; less what all classes share |
| mu_l, pi_l | ``means_``, ``priors_`` |
| Omega | ``precision_``, of the covariance within classes, divided by n |
| k, by cross-validation | ``n_edges="cv"``: the log-likelihood of held-out rows about the means of their classes |
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Self

import numpy as np
from scipy.special import expit, log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ..._utils.column_names import column_label
from ..._utils.docs import DocLink
from ..._utils.labels import as_labels
from ..._utils.row_order import warn_row_order
from ..._utils.types import Array, ArrayLike, Columns, ColumnsLike, Folds, Matrix, MatrixLike, Seed, Vector
from ..._utils.validation import (
    check_array,
    check_choice,
    check_count,
    check_flag,
    check_fraction,
    check_number,
    check_weights,
)
from ...engines import threads, time_limited
from ...selection import rows_that_count
from ...solvers.base import Solver
from ..classifier import class_codes
from ..inputs import validate_dense
from ..parameter_docs import describe
from .covariance import (
    CovarianceEstimate,
    check_magnitudes,
    estimate_covariance,
    flat_columns,
    replace_constant_columns,
)
from .lda_cv import RULES, Choice, FeasibleSet, RequestedGraph, chosen
from .precision import SparsePrecision

PRIORS_TOLERANCE = 1e-6  # how far from 1 priors may add up, by rounding


@dataclass(eq=False, repr=False)
class SparseLDA(DocLink, ClassifierMixin, BaseEstimator):
    """Linear discriminant analysis on a graph: classes are Gaussian with one precision matrix, which has few edges.

    Parameters
    ----------
    n_edges : int or "cv", default "cv"
        Edges of the precision matrix within classes: a number, or chosen by the held-out likelihood.
    shrinkage : float or "cv", default 0
        From 0 to 1. The covariance within classes is shrunk to its diagonal (``standardize=False``: to the mean
        variance times the identity) by this share; above 0 every graph has an optimum. "cv" chooses it together with
        ``n_edges``.
    l1 : float or "cv", default 0
        As in :class:`SparsePrecision`; needs ``standardize=True``.
    priors : array of shape (classes,) or None, default None
        One positive number per class, in the order of ``classes_``; None: their shares of the rows. They sum to 1, and
        move the decision, not the precision matrix.
    cv : int, splitter or iterable of (training rows, test rows), default 6
        A number of folds shuffles the rows first, with seed ``random_state`` or 0, and keeps the shares of classes. A
        row whose class does not train in its fold is not scored.
    rule : {"min", "1se"}, default "min"
        The best held-out likelihood, or the fewest edges within a standard error of it.
    standardize : bool, default True
        Whether shrinkage and l1 act on correlations, or on covariances. Without them it changes nothing: the graph and
        what is fitted to it are the same in all units.
    include, exclude : sequence of pairs, mask or None, default None
        Edges that must, must not be there, as in :class:`SparsePrecision`.
    solver : str or Solver, default "auto"
        As in :class:`SparsePrecision`; folds use the default solver.
    max_iter : int or None, default None
        As in :class:`SparsePrecision`.
    tol : float or None, default None
        As in :class:`SparsePrecision`.
    time_limit : float or None, default None
        Seconds for the folds, an error where they are not enough, and again for the last search.
    n_jobs : int or None, default None
        Threads; None: all that OMP_NUM_THREADS and the machine allow.
    random_state : int, Generator or None, default None
        Seed of the folds and of solvers that draw random numbers.

    Attributes
    ----------
    coef_, intercept_ : array
        Of ``decision_function``; two classes have one row, as in scikit-learn.
    means_, priors_ : array
        Of the classes.
    precision_, covariance_ : array of shape (p, p)
        Within classes, in the units of X.
    graph_ : SparsePrecision
        That of the covariance within classes, with ``edges_`` and ``to_networkx()``.
    n_edges_ : int
        The number of edges there are.
    shrinkage_, l1_ : float
        What was used.
    cv_results_ : dict of array or None
        One row per (n_edges, shrinkage, l1) that was tried, with held-out log-likelihoods; None without "cv".
    reason_ : str
        What a person should know, in a sentence.
    classes_ : array
        The labels, sorted.
    n_features_in_, feature_names_in_ : int, array of str
        As everywhere in scikit-learn.

    See Also
    --------
    SparsePrecision : The graph alone.

    Notes
    -----
    Class l wins where log pi_l - (x - mu_l)' Omega (x - mu_l) / 2 is largest.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from pursuit import SparseLDA
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> bool(SparseLDA(n_edges=20).fit(X, y).score(X, y) > 0.95)
    True
    """

    n_edges: int | str = "cv"
    _: KW_ONLY
    shrinkage: float | str = 0.0
    l1: float | str = 0.0
    priors: ArrayLike | None = None
    cv: Folds = 6
    rule: str = "min"
    standardize: bool = True
    include: ColumnsLike = None
    exclude: ColumnsLike = None
    solver: str | Solver = "auto"
    max_iter: int | None = None
    tol: float | None = None
    time_limit: float | None = None
    n_jobs: int | None = None
    random_state: Seed = None

    @describe
    def fit(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None, *, cv_groups: ArrayLike | None = None
    ) -> Self:
        """Fit the means of the classes and the graph within them.

        Parameters
        ----------
        {dense_rows}
        y : array of shape (n,)
            Labels.
        {weights}
        cv_groups : array of shape (n,) or None, default None
            Groups of the rows, which a number of folds keeps whole.

        {fitted}

        {lda_example}
        >>> model.graph_.n_edges_
        3
        """
        requested = self._stability_settings()
        warn_row_order(X, y=y, sample_weight=sample_weight, cv_groups=cv_groups)
        rows, labels = validate_dense(self, X, y if y is None else as_labels(y), ensure_min_features=2)
        self.classes_, codes = class_codes(labels)
        weights = check_weights(sample_weight, len(rows))
        shares = np.bincount(codes, weights, len(self.classes_)).astype(np.float64)
        if shares.min() == 0:
            raise ValueError(f"y holds class {self.classes_[np.argmin(shares)]} in no row with a weight")
        self.priors_ = self._priors(shares)
        names = getattr(self, "feature_names_in_", None)
        found, notes = self._within(rows, weights, codes, names)
        with threads(self.n_jobs):
            counts = rows_that_count(sample_weight, weights)
            within = FeasibleSet(rows, codes, weights, counts, found, self.standardize, names)
            choice = self._choose(within, requested, cv_groups)
            self.graph_ = SparsePrecision(
                choice.n_edges,
                shrinkage=choice.shrinkage if self.standardize else 0.0,
                l1=choice.l1,
                include=self.include,
                exclude=self.exclude,
                solver=self.solver,
                max_iter=self.max_iter,
                tol=self.tol,
                time_limit=self.time_limit,
                random_state=self.random_state,
            ).from_covariance(within.shrunk(choice.shrinkage), names=names)
        self.n_edges_, self.shrinkage_, self.l1_ = self.graph_.n_edges_, choice.shrinkage, choice.l1
        self.cv_results_ = choice.table
        self.reason_ = "; ".join(sentence for sentence in [notes, *choice.notes, self.graph_.reason_] if sentence)
        self.means_, self.precision_, self.covariance_ = found.means, self.graph_.precision_, self.graph_.covariance_
        self.n_iter_ = max(1, self.graph_.n_iter_)
        self._discriminate()
        return self

    def _choose(self, within: FeasibleSet, requested: RequestedGraph, cv_groups: ArrayLike | None) -> Choice:
        with time_limited(self.time_limit, "every fold was fitted", "n_edges"):
            return chosen(within, self, requested, cv_groups)

    def _within(
        self, X: Matrix, weights: Vector, codes: Columns, names: Sequence[str] | None
    ) -> tuple[CovarianceEstimate, str]:
        """Means of the classes and the covariance about them, and a sentence about columns that do not vary there."""
        seen = X[weights > 0]
        check_magnitudes(seen, names)
        found = estimate_covariance(X, weights, codes, len(self.classes_))
        if found.rank == 0:
            raise ValueError(
                f"n_samples={len(X)} rows of {len(self.classes_)} classes hold one sample of each, and a covariance "
                "within classes needs two of some"
            )
        flat = flat_columns(seen, found.covariance)
        if not flat.any():
            return found, ""
        over_all = estimate_covariance(X, weights).covariance
        variance = np.where(flat_columns(seen, over_all), 1.0, over_all.diagonal())
        found = found._replace(covariance=replace_constant_columns(found.covariance, flat, variance))
        does, its = ("does", "its") if flat.sum() == 1 else ("do", "their")
        words = f"{column_label(np.flatnonzero(flat), names)} {does} not vary within any class"
        return found, f"{words}; {its} variance over all rows was taken, and no edge"

    def _stability_settings(self) -> RequestedGraph:
        """Numbers, or None where they are to be chosen."""
        check_choice(self.rule, "rule", RULES)
        n_edges = None if _is_cv(self.n_edges, "n_edges") else check_count(self.n_edges, "n_edges")
        shrinkage = None if _is_cv(self.shrinkage, "shrinkage") else check_fraction(self.shrinkage, "shrinkage")
        l1 = None if _is_cv(self.l1, "l1") else check_number(self.l1, "l1")
        standardize = check_flag(self.standardize, "standardize")
        if l1 != 0 and not standardize:
            raise ValueError("l1 needs standardize=True: its entries are those of standardised columns")
        return n_edges, shrinkage, l1

    def _priors(self, shares: Vector) -> Vector:
        if self.priors is None:
            return np.asarray(shares / shares.sum())
        priors = check_array(self.priors, "priors")
        if priors.shape != shares.shape or priors.min() <= 0:
            raise ValueError(f"priors must be {len(shares)} positive numbers, one per class, got {self.priors!r}")
        if abs(priors.sum() - 1) > PRIORS_TOLERANCE:
            raise ValueError(f"priors must sum to 1, got {self.priors!r}, which sum to {priors.sum():g}")
        return np.asarray(priors / priors.sum())

    def _discriminate(self) -> None:
        """``coef_`` and ``intercept_``, from the middle of the classes, where little cancels."""
        middle = self.priors_ @ self.means_
        apart = self.means_ - middle
        coef = apart @ self.precision_
        intercept = np.log(self.priors_) - coef @ middle - np.einsum("ij,ij->i", coef, apart) / 2
        if len(coef) == 2:
            coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
        self.coef_, self.intercept_ = coef, intercept

    @describe
    def decision_function(self, X: MatrixLike) -> Vector:
        """Compute the discriminants, log pi_l - (x - mu_l)' Omega (x - mu_l) / 2, less what all classes share.

        Parameters
        ----------
        {dense_rows}

        Returns
        -------
        array of shape (n, classes) or (n,)
            A column per class. Two classes: the difference, positive for ``classes_[1]``.

        {lda_example}
        >>> model.decision_function(X).shape
        (150, 3)
        """
        check_is_fitted(self)
        eta: Matrix = validate_dense(self, X, reset=False) @ self.coef_.T + self.intercept_
        return eta[:, 0] if eta.shape[1] == 1 else eta

    @describe
    def predict(self, X: MatrixLike) -> Array:
        """Predict the most likely class.

        Parameters
        ----------
        {dense_rows}

        {labels}

        {lda_example}
        >>> model.predict(X[:2]).tolist()
        [0, 0]
        """
        eta = self.decision_function(X)
        return np.asarray(self.classes_[(eta > 0).astype(int) if eta.ndim == 1 else eta.argmax(axis=1)])

    @describe
    def predict_proba(self, X: MatrixLike) -> Matrix:
        """Predict the probabilities of the classes.

        Parameters
        ----------
        {dense_rows}

        {probabilities}

        {lda_example}
        >>> model.predict_proba(X).shape
        (150, 3)
        """
        eta = self.decision_function(X)
        return np.column_stack([expit(-eta), expit(eta)]) if eta.ndim == 1 else np.asarray(softmax(eta, axis=1))

    @describe
    def predict_log_proba(self, X: MatrixLike) -> Matrix:
        """Predict the logarithms of the probabilities, accurate where they are tiny.

        Parameters
        ----------
        {dense_rows}

        {probabilities}

        {lda_example}
        >>> bool(model.predict_log_proba(X).max() <= 0)
        True
        """
        eta = self.decision_function(X)
        return np.asarray(log_softmax(np.column_stack([0 * eta, eta]) if eta.ndim == 1 else eta, axis=1))


def _is_cv(value: object, name: str) -> bool:
    """Whether it is to be chosen."""
    if isinstance(value, str) and value != "cv":
        raise ValueError(f"{name} must be a number or 'cv', got {value!r}")
    return isinstance(value, str)
