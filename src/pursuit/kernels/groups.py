"""Supports of every number of groups for a quadratic, in one kernel call (core/group_path.hpp)."""

from collections.abc import Callable, Iterable

import numpy as np

from .. import _core
from .._utils.types import Columns, Matrix, Vector
from ..constraints import AtMost


def group_supports(
    H: Matrix,
    g: Vector,
    constraint: AtMost,
    start: Columns,
    wanted: Iterable[int],
    tolerance: float,
    stop: Callable[[], bool] | None,
) -> dict[int, Columns]:
    """The columns of the best supports of x'Hx/2 - g'x, by size, from the units ``start`` to ``constraint.k`` of them.

    Every size on the way is passed through; at the sizes that are ``wanted`` exchanges of one group are made until
    none helps by more than ``tolerance``. H must be positive definite.
    """
    cols, starts = constraint.ordered(np.arange(constraint.units))
    masks = np.zeros((2, constraint.units), np.uint8)
    masks[0, constraint.include] = 1
    masks[1, constraint.allowed] = 1
    flags = np.zeros(constraint.k + 1, np.uint8)
    flags[[size for size in wanted if size <= constraint.k]] = 1
    H = np.ascontiguousarray(H[np.ix_(cols, cols)])
    supports, _, error = _core.group_path(
        H,
        np.ascontiguousarray(g[cols]),
        starts.astype(np.int64),
        masks[0],
        masks[1],
        start.astype(np.int64),
        flags,
        tolerance,
        stop,
    )
    if error is not None:
        raise error
    return {size: constraint.columns_of(units) for size, units in enumerate(supports) if units is not None}
