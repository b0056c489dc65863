"""The few columns that a refit or a Gram block needs, gathered, and kept for the next ones.

A column of an operator costs a product: where many are missing, a refit makes do with products (``few``).
"""

import threading
from collections import deque

import numpy as np

from .._types import Columns, Vector
from ..designs import Block, DenseBlock, Design, ProductBlock

ASKED = 32  # columns that are gathered by a product each; conjugate gradients seldom end with fewer
GATHERS = 3  # gathers whose columns are kept


class Gathered:
    """Columns of a design; those of the last gathers are reused, column by column where they are dense."""

    def __init__(self, design: Design) -> None:
        self.design = design
        self.last: deque[tuple[Columns, Block]] = deque(maxlen=GATHERS)
        self.lock = threading.Lock()  # one objective may serve several Python threads

    def __call__(self, cols: Columns) -> Block:
        if len(cols) == 0:  # nothing is no reason to forget
            return DenseBlock(np.empty((self.design.shape[0], 0), order="F"))
        with self.lock:
            for before, block in self.last:
                if np.array_equal(before, cols):
                    return block
            block = self._gathered(cols, self._columns())
            self.last.append((cols, block))
            return block

    def few(self, cols: Columns) -> Block:
        """The columns for a refit: gathered, or left where they are if that takes fewer products."""
        if self.design.lean:
            with self.lock:
                held = self._columns()
            if sum(j not in held for j in cols.tolist()) > ASKED:
                return ProductBlock(self.design, cols)
        return self(cols)

    def _columns(self) -> dict[int, Vector]:
        """The dense columns at hand."""
        dense = ((cols, block.A) for cols, block in self.last if isinstance(block, DenseBlock))
        return {j: A[:, i] for cols, A in dense for i, j in enumerate(cols.tolist())}

    def _gathered(self, cols: Columns, held: dict[int, Vector]) -> Block:
        missing = np.array([j for j in cols.tolist() if j not in held], dtype=np.int64)
        if len(missing) == len(cols) or not self.design.full:
            return self.design.block(cols)
        A = np.empty((self.design.shape[0], len(cols)), order="F")
        fresh = dict(zip(missing.tolist(), self.design.block(missing).dense().T, strict=True)) if len(missing) else {}
        for i, j in enumerate(cols.tolist()):
            A[:, i] = held[j] if j in held else fresh[j]
        return DenseBlock(A)
