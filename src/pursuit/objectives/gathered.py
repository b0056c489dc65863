"""The few columns that a refit or a Gram block needs, gathered, and kept until others are asked for."""

import numpy as np

from ..designs import Block, DenseBlock, Design
from .base import Columns


class Gathered:
    """Columns of a design; those of the last gather are reused."""

    def __init__(self, design: Design) -> None:
        self.design = design
        self.last: tuple[Columns, Block | None] = (np.empty(0, np.int64), None)

    def __call__(self, cols: Columns) -> Block:
        before, old = self.last
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
