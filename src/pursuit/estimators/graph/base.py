"""The base class of estimators of a precision matrix, whether its number of edges is fixed or chosen."""

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.base import clone
from sklearn.covariance import EmpiricalCovariance
from sklearn.utils.validation import check_is_fitted

from ..._utils.column_names import Names, check_names, get_column_names, refuse_missing
from ..._utils.docs import DocLink
from ..._utils.lazy import lazy
from ..._utils.row_order import warn_row_order
from ..._utils.types import Array, ArrayLike, ColumnsLike, FilePath, Flags, Keywords, Matrix, MatrixLike, Seed, Vector
from ..._utils.validation import check_array, check_choice, check_flag, check_number, check_weights
from ...objectives.logdet import LogDet
from ...refits.graph import graph_refit
from ...solvers.base import Solver
from ...solving.driver import solve
from ...solving.result import Result
from ..inputs import validate_dense
from ..parameter_docs import describe
from .covariance import CovarianceEstimate, check_variances, estimate_covariance
from .edge_selector import EdgeSelector, edge_selector
from .edges import edge_gains, edge_table, to_networkx

if TYPE_CHECKING:
    from networkx import Graph
    from pandas import DataFrame


@dataclass(eq=False, repr=False)
class GraphModel(DocLink, EmpiricalCovariance):
    """A precision matrix that is zero but for the diagonal and some edges."""

    store_precision: ClassVar[bool] = True  # scikit-learn's covariance estimators look for it
    _parameter_constraints: ClassVar[Keywords] = {}

    _: KW_ONLY
    assume_centered: bool = False
    include: ColumnsLike = None
    exclude: ColumnsLike = None
    solver: str | Solver = "auto"
    eigenvalues: tuple[float, float] | None = None
    max_iter: int | None = None
    tol: float | None = None
    time_limit: float | None = None
    random_state: Seed = None

    def _samples(self, X: MatrixLike, sample_weight: ArrayLike | None) -> tuple[Matrix, Vector, CovarianceEstimate]:
        """Rows, their weights (which sum to one), and the covariance."""
        warn_row_order(X, sample_weight=sample_weight)
        A: Matrix = validate_dense(self, X, ensure_min_samples=2, ensure_min_features=2)
        weights = check_weights(sample_weight, len(A))
        rows = A[weights > 0]
        if len(rows) < 2:
            raise ValueError("one sample has a weight, and a covariance needs at least two")
        found = estimate_covariance(A, weights, centred=not check_flag(self.assume_centered, "assume_centered"))
        check_variances(rows, found.covariance, self._names)
        return A, weights, found

    @property
    def _names(self) -> Names | None:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else tuple(names)

    def _read_covariance(self, covariance: MatrixLike, names: Sequence[str] | None) -> Matrix:
        """A covariance matrix, and its size and names as ``fit`` would have them; LogDet checks the rest."""
        own = get_column_names(covariance)
        S = check_array(covariance, "covariance")
        if S.ndim != 2 or S.shape[0] != S.shape[1] or len(S) < 2:
            raise ValueError(f"covariance must be a square matrix of at least 2 columns, got shape {S.shape}")
        names = own if names is None else check_names(names, len(S), "covariance")
        self.n_features_in_ = len(S)
        self.__dict__.pop("feature_names_in_", None)
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        return S

    def _objective(self, covariance: Matrix, n_samples: int | None, shrinkage: float) -> LogDet:
        return LogDet(
            covariance, n_samples=n_samples, eigenvalues=self.eigenvalues, shrinkage=shrinkage, names=self._names
        )

    def _solve(self, f: LogDet, k: int) -> Result:
        return solve(
            f,
            k,
            solver=self.solver,
            include=self.include,
            exclude=self.exclude,
            max_iter=self.max_iter,
            tol=self.tol,
            time_limit=self.time_limit,
            random_state=self.random_state,
        )

    def _check_l1(self, l1: object) -> float:
        number = check_number(l1, "l1")
        if number > 0 and self.eigenvalues is not None:
            raise ValueError("l1 and eigenvalues cannot be had together; leave one of them out")
        return number

    def _store(self, f: LogDet, result: Result, l1: float, R: Matrix, location: Vector, notes: list[str]) -> None:
        """Keep the graph of a result; with ``l1`` its entries are fitted again to R, which is not shrunk."""
        self.__dict__.pop("edges_", None)
        edges, units = result.support, np.outer(f.scales, f.scales)
        if l1 > 0:
            fit = graph_refit(R, edges, l1=l1)
            if fit is None:
                raise ValueError(f"l1={l1:g} is too small for a covariance of so small a rank; give a larger one, or 0")
            kept = fit.w != 0
            if not kept.all():
                notes.append(f"l1={l1:g} sets {int((~kept).sum())} of the {len(edges)} edges to zero")
            edges, Sigma, self.precision_ = edges[kept], fit.Sigma, fit.W / units
        else:
            Sigma, self.precision_ = _inverse(result.x * units), result.x
        self.covariance_ = Sigma * units
        self.location_, self.n_edges_ = location, len(edges)
        self.result_, self.objective_, self.n_iter_ = result, f, result.n_iter
        self._edges, self._fitted_to = edges, (f.R if l1 == 0 else R, l1)
        self.reason_ = "; ".join(sentence for sentence in [*notes, result.reason] if sentence)

    @property
    def _nodes(self) -> list[int] | list[str]:
        """The nodes: names, else indices."""
        names = self._names
        return list(range(self.n_features_in_)) if names is None else [str(name) for name in names]

    @property
    def adjacency_(self) -> Flags:
        """Which two columns an edge joins: a symmetric matrix, its diagonal False."""
        check_is_fitted(self)
        joined = np.zeros(self.precision_.shape, dtype=bool)
        i, j = self._edges.T
        joined[i, j] = joined[j, i] = True
        return joined

    @lazy
    def edges_(self) -> "DataFrame | dict[str, Array]":
        """A row per edge; see the class."""
        check_is_fitted(self)
        units, (R, l1) = np.outer(self.objective_.scales, self.objective_.scales), self._fitted_to
        W, Sigma = self.precision_ * units, self.covariance_ / units
        bounded = None if self.eigenvalues is None else self.objective_
        gain, self.gains_are_exact_ = edge_gains(R, self._edges, W, Sigma, l1, bounded)
        return edge_table(self._nodes, self._edges, self.precision_, gain)

    @describe
    def to_networkx(self) -> "Graph":
        """Return the graph as a ``networkx.Graph``.

        Returns
        -------
        networkx.Graph
            Nodes by name (else index), edges with weight (the partial correlation), sign and precision.

        {graph_example}
        >>> len(model.to_networkx().edges)
        3
        """
        check_is_fitted(self)
        return to_networkx(self._nodes, self._edges, self.precision_)

    def report(
        self,
        path: FilePath,
        *,
        title: str | None = None,
        names: Sequence[str] | None = None,
        command: str | None = None,
    ) -> Path:
        """Write a report about the fitted graph: one HTML file that needs no network and no other file.

        Parameters
        ----------
        path : str or path-like
            The file to write; it must end in .html.
        title : str, default None
            Heading of the page.
        names : sequence of str, default None
            Names of the columns, where the model was fitted without.
        command : str, default None
            The command that made the model, for the section on reproduction.

        Returns
        -------
        pathlib.Path
            The file that was written.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> from sklearn.datasets import load_iris
        >>> from pursuit import SparsePrecision
        >>> X, _ = load_iris(return_X_y=True, as_frame=True)
        >>> model = SparsePrecision(n_edges=3).fit(X)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     page = model.report(pathlib.Path(folder, "graph.html"))
        ...     "petal length" in page.read_text()
        True
        """
        check_is_fitted(self)
        return import_module("pursuit.html").write_graph_report(self, path, title=title, names=names, command=command)

    @describe
    def score(self, X: MatrixLike, y: ArrayLike | None = None) -> float:
        """Score rows by their mean Gaussian log-likelihood, as scikit-learn's covariance estimators do.

        Parameters
        ----------
        {dense_rows}
        {no_target}

        Returns
        -------
        float
            The log-likelihood per row.

        {graph_example}
        >>> bool(model.score(X) > SparsePrecision(n_edges=1).fit(X).score(X))
        True
        """
        self._check_rows(X)
        return float(super().score(X))

    @describe
    def mahalanobis(self, X: MatrixLike) -> Vector:
        """Compute squared Mahalanobis distances of the rows from ``location_``.

        Parameters
        ----------
        {dense_rows}

        Returns
        -------
        array of shape (n,)
            One distance per row.

        {graph_example}
        >>> model.mahalanobis(X).shape
        (150,)
        """
        self._check_rows(X)
        return np.asarray(super().mahalanobis(X))

    @describe
    def error_norm(
        self, comp_cov: ArrayLike, norm: str = "frobenius", scaling: bool = True, squared: bool = True
    ) -> float:
        """Compare ``covariance_`` with another one, as scikit-learn's covariance estimators do.

        Parameters
        ----------
        comp_cov : array of shape (p, p)
            The other covariance matrix.
        norm : {"frobenius", "spectral"}, default "frobenius"
            How the difference is measured.
        scaling : bool, default True
            Whether the squared norm is divided by p.
        squared : bool, default True
            Whether the squared norm is returned.

        Returns
        -------
        float
            How far they are apart.

        {graph_example}
        >>> bool(model.error_norm(X.cov()) < 0.1)
        True
        """
        check_is_fitted(self)
        check_choice(norm, "norm", ("frobenius", "spectral"))
        other = check_array(comp_cov, "comp_cov")
        if other.shape != self.covariance_.shape:
            raise ValueError(f"comp_cov must have shape {self.covariance_.shape}, got shape {other.shape}")
        return float(super().error_norm(other, norm, scaling, squared))

    def _check_rows(self, X: MatrixLike) -> None:
        """Columns that are no numbers by their names; the rest is scikit-learn's to say."""
        check_is_fitted(self)
        refuse_missing(validate_dense(self, X, reset=False), self._names)

    @describe
    def selector(
        self, X: MatrixLike, ks: Iterable[int] | None = None, sample_weight: ArrayLike | None = None
    ) -> EdgeSelector:
        """Make what ``pursuit.stability`` calls: which edges some of the rows select, at every size of ``ks``.

        Parameters
        ----------
        {dense_rows}
        ks : sequence of int or None, default None
            Numbers of edges.
        {weights}

        Returns
        -------
        EdgeSelector
            It selects edges on some of the rows.

        {graph_example}
        >>> model.selector(X, ks=[1, 3]).ks
        (1, 3)
        """
        n_edges, shrinkage = self._stability_settings()
        return edge_selector(clone(self), X, n_edges, shrinkage, ks, sample_weight)

    if TYPE_CHECKING:  # defined by SparsePrecision and SparsePrecisionCV

        def _stability_settings(self) -> tuple[int, float]: ...


def correlations(covariance: Matrix) -> Matrix:
    """The same on a unit diagonal."""
    d = np.sqrt(covariance.diagonal())
    R = covariance / d / d[:, None]
    np.fill_diagonal(R, 1.0)
    return R


def _inverse(W: Matrix) -> Matrix:
    Sigma = cho_solve(cho_factor(W), np.eye(len(W)))
    return np.asarray(Sigma + Sigma.T) / 2
