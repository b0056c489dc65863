"""``SmoothEffects``: a scikit-learn transformer that gives every numeric feature a smooth curve."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..._utils.docs import DocLink
from ..._utils.types import Array, ArrayLike, Matrix, MatrixLike
from ..._utils.validation import check_weights
from ...data import Arrays, InParts, Source, from_dask, is_dask
from ...data.dask import transform_by_block
from ...data.sources import opened
from ...effects import AdditiveBasis, ColumnBasis, column_kinds, knots_for
from ...losses import Squared
from ...selection import rows_that_count
from ..inputs import check_source_columns, refuse_beside_source, validate_dense
from .training import TrainingColumns

if TYPE_CHECKING:
    from dask.array import Array as DaskArray
    from sklearn.utils import Tags


@dataclass(eq=False, repr=False)
class SmoothEffects(DocLink, TransformerMixin, BaseEstimator):
    """Natural cubic splines of the features: columns for models that are linear in them.

    A feature with more than eight distinct values becomes ``n_knots - 1`` columns: itself, standardised, and columns
    that bend. The latter are orthogonal to it and to each other on the training rows, ordered from smooth to rough, and
    the rougher the smaller: with an ordinary ridge on all columns rough curves cost more. Beyond the outer knots every
    curve is a straight line. Other features stay as they are.

    Used with ``groups_``, at most k groups is at most k features, each with a smooth effect. For a model that does all
    of it, and chooses knots inside the folds of a cross-validation, see :class:`pursuit.SparseAdditiveRegressor`.

    Parameters
    ----------
    effects : "smooth", "linear" or dict, default "smooth"
        The kind of every feature's effect, or a dict from columns (names or indices) to "smooth", "linear",
        "increasing" or "decreasing"; features that it does not name are "smooth". Columns of a monotone effect are
        such that non-negative coefficients give a curve that rises (falls) everywhere.
    n_knots : int or None, default None
        Knots of a curve, from 3 to 7. None: 5, and 3 below 200 rows. They lie at quantiles of the training rows.

    Attributes
    ----------
    groups_ : ndarray of shape (n_columns,)
        The feature, by its number, that every column of the result belongs to.
    basis_ : AdditiveBasis
        Knots and matrices of every feature.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of str
        Their names, where X has some.

    See Also
    --------
    SparseAdditiveRegressor, SparseAdditiveClassifier : at most k features with such effects.

    Notes
    -----
    The natural cubic splines are those of Hastie, Tibshirani and Friedman, The Elements of Statistical Learning,
    section 5.2.1. The columns that bend diagonalise the roughness, the integral of the squared second derivative.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from pursuit import SmoothEffects
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> effects = SmoothEffects().fit(X[["age", "sex"]])
    >>> effects.get_feature_names_out().tolist()
    ['age', 'age:2', 'age:3', 'age:4', 'sex']
    >>> effects.groups_.tolist()
    [0, 0, 0, 0, 1]

    The best additive model with three features, and the proof of it:

    >>> import pursuit
    >>> effects = SmoothEffects().fit(X)
    >>> f = pursuit.GLM(effects.transform(X), y, l2=0.02)
    >>> result = pursuit.solve(f, 3, groups=effects.groups_)
    >>> pursuit.certify(f, result, time_limit=10).status
    'proved'
    """

    effects: str | Mapping[str | int, str] = "smooth"
    _: KW_ONLY
    n_knots: int | None = None

    def fit(self, X: MatrixLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> "SmoothEffects":
        """Place the knots.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features), a Dask collection, InParts, or a path to data
            The training rows. Of rows that are not in memory, or in parts, knots come from at most 65,536, drawn at
            random; means and scales from all of them.
        y : None
            Not used.
        sample_weight : array of shape (n_samples,), optional
            Rows of weight zero have no effect, and a row of weight 2 counts twice. Parts bring their own.

        Returns
        -------
        SmoothEffects
            Itself.

        Examples
        --------
        >>> import numpy as np
        >>> from pursuit import SmoothEffects
        >>> SmoothEffects().fit(np.linspace(0, 1, 300)[:, None]).groups_.tolist()
        [0, 0, 0, 0]
        """
        source = _as_source(X)
        if source is None:
            A: Matrix = validate_dense(self, X)
            source = Arrays(A, np.zeros(len(A)), names=_names(self))
        else:
            refuse_beside_source(sample_weight)
            check_source_columns(self, source, reset=True)
            sample_weight = source.weights()
        weights = None if sample_weight is None else check_weights(sample_weight, source.shape[0])
        n = float(source.shape[0] if weights is None else rows_that_count(sample_weight, weights).sum())
        names = _names(self)
        training = TrainingColumns(source.bound(Squared()), weights, names)
        kinds = column_kinds(self.effects, training.count_values, source.shape[1], names)
        basis = training.fit(weights, kinds, knots_for(self.n_knots, n))
        self.basis_ = AdditiveBasis(tuple(_as_it_is(column) for column in basis.columns))
        self.groups_ = self.basis_.feature_of
        return self

    def transform(self, X: MatrixLike) -> "Matrix | Source | DaskArray":
        """Evaluate the columns.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features), a Dask collection, InParts, or a path to data
            Any rows.

        Returns
        -------
        ndarray of shape (n_samples, n_columns), a Dask array, or data in parts
            The columns of the features, side by side; of data in parts and on disk they are computed when they are
            needed.

        Examples
        --------
        >>> import numpy as np
        >>> from pursuit import SmoothEffects
        >>> X = np.linspace(0, 1, 300)[:, None]
        >>> SmoothEffects().fit(X).transform(X).shape
        (300, 4)
        """
        check_is_fitted(self)
        X = opened(X)
        if isinstance(X, Source):
            check_source_columns(self, X, reset=False)
            return X.in_basis(self.basis_, tuple(self.get_feature_names_out()))
        if is_dask(X):
            return transform_by_block(self.transform, X, self.basis_.width)
        A: Matrix = validate_dense(self, X, reset=False)
        return self.basis_.evaluate(lambda j: A[:, j], len(A))

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> Array:
        """Name the columns: ``age``, ``age:2``, ...

        Parameters
        ----------
        input_features : array of str, optional
            Names of the features where X had none.

        Returns
        -------
        ndarray of str
            One name per column.

        Examples
        --------
        >>> import numpy as np
        >>> from pursuit import SmoothEffects
        >>> effects = SmoothEffects().fit(np.linspace(0, 1, 300)[:, None])
        >>> effects.get_feature_names_out(["age"]).tolist()
        ['age', 'age:2', 'age:3', 'age:4']
        """
        check_is_fitted(self)
        names = OneToOneFeatureMixin.get_feature_names_out(self, input_features)
        return np.asarray(self.basis_.names([str(name) for name in names]), dtype=object)

    def __sklearn_tags__(self) -> "Tags":
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags


def _as_it_is(column: ColumnBasis) -> ColumnBasis:
    """The column of a feature without a curve is the feature, and not in units of its own."""
    return replace(column, center=0.0, scale=1.0) if column.kind == "linear" else column


def _names(effects: SmoothEffects) -> tuple[str, ...] | None:
    """Names of the features, where X had some."""
    names = getattr(effects, "feature_names_in_", None)
    return None if names is None else tuple(map(str, names))


def _as_source(X: MatrixLike) -> Source | None:
    """Rows that are not an array, with targets of which no use is made; None: X is one."""
    if is_dask(X):
        collection: Any = X
        return from_dask(X, collection.iloc[:, 0] if hasattr(X, "iloc") else collection[:, 0])  # any numbers will do
    X = opened(X)
    if not isinstance(X, InParts):
        return X if isinstance(X, Source) else None
    return X.without_targets()
