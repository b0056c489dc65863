"""The few columns that a refit or a Gram block needs, gathered, and kept until others are asked for.

A column of an operator costs a product: where many are missing, a refit makes do with products (``few``).
"""

import numpy as np

from .._sorted import without
from ..designs import Block, DenseBlock, Design, ProductBlock
from .base import Columns

ASKED = 32  # columns that are gathered by a product each; conjugate gradients seldom end with fewer


class Gathered:
    """Columns of a design; those of the last gather are reused."""

    def __init__(self, design: Design) -> None:
        self.design = design
        self.last: tuple[Columns, Block | None] = (np.empty(0, np.int64), None)

    def __call__(self, cols: Columns) -> Block:
        before, old = self.last
        if old is not None and np.array_equal(before, cols):
            return old
        if len(cols) == 0:  # nothing is no reason to forget
            return DenseBlock(np.empty((self.design.shape[0], 0), order="F"))
        if not (isinstance(old, DenseBlock) and self.design.full):
            block = self.design.block(cols)
        else:
            at = before.searchsorted(cols)  # an unsorted gather (a Gram block) only finds less to reuse
            at[at == len(before)] = 0
            here = before[at] == cols if len(before) else np.zeros(len(cols), bool)
            A = np.empty((self.design.shape[0], len(cols)), order="F")
            A.T[here] = old.A.T[at[here]]
            A.T[~here] = self.design.block(cols[~here]).dense().T
            block = DenseBlock(A)
        self.last = (cols, block)
        return block

    def few(self, cols: Columns) -> Block:
        """The columns for a refit: gathered, or left where they are if that takes fewer products."""
        before = self.last[0] if isinstance(self.last[1], DenseBlock) else self.last[0][:0]
        if self.design.lean and len(without(cols, before)) > ASKED:
            return ProductBlock(self.design, cols)
        return self(cols)
