"""Data access layer: X, y, weights, offset and loss behind one object, :class:`Data`, evaluated at k-sparse points.

Everything it returns is a number, a vector over the columns or a small matrix; those of disjoint rows add up, so that
rows may be split into :class:`Parts`.
"""

from .answers import Answer, Moments, QuadraticForm
from .dask import by_partition, from_dask, placed
from .gram import GramColumns
from .hessian import Model
from .parts import Parts
from .rows import Data
from .sources import Arrays, InParts, Source, as_data, is_dask

__all__ = [
    "Answer",
    "Arrays",
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
]
