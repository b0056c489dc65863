"""Effects of single features: splines, and the columns that stand for them."""

from .basis import FEW_ROWS, AdditiveBasis, basis_changes, column_kinds, fit_basis, knots_for
from .effect import Effect, split_effects
from .splines import ColumnBasis, column_from_json, fit_column

__all__ = [
    "FEW_ROWS",
    "AdditiveBasis",
    "ColumnBasis",
    "Effect",
    "basis_changes",
    "column_from_json",
    "column_kinds",
    "fit_basis",
    "fit_column",
    "knots_for",
    "split_effects",
]
