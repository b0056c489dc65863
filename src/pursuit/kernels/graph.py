"""Searches for graphs of so many edges, in one kernel call (core/graph_search.hpp).

Grow in batches of a tenth by the gain at a node, exchange edges in batches while that lowers the value, then once more
with the costs of dropping taken for 0.7 of their bounds. Cost at p nodes, m edges of mean degree d: a look at all
exchanges O(p^2 d^2), a rough refit some sweeps of O(p m).
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._utils.types import Columns, Flags, Vector
from ..engines import late
from ..refits.graph import ROW_TOLERANCE, GraphFit, as_matrix, codes, pairs, unpacked

NO_EDGES = np.empty((0, 2), np.int64)


class GraphPath(NamedTuple):
    """Fits by size, as far as it came; whether ``reached`` stopped it, and what was raised meanwhile."""

    fits: list[GraphFit]
    stopped: bool
    trouble: BaseException | None


def graph_path(
    R: Vector,
    sizes: Sequence[int],
    *,
    include: Columns = NO_EDGES,
    forbidden: Flags | None = None,
    thorough: bool = False,
    should_stop: Callable[[], bool] | None = late,
    tol: float = ROW_TOLERANCE,
) -> list[GraphFit]:
    """The best graph found of every size (sorted), each from the one before; ``forbidden`` is a p x p mask.

    A fit has fewer edges than requested where no further one adds anything or leaves an optimum.
    """
    grown = search_graphs(
        R, sizes, include=include, forbidden=forbidden, thorough=thorough, should_stop=should_stop, tol=tol
    )
    if grown.trouble is not None:
        raise grown.trouble
    return grown.fits


def search_graphs(
    R: Vector,
    sizes: Sequence[int],
    *,
    include: Columns = NO_EDGES,
    start: Columns | None = None,
    forbidden: Flags | None = None,
    thorough: bool = False,
    should_stop: Callable[[], bool] | None = late,
    reached: Callable[[int, float], bool] | None = None,
    tol: float = ROW_TOLERANCE,
) -> GraphPath:
    """:func:`graph_path` from a given graph (``start``), with the exception that stopped it."""
    p = len(R)
    first = include if start is None else start
    found, stopped, trouble = _core.graph_path(
        as_matrix(R),
        np.asarray(sizes, np.int64),
        codes(include, p),
        codes(first, p),
        forbidden_mask(forbidden, p),
        thorough,
        tol,
        should_stop,
        reached,
    )
    return GraphPath([unpacked(fit, p) for fit in found], stopped, trouble)


class GraphExchanges(NamedTuple):
    """Exchanges (place of the edge that leaves, pair that enters, change), and bounds of what dropping edges costs."""

    leave: Columns
    enter: Columns
    change: Vector
    cost: Vector


def ranked_exchanges(R: Vector, fit: GraphFit, include: Columns, forbidden: Flags | None, most: int) -> GraphExchanges:
    """The exchanges at a fit that its bounds rank first."""
    p = len(R)
    (leave, enter, change), cost = _core.graph_moves(
        as_matrix(R),
        codes(fit.edges, p),
        fit.w,
        fit.d,
        fit.Sigma,
        codes(include, p),
        forbidden_mask(forbidden, p),
        most,
    )
    return GraphExchanges(leave, pairs(enter, p), change, cost)


class OpenExchanges(NamedTuple):
    """Exchanges that no bound excludes; how many were looked at, and whether that was all there are."""

    leave: Columns
    enter: Columns
    n_checked: int
    whole: bool


def open_exchanges(
    R: Vector, fit: GraphFit, include: Columns, forbidden: Flags | None, least: float, sweeps: int, most: int
) -> OpenExchanges:
    """Exchanges that may lower the value below ``least``.

    The four-node bound comes first (docs/graphs.md), then for at most ``most`` exchanges ``sweeps`` sweeps of the dual.
    """
    p = len(R)
    (leave, enter, _), n_checked, whole, trouble = _core.graph_open(
        as_matrix(R),
        codes(fit.edges, p),
        fit.w,
        fit.d,
        fit.Sigma,
        codes(include, p),
        forbidden_mask(forbidden, p),
        least,
        sweeps,
        most,
        late,
    )
    if trouble is not None:
        raise trouble
    return OpenExchanges(leave, pairs(enter, p), n_checked, whole)


def forbidden_mask(forbidden: Any, p: int) -> Any:
    """Pairs that may not be edges, as the kernels take them."""
    return np.zeros((p, p), np.uint8) if forbidden is None else np.ascontiguousarray(forbidden).astype(np.uint8)
