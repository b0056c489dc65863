"""scikit-learn estimators: sparse regression, classification and graphs."""

from .additive import SmoothEffects, SparseAdditiveClassifier, SparseAdditiveRegressor
from .classifier import SparseClassifier
from .cv import SparseClassifierCV, SparseRegressorCV
from .graph.lda import SparseLDA
from .graph.precision import SparsePrecision
from .graph.precision_cv import SparsePrecisionCV
from .regressor import SparseRegressor

__all__ = [
    "SmoothEffects",
    "SparseAdditiveClassifier",
    "SparseAdditiveRegressor",
    "SparseClassifier",
    "SparseClassifierCV",
    "SparseLDA",
    "SparsePrecision",
    "SparsePrecisionCV",
    "SparseRegressor",
    "SparseRegressorCV",
]
