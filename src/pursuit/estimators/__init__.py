"""scikit-learn's face: predictors that are selectors too."""

from .classifier import SparseClassifier
from .cv import SparseClassifierCV, SparseRegressorCV
from .regressor import SparseRegressor

__all__ = ["SparseClassifier", "SparseClassifierCV", "SparseRegressor", "SparseRegressorCV"]
