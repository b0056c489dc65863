"""The quantities in which the papers speak, what their theorems say about one problem, and measures of recovery."""

from .api import Statement, Theorems, theorems
from .recovery import exact_recovery, relative_error, relaxed_recovery, support_f1, support_mcc
from .restricted_curvature import Bracket, Curvature, curvature

__all__ = [
    "Bracket",
    "Curvature",
    "Statement",
    "Theorems",
    "curvature",
    "exact_recovery",
    "relative_error",
    "relaxed_recovery",
    "support_f1",
    "support_mcc",
    "theorems",
]
