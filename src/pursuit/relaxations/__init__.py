"""The perspective relaxation of a k-sparse GLM with a ridge: lower bounds for certificates and for dual solvers."""

from .perspective import Bound, GLMPart, Units
from .working_columns import WorkingColumns, working_set

__all__ = ["Bound", "GLMPart", "Units", "WorkingColumns", "working_set"]
