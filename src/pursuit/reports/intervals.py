"""Intervals that print as a table and say what they are worth."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._utils.text import format_number, format_paragraphs, format_table, html_table, truncate
from .._utils.types import Columns, Keywords, Vector
from .._utils.validation import require_package

if TYPE_CHECKING:
    from pandas import DataFrame

MIN_FREQUENCY = 0.05  # frequency below which features that the model does not use are not printed
MAX_EXTRA_ROWS = 10  # of the others, how many are


@dataclass(frozen=True, eq=False, repr=False)
class Intervals:
    """Intervals of coefficients after selection; ``print`` them, or take the numbers.

    Attributes
    ----------
    kind : str
        "split" (valid given the selection) or "bootstrap" (variability of the procedure, without a coverage).
    names : tuple of str
        Names of the features.
    columns : array of int
        Their indices; -1 is the intercept.
    estimate, low, high : array
        Per unit of X; a bootstrap's estimates are those of all rows.
    level : float
        Of the intervals.
    standard_error : array
        Of the estimates; a bootstrap's is the standard deviation over resamples.
    p_value : array or None
        Of coefficient 0, where it is valid.
    frequency : array or None
        The share of resamples that selected the feature.
    notes : tuple of str
        What the numbers mean, in sentences.
    own : int or None
        How many features are those of the model; they come first.

    See Also
    --------
    split_intervals, bootstrap_intervals : Return them.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 5))
    >>> y = X[:, 3] + 0.1 * rng.standard_normal(60)
    >>> found = pursuit.split_intervals(pursuit.SparseRegressor(k=1), X, y, random_state=0)
    >>> bool(found.low[0] < 1.0 < found.high[0])
    True
    """

    kind: str
    names: tuple[str, ...]
    columns: Columns
    estimate: Vector
    low: Vector
    high: Vector
    level: float
    standard_error: Vector
    p_value: Vector | None
    frequency: Vector | None
    notes: tuple[str, ...]
    own: int | None = None  # features of the model, which come first

    def to_frame(self) -> "DataFrame":
        """Tabulate the intervals.

        Returns
        -------
        pandas.DataFrame
            A row per feature.

        Examples
        --------
        >>> import numpy as np, pursuit
        >>> rng = np.random.default_rng(0)
        >>> X = rng.standard_normal((60, 5))
        >>> y = X[:, 3] + 0.1 * rng.standard_normal(60)
        >>> found = pursuit.split_intervals(pursuit.SparseRegressor(k=1), X, y, random_state=0)
        >>> found.to_frame().shape
        (2, 7)
        """
        pd = require_package("pandas", "io", "to_frame")
        held: Keywords = {
            "feature": list(self.names),
            "column": self.columns,
            "estimate": self.estimate,
            "low": self.low,
            "high": self.high,
            "standard_error": self.standard_error,
            "p_value": self.p_value,
            "frequency": self.frequency,
        }
        return pd.DataFrame({name: values for name, values in held.items() if values is not None})

    def _cells(self) -> tuple[str, list[str], list[tuple[str, ...]], list[str]]:
        """Caption, headings, rows, and sentences below them."""
        shown = np.arange(len(self.names))
        if self.frequency is not None and self.own is not None:
            shown = np.flatnonzero((shown < self.own) | (self.frequency >= MIN_FREQUENCY))[: self.own + MAX_EXTRA_ROWS]
        headings = ["feature", "coefficient", "low", "high"]
        numbers = [self.estimate, self.low, self.high]
        cells = [[truncate(self.names[i]) for i in shown], *([format_number(v[i]) for i in shown] for v in numbers)]
        if self.p_value is not None:
            headings += ["s.e.", "p-value"]
            cells += [[format_number(self.standard_error[i], 3) for i in shown], [_p(self.p_value[i]) for i in shown]]
        if self.frequency is not None:
            headings.append("selected in")
            cells.append([f"{self.frequency[i]:.0%}" for i in shown])
        heading = "intervals on rows that did not select" if self.kind == "split" else "percentiles over resampled rows"
        more = len(self.names) - len(shown)
        rest = [f"{more} more features were selected in some resamples (to_frame has them)."] if more else []
        return f"{self.level:.0%} {heading}", headings, list(zip(*cells, strict=True)), [*rest, *self.notes]

    def __str__(self) -> str:
        heading, headings, rows, notes = self._cells()
        body = format_table(headings, rows) if rows else "(no features)"
        return f"{heading}\n\n{body}\n\n{format_paragraphs(notes)}"

    def _repr_html_(self) -> str:
        return html_table(*self._cells())

    __repr__ = __str__


def _p(value: float) -> str:
    return "<0.0001" if value < 1e-4 else f"{value:.4f}"
