"""scikit-learn's face: predictors that are selectors too."""

from .classifier import SparseClassifier
from .regressor import SparseRegressor

__all__ = ["SparseClassifier", "SparseRegressor"]
