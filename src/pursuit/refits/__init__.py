"""Minimisers over few variables: one ``minimise``, and what a GLM on a few gathered columns adds to it."""

from .basis import Basis, Stored, basis, least_norm
from .columns import Columns, Fitted, best_intercept, refit
from .few import Few, Fit, State, Within
from .minimise import EPS, NotFiniteError, minimise

__all__ = [
    "EPS",
    "Basis",
    "Columns",
    "Few",
    "Fit",
    "Fitted",
    "NotFiniteError",
    "State",
    "Stored",
    "Within",
    "basis",
    "best_intercept",
    "least_norm",
    "minimise",
    "refit",
]
