"""Rows stay home: X, y, weights, offset and loss behind one object that answers questions at k-sparse points.

Answers are numbers, vectors over the columns and small matrices; those of disjoint rows add up (:class:`Parts`).
"""

from .answers import Answer, Moments, QuadraticForm
from .dask import by_partition, from_dask, placed
from .gram import GramColumns
from .hessian import Model
from .parts import Parts
from .rows import Data
from .sources import InParts, Source, as_data, is_dask

__all__ = [
    "Answer",
    "Data",
    "GramColumns",
    "InParts",
    "Model",
    "Moments",
    "Parts",
    "QuadraticForm",
    "Source",
    "as_data",
    "by_partition",
    "from_dask",
    "is_dask",
    "placed",
]  # fmt: skip
