"""The quantities in which the papers speak, what their theorems say about one problem, and measures of recovery."""

from .curvature import Bracket, Curvature, curvature
from .recovery import exact_recovery, relative_error, relaxed_recovery, support_f1, support_mcc
from .theorems import Statement, Theorems, theorems

__all__ = [
    "Bracket", "Curvature", "Statement", "Theorems", "curvature", "exact_recovery", "relative_error",
    "relaxed_recovery", "support_f1", "support_mcc", "theorems",
]  # fmt: skip
