"""What the proof of one size leaves to that of the next: along a path nothing is computed twice.

| kept | serves |
|---|---|
| the root after its first round: Gram matrix with borrowed curvature, or all columns | as it is, with another k |
| where its relaxation came to, and the curvature that was met | as the start of the next one |
| the working set of a wide problem, and x on it | the same |
| the dual variables a of the best bound, and z(a) | D(a) is a bound for every k, at the cost of a sort |
| refits of supports that were met (with the root) | the same |
"""

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
