"""scikit-learn's face: predictors that are selectors too, and graphs."""

from .classifier import SparseClassifier
from .cv import SparseClassifierCV, SparseRegressorCV
from .lda import SparseLDA
from .precision import SparsePrecision
from .precision_cv import SparsePrecisionCV
from .regressor import SparseRegressor

__all__ = [
    "SparseClassifier",
    "SparseClassifierCV",
    "SparseLDA",
    "SparsePrecision",
    "SparsePrecisionCV",
    "SparseRegressor",
    "SparseRegressorCV",
]
