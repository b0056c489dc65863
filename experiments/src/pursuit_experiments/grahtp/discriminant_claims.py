"""What the two papers say of discriminant analysis by precision matrices, judged by the table."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pursuit_experiments.experiment import FAILED, Judgement

from .discriminant import LASSO, METRICS

if TYPE_CHECKING:
    from pandas import DataFrame

CLOSE = 0.04  # the paper calls its GraHTP competitive, whose specificity is that far from GLasso's


def _lines(table: "DataFrame", methods: Sequence[str]) -> "DataFrame":
    return table[table["method"].isin(methods)].set_index("method")


def _said(lines: "DataFrame", value: str, digits: int = 2) -> str:
    return ", ".join(f"{name} {number:.{digits}f}" for name, number in lines[value].items())


def competitive(table: "DataFrame", methods: Sequence[str], why: str) -> Judgement:
    """Within two standard errors of the leader, or as near as in the paper, in all three metrics."""
    lines, behind, words = _lines(table, methods), [], []
    for value in METRICS:
        leader = lines[value].idxmax()
        short = lines.loc[leader, value] - lines.loc["GraHTP", value]
        error = 0.0 if leader == "GraHTP" else float(np.nan_to_num(lines.loc[leader, f"{value}_gap_se"]))
        words.append(f"{value} {_said(lines, value)} (GraHTP {short:.3f} ± {error:.3f} behind {leader})")
        if short > max(CLOSE, 2 * error):
            behind.append(value)
    return Judgement.of("competitive", not behind, "; ".join(words), why, FAILED)


def highest_mcc(table: "DataFrame", methods: Sequence[str], why: str) -> Judgement:
    lines = _lines(table, methods)
    others = [name for name in methods if name != "GraHTP"]
    gaps = [(name, lines.loc[name, "mcc_gap"], lines.loc[name, "mcc_gap_se"]) for name in others]
    above = [name for name, gap, error in gaps if gap < -2 * np.nan_to_num(error)]
    words = ", ".join(f"{name} {gap:+.3f} ± {error:.3f}" for name, gap, error in gaps)
    return Judgement.of("mcc", not above, f"MCC {_said(lines, 'mcc')}; GraHTP's minus another's: {words}", why)


def lasso_rates(table: "DataFrame", methods: Sequence[str], why: str) -> Judgement:
    lines = _lines(table, methods)
    measured = f"specificity {_said(lines, 'specificity')}; sensitivity {_said(lines, 'sensitivity')}"
    others = lines.drop(index=LASSO)
    first, last = others["specificity"].idxmax(), others["sensitivity"].idxmin()
    leads = [
        (lines.loc[LASSO, "specificity"] - others.loc[first, "specificity"], first, "specificity"),
        (others.loc[last, "sensitivity"] - lines.loc[LASSO, "sensitivity"], last, "sensitivity"),
    ]
    weakest = [(lead, float(np.hypot(lines.loc[LASSO, f"{value}_se"], others.loc[name, f"{value}_se"])))
               for lead, name, value in leads]  # fmt: skip
    lead, error = min(weakest, key=lambda pair: pair[0] / max(pair[1], 1e-12))
    return Judgement.by_lead("glasso", lead, np.nan_to_num(error), int(lines["copies"].min()), measured, why)


def as_printed(table: "DataFrame", methods: Sequence[str], why: str) -> Judgement:
    """Each mean against the printed one, by the standard errors of both; the printed ones are of 100 divisions."""
    lines, far, words = _lines(table, methods), [], []
    for value in METRICS:
        apart = lines[value] - lines[f"{value}_paper"]
        reach = 2 * np.hypot(lines[f"{value}_se"], lines[f"{value}_sd"] / 10)
        words.append(f"{value} " + ", ".join(f"{name} {gap:+.2f}" for name, gap in apart.items()))
        far += [f"{name}'s {value}" for name in methods if abs(apart[name]) > np.nan_to_num(reach[name])]
    measured = f"ours minus printed: {'; '.join(words)}; beyond two standard errors: {', '.join(far) or 'none'}"
    return Judgement.of("printed", not far, measured, why)


def times(table: "DataFrame", methods: Sequence[str], reasons: dict[str, str]) -> Iterator[Judgement]:
    lines = _lines(table, methods)
    greedy = [name for name in methods if name not in ("GraHTP", LASSO)]
    measured = f"processor seconds {_said(lines, 'seconds', 1)}"
    seconds = lines["seconds"]
    yield Judgement.of(
        "time_greedy", bool(seconds["GraHTP"] < seconds[greedy].min()), measured, reasons["time_greedy"], FAILED
    )
    yield Judgement.of("time_glasso", seconds.idxmin() == LASSO, measured, reasons["time_glasso"])
