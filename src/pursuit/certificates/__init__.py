"""How far a solution is from the best possible one: bounds, safe fixing, proofs."""

from .api import certify
from .certificate import Certificate
from .subsets import best_subsets

__all__ = ["Certificate", "best_subsets", "certify"]
