"""``SparsePrecision``: covariance selection with an exact number of edges (Dempster 1972; Yuan, Li and Zhang 2018).

| paper (JMLR, section 5.3) | here |
|---|---|
| Sigma_n | ``LogDet(covariance)``, on the correlation scale |
| Omega | ``precision_``, in the units of the data |
| k, off-diagonal pairs | ``n_edges`` |
| alpha, beta | ``eigenvalues`` |
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Self

import numpy as np

from ..._utils.types import ArrayLike, Matrix, MatrixLike, Vector
from ..._utils.validation import check_count
from ..parameter_docs import describe
from .base import GraphModel, correlations
from .edges import allowed_edges, cap_message, resolve_edges

GRAPH_PARAMETERS = """assume_centered : bool, default False
        Take the mean of every column as 0.
    include, exclude : sequence of pairs, mask or None, default None
        Edges that must, must not be there: pairs of column indices or names; for ``exclude`` also a mask with a row and
        a column per column of X. Those included count in ``n_edges``.
    solver : str or Solver, default "auto"
        The algorithm by name or as an instance, see ``pursuit.list_solvers()``.
    eigenvalues : tuple of float (alpha, beta) or None, default None
        Bounds of the eigenvalues of the precision matrix in the units of X.
    max_iter : int or None, default None
        Iterations at most, see ``pursuit.solve``.
    tol : float or None, default None
        Relative fall of the value at which to stop, see ``pursuit.solve``.
    time_limit : float or None, default None
        Seconds, see ``pursuit.solve``.
    random_state : int, Generator or None, default None
        Seed for solvers that draw random numbers, and of the folds."""

GRAPH_ATTRIBUTES = """precision_, covariance_ : array of shape (p, p)
        The matrix and its inverse, in the units of X; positive definite.
    location_ : array of shape (p,)
        Means of the columns (0 with ``assume_centered`` and ``from_covariance``).
    adjacency_ : array of bool of shape (p, p)
        Which columns an edge joins; symmetric.
    n_edges_ : int
        How many edges there are.
    edges_ : pandas.DataFrame or dict
        A row per edge, most gain first (without pandas a dict of columns): ``source``, ``target`` (names, else
        indices), ``precision``, ``partial_correlation`` and ``gain``: how far the objective, twice the negative
        log-likelihood per row (shrunk as requested), rises when the edge is dropped and the others are fitted again.
        That is a refit per edge, computed when first needed. Where these are too many (above 1e9 multiplications) only
        one row of the matrix is fitted again, an upper bound (with l1 or bounds of eigenvalues an estimate);
        ``gains_are_exact_`` says which.
    reason_ : str
        What a person should know of the fit, in a sentence.
    result_ : pursuit.Result
        That of the search; with ``l1`` its entries are those before that term.
    objective_ : pursuit.LogDet
        What was minimised.
    n_features_in_, feature_names_in_ : int, array of str
        As everywhere in scikit-learn."""


@dataclass(eq=False, repr=False)
class SparsePrecision(GraphModel):
    __doc__ = f"""A precision matrix with at most so many edges, and everything else exactly zero.

    Minimises tr(SW) - log det W over positive definite W with at most ``n_edges`` non-zero pairs off the diagonal; S is
    the maximum-likelihood covariance (divided by n). The search works on correlations, so that units do not matter.

    Parameters
    ----------
    n_edges : int, default 10
        At most this many edges; above the pairs there are it is capped (``reason_`` says so).
    {GRAPH_PARAMETERS}
    shrinkage : float, default 0
        From 0 to 1. The correlation matrix is shrunk to (1 - shrinkage) R + shrinkage I; above 0 every graph has an
        optimum.
    l1 : float, default 0
        This times the sum of ``|W_ij|`` over the off-diagonal entries (of standardised columns) is added when the
        entries of the chosen graph are fitted, never in the search; these are fitted to the covariance before shrinkage
        then.

    Attributes
    ----------
    {GRAPH_ATTRIBUTES}

    See Also
    --------
    SparsePrecisionCV : Chooses the number of edges.

    References
    ----------
    X.-T. Yuan, P. Li, T. Zhang (2018): Gradient Hard Thresholding Pursuit. JMLR 18, section on precision matrices.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pursuit import SparsePrecision
    >>> X, _ = load_iris(return_X_y=True, as_frame=True)
    >>> model = SparsePrecision(n_edges=3).fit(X)
    >>> int(model.adjacency_.sum()) // 2
    3
    """

    n_edges: int = 10
    _: KW_ONLY
    shrinkage: float = 0.0
    l1: float = 0.0

    @describe
    def fit(self, X: MatrixLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Search and fit the graph of the columns of X.

        Parameters
        ----------
        {dense_rows}
        {no_target}
        {weights}

        {fitted}

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from pursuit import SparsePrecision
        >>> X, _ = load_iris(return_X_y=True, as_frame=True)
        >>> SparsePrecision(n_edges=3).fit(X).n_edges_
        3
        """
        _, weights, found = self._samples(X, sample_weight)
        return self._fit(found.covariance, int((weights > 0).sum()), found.means[0])

    @describe
    def from_covariance(
        self, covariance: MatrixLike, n_samples: int | None = None, names: Sequence[str] | None = None
    ) -> Self:
        """Fit to a covariance matrix instead of samples: ``SparsePrecision(20).from_covariance(S, n_samples=100)``.

        Parameters
        ----------
        covariance : array or data frame of shape (p, p)
            The covariance matrix.
        n_samples : int or None, default None
            Number of rows behind it, which bounds its rank, where it is known.
        names : sequence of str or None, default None
            Names of its columns (a data frame has them).

        {fitted}

        Examples
        --------
        >>> import numpy as np
        >>> from pursuit import SparsePrecision
        >>> S = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
        >>> model = SparsePrecision(n_edges=1).from_covariance(S)
        >>> model.adjacency_[0].tolist()
        [False, True, False]
        """
        S = self._read_covariance(covariance, names)
        n = None if n_samples is None else check_count(n_samples, "n_samples", 2)
        return self._fit(S, n, np.zeros(len(S)))

    def _fit(self, covariance: Matrix, n_samples: int | None, location: Vector) -> Self:
        wanted, l1 = check_count(self.n_edges, "n_edges"), self._check_l1(self.l1)
        f = self._objective(covariance, n_samples, self.shrinkage)
        include, forbidden = resolve_edges(f, self.include, self.exclude)
        if len(include) > wanted:
            raise ValueError(f"include names {len(include)} edges, more than n_edges={wanted} allows")
        there = allowed_edges(forbidden)
        notes = [cap_message(wanted, there)]
        self._store(f, self._solve(f, min(wanted, there)), l1, correlations(covariance), location, notes)
        return self

    def _stability_settings(self) -> tuple[int, float]:
        return self.n_edges, self.shrinkage
