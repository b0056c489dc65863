"""What is known about an optimum."""

from dataclasses import dataclass, field

from .._utils.text import html_table
from .._utils.types import Columns
from ..solving.result import Result


@dataclass(frozen=True, eq=False)
class Certificate:
    """A lower bound of the optimum, the gap to the value found, and whether that is a proof.

    Attributes
    ----------
    lower, upper : float
        The optimum lies between them; ``upper`` is the value of ``result``.
    status : str
        "proved" (rel_gap at most the requested one) or "bounded".
    reason : str
        A sentence, with why a bound is weak.
    always, never : array of int
        Columns that every better solution contains, that none contains.
    margin : float
        ``min |x_j|`` on the support minus ``max |g_j| / l2`` outside (Theorem 1 of DIHT: if it is not negative, x is
        optimal).
    refutation : str
        A sentence where the solution that was given is proved not to be optimal without a search: Lemma 21 of GraHTP,
        tried where there is no ridge; else empty.
    result : Result
        The best point that was met.
    nodes : int
        Nodes of branch and bound.
    seconds : float
        How long it took.
    scale : float
        ``max(|upper|, 1e-9 (f without features - the loss's infimum))``; values below 64 eps of that height count as
        0.
    gap, rel_gap : float
        upper - lower, and that relative to ``scale``.

    See Also
    --------
    certify : Returns it.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 20))
    >>> f = pursuit.GLM(X, X[:, 3] - 2 * X[:, 7] + rng.standard_normal(100))
    >>> certificate = pursuit.certify(f, pursuit.solve(f, 2))
    >>> bool(certificate.lower <= certificate.upper)
    True
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
            ("lower bound", f"{self.lower:.8g}"),
            ("value", f"{self.upper:.8g}"),
            ("relative gap", f"{self.rel_gap:.3g}"),
            ("columns in every better solution", len(self.always)),
            ("columns in none", len(self.never)),
            ("nodes", self.nodes),
            ("seconds", f"{self.seconds:.3g}"),
        ]
        return html_table(f"certificate: {self.status}", ("", ""), rows, (self.reason,))

    @property
    def gap(self) -> float:
        return max(0.0, self.upper - self.lower)

    @property
    def rel_gap(self) -> float:
        return self.gap / self.scale if self.gap > 0 else 0.0
