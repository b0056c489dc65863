"""A solution on one page: coefficients, what every feature is worth, how good the fit is, what is known of it."""

from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from .._utils.text import format_fraction, format_number, format_paragraphs, format_table, html_table, truncate
from .._utils.types import Columns, Intercept, Keywords, Vector
from .._utils.validation import format_list, require_package
from .class_scores import ClassScores

if TYPE_CHECKING:
    from pandas import DataFrame

RIVAL_WORDS = {
    "exact": "",
    "refitted": "Costs are those of refits; the rivals are the nearest by the quadratic model at the fit.",
    "model": "Costs and rivals are those of the quadratic model at the fit, not of refits.",
}
MIN_EXPLAINED_GAIN = 1e-9  # share of what is explained by which an exchange must help to count
MAX_OUTPUT_COLUMNS = 4  # outputs up to which every one has its column


@dataclass(frozen=True, eq=False, repr=False)
class Summary:
    """A fitted model on one page; ``print`` it, or take the numbers.

    Attributes
    ----------
    names : tuple of str
        Names of the chosen features.
    columns : array of int
        Their indices.
    coef, per_sd : array
        Coefficients per unit and per standard deviation of a column, a row per feature where there are several outputs;
        ``per_sd`` is None where there are no data to tell.
    intercept : float or array
        In the units of X.
    drop : array or None
        What ``unit`` loses when a feature (with groups: its group) is dropped and the others are refitted; inf where it
        must stay.
    rivals : tuple of str
        The feature outside that replaces it at least cost ("" where there is none).
    rival_cost : array or None
        That cost; below zero the exchange would help.
    rival_columns : tuple of tuples of int
        The columns of each rival: one, or those of a group.
    unit : str
        What costs are counted in: R2, D2, or the objective.
    how : str
        "exact", "refitted" (costs of refits, of the nearest rivals by the quadratic model) or "model".
    score, held_out : float or None
        R2 (D2: the share of the deviance) in sample and, where there is one, held out.
    held_out_name : str
        Name of the held-out score.
    held_out_error : float or None
        Its standard error over folds.
    rows, dim, k, sets : int
        Rows, columns, features chosen, and among how many sets.
    loss : str
        Name of the loss.
    found : str
        How the search ended.
    plain : bool
        Whether the coefficients are those of the plain fit on these features, to which the costs refer.
    notes : tuple of str
        What else a person should know.
    groups : array or None
        Group of each feature, where they come in groups.
    outputs : tuple of str
        Names of the outputs, where there are several.
    classes, held_out_classes : ClassScores or None
        Of a classifier: what its predictions are worth in sample and, where there are folds, held out.
    has_better_rival : bool
        Whether one of the rivals is better than the feature in whose place it would come.

    See Also
    --------
    summary : Returns it.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> X = np.random.default_rng(0).standard_normal((100, 20))
    >>> f = pursuit.GLM(X, X[:, 3] - 2 * X[:, 7])
    >>> found = pursuit.summary(f, pursuit.solve(f, 2))
    >>> found.coef.round(6).tolist()
    [1.0, -2.0]
    """

    names: tuple[str, ...]
    columns: Columns
    coef: Vector
    per_sd: Vector | None
    intercept: Intercept
    drop: Vector | None
    rivals: tuple[str, ...]
    rival_cost: Vector | None
    unit: str
    how: str
    score: float | None
    held_out: float | None
    held_out_name: str
    rows: int | None
    dim: int
    k: int
    sets: int
    loss: str
    found: str
    plain: bool = True
    notes: tuple[str, ...] = ()
    held_out_error: float | None = None  # a standard error over folds
    groups: Columns | None = None  # of each feature, where they come in groups
    outputs: tuple[str, ...] = ()
    classes: ClassScores | None = None  # of a classifier, in sample
    held_out_classes: ClassScores | None = None  # the same on held-out rows
    rival_columns: tuple[tuple[int, ...], ...] = ()

    def to_frame(self) -> "DataFrame":
        """Tabulate the features.

        Returns
        -------
        pandas.DataFrame
            A row per feature.

        Examples
        --------
        >>> import numpy as np, pursuit
        >>> X = np.random.default_rng(0).standard_normal((100, 20))
        >>> f = pursuit.GLM(X, X[:, 3] - 2 * X[:, 7])
        >>> found = pursuit.summary(f, pursuit.solve(f, 2))
        >>> found.to_frame()["column"].tolist()
        [3, 7]
        """
        pd = require_package("pandas", "io", "to_frame")
        table: Keywords = {"feature": list(self.names), "column": self.columns}
        for label, values in (("coefficient", self.coef), ("per_sd", self.per_sd)):
            if values is not None and values.ndim == 1:
                table[label] = values
            elif values is not None:
                table |= {f"{label}[{name}]": values[:, r] for r, name in enumerate(self.outputs)}
        if self.drop is not None and self.rival_cost is not None:
            table |= {"drop": self.drop, "rival": list(self.rivals), "rival_cost": self.rival_cost}
        return pd.DataFrame(table)

    def __str__(self) -> str:
        parts = (self._heading(), self._table(), self._class_table(), format_paragraphs(self._sentences()))
        return "\n\n".join(part for part in parts if part)

    __repr__ = __str__

    def _class_table(self) -> str:
        """Scores of a classifier, in sample and held out side by side."""
        known = {"in sample": self.classes, "held out": self.held_out_classes}
        facts = {name: scores.facts() for name, scores in known.items() if scores is not None}
        if not facts:
            return ""
        rows = [(name, *(fact.get(name, "") for fact in facts.values())) for name in next(iter(facts.values()))]
        table = format_table(["classes", *facts], rows, range(len(facts) + 1))
        scores = self.held_out_classes or self.classes
        if scores is None or not scores.calibration:
            return table
        tenths = [(f"{p:.3f}", f"{share:.3f}", str(count)) for p, share, count in scores.calibration]
        where = "held out" if self.held_out_classes is not None else "in sample"
        return f"{table}\n\n{format_table([f'predicted ({where})', 'observed', 'rows'], tenths, ())}"

    def _heading(self) -> str:
        rows = "" if self.rows is None else f", {self.rows} rows"
        words = [f"{len(self.names)} of {self.dim} features{rows}{f', {self.loss} loss' if self.loss else ''}"]
        words += [] if self.score is None else [f"{self.unit} {self.score:.4f} in sample"]
        words += [] if self.held_out is None else [self._seen()]
        return "; ".join(words)

    def _seen(self) -> str:
        error = "" if self.held_out_error is None else f" (standard error {self.held_out_error:.4f})"
        return f"{self.held_out_name} {self.held_out:.4f} held out{error}"

    def _repr_html_(self) -> str:
        headings, rows, _ = self._cells() if self.names else (["feature"], [("(no features: the null model)",)], [])
        return html_table(self._heading(), headings, rows, self._sentences())

    def _table(self) -> str:
        if not self.names:
            return "(no features: the null model)"
        return format_table(*self._cells())

    def _cells(self) -> tuple[list[str], list[tuple[str, ...]], list[int]]:
        """Headings, rows, and which columns hold words."""
        headings, cells = ["feature"], [[truncate(name) for name in self.names]]
        for label, values in (("coefficient", self.coef), ("per s.d.", self.per_sd)):
            for heading, numbers in self._shown(label, values):
                headings.append(heading)
                cells.append([format_number(number) for number in numbers])
        if self.drop is not None and self.rival_cost is not None:
            short = self.unit if self.unit in ("R2", "D2") else "value"
            lost = "lost" if short != "value" else "gained"
            headings += [f"{short} {lost} if dropped", "closest rival", f"{short} {lost} with it"]
            first = self._firsts()
            dropped = [format_fraction(d) if np.isfinite(d) else "must stay" for d in self.drop]
            cost = [format_fraction(c) if name else "" for c, name in zip(self.rival_cost, self.rivals, strict=True)]
            cells += [
                [word if new else '"' for word, new in zip(words, first, strict=True)]
                for words in (dropped, [truncate(name) for name in self.rivals], cost)
            ]
        words = [j for j, heading in enumerate(headings) if heading in ("feature", "closest rival")]
        return headings, list(zip(*cells, strict=True)), words

    def _shown(self, label: str, values: Vector | None) -> list[tuple[str, Vector]]:
        """A column of the table per output, or the norm where these are many."""
        if values is None:
            return []
        if values.ndim == 1:
            return [(label, values)]
        if values.shape[1] > MAX_OUTPUT_COLUMNS or label != "coefficient":
            return [
                ("norm of coefficients" if label == "coefficient" else f"norm {label}", np.linalg.norm(values, axis=1))
            ]
        return [(truncate(name, 16), values[:, r]) for r, name in enumerate(self.outputs)]

    def _firsts(self) -> list[bool]:
        """Whether a feature is the first of its group in the table."""
        if self.groups is None:
            return [True] * len(self.names)
        seen: set[int] = set()
        return [not (g in seen or seen.add(g)) for g in self.groups.tolist()]  # type: ignore[func-returns-value]

    def _rounding(self) -> float:
        """A cost that is none."""
        assert self.drop is not None
        return MIN_EXPLAINED_GAIN * (
            1.0 if self.score is not None else float(np.abs(self.drop[np.isfinite(self.drop)]).max(initial=0.0))
        )

    @property
    def has_better_rival(self) -> bool:
        """Whether one of the rivals shown is better than the feature in whose place it would come."""
        if self.drop is None or self.rival_cost is None:
            return False
        return bool(self.rival_cost.min(initial=0.0) < -self._rounding())

    def _sentences(self) -> list[str]:
        free = np.ravel(self.intercept)
        words = [f"Intercept {format_list(map(format_number, free), MAX_OUTPUT_COLUMNS)}."] if free.any() else []
        if self.drop is None and self.names:
            words.append("What features are worth is not kept: it needs the data (call summary() before pickling).")
        elif self.names:
            words.append(RIVAL_WORDS[self.how])
        if self.rival_cost is not None and self.has_better_rival:
            i = int(np.argmin(self.rival_cost))
            better = "be better: this is not the best set" if self.plain else "fit these rows better"
            words.append(f"{self.rivals[i]} instead of {self.names[i]} would {better}.")
        words += [self.found, *self.notes]
        if self.sets > 1 and len(self.names):
            words.append(
                f"The features were chosen on these rows, among {_large_number(self.sets)} sets: p-values and standard"
                " errors that take them as given are too small."
                + ("" if self.outputs else " pursuit.split_intervals tests on rows that had no part in the choice.")
            )
        return words


def _large_number(sets: int) -> str:
    return f"{sets:,}" if sets < 10**7 else f"about 10^{len(str(sets)) - 1}"


def sets_of(allowed: int, include: int, k: int) -> int:
    """Among how many sets k units were chosen."""
    return comb(allowed - include, max(k - include, 0))
