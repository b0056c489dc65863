"""What X is. Solvers and objectives never ask which kind they have."""

from .base import Design, MemoryBudget, cross
from .blocks import Block, DenseBlock, ProductBlock, centre
from .dense import Dense
from .make import as_design
from .operator import Operator
from .paged import Paged, PagedBlock
from .rows import Rows
from .sparse import Sparse, SparseBlock
from .spline import Spline, spline_columns
from .standardized import Standardized, between

__all__ = [
    "Block",
    "Dense",
    "DenseBlock",
    "Design",
    "MemoryBudget",
    "Operator",
    "Paged",
    "PagedBlock",
    "ProductBlock",
    "Rows",
    "Sparse",
    "SparseBlock",
    "Spline",
    "Standardized",
    "as_design",
    "between",
    "centre",
    "cross",
    "spline_columns",
]
