"""The minimiser of tr(R W) - log det W over positive definite W on a graph: covariance selection (Dempster 1972).

    minimise  tr(R W) - log det W + l1 sum_{i != j} |W_ij|,   W_ij = 0 off the graph and the diagonal

R has a unit diagonal. The kernel (core/graph_fit.hpp) ascends in the dual, node by node: O(p |E|) a sweep. At the
minimiser of l1 = 0 the inverse of W is R on the graph, which is checked to ``AGREES``.
"""

from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._utils.types import Columns, Matrix, Vector
from ..engines import check_time, late
from .graph_admm import graph_admm

TIGHT = 1e-9  # disagreement between the two rows of W that know an entry, at which a refit ends
AGREES = 1e-8  # how far W^-1 may be from R on the edges
PATIENCE = 6  # shrinkage is followed down to 30 to this power before a graph counts as one without an optimum


class GraphFit(NamedTuple):
    """W on a graph: ``w`` on the edges (i < j, sorted), ``d`` on the diagonal, its inverse and the value.

    ``gap`` is how far the inverse is from R on the edges (after a rough fit, or with l1: how far the rows of W are from
    agreeing).
    """

    edges: Columns
    w: Vector
    d: Vector
    Sigma: Vector
    value: float
    gap: float

    @property
    def W(self) -> Vector:
        """The matrix itself."""
        W = np.diag(self.d)
        i, j = self.edges.T
        W[i, j] = W[j, i] = self.w
        return W


def graph_refit(
    R: Vector, edges: Columns, *, l1: float = 0.0, start: Vector | None = None, tol: float = TIGHT
) -> GraphFit | None:
    """The minimiser on a graph; None where it has none (which with ``l1`` cannot be).

    ``start`` is the inverse of W on a graph like this one. Past the deadline of the run it raises, as every refit does.
    """
    numbers = codes(edges, len(R))
    found, trouble = _core.graph_refit(as_matrix(R), numbers, l1, start, tol, PATIENCE, late)
    if trouble is not None:
        raise trouble
    if found is None:
        check_time()
        return _penalised(R, np.asarray(edges, np.int64).reshape(-1, 2), l1) if l1 else None
    return unpacked(found, len(R))


def _penalised(R: Vector, edges: Columns, l1: float) -> GraphFit:
    """The same by the ADMM, where R is so close to singular that sweeps lose their way."""
    W, value, residual, _ = graph_admm(R, edges, l1=l1, max_iter=int(min(5000, max(200, 1e9 / len(R) ** 3))))
    i, j = edges.T
    return GraphFit(edges, W[i, j], W.diagonal().copy(), np.asarray(np.linalg.inv(W), np.float64), value, residual)


def unpacked(found: Any, p: int) -> GraphFit:
    """What a kernel gives, with edges as pairs."""
    numbers, *rest = found
    return GraphFit(pairs(numbers, p), *rest)


def codes(edges: Columns, p: int) -> Columns:
    """Edges (i < j) as sorted numbers i p + j."""
    edges = np.asarray(edges, np.int64).reshape(-1, 2)
    return np.sort(edges[:, 0] * p + edges[:, 1])


def pairs(numbers: Columns, p: int) -> Columns:
    """The same as pairs, a row each."""
    return np.stack(np.divmod(numbers, p), axis=1)


def as_matrix(R: Matrix) -> Vector:
    return np.ascontiguousarray(R, dtype=np.float64)
