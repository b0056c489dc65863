"""The few columns that a refit or a Gram block needs, gathered, and kept until others are asked for."""

import numpy as np

from ..designs import Block, DenseBlock, Design
from ..refits import Stored
from .base import Columns, Vector


class Gathered:
    """Columns of a design; those of the last gather are reused.

    With an intercept, columns whose mean is far larger than their spread (timestamps, prices, identifiers) come with
    ``origin`` taken off: that changes the intercept only, and keeps the digits.
    """

    def __init__(self, design: Design, intercept: bool) -> None:
        self.design = design
        self.origin: Vector | None = design.origin() if intercept else None
        self.last: tuple[Columns, Block | None] = (np.empty(0, np.int64), None)

    def __call__(self, cols: Columns) -> Block:
        before, old = self.last
        if not (isinstance(old, DenseBlock) and self.design.full):
            block = self._fresh(cols)
        else:
            at = before.searchsorted(cols)  # an unsorted gather (a Gram block) only finds less to reuse
            at[at == len(before)] = 0
            here = before[at] == cols if len(before) else np.zeros(len(cols), bool)
            A = np.empty((self.design.shape[0], len(cols)), order="F")
            A.T[here] = old.A.T[at[here]]
            A.T[~here] = self._fresh(cols[~here]).dense().T
            block = DenseBlock(A)
        self.last = (cols, block)
        return block

    def _fresh(self, cols: Columns) -> Block:
        block = self.design.block(cols)
        if self.origin is not None and isinstance(block, DenseBlock) and self.origin[cols].any():
            A = block.A
            A -= self.origin[cols]  # a copy, made for us
        return block

    def shift(self, cols: Columns, coef: Vector) -> float:
        """What the intercept of these columns has more than that of the design's."""
        return 0.0 if self.origin is None else float(self.origin[cols] @ coef)

    def stored(self, cols: Columns) -> Stored:
        """The columns as the user stored them."""
        A, m, s = self.design.stored(cols)
        return Stored(A, m if self.origin is None else m + s * self.origin[cols], s)
