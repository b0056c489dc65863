"""Extreme eigenvalues of a Hessian over sparse directions: estimates from inside, bounds from outside.

| quantity | from inside (a search) | from outside (a proof) |
|---|---|---|
| largest s-sparse eigenvalue | ``largest``: truncated power, then exchanges | ``Outer.largest`` |
| smallest s-sparse eigenvalue | ``smallest``: forward and backward starts, then exchanges | ``Outer.smallest`` |
"""

from .hessian import SparseHessian, hessian_at, hessian_bound
from .inside import SparseEigenvalue, largest, smallest
from .outside import Outer

__all__ = ["Outer", "SparseEigenvalue", "SparseHessian", "hessian_at", "hessian_bound", "largest", "smallest"]
