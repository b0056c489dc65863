"""Effects of single features: splines, and the columns that stand for them."""

from .basis import FEW_ROWS, AdditiveBasis, basis_changes, column_kinds, count_values, fit_basis, knots_for
from .effect import Effect, split_effects
from .sampled import basis_sums, choose_sample, column_ranges, correct_basis, merge_ranges
from .splines import ColumnBasis, column_from_json, fit_column

__all__ = [
    "FEW_ROWS",
    "AdditiveBasis",
    "ColumnBasis",
    "Effect",
    "basis_changes",
    "basis_sums",
    "choose_sample",
    "column_from_json",
    "column_kinds",
    "column_ranges",
    "correct_basis",
    "count_values",
    "fit_basis",
    "fit_column",
    "knots_for",
    "merge_ranges",
    "split_effects",
]
