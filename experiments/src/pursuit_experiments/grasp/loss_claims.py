"""What the measured losses say of each claim about figure 1: whether it holds, and the numbers."""

from typing import TYPE_CHECKING

import numpy as np

from ..experiment import Comparison, weakest
from ..sums import compared
from .simulation import GRASP, GRASP_D, LASSO, NET, OMP, RIDGE, RIDGE_D, TRUTH

if TYPE_CHECKING:
    from pandas import DataFrame, Series

LOW, VERY_LOW, HIGH = (100, 250), (50, 300), (750, 1000)  # n; p is 1000
STEEPEST = "sqrt(2)/2"
Found = tuple[bool, str, Comparison]


def _wide(table: "DataFrame", value: str, n: tuple[int, int] = (0, 10**9)) -> "DataFrame":
    """A line per setting, a column per method."""
    own = table[table["n"].between(*n)]
    return own.pivot_table(index=["rho", "n"], columns="method", values=value, sort=False)


def _range(values: "Series", digits: str = ".3g") -> str:
    return f"{values.min():{digits}} to {values.max():{digits}}" if len(values) else "nothing"


def _weakest(about: str, leads: "Series", errors: "Series", table: "DataFrame") -> Comparison:
    return weakest(compared(about, leads, errors, int(table["copies"].min())))


def low_grasp(table: "DataFrame") -> Found:
    loss, sd, se = (_wide(table, value, LOW) for value in ("loss", "sd", "gap_se"))
    distance = (loss[GRASP] - loss[TRUTH]).abs() - sd[TRUTH]
    outside = distance > 0
    words = f"outside the band in {outside.sum()} of {len(outside)} settings: mean loss {_range(loss[GRASP])}"
    least = _weakest("distance outside the band", distance, se[GRASP], table)
    return bool(outside.all()), f"{words}, the true parameter's {_range(loss[TRUTH])}", least


def high_grasp(table: "DataFrame") -> Found:
    gap, sd, se = (_wide(table, value, HIGH) for value in ("gap", "sd", "gap_se"))
    room = 0.5 * sd[TRUTH] - gap[GRASP].abs()
    near = room > 0
    words = (
        f"{near.sum()} of {len(near)} settings: mean gaps {_range(gap[GRASP])}, standard deviations {_range(sd[TRUTH])}"
    )
    return bool(near.all()), words, _weakest("half a deviation less the gap", room, se[GRASP], table)


def low_omp(table: "DataFrame") -> Found:
    gap, se = _wide(table, "gap", VERY_LOW), _wide(table, "gap_se", VERY_LOW)
    words = f"mean gaps {_range(gap[OMP])} at n up to 300: it falls below the truth, steadily"
    return bool((gap[OMP] <= 0).all()), words, _weakest("true loss minus Logit-OMP's", -gap[OMP], se[OMP], table)


def high_omp(table: "DataFrame") -> Found:
    return _closest(table, GRASP, (OMP,), HIGH)


def lasso_threshold(table: "DataFrame") -> Found:
    gap, se = _wide(table, "gap"), _wide(table, "gap_se")
    above = gap[LASSO] > 2 * se[LASSO]
    words = f"mean gaps {_range(gap[LASSO])}, above 0 by 2 se in {above.sum()} of {len(above)} settings"
    least = _weakest("the lasso's loss minus the true one", gap[LASSO], se[LASSO], table)
    return bool((gap[LASSO] > 0).all() and above.mean() >= 0.95), words, least


def ridge_stable(table: "DataFrame") -> Found:
    loss, se = _wide(table, "loss", LOW), _wide(table, "gap_se", LOW)
    with_ridge, without = (loss[RIDGE] / loss[TRUTH] - 1).abs(), loss[GRASP] / loss[TRUTH]
    holds = bool((with_ridge < 0.5).all() and (with_ridge < (without - 1).abs()).all())
    words = f"off by {_range(with_ridge, '.0%')} with the ridge; without it {_range(without)} times the true loss"
    least = _weakest("half of the true loss less the gap", (0.5 - with_ridge) * loss[TRUTH], se[RIDGE], table)
    return holds, words, least


def ridge_bias(table: "DataFrame") -> Found:
    loss, gap, se = _wide(table, "loss", HIGH), _wide(table, "gap", HIGH), _wide(table, "gap_se", HIGH)
    more = loss[RIDGE] - loss[GRASP]
    by_rho = more.groupby(level="rho", sort=False).mean()
    differences = ", ".join(f"{value:+.4f} at rho={rho}" for rho, value in by_rho.items())
    holds = bool((by_rho > 0).all() and str(by_rho.idxmax()) == STEEPEST)
    words = (
        f"loss of GraSP + l2 minus GraSP's, mean over n: {differences}; GraSP + l2's gap to the truth"
        f" {_range(gap[RIDGE])} (se {_range(se[RIDGE], '.2g')})"
    )
    error = np.hypot(se[RIDGE], se[GRASP]).groupby(level="rho", sort=False).mean()  # n share their draws
    return holds, words, _weakest("loss of GraSP + l2 minus GraSP's, not by pairs", by_rho, error, table)


def closest_low(table: "DataFrame") -> Found:
    return _closest(table, RIDGE, (GRASP, LASSO, NET, OMP), VERY_LOW)


def closest_high(table: "DataFrame") -> Found:
    return _closest(table, GRASP, (RIDGE, LASSO, NET, OMP), HIGH)


def _closest(table: "DataFrame", own: str, others: tuple[str, ...], n: tuple[int, int]) -> Found:
    """Whether no other method's mean gap is smaller, in size, by more than two standard errors."""
    gap, se = _wide(table, "gap", n).abs(), _wide(table, "gap_se", n)
    words, beaten, found = [f"mean gap of {own} in size {_range(gap[own])}"], 0, []
    for other in others:
        closer = gap[own] < gap[other]
        error = np.hypot(se[own], se[other])
        lost = gap[own] - gap[other] > 2 * error
        found.append(_weakest(f"size of {other}'s gap minus {own}'s", gap[other] - gap[own], error, table))
        beaten += int(lost.sum())
        counts = f"closer than it in {closer.sum()} of {len(closer)}, further by 2 se in {lost.sum()}"
        words.append(f"{other} {_range(gap[other])}: {counts}")
    return beaten == 0, "; ".join(words), weakest(found)


def debias_stable(table: "DataFrame") -> Found:
    gap, se = _wide(table, "gap", LOW).abs(), _wide(table, "gap_se", LOW)
    words = f"mean gap in size {_range(gap[GRASP_D])} debiased, {_range(gap[GRASP])} plain"
    lead, error = gap[GRASP] - gap[GRASP_D], np.hypot(se[GRASP], se[GRASP_D])
    least = _weakest("size of the plain gap minus the debiased one", lead, error, table)
    return bool((lead > 0).all()), words, least


def debias_bias(table: "DataFrame") -> Found:
    own = table[table["rho"].astype(str) == STEEPEST]
    if not len(own):
        return False, "no setting", Comparison("no setting", 0.0, 0.0, 0)
    gap, se = _wide(own, "gap", HIGH), _wide(own, "gap_se", HIGH)
    lower = gap[RIDGE_D] < gap[RIDGE]
    closer = gap[RIDGE_D].abs() < gap[RIDGE].abs()
    words = (
        f"lower loss in {lower.sum()} of {len(lower)} n; gaps to the truth {_range(gap[RIDGE_D])} debiased, "
        f"{_range(gap[RIDGE])} plain (closer in size in {closer.sum()})"
    )
    lead, error = gap[RIDGE] - gap[RIDGE_D], np.hypot(se[RIDGE], se[RIDGE_D])
    return bool(lower.all()), words, _weakest("loss of GraSP + l2 minus the debiased one's", lead, error, table)
