"""Values on sets of units, each refitted once for all nodes of a tree and for all sizes of a path."""

import threading
from collections.abc import Sequence

import numpy as np

from ..constraints import AtMost
from ..objectives.glm import GLM


class SubsetRefits:
    """The value on a set of units, and a lower bound of it; one refit at a time, since a GLM caches what it gathers.

    Where a refit of m columns needs more than ``max_work`` = n m^2 multiplications the value is unknown (inf) and the
    bound is the loss's own; so too where it is of no use, since without a ridge more columns than rows fit exactly. A
    solution (of at most k columns) is refitted all the same: it may be one of several to be listed.
    """

    def __init__(self, f: GLM, constraint: AtMost, max_work: float = np.inf) -> None:
        self._f, self._constraint, self._max_work = f, constraint, max_work
        self._cache: dict[tuple[int, ...], tuple[float, float]] = {}
        self._lock = threading.Lock()

    def __call__(self, units: Sequence[int]) -> tuple[float, float]:
        key = tuple(sorted(int(u) for u in units))
        if key not in self._cache:
            n, m = self._f.data.shape[0], len(key)
            fits_exactly = m > max(n, self._constraint.k) and not np.any(self._f.ridge)
            if fits_exactly or n * m**2 > self._max_work:
                return np.inf, self._f.lower
            self._cache[key] = self._refit(key)
        return self._cache[key]

    def lower_bound(self, units: Sequence[int]) -> float:
        """That of any set, however large, not cached."""
        return self._refit(units)[1]

    def _refit(self, units: Sequence[int]) -> tuple[float, float]:
        with self._lock:
            point = self._f.refit_on_data(self._constraint.columns_of(np.asarray(units, dtype=np.int64)))
        return point.value, max(point.lower_bound, self._f.lower)
