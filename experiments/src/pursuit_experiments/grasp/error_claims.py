"""What the measured errors say of each claim about figure 2: whether it holds, and the numbers."""

from typing import TYPE_CHECKING

import numpy as np

from ..experiment import Comparison, weakest
from ..sums import compared
from .simulation import GRASP, GRASP_D, LASSO, METHODS, NET, OMP, RIDGE, RIDGE_D, RIDGE_KEPT

if TYPE_CHECKING:
    from pandas import DataFrame, Series

ALMOST = 0.9  # share of settings that is "almost the entire range"
MOST = 0.5
Found = tuple[bool, str, Comparison]


def _wide(table: "DataFrame", value: str = "error", low: int = 0, high: int = 10**9) -> "DataFrame":
    own = table[table["n"].between(low, high)]
    return own.pivot_table(index=["rho", "n"], columns="method", values=value, sort=False)


def _range(values: "Series") -> str:
    return f"{values.min():.3g} to {values.max():.3g}" if len(values) else "nothing"


def _weakest(about: str, leads: "Series", errors: "Series", table: "DataFrame") -> Comparison:
    return weakest(compared(about, leads, errors, _copies(table)))


def _better(table: "DataFrame", own: str, other: str, word: str, low: int = 0) -> Found:
    """Whether ``own`` has the smaller mean error in most settings, and a larger one by 2 paired se in one of ten."""
    gap, se = _wide(table, f"minus_{word}", low), _wide(table, f"minus_{word}_se", low)
    wins, loses = gap[own] < 0, gap[own] > 2 * se[own]
    words = f"{own} below {other} in {wins.sum()} of {len(wins)}, above by 2 se in {loses.sum()}"
    n = sorted({int(index[1]) for index in loses.index[loses]})
    words += f" (n = {', '.join(map(str, n))})" if n else ""
    least = _weakest(f"{other}'s error minus {own}'s", -gap[own], se[own], table)
    return bool(wins.mean() > MOST and loses.mean() <= 1 - ALMOST), words, least


def none_small(table: "DataFrame") -> Found:
    error, se = _wide(table)[list(METHODS)], _wide(table, "error_se")
    least = error.min()
    words = "least mean error " + ", ".join(f"{m} {least[m]:.2g}" for m in METHODS)
    found = weakest(_weakest(f"{m}'s error minus 0.1", error[m] - 0.1, se[m], table) for m in METHODS)
    return bool((least > 0.1).all()), words, found


def rho_little(table: "DataFrame") -> Found:
    means, errors = (
        _wide(table, value, low=500)[list(METHODS)].groupby(level="rho", sort=False).mean()
        for value in ("error", "error_se")  # n share their draws: standard errors are averaged, not added up
    )
    factor = means.max() / means.min()
    words = "largest over smallest mean: " + ", ".join(f"{m} {factor[m]:.2f}" for m in METHODS)
    found = []
    for m in METHODS:
        top, low = means[m].idxmax(), means[m].idxmin()
        error = float(np.nan_to_num(np.hypot(errors.loc[top, m], 1.5 * errors.loc[low, m])))
        lead = float(1.5 * means.loc[low, m] - means.loc[top, m])
        found.append(Comparison(f"{m}: 1.5 times the least mean minus the largest", lead, error, _copies(table)))
    return bool((factor < 1.5).all()), words, weakest(found)


def high_grasp_lasso(table: "DataFrame") -> Found:
    error, se = _wide(table, low=750), _wide(table, "error_se", low=750)
    ratio = error[GRASP] / error[LASSO]
    lead = np.minimum(2 * error[LASSO] - error[GRASP], error[GRASP] - error[LASSO] / 2)
    least = _weakest("distance to half or twice the lasso's", lead, np.hypot(se[GRASP], 2 * se[LASSO]), table)
    return bool(ratio.between(0.5, 2).all()), f"GraSP's mean error over the lasso's: {_range(ratio)}", least


def omp_mid_high(table: "DataFrame") -> Found:
    error, minus, se = (_wide(table, value, low=500) for value in ("error", "minus_omp", "minus_omp_se"))
    words, wins, found = [], 0, []
    for other in (GRASP, LASSO, NET):
        less = error[OMP] < error[other]
        wins += int(less.all())
        words.append(f"below {other} in {less.sum()} of {len(less)}")
        found.append(_weakest(f"{other}'s error minus Logit-OMP's", minus[other], se[other], table))
    return wins == 3, f"Logit-OMP {_range(error[OMP])}: " + ", ".join(words), weakest(found)


def grasp_unstable(table: "DataFrame") -> Found:
    error, se = _wide(table, high=250)[GRASP], _wide(table, "error_se", high=250)[GRASP]
    least = _weakest("GraSP's error minus 2", error - 2, se, table)
    return bool((error > 2).all()), f"mean error {_range(error)} at n up to 250", least


def omp_unstable(table: "DataFrame") -> Found:
    error, se = _wide(table, high=100)[OMP], _wide(table, "error_se", high=100)[OMP]
    least = _weakest("Logit-OMP's error minus 2", error - 2, se, table)
    return bool((error > 2).all()), f"mean error {_range(error)} at n = 50 and 100", least


def ridge_better(table: "DataFrame") -> Found:
    error, minus, se = (_wide(table, value) for value in ("error", "minus_ridge", "minus_ridge_se"))
    words, shares, found = [], [], []
    for other in (LASSO, NET, GRASP):
        less = error[RIDGE] < error[other]
        shares.append(less.mean())
        n = sorted({int(index[1]) for index in less.index[~less]})
        words.append(
            f"below {other} in {less.sum()} of {len(less)}" + (f" (not at n = {', '.join(map(str, n))})" if n else "")
        )
        found.append(_weakest(f"{other}'s error minus {RIDGE}'s", minus[other], se[other], table))
    return min(shares, default=0) >= ALMOST, "; ".join(words), weakest(found)


def debias_better(table: "DataFrame") -> Found:
    plain, words, one = _better(table, GRASP_D, GRASP, "grasp", 200)
    ridge, more, two = _better(table, RIDGE_D, RIDGE, "ridge", 200)
    error = _wide(table, low=200)
    kept = error[RIDGE_KEPT] < error[RIDGE]
    words = f"{words}; {more}; with the ridge kept in the refit below in {kept.sum()} of {len(kept)}"
    return plain and ridge, words, weakest((one, two))


def variants_omp(table: "DataFrame") -> Found:
    """The text's "these variants" are those of the sentence before it; GraSP + l2 without debiasing is reported too."""
    found = [_better(table, own, OMP, "omp") for own in (GRASP_D, RIDGE_D, RIDGE)]
    words = "; ".join(words for _, words, _ in found)
    return all(holds for holds, _, _ in found[:2]), words, weakest(least for _, _, least in found[:2])


def _copies(table: "DataFrame") -> int:
    return int(table["copies"].min())
