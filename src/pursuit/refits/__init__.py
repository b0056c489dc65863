"""Refits: minimisation of a smooth function of few variables, such as the loss on the columns of a support."""

from .basis import Basis, Stored, basis, least_norm
from .columns import Fitted, LossOnColumns
from .columns_in_parts import ColumnsInParts
from .graph_admm import BoundedGraphFit, eigenvalue_bounds, graph_admm
from .methods import best_intercept, intercept_of, refit
from .minimise import NotFiniteError, minimise
from .problem import FeasibleSet, Fit, SmoothProblem, State

__all__ = [
    "Basis",
    "BoundedGraphFit",
    "ColumnsInParts",
    "FeasibleSet",
    "Fit",
    "Fitted",
    "LossOnColumns",
    "NotFiniteError",
    "SmoothProblem",
    "State",
    "Stored",
    "basis",
    "best_intercept",
    "eigenvalue_bounds",
    "graph_admm",
    "intercept_of",
    "least_norm",
    "minimise",
    "refit",
]
