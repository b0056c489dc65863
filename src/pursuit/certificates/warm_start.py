"""What proofs compute once: refits for all nodes of a tree, and what one size of a path leaves to the next.

| kept | serves |
|---|---|
| the root after its first round: Gram matrix with borrowed curvature, or all columns | as it is, with another k |
| where its relaxation came to, and the curvature that was met | as the start of the next one |
| the working set of a wide problem, and x on it | the same |
| the dual variables a of the best bound, and z(a) | D(a) is a bound for every k, at the cost of a sort |
| refits of supports that were met (with the root) | the same |
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._utils.types import Vector
from ..constraints import AtMost
from ..objectives.glm import GLM

if TYPE_CHECKING:
    from ..relaxations import WorkingColumns


@dataclass
class WarmStart:
    """Of one objective, one set of forced-in and forbidden units, one kind of units."""

    root: Any = None
    block: "WorkingColumns | None" = None
    x: Vector | None = None  # on all columns, of the working set's relaxation
    dual: tuple[Vector, Vector] | None = None

    def bound(self, f: GLM, constraint: AtMost) -> float:
        """D(a) for a sparse set, -inf where there is no a."""
        return -np.inf if self.dual is None else f.dual().value(self.dual[0], constraint, self.dual[1])


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
