"""Additive models: at most k features, each with an effect of its own."""

from .estimators import SparseAdditiveClassifier, SparseAdditiveRegressor
from .smooth_effects import SmoothEffects

__all__ = ["SmoothEffects", "SparseAdditiveClassifier", "SparseAdditiveRegressor"]
