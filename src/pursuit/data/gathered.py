"""The few columns that a refit or a Gram block needs, gathered, and kept for the next ones.

A column of an operator costs a product: where many are missing, a refit uses products only (``for_refit``). Of a design
that does not lie in memory no more columns are kept than its memory budget allows.
"""

import threading
from collections import deque

import numpy as np

from .._utils.types import Columns, Matrix
from ..designs import Block, DenseBlock, Design, PagedBlock, ProductBlock

MIN_SINGLE_PRODUCTS = 32  # columns that are gathered by a product each; conjugate gradients seldom end with fewer
MAX_CACHED_GATHERS = 3  # gathers whose columns are kept


class Gathered:
    """Columns of a design; those of the last gathers are reused, column by column where they are dense."""

    def __init__(self, design: Design) -> None:
        self.design = design
        self.last: deque[tuple[Columns, Block]] = deque(maxlen=MAX_CACHED_GATHERS)
        self.lock = threading.Lock()  # one objective may serve several Python threads

    def __call__(self, cols: Columns) -> Block:
        if len(cols) == 0:  # nothing is no reason to forget
            return DenseBlock(np.empty((self.design.shape[0], 0), order="F"))
        with self.lock:
            for before, block in self.last:
                if np.array_equal(before, cols):
                    return block
            if len(cols) > self.design.room.columns:
                return self.design.block(cols)
            block = self._gathered(cols)
            self.last.appendleft((cols, block))
            while sum(len(known) for known, _ in self.last) > self.design.room.columns:
                self.last.pop()
        if self.design.room.owner is not None:
            before = self.design.room.owner.take_over(self)
            if before is not None:
                before.forget()
        return block

    def forget(self) -> None:
        """Keep nothing."""
        with self.lock:
            self.last.clear()

    def cached(self, cols: Columns) -> Block | None:
        """The columns, if they were gathered together and are still here."""
        with self.lock:
            return next((block for before, block in self.last if np.array_equal(before, cols)), None)

    def for_refit(self, cols: Columns) -> Block:
        """The columns for a refit: gathered, or left where they are if that takes fewer products."""
        if self.design.products_only:
            with self.lock:
                known = [known for known, _ in self._dense()]
            if np.count_nonzero(~np.isin(cols, np.concatenate([cols[:0], *known]))) > MIN_SINGLE_PRODUCTS:
                return ProductBlock(self.design, cols)
        return PagedBlock(self.design, cols) if len(cols) > self.design.room.columns else self(cols)

    def _dense(self) -> list[tuple[Columns, Matrix]]:
        """Columns at hand as arrays, the last gathered first."""
        return [(known, block.A) for known, block in self.last if isinstance(block, DenseBlock)]

    def _gathered(self, cols: Columns) -> Block:
        kept = self._dense()
        if not kept or not self.design.full:
            return self.design.block(cols)
        A, missing = np.empty((self.design.shape[0], len(cols)), order="F"), np.ones(len(cols), bool)
        for known, old in kept:
            order = np.argsort(known)  # a Gram block comes as it was ranked
            at = order[np.minimum(known.searchsorted(cols, sorter=order), len(known) - 1)]
            here = missing & (known[at] == cols)
            A.T[here] = old.T[at[here]]
            missing &= ~here
        if missing.all():
            return self.design.block(cols)
        if missing.any():
            A.T[missing] = self.design.block(cols[missing]).dense().T
        return DenseBlock(A)
