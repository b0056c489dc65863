"""The K-sparse vectors nearest to a dense one in a metric G, by backward elimination.

    x, P = b, G^-1;  drop the unit I of least  x_I' (P_II)^-1 x_I,  the rise of the distance, and
    x <- x - P_.I (P_II)^-1 x_I,      P <- P - P_.I (P_II)^-1 P_I.

x stays the nearest point to b on what is left, so no y is needed. With several outputs every one has its own x and
the distances are added. O(m^2) a step.
"""

from collections.abc import Sequence

import numpy as np

from .._types import Columns, Matrix, Vector


def project(b: Matrix, G: Matrix, sizes: Sequence[int], unit: Columns, kept: Columns) -> Vector:
    """For every size (a number of units) the projection of b, m x outputs: an array sizes x m x outputs.

    ``unit`` says to which unit, from 0 up, each of the m coordinates belongs; those of ``kept`` are never dropped.
    """
    out = np.zeros((len(sizes), *b.shape))
    wanted = {size: i for i, size in enumerate(sizes)}
    left, x = np.arange(len(b)), b.copy()
    P: Matrix = np.asarray(np.linalg.inv(G), dtype=np.float64)
    units = np.unique(unit)
    single = len(units) == len(unit)
    for size in range(len(units), -1, -1):
        if size in wanted:
            out[wanted[size], left] = x
        if size == 0 or size <= len(kept):
            break
        worst = _cheapest(x, P, unit[left], kept, single)
        go = np.flatnonzero(unit[left] == worst) if not single else np.array([worst])
        stay = np.delete(np.arange(len(left)), go)
        move = (
            np.linalg.solve(P[np.ix_(go, go)], np.column_stack([x[go], P[np.ix_(go, stay)]]))
            if not single
            else (np.column_stack([x[go], P[go][:, stay]]) / P[worst, worst])
        )
        side = P[np.ix_(stay, go)]
        x = x[stay] - side @ move[:, : x.shape[1]]
        P = P[np.ix_(stay, stay)] - side @ move[:, x.shape[1] :]
        left = left[stay]
    largest = [i for size, i in wanted.items() if size > len(units)]
    if largest:
        out[largest] = b
    return out


def _cheapest(x: Matrix, P: Matrix, unit: Columns, kept: Columns, single: bool) -> int:
    """The unit (where units are single coordinates: the position) that costs least to drop."""
    if single:
        cost = (x**2).sum(axis=1) / P.diagonal()
        cost[np.isin(unit, kept)] = np.inf
        return int(np.argmin(cost))
    best, least = -1, np.inf
    for u in np.unique(unit):
        own = np.flatnonzero(unit == u)
        cost = np.inf if u in kept else float((x[own] * np.linalg.solve(P[np.ix_(own, own)], x[own])).sum())
        if cost < least:
            best, least = int(u), cost
    return best
