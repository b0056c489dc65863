"""``SmoothEffects``: a scikit-learn transformer that gives every numeric feature a smooth curve."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..._utils.docs import DocLink
from ..._utils.types import Array, ArrayLike, Matrix, MatrixLike
from ..._utils.validation import check_weights
from ...effects import AdditiveBasis, column_kinds, fit_basis, knots_for
from ...selection import rows_that_count
from ..inputs import validate_dense

if TYPE_CHECKING:
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
        X : array or data frame of shape (n_samples, n_features)
            The training rows.
        y : None
            Not used.
        sample_weight : array of shape (n_samples,), optional
            Rows of weight zero have no effect, and a row of weight 2 counts twice.

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
        A: Matrix = validate_dense(self, X)
        weights = None if sample_weight is None else check_weights(sample_weight, len(A))
        n = float(len(A) if weights is None else rows_that_count(sample_weight, weights).sum())
        names = getattr(self, "feature_names_in_", None)

        def read(j: int) -> Array:
            return A[:, j]

        kinds = column_kinds(self.effects, read, A.shape[1], weights, names)
        self.basis_: AdditiveBasis = fit_basis(read, weights, kinds, knots_for(self.n_knots, n))
        self.groups_ = self.basis_.feature_of
        return self

    def transform(self, X: MatrixLike) -> Matrix:
        """Evaluate the columns.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Any rows.

        Returns
        -------
        ndarray of shape (n_samples, n_columns)
            The columns of the features, side by side.

        Examples
        --------
        >>> import numpy as np
        >>> from pursuit import SmoothEffects
        >>> X = np.linspace(0, 1, 300)[:, None]
        >>> SmoothEffects().fit(X).transform(X).shape
        (300, 4)
        """
        check_is_fitted(self)
        A: Matrix = validate_dense(self, X, reset=False)
        out = self.basis_.evaluate(lambda j: A[:, j], len(A))
        for j, column in enumerate(self.basis_.columns):
            if column.kind == "linear":
                out[:, self.basis_.starts[j]] = A[:, j]
        return out

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
