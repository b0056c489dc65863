"""The choice of k and of the ridge: cross-validation, information criteria, model averaging and projection."""

from .choose import Chosen, as_path, by_validation
from .criteria import CRITERIA, by_criterion
from .grid import Grid, largest, make_grid
from .models import Models
from .problem import Problem, rows_that_count
from .splits import Fold, check_classes, check_two_classes, folds, splits

__all__ = [
    "CRITERIA",
    "Chosen",
    "Fold",
    "Grid",
    "Models",
    "Problem",
    "as_path",
    "by_criterion",
    "by_validation",
    "check_classes",
    "check_two_classes",
    "folds",
    "largest",
    "make_grid",
    "rows_that_count",
    "splits",
]
