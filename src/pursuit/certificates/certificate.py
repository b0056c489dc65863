"""What is known about an optimum."""

from dataclasses import dataclass, field

from .._utils.html import html_table
from .._utils.types import Columns
from ..solving.result import Result


@dataclass(frozen=True, eq=False)
class Certificate:
    """What is known about the optimum.

    Attributes
    ----------
    lower, upper : the optimum lies between them; ``upper`` is the value of ``result``
    gap, rel_gap : upper - lower, and that relative to ``scale``
    scale : max(|upper|, 1e-9 (f without features - the loss's infimum)); values below 64 eps of that height count as 0
    status : "proved" (rel_gap at most the one asked for) or "bounded"
    reason : a sentence, with why a bound is weak
    always, never : columns that every better solution contains, that none contains
    margin : min |x_j| on the support minus max |g_j| / l2 outside (Theorem 1 of DIHT: not negative proves x optimal)
    refutation : a sentence where the solution that was given is proved not to be optimal without a search: Lemma 21 of
        GraHTP, tried where there is no ridge; else empty
    result : the best point that was met, as a Result
    nodes, seconds : effort
    """

    lower: float
    upper: float
    status: str
    reason: str
    always: Columns
    never: Columns
    margin: float
    result: Result = field(repr=False)
    nodes: int
    seconds: float
    scale: float
    refutation: str = ""

    def _repr_html_(self) -> str:
        rows = [
            ("lower bound", f"{self.lower:.8g}"), ("value", f"{self.upper:.8g}"),
            ("relative gap", f"{self.rel_gap:.3g}"),
            ("columns in every better solution", len(self.always)), ("columns in none", len(self.never)),
            ("nodes", self.nodes), ("seconds", f"{self.seconds:.3g}"),
        ]  # fmt: skip
        return html_table(f"certificate: {self.status}", ("", ""), rows, (self.reason,))

    @property
    def gap(self) -> float:
        return max(0.0, self.upper - self.lower)

    @property
    def rel_gap(self) -> float:
        return self.gap / self.scale if self.gap > 0 else 0.0
