"""One result of a paper, judged on one problem, and the table of all of them."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from .._utils.text import format_number, format_paragraphs, format_table
from .._utils.validation import require_package
from .restricted_curvature import Bracket, Levels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

LIMIT_TOLERANCE = 1e-9  # relative distance from a limit within which rounding may decide, so that nothing is claimed
CERTIFIED, REFUTED, OPEN, NOT_APPLICABLE = "certified", "refuted", "open", "not applicable"


@dataclass(frozen=True)
class Statement:
    """What one theorem says about one problem.

    Attributes
    ----------
    paper, result : str
        Where it stands, such as "GraHTP" and "Theorem 2(a)".
    solver : str
        The method that it is about.
    condition : str
        What it assumes.
    verdict : str
        "certified" (the condition is proved), "refuted" (it is proved not to hold), "open" (neither), or "not
        applicable" (the result is about another kind of objective, or needs a target).
    load : Bracket or None
        How much of the condition is used up, from inside and certified: it holds where the load is below 1.
    certified_size, possible_size : int or None
        Without a target: the largest size k* of a target for which the condition is proved, and for which it is not
        refuted.
    numbers : dict
        What the result yields: steps, contraction factors, relaxed sizes, iterations, error bounds. Unless the verdict
        is "certified" they come from the constants from inside, and are the best that can be hoped for.
    note : str
        What else a person should know.

    See Also
    --------
    theorems : Returns a table of them.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> X = np.linalg.qr(np.random.default_rng(0).standard_normal((50, 6)))[0] * np.sqrt(50)
    >>> table = pursuit.theorems(pursuit.GLM(X, X[:, 0], fit_intercept=False), 1)
    >>> {statement.verdict for statement in table} <= {"certified", "refuted", "open", "not applicable"}
    True
    """

    paper: str
    result: str
    solver: str
    condition: str
    verdict: str
    load: Bracket | None = None
    certified_size: int | None = None
    possible_size: int | None = None
    numbers: dict[str, float] = field(default_factory=dict)
    note: str = ""

    @property
    def citation(self) -> str:
        """Paper and result in one phrase."""
        return f"{self.paper} {self.result}"


@dataclass(frozen=True, eq=False, repr=False)
class Theorems:
    """The table of ``pursuit.theorems``: print it, iterate over it, or take a frame or a picture.

    Attributes
    ----------
    statements : tuple of Statement
        One per result.
    k : int
        The size of the statement.
    target_size : int or None
        Non-zeros of the target, where one was given.
    levels : Levels
        The constants that conditions were compared with.

    See Also
    --------
    theorems : Returns it.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> X = np.linalg.qr(np.random.default_rng(0).standard_normal((50, 6)))[0] * np.sqrt(50)
    >>> len(pursuit.theorems(pursuit.GLM(X, X[:, 0], fit_intercept=False), 1)) > 0
    True
    """

    statements: tuple[Statement, ...]
    k: int
    target_size: int | None
    levels: Levels = field(repr=False)

    def __iter__(self) -> Iterator[Statement]:
        return iter(self.statements)

    def __len__(self) -> int:
        return len(self.statements)

    def __getitem__(self, citation: str) -> Statement:
        """The statement of a citation, such as ``table["GraHTP Theorem 8"]``."""
        for statement in self.statements:
            if statement.citation == citation:
                return statement
        raise KeyError(f"no result is called {citation!r}; there are {', '.join(s.citation for s in self.statements)}")

    @property
    def summary(self) -> tuple[str, ...]:
        """What the table amounts to, in sentences."""
        counts = {verdict: sum(s.verdict == verdict for s in self) for verdict in (CERTIFIED, REFUTED, OPEN)}
        sure = [s.citation for s in self if s.verdict == CERTIFIED]
        proved = f"{len(sure)} ({', '.join(sure)})" if sure else "none"
        found = [
            f"Of {sum(counts.values())} conditions that can be checked here: certified {proved}, refuted"
            f" {counts[REFUTED]}, open {counts[OPEN]}."
        ]
        level = self.levels.level(3 * self.k)
        kappa = level.condition.inside
        size = f"{level.s} columns at a time"
        if np.isfinite(kappa):
            found.append(
                f"With {size} the curvature varies by a factor of {format_number(kappa, 3)} or more (kappa_{level.s});"
                " for uncorrelated columns of one scale it would be 1, and most conditions need less than 2."
            )
        else:
            found.append(f"With {size} the smallest curvature is 0 or unknown, so that kappa_{level.s} is infinite.")
        if counts[REFUTED]:
            found.append(
                "A refuted condition means that the theorem says nothing about these data, not that its method fails"
                " on them."
            )
        verdicts = {s.citation: s.verdict for s in self}
        if verdicts.get("DIHT Theorem 1") == CERTIFIED:
            found.append("The target is a global minimiser (DIHT Theorem 1).")
        if verdicts.get("GraHTP Lemma 21") == REFUTED:
            found.append("The target is not the best model of its size (GraHTP Lemma 21).")
        return tuple(found)

    def to_frame(self) -> "DataFrame":
        """Tabulate the statements.

        Returns
        -------
        pandas.DataFrame
            A row per statement.

        Examples
        --------
        >>> import numpy as np, pursuit
        >>> X = np.random.default_rng(0).standard_normal((50, 6))
        >>> table = pursuit.theorems(pursuit.GLM(X, X[:, 0]), 1)
        >>> len(table.to_frame()) == len(table)
        True
        """
        pd = require_package("pandas", "io", "to_frame")
        rows = [
            {
                "citation": s.citation,
                "solver": s.solver,
                "condition": s.condition,
                "verdict": s.verdict,
                "load_inside": np.nan if s.load is None else s.load.inside,
                "load_certified": np.nan if s.load is None else s.load.certified,
                "certified_size": s.certified_size,
                "possible_size": s.possible_size,
                "numbers": dict(s.numbers),
                "note": s.note,
            }
            for s in self.statements
        ]
        return pd.DataFrame(rows)

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """How much of each condition is used up, from inside to certified; returns the axes.

        Parameters
        ----------
        ax : matplotlib axes or None
            Where to draw; None makes new axes.

        Returns
        -------
        matplotlib Axes
            What was drawn on.

        Examples
        --------
        >>> import numpy as np, pursuit
        >>> X = np.random.default_rng(0).standard_normal((50, 6))
        >>> ax = pursuit.theorems(pursuit.GLM(X, X[:, 0]), 1).plot()
        >>> ax.get_xscale()
        'log'
        """
        return require_package("pursuit.plots", "plot", "plot").plot_theorems(self, ax)

    def __str__(self) -> str:
        sized = self.target_size is None
        headings = [
            "result",
            "method",
            "condition",
            "verdict",
            "condition used",
            *(["k* at most"] if sized else []),
            "yields",
        ]
        rows = []
        for s in self.statements:
            sizes = [] if not sized else [_sizes(s)]
            rows.append((s.citation, s.solver, s.condition, s.verdict, _load(s.load), *sizes, _numbers(s)))
        about = "without a target" if sized else f"a target with {self.target_size} non-zeros"
        table = format_table(headings, rows, tuple(range(len(headings))))
        notes = list(dict.fromkeys(f"{s.citation}: {s.note}" for s in self.statements if s.note))
        return "\n\n".join((f"k = {self.k}, {about}", table, format_paragraphs([*self.summary, *LEGEND, *notes])))

    __repr__ = __str__


LEGEND = (
    "Condition used: from inside to certified; a condition holds below 1. Numbers behind ~ rest on constants from "
    "inside and are the best that can be hoped for.",
)


def verdict_below(load: Bracket) -> str:
    """The verdict on a condition that holds where the load is below 1."""
    if load.certified < 1 - LIMIT_TOLERANCE:
        return CERTIFIED
    return REFUTED if load.inside > 1 + LIMIT_TOLERANCE else OPEN


def together(*verdicts: str) -> str:
    """The verdict on several conditions that must all hold."""
    if REFUTED in verdicts:
        return REFUTED
    return CERTIFIED if all(verdict == CERTIFIED for verdict in verdicts) else OPEN


def _load(load: Bracket | None) -> str:
    if load is None:
        return ""
    low, high = (format_number(x, 3) if np.isfinite(x) else "inf" for x in load)
    return low if low == high else f"{low} to {high}"


def _sizes(s: Statement) -> str:
    if s.possible_size is None:
        return ""
    return f"{s.certified_size}" if s.certified_size == s.possible_size else f"{s.certified_size} to {s.possible_size}"


def _numbers(s: Statement) -> str:
    mark = "" if s.verdict == CERTIFIED else "~"
    return ", ".join(f"{name} {mark}{format_number(value, 3)}" for name, value in s.numbers.items())
