"""The quadratic model of f at a refitted point, as exchanges ask for it."""

from typing import TYPE_CHECKING

import numpy as np

from .base import Columns, Point, Vector

if TYPE_CHECKING:
    from .base import Objective


class Model:
    """H[cols][:, others] and H[cols][:, cols] for the support ``cols`` of a point; others: all columns.

    One question with one answer, so that an objective over a smaller set can give another Hessian than f's.
    """

    def __init__(self, f: "Objective", point: Point, cols: Columns, others: Columns | None = None) -> None:
        self.f, self.point, self.cols = f, point, cols
        self.others = np.arange(f.dim) if others is None else others
        self.rows = f.hessian_rows(point, cols, others)
        if others is None:
            self.small = self.rows[:, cols]
        else:
            self.small = self.rows if others is cols else f.hessian_rows(point, cols, cols)

    def diagonal(self) -> Vector:
        """H_jj of ``others``."""
        return self.f.curvatures(self.point, self.others)

    def block(self, part: slice) -> Vector:
        """H of a part of ``others`` with itself."""
        chunk = self.others[part]
        return self.f.hessian_rows(self.point, chunk, chunk)
