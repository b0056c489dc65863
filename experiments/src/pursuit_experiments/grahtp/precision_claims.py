"""What the two papers say of the simulation of precision matrices, judged by its table."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pursuit_experiments.experiment import DECISIVE, DIFFERS, FAILED, Comparison, Judgement, weakest

from .simulated_precision import AT_K, LASSO, ON_CORRELATIONS, RULE

if TYPE_CHECKING:
    from pandas import DataFrame, Series

BY_SIGN = {"error": 1, "F": -1, "seconds": 1}  # of GraHTP minus the other, where GraHTP is worse
NAMES = {"error": "error", "F": "F-score", "seconds": "seconds"}


class Lines:
    """The table by dimension and method."""

    def __init__(self, table: "DataFrame") -> None:
        self.table, self.sizes = table, sorted(int(p) for p in table["p"].unique())

    def at(self, p: int, method: str) -> "Series":
        return self.table[(self.table["p"] == p) & (self.table["method"] == method)].iloc[0]

    def leads(self, value: str, others: Sequence[str]) -> list[Comparison]:
        """By how much GraHTP is better than another, on the same samples."""
        found = []
        for p in self.sizes:
            for other in others:
                line = self.at(p, other)
                lead, error = -BY_SIGN[value] * line[f"{value}_gap"], np.nan_to_num(line[f"{value}_gap_se"])
                about = f"GraHTP's {NAMES[value]} against {other}'s, p={p}"
                found.append(Comparison(about, float(lead), float(error), int(line["copies"])))
        return found

    def no_worse(self, claim: str, leads: list[Comparison], measured: str, why: str, otherwise: str) -> Judgement:
        """Agrees where GraHTP is worse in no comparison by more than two standard errors."""
        worse = any(one.ratio < -DECISIVE and one.lead < -1e-6 for one in leads)
        return Judgement.of(claim, not worse, measured, why, otherwise, rests_on=weakest(leads))

    def gaps(self, value: str, others: Sequence[str]) -> str:
        """The differences in words."""
        parts = []
        for p in self.sizes:
            lines = [(other, self.at(p, other)) for other in others]
            words = [f"{other} {line[f'{value}_gap']:+.3g} ± {line[f'{value}_gap_se']:.2g}" for other, line in lines]
            parts.append(f"p={p}: " + ", ".join(words))
        return "; ".join(parts)

    def means(self, value: str, methods: Sequence[str]) -> str:
        parts = [
            f"p={p}: " + ", ".join(f"{name} {self.at(p, name)[value]:.3g}" for name in methods) for p in self.sizes
        ]
        return "; ".join(parts)


def favourable(lines: Lines, greedy: Sequence[str], reasons: dict[str, str]) -> Iterator[Judgement]:
    """Error and F-score, against the greedy methods, the tuned lasso, and the lasso with as many edges."""
    for value, name in NAMES.items():
        if value == "seconds":
            continue
        measured = f"GraHTP's {name} minus another's, ± standard error: {lines.gaps(value, greedy)}"
        leads, why = lines.leads(value, greedy), reasons[f"{value}_greedy"]
        yield lines.no_worse(f"{value}_greedy", leads, measured, why, FAILED)
        measured = (
            f"GraHTP's {name} minus GLasso's: {lines.gaps(value, (LASSO, ON_CORRELATIONS))}; {_rule(lines, value)}"
        )
        leads, why = lines.leads(value, (LASSO, ON_CORRELATIONS)), reasons[f"{value}_glasso"]
        yield lines.no_worse(f"{value}_glasso", leads, measured, why, DIFFERS)
    leads = lines.leads("error", (AT_K,)) + lines.leads("F", (AT_K,))
    measured = f"GraHTP's error minus: {lines.gaps('error', (AT_K,))}. F-score minus: {lines.gaps('F', (AT_K,))}"
    yield lines.no_worse("equal_k", leads, measured, reasons["equal_k"], FAILED)


def _rule(lines: Lines, value: str) -> str:
    ours, theirs = (", ".join(f"{lines.at(p, name)[value]:.3g}" for p in lines.sizes) for name in (RULE, LASSO))
    return f"for comparison our own rule, which also shrinks, {ours} against GLasso's {theirs}"


def spread(lines: Lines, greedy: Sequence[str], reasons: dict[str, str]) -> Iterator[Judgement]:
    """Standard deviations over replications: more than the lasso's, or not by more than chance less."""
    for claim, methods in (("spread", ("GraHTP",)), ("spread_greedy", greedy)):
        logs = []
        for p in lines.sizes:
            lasso, chance = lines.at(p, LASSO), 1 / np.sqrt(max(lines.at(p, LASSO)["copies"] - 1, 1))
            for name in methods:
                ratio = float(np.log(lines.at(p, name)["error_se"] / lasso["error_se"]))
                about = f"log of {name}'s standard deviation over GLasso's, p={p}"
                logs.append(Comparison(about, ratio, float(chance), int(lasso["copies"])))
        holds = all(one.ratio > -DECISIVE for one in logs) and np.median([one.lead for one in logs]) > 0
        words = ", ".join(f"{one.about.partition('of ')[2]} {np.exp(one.lead):.2f}" for one in logs)
        yield Judgement.of(claim, bool(holds), words, reasons[claim], rests_on=weakest(logs))


def times(lines: Lines, greedy: Sequence[str], reasons: dict[str, str]) -> Iterator[Judgement]:
    """Processor seconds of the fit that was chosen; those of the whole tuning are reported."""
    every = (LASSO, "GraHTP", *greedy)
    measured = (
        f"seconds of the chosen fit alone, {lines.means('seconds', every)}. All fits of the tuning, "
        f"{lines.means('tuning', every)}"
    )
    slower = []
    for p in lines.sizes:
        lasso = lines.at(p, LASSO)
        for name in every[1:]:
            line = lines.at(p, name)
            error = float(np.nan_to_num(np.hypot(line["seconds_se"], lasso["seconds_se"])))
            lead = float(line["seconds"] - lasso["seconds"])
            slower.append(Comparison(f"{name}'s seconds minus GLasso's, p={p}", lead, error, int(line["copies"])))
    yield Judgement.by_leads("time_glasso", slower, measured, reasons["time_glasso"])
    measured = f"GraHTP's seconds minus another's: {lines.gaps('seconds', greedy)}"
    yield lines.no_worse("time_greedy", lines.leads("seconds", greedy), measured, reasons["time_greedy"], FAILED)


def sparser(lines: Lines, greedy: Sequence[str]) -> Judgement:
    """Mean numbers of edges."""
    found = []
    for p in lines.sizes:
        lasso = lines.at(p, LASSO)
        for name in greedy:
            line = lines.at(p, name)
            error = float(np.nan_to_num(np.hypot(line["edges_se"], lasso["edges_se"])))
            lead = float(lasso["edges"] - line["edges"])
            found.append(Comparison(f"GLasso's edges minus {name}'s, p={p}", lead, error, int(line["copies"])))
    return Judgement.by_leads("sparser", found, f"edges, {lines.means('edges', (*greedy, LASSO))}", "see the table")
