"""The table of best subsets: rows with their criteria, printed, as a frame, drawn."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from .._utils.text import format_fraction, format_number, format_paragraphs, format_table, html_table, truncate
from .._utils.types import Intercept, Vector
from .._utils.validation import match_name, require_package

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

CRITERIA = {
    "rss": "rss",
    "deviance": "deviance",
    "r2": "R2",
    "adjusted_r2": "adj. R2",
    "cp": "Cp",
    "aic": "AIC",
    "bic": "BIC",
}
RISING = ("r2", "adjusted_r2")  # the higher the better
TIE_TOLERANCE = 1e-9  # relative difference of values that is none
EXACT_FIT_SHARE = 1e-13  # share of the deviance that is left where a fit is exact
MAX_NAMES_WIDTH = 60  # characters of a row's columns that are printed


@dataclass(frozen=True)
class Subset:
    """One row: the ``rank``-th best subset of ``k`` columns (or groups), its coefficients and its criteria.

    ``deviance`` (``rss`` for the squared loss) adds up weighted rows, weights having mean 1, and leaves out the ridge;
    ``value`` is the objective's. Criteria that a loss does not have are None. ``note`` says what is odd about the fit.
    """

    k: int
    rank: int
    support: tuple[int, ...]
    names: tuple[str, ...] | None  # of the columns, where X was a data frame
    deviance: float
    r2: float
    adjusted_r2: float | None
    cp: float | None
    aic: float | None
    bic: float | None
    proved: bool
    value: float = field(repr=False)
    coef: Vector = field(repr=False)  # in the units of X; several outputs: a row per column
    intercept: Intercept = field(repr=False)
    note: str = field(default="", repr=False)

    @property
    def rss(self) -> float:
        """The residual sum of squares (other losses: the deviance)."""
        return self.deviance

    @property
    def columns(self) -> tuple[str, ...]:
        """What the columns are called (``x7`` for column 7 where they have no names)."""
        return tuple(f"x{j}" for j in self.support) if self.names is None else self.names


class Subsets(list[Subset]):
    """A list of :class:`Subset`, smallest size first, best first within a size; ``print`` shows it as a table."""

    notes: tuple[str, ...] = ()  # why sizes have fewer rows than requested

    def __init__(
        self, rows: Iterable[Subset] = (), *, loss: str = "squared", n: int = 0, dim: int = 0, notes: Iterable[str] = ()
    ) -> None:
        super().__init__(rows)
        self.loss, self.n, self.dim, self.notes = loss, n, dim, tuple(notes)

    def to_frame(self, coefficients: bool = False) -> "DataFrame":
        """The table as a pandas DataFrame; with ``coefficients`` also those of every feature, 0 where it is out."""
        pd = require_package("pandas", "io", "to_frame")
        fit = "rss" if self.loss == "squared" else "deviance"
        held = [
            {
                "k": row.k,
                "rank": row.rank,
                "support": row.support,
                "names": row.names,
                fit: row.deviance,
                "r2": row.r2,
                "adjusted_r2": row.adjusted_r2,
                "cp": row.cp,
                "aic": row.aic,
                "bic": row.bic,
                "proved": row.proved,
                "intercept": row.intercept,
            }
            for row in self
        ]
        frame = pd.DataFrame(held)
        frame = frame.drop(columns=[name for name in frame if frame[name].isna().all()])
        if not coefficients:
            return frame
        cells = [dict(_cells(row)) for row in self]
        order = sorted({key for row in cells for key in row})
        wide = pd.DataFrame({label: [row.get((j, r, label), 0.0) for row in cells] for j, r, label in order})
        return pd.concat([frame, wide], axis=1)

    def best(self, criterion: str = "bic") -> Subset:
        """The row with the best value of a criterion (rss or deviance, r2, adjusted_r2, cp, aic, bic)."""
        name = self.criterion(criterion)
        return min(self, key=lambda row: (-1 if name in RISING else 1) * getattr(row, name))

    def criterion(self, name: Any) -> str:
        """The name of a criterion that every row has, or an error."""
        known = match_name(name, CRITERIA) if isinstance(name, str) else None
        if known is None:
            raise ValueError(f"criterion must be one of {', '.join(CRITERIA)}, got {name!r}")
        if any(getattr(row, known) is None for row in self):
            raise ValueError(f"criterion {known!r} is not defined for loss {self.loss!r}")
        return known

    def plot(self, criterion: str = "bic", ax: "Axes | None" = None) -> "Axes":
        """Draw a criterion against k and return the axes; see :func:`pursuit.plots.plot_subsets`."""
        return require_package("pursuit.plots", "plot", "plot").plot_subsets(self, criterion, ax)

    def _cells(self) -> tuple[str, list[str], list[list[str]]]:
        """Caption, headings and rows."""
        ranked = any(row.rank > 1 for row in self)
        shown = [name for name in CRITERIA if name != ("deviance" if self.loss == "squared" else "rss")]
        shown = [name for name in shown if getattr(self[0], name) is not None]
        labels = CRITERIA if self.loss == "squared" else CRITERIA | {"r2": "D2"}
        headings = ["k", *(["rank"] if ranked else []), "columns", *(labels[name] for name in shown), "proved"]
        rows = [
            [
                str(row.k),
                *([str(row.rank)] if ranked else []),
                truncate(", ".join(row.columns), MAX_NAMES_WIDTH),
                *(_number(name, getattr(row, name)) for name in shown),
                "yes" if row.proved else "no",
            ]
            for row in self
        ]
        return f"best subsets of {self.dim} columns, {self.n} rows, {self.loss} loss", headings, rows

    def _repr_html_(self) -> str:
        return html_table(*self._cells(), self._sentences()) if self else "no subsets"

    def __str__(self) -> str:
        if not self:
            return "no subsets"
        heading, headings, rows = self._cells()
        body = format_table(headings, rows, [headings.index("columns")])
        return "\n\n".join(part for part in (heading, body, format_paragraphs(self._sentences())) if part)

    __repr__ = __str__

    def _sentences(self) -> list[str]:
        names = [name for name in ("cp", "aic", "bic") if getattr(self[0], name) is not None]
        words = []
        if names:
            chosen = {CRITERIA[name]: self.best(name).k for name in names}
            last = self[-1].k > self[0].k and self[-1].k in chosen.values()
            words.append(
                f"Chosen by {', '.join(f'{name}: k = {k}' for name, k in chosen.items())}"
                f"{f' ({self[-1].k} is the largest size here)' if last else ''}. Criteria take a subset as given: "
                "after a search they are optimistic."
            )
        unsure = sorted({row.k for row in self if not row.proved})
        if unsure:
            sizes = ", ".join(map(str, unsure))
            words.append(f"Not proved to be the best at k = {sizes}: time came first, or there is no proof here.")
        words += [f"{note}." for note in (*self.notes, *self._ties())]
        return words + sorted({f"{row.note[0].upper()}{row.note[1:]}." for row in self if row.note})

    def _ties(self) -> list[str]:
        """Where rows of one size have the same value."""
        sizes = sorted({a.k for a, b in pairwise(self) if a.k == b.k and _is_tie(a, b)})
        return [f"At k = {', '.join(map(str, sizes))} subsets tie"] if sizes else []


def _is_tie(a: Subset, b: Subset) -> bool:
    return abs(a.value - b.value) <= TIE_TOLERANCE * abs(b.value) or min(a.r2, b.r2) >= 1 - EXACT_FIT_SHARE


def _cells(row: Subset) -> Iterable[tuple[tuple[int, int, str], float]]:
    """Coefficients by column, output and label."""
    for j, name, coef in zip(row.support, row.columns, row.coef, strict=True):
        if getattr(coef, "ndim", 0):
            yield from (((j, r, f"{name}[{r}]"), float(c)) for r, c in enumerate(coef))
        else:
            yield (j, 0, name), float(coef)


def _number(name: str, value: float) -> str:
    if name in RISING:
        return format_fraction(value)
    return format_number(value, 6) if name in ("rss", "deviance") or abs(value) >= 1e7 else f"{value:.2f}"
