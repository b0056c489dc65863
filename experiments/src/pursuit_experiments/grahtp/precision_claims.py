"""What the two papers say of the simulation of precision matrices, judged by its table."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pursuit_experiments.experiment import FAILED, Judgement

from .simulated_precision import AT_K, LASSO, ON_CORRELATIONS, RULE

if TYPE_CHECKING:
    from pandas import DataFrame, Series

BY_SIGN = {"error": 1, "F": -1, "seconds": 1}  # of GraHTP minus the other, where GraHTP is worse


class Lines:
    """The table by dimension and method."""

    def __init__(self, table: "DataFrame") -> None:
        self.table, self.sizes = table, sorted(int(p) for p in table["p"].unique())

    def at(self, p: int, method: str) -> "Series":
        return self.table[(self.table["p"] == p) & (self.table["method"] == method)].iloc[0]

    def worse(self, value: str, others: Sequence[str], sizes: Sequence[int] | None = None) -> list[str]:
        """Where GraHTP is worse than another by more than two standard errors of the paired difference."""
        found = []
        for p in self.sizes if sizes is None else sizes:
            for other in others:
                line = self.at(p, other)
                if BY_SIGN[value] * line[f"{value}_gap"] > 2 * np.nan_to_num(line[f"{value}_gap_se"]) + 1e-6:
                    found.append(f"p={p} {other}")
        return found

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
    for value, name in (("error", "error"), ("F", "F-score")):
        worse = lines.worse(value, greedy)
        measured = f"GraHTP's {name} minus another's, ± standard error: {lines.gaps(value, greedy)}"
        yield Judgement.of(f"{value}_greedy", not worse, measured, reasons[f"{value}_greedy"], FAILED)
        worse = lines.worse(value, (LASSO, ON_CORRELATIONS))
        measured = (
            f"GraHTP's {name} minus GLasso's: {lines.gaps(value, (LASSO, ON_CORRELATIONS))}; {_rule(lines, value)}"
        )
        yield Judgement.of(f"{value}_glasso", not worse, measured, reasons[f"{value}_glasso"])
    worse = lines.worse("error", (AT_K,)) + lines.worse("F", (AT_K,))
    measured = f"GraHTP's error minus: {lines.gaps('error', (AT_K,))}. F-score minus: {lines.gaps('F', (AT_K,))}"
    yield Judgement.of("equal_k", not worse, measured, reasons["equal_k"], FAILED)


def _rule(lines: Lines, value: str) -> str:
    ours, theirs = (", ".join(f"{lines.at(p, name)[value]:.3g}" for p in lines.sizes) for name in (RULE, LASSO))
    return f"for comparison our own rule, which also shrinks, {ours} against GLasso's {theirs}"


def spread(lines: Lines, greedy: Sequence[str], reasons: dict[str, str]) -> Iterator[Judgement]:
    """Standard deviations over replications: more than the lasso's, or not by more than chance less."""
    for claim, methods in (("spread", ("GraHTP",)), ("spread_greedy", greedy)):
        ratios = {(p, name): lines.at(p, name)["error_se"] / lines.at(p, LASSO)["error_se"]
                  for p in lines.sizes for name in methods}  # fmt: skip
        sure = {p: np.exp(2 / np.sqrt(max(lines.at(p, LASSO)["copies"] - 1, 1))) for p in lines.sizes}
        holds = all(ratio > 1 / sure[p] for (p, _), ratio in ratios.items()) and np.median(list(ratios.values())) > 1
        words = "; ".join(
            f"p={p}: " + ", ".join(f"{name} {ratios[p, name]:.2f}" for name in methods) for p in lines.sizes
        )
        chance = ", ".join(f"{sure[p]:.2f}" for p in lines.sizes)
        measured = f"standard deviation of the error over GLasso's: {words} (a factor of {chance} may be chance)"
        yield Judgement.of(claim, bool(holds), measured, reasons[claim])


def times(lines: Lines, greedy: Sequence[str], reasons: dict[str, str]) -> Iterator[Judgement]:
    """Processor seconds of the fit that was chosen; those of the whole tuning are told."""
    every = (LASSO, "GraHTP", *greedy)
    measured = (
        f"seconds of the chosen fit alone, {lines.means('seconds', every)}. All fits of the tuning, "
        f"{lines.means('tuning', every)}"
    )
    fastest = all(
        lines.at(p, LASSO)["seconds"] < min(lines.at(p, name)["seconds"] for name in every[1:]) for p in lines.sizes
    )
    yield Judgement.of("time_glasso", fastest, measured, reasons["time_glasso"])
    worse = lines.worse("seconds", greedy)
    measured = f"GraHTP's seconds minus another's: {lines.gaps('seconds', greedy)}"
    yield Judgement.of("time_greedy", not worse, measured, reasons["time_greedy"], FAILED)


def sparser(lines: Lines, greedy: Sequence[str]) -> Judgement:
    """Mean numbers of edges."""
    holds = all(lines.at(p, name)["edges"] < lines.at(p, LASSO)["edges"] for p in lines.sizes for name in greedy)
    return Judgement.of("sparser", holds, f"edges, {lines.means('edges', (*greedy, LASSO))}")
