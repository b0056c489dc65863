"""How a budget of memory is shared out."""

import re
from dataclasses import dataclass
from typing import Any

from ...designs import MemoryBudget

LIBRARY_BYTES = 200 << 20  # what Python and the libraries take
NUMBERS_PER_ROW = 7  # numbers per row: target, weight, offset, and what a line search holds
MIN_FREE_BYTES = 64 << 20  # what must be left for everything else
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}


def as_bytes(memory: Any) -> int:
    """A number of bytes from a number, or from words such as "1GB" and "512MiB"."""
    if isinstance(memory, str):
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?I?)B?\s*", memory.upper())
        if found is not None and found[2] in _UNITS:
            return int(float(found[1]) * _UNITS[found[2]])
    elif isinstance(memory, int) and not isinstance(memory, bool) and memory > 0:
        return memory
    raise ValueError(f"memory must be a number of bytes or words such as '1GB' and '512MiB', got {memory!r}")


def said(size: float) -> str:
    """``1.5 GB``."""
    return f"{size / 1e9:.3g} GB" if size >= 1e9 else f"{-(-size // 10**6):.0f} MB"


@dataclass(frozen=True)
class Budget:
    """Anonymous memory that a fit of n rows may take, in all; mapped pages do not count."""

    memory: int
    n: int

    def __post_init__(self) -> None:
        least = LIBRARY_BYTES + MIN_FREE_BYTES + 8 * NUMBERS_PER_ROW * self.n
        if self.memory < least:
            raise ValueError(
                f"memory={said(self.memory)} is too little: targets, weights and residuals of {self.n} rows and the "
                f"libraries need {said(least)}"
            )

    @property
    def rest(self) -> int:
        """What is left beside vectors over the rows."""
        return self.memory - LIBRARY_BYTES - 8 * NUMBERS_PER_ROW * self.n

    @property
    def room(self) -> MemoryBudget:
        """A quarter for columns of refits; a sixth for Gram columns, of which there are copies while they are made."""
        return MemoryBudget(self.rest / 4 / (8 * self.n), self.rest / 6)

    @property
    def block(self) -> int:
        """Bytes of a block that is not mapped but read."""
        return min(1 << 26, self.rest // 8)
