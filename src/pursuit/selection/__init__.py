"""Which k, which ridge, and what predicts: cross-validation, criteria, averaging and projection."""

from .choose import Chosen, by_validation
from .criteria import CRITERIA
from .grid import Grid, largest, make_grid
from .models import Models
from .plain import by_criterion
from .problem import Problem, rows_that_count
from .shown import as_path
from .splits import Fold, check_classes, check_two_classes, folds, splits

__all__ = [
    "CRITERIA", "Chosen", "Fold", "Grid", "Models", "Problem", "as_path", "by_criterion", "by_validation",
    "check_classes", "check_two_classes", "folds", "largest", "make_grid", "rows_that_count", "splits",
]  # fmt: skip
