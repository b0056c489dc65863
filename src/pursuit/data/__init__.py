"""Rows stay home: X, y, weights, offset and loss behind one object that answers questions at k-sparse points.

Answers are numbers, vectors over the columns and small matrices; those of disjoint rows add up (:class:`Parts`).
"""

from .base import Answer, Data, Form, Model, Spread
from .gram import GramColumns
from .make import InParts, as_data
from .parts import Parts
from .samples import Samples

__all__ = ["Answer", "Data", "Form", "GramColumns", "InParts", "Model", "Parts", "Samples", "Spread", "as_data"]
