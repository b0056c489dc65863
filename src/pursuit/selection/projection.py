"""The K-sparse vectors nearest to a dense one in a metric G, by backward elimination.

    x, P = b, G^-1;  drop the unit I of least  x_I' (P_II)^-1 x_I,  the rise of the distance, and
    x <- x - P_.I (P_II)^-1 x_I,      P <- P - P_.I (P_II)^-1 P_I.

x stays the nearest point to b on what is left, so no y is needed. With several outputs every one has its own x and
the distances are added. O(m^2) a step.
"""

from collections.abc import Sequence

import numpy as np
from scipy.linalg.blas import dger

from .._utils.types import Columns, Flags, Matrix, Vector


def project(b: Matrix, G: Matrix, sizes: Sequence[int], unit: Columns, kept: Columns) -> Vector:
    """For every size (a number of units) the projection of b, m x outputs: an array sizes x m x outputs.

    ``unit`` says to which unit, from 0 up, each of the m coordinates belongs; those of ``kept`` are never dropped.
    """
    units = np.unique(unit)
    if len(units) == len(unit):
        return _singly(b, G, sizes, np.isin(unit, kept))
    out = np.zeros((len(sizes), *b.shape))
    wanted = {size: i for i, size in enumerate(sizes)}
    left, x = np.arange(len(b)), b.copy()
    P: Matrix = np.asarray(np.linalg.inv(G), dtype=np.float64)
    for size in range(len(units), -1, -1):
        if size in wanted:
            out[wanted[size], left] = x
        if size <= len(kept):
            break
        go = unit[left] == _cheapest(x, P, unit[left], kept)
        side = P[~go][:, go]
        move = np.linalg.solve(P[go][:, go], np.column_stack([x[go], side.T]))
        x = x[~go] - side @ move[:, : b.shape[1]]
        P = P[~go][:, ~go] - side @ move[:, b.shape[1] :]
        left = left[~go]
    return _filled(out, b, sizes, len(units))


def _cheapest(x: Matrix, P: Matrix, unit: Columns, kept: Columns) -> int:
    """The unit that costs least to drop."""
    best, least = -1, np.inf
    for u in np.unique(unit):
        own = unit == u
        cost = np.inf if u in kept else float((x[own] * np.linalg.solve(P[own][:, own], x[own])).sum())
        if cost < least:
            best, least = int(u), cost
    return best


def _singly(b: Matrix, G: Matrix, sizes: Sequence[int], kept: Flags) -> Vector:
    """The same where every unit is one coordinate: rank-one updates in place, of what is left whenever that halves."""
    out = np.zeros((len(sizes), *b.shape))
    wanted = {size: i for i, size in enumerate(sizes)}
    left, x, least = np.arange(len(b)), b.copy(), int(kept.sum())
    P = np.asfortranarray(np.linalg.inv(G), dtype=np.float64)
    diagonal = P.diagonal()  # a view, which follows P
    stays, gone, many = kept.copy(), np.zeros(len(b), bool), 0
    with np.errstate(all="ignore"):
        for size in range(len(b), -1, -1):
            if size in wanted:
                out[wanted[size], left[~gone]] = x[~gone]  # elsewhere rounding is left
            if size <= least:
                break
            cost = (x * x).sum(axis=1) / diagonal if x.shape[1] > 1 else x[:, 0] ** 2 / diagonal
            cost[stays] = np.inf
            j = int(cost.argmin())
            pivot = P[j, j]
            side = P[:, j] / pivot
            x -= side[:, None] * x[j]
            dger(-pivot, side, side, a=P, overwrite_a=1)
            gone[j] = stays[j] = True
            many += 1
            if 2 * many > len(left):
                rest = ~gone
                left, x, P, stays = left[rest], x[rest], np.asfortranarray(P[rest][:, rest]), stays[rest]
                diagonal, gone, many = P.diagonal(), np.zeros(len(left), bool), 0
    return _filled(out, b, sizes, len(b))


def _filled(out: Vector, b: Matrix, sizes: Sequence[int], units: int) -> Vector:
    """Sizes beyond what there is have all of it."""
    for i, size in enumerate(sizes):
        if size > units:
            out[i] = b
    return out
