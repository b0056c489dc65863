"""One line of the table."""

from dataclasses import dataclass


@dataclass
class Row:
    """How one contender did on one problem; None where there is nothing to say."""

    problem: str
    contender: str
    seconds: float | None = None
    first_seconds: float | None = None
    objective: float | None = None
    found: int | None = None
    size: int | None = None
    vs_peer: float | None = None
    vs_floor: float | None = None
    vs_search_floor: float | None = None
    note: str = ""

    @property
    def ours(self) -> bool:
        return self.contender.startswith("pursuit")
