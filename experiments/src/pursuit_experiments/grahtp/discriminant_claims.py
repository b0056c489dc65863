"""What the two papers say of discriminant analysis by precision matrices, judged by the table."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pursuit_experiments.experiment import DECISIVE, FAILED, Comparison, Judgement, weakest

from .discriminant import LASSO, METRICS

if TYPE_CHECKING:
    from pandas import DataFrame

CLOSE = 0.04  # the paper calls its GraHTP competitive, whose specificity is that far from GLasso's


def _lines(table: "DataFrame", methods: Sequence[str]) -> "DataFrame":
    return table[table["method"].isin(methods)].set_index("method")


def _said(lines: "DataFrame", value: str, digits: int = 2) -> str:
    return ", ".join(f"{name} {number:.{digits}f}" for name, number in lines[value].items())


def competitive(table: "DataFrame", methods: Sequence[str], why: str) -> Judgement:
    """Behind the leader of each metric by less than the paper's own distance, `CLOSE`."""
    lines, found, words = _lines(table, methods), [], []
    for value in METRICS:
        leader = lines[value].idxmax()
        short = lines.loc[leader, value] - lines.loc["GraHTP", value]
        error = 0.0 if leader == "GraHTP" else float(np.nan_to_num(lines.loc[leader, f"{value}_gap_se"]))
        words.append(f"{value} {_said(lines, value)} (GraHTP {short:.3f} ± {error:.3f} behind {leader})")
        found.append(
            Comparison(f"{value}, {CLOSE} less the distance to {leader}", CLOSE - short, error, _copies(lines))
        )
    return Judgement.by_leads("competitive", found, "; ".join(words), why, FAILED)


def highest_mcc(table: "DataFrame", methods: Sequence[str], why: str) -> Judgement:
    lines = _lines(table, methods)
    found = _gaps(lines, "mcc", "gap", "GraHTP's MCC minus")
    words = ", ".join(f"{one.about.rpartition(' ')[2]} {one.lead:+.3f} ± {one.se:.3f}" for one in found)
    measured = f"MCC {_said(lines, 'mcc')}; GraHTP's minus another's: {words}"
    return Judgement.by_leads("mcc", found, measured, why)


def lasso_rates(table: "DataFrame", methods: Sequence[str], why: str) -> Judgement:
    """Against each of the others on the same divisions."""
    lines = _lines(table, methods)
    measured = f"specificity {_said(lines, 'specificity')}; sensitivity {_said(lines, 'sensitivity')}"
    found = _gaps(lines, "specificity", "lasso_gap", "GLasso's specificity minus")
    found += [
        replace(one, lead=-one.lead) for one in _gaps(lines, "sensitivity", "lasso_gap", "GLasso's sensitivity below")
    ]
    return Judgement.by_leads("glasso", found, measured, why)


def _gaps(lines: "DataFrame", value: str, column: str, words: str) -> list[Comparison]:
    """By pairs; against GLasso in a table of an earlier run, which lacks them, from both standard errors."""
    if f"{value}_{column}" not in lines:
        base, others = lines.loc[LASSO], lines.drop(index=LASSO)
        lines = lines.assign(
            **{
                f"{value}_{column}": base[value] - others[value],
                f"{value}_{column}_se": np.hypot(base[f"{value}_se"], others[f"{value}_se"]),
            }
        )
    own = lines[lines[f"{value}_{column}"].notna()]
    return [
        Comparison(f"{words} {name}", gap, float(np.nan_to_num(error)), _copies(lines))
        for name, gap, error in zip(own.index, own[f"{value}_{column}"], own[f"{value}_{column}_se"], strict=True)
    ]


def _copies(lines: "DataFrame") -> int:
    return int(lines["copies"].min())


def as_printed(table: "DataFrame", methods: Sequence[str], why: str) -> Judgement:
    """Each mean against the printed one, by the standard errors of both; the printed ones are of 100 divisions."""
    lines, found, words = _lines(table, methods), [], []
    for value in METRICS:
        apart = lines[value] - lines[f"{value}_paper"]
        error = np.nan_to_num(np.hypot(lines[f"{value}_se"], lines[f"{value}_sd"] / 10))
        words.append(f"{value} " + ", ".join(f"{name} {gap:+.2f}" for name, gap in apart.items()))
        found += [
            Comparison(f"distance of {name}'s {value} from the printed one", -abs(gap), se, _copies(lines))
            for (name, gap), se in zip(apart.items(), error, strict=True)
        ]
    far = [
        one.about.removeprefix("distance of ").removesuffix(" from the printed one")
        for one in found
        if one.ratio < -DECISIVE
    ]
    measured = f"ours minus printed: {'; '.join(words)}; beyond two standard errors: {', '.join(far) or 'none'}"
    return Judgement.of("printed", not far, measured, why, rests_on=weakest(found))


def times(table: "DataFrame", methods: Sequence[str], reasons: dict[str, str]) -> Iterator[Judgement]:
    lines = _lines(table, methods)
    measured = f"processor seconds {_said(lines, 'seconds', 1)}"
    gaps = {one.about.rpartition(" ")[2]: one for one in _gaps(lines, "seconds", "gap", "GraHTP's seconds below")}
    faster = [replace(one, lead=-one.lead) for name, one in gaps.items() if name != LASSO]
    yield Judgement.by_leads("time_greedy", faster, measured, reasons["time_greedy"], FAILED)
    seconds, error = lines["seconds"], lines["seconds_se"]
    slower = [
        Comparison(
            f"{name}'s seconds minus GLasso's",
            seconds[name] - seconds[LASSO],
            float(np.nan_to_num(np.hypot(error[name], error[LASSO]))),
            _copies(lines),
        )
        for name in methods
        if name != LASSO
    ]
    yield Judgement.by_leads("time_glasso", slower, measured, reasons["time_glasso"])
