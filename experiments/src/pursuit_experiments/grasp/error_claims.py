"""What the measured errors say of each claim about figure 2: whether it holds, and the numbers."""

from typing import TYPE_CHECKING

from .simulation import GRASP, GRASP_D, LASSO, METHODS, NET, OMP, RIDGE, RIDGE_D, RIDGE_KEPT

if TYPE_CHECKING:
    from pandas import DataFrame, Series

ALMOST = 0.9  # share of settings that is "almost the entire range"
MOST = 0.5
Found = tuple[bool, str]


def _wide(table: "DataFrame", value: str = "error", low: int = 0, high: int = 10**9) -> "DataFrame":
    own = table[table["n"].between(low, high)]
    return own.pivot_table(index=["rho", "n"], columns="method", values=value, sort=False)


def _range(values: "Series") -> str:
    return f"{values.min():.3g} to {values.max():.3g}" if len(values) else "nothing"


def _better(table: "DataFrame", own: str, other: str, word: str, low: int = 0) -> tuple[bool, str]:
    """Whether ``own`` has the smaller mean error in most settings, and a larger one by 2 paired se in one of ten."""
    gap, se = _wide(table, f"minus_{word}", low), _wide(table, f"minus_{word}_se", low)
    wins, loses = gap[own] < 0, gap[own] > 2 * se[own]
    words = f"{own} below {other} in {wins.sum()} of {len(wins)}, above by 2 se in {loses.sum()}"
    n = sorted({int(index[1]) for index in loses.index[loses]})
    words += f" (n = {', '.join(map(str, n))})" if n else ""
    return bool(wins.mean() > MOST and loses.mean() <= 1 - ALMOST), words


def none_small(table: "DataFrame") -> Found:
    error = _wide(table)[list(METHODS)]
    least = error.min()
    return bool((least > 0.1).all()), "least mean error " + ", ".join(f"{m} {least[m]:.2g}" for m in METHODS)


def rho_little(table: "DataFrame") -> Found:
    means = _wide(table, low=500)[list(METHODS)].groupby(level="rho", sort=False).mean()
    factor = means.max() / means.min()
    return bool((factor < 1.5).all()), "largest over smallest mean: " + ", ".join(
        f"{m} {factor[m]:.2f}" for m in METHODS
    )


def high_grasp_lasso(table: "DataFrame") -> Found:
    error = _wide(table, low=750)
    ratio = error[GRASP] / error[LASSO]
    return bool(ratio.between(0.5, 2).all()), f"GraSP's mean error over the lasso's: {_range(ratio)}"


def omp_mid_high(table: "DataFrame") -> Found:
    error = _wide(table, low=500)
    words, wins = [], 0
    for other in (GRASP, LASSO, NET):
        less = error[OMP] < error[other]
        wins += int(less.all())
        words.append(f"below {other} in {less.sum()} of {len(less)}")
    return wins == 3, f"Logit-OMP {_range(error[OMP])}: " + ", ".join(words)


def grasp_unstable(table: "DataFrame") -> Found:
    error = _wide(table, high=250)[GRASP]
    return bool((error > 2).all()), f"mean error {_range(error)} at n up to 250"


def omp_unstable(table: "DataFrame") -> Found:
    error = _wide(table, high=100)[OMP]
    return bool((error > 2).all()), f"mean error {_range(error)} at n = 50 and 100"


def ridge_better(table: "DataFrame") -> Found:
    error, words, shares = _wide(table), [], []
    for other in (LASSO, NET, GRASP):
        less = error[RIDGE] < error[other]
        shares.append(less.mean())
        n = sorted({int(index[1]) for index in less.index[~less]})
        words.append(
            f"below {other} in {less.sum()} of {len(less)}" + (f" (not at n = {', '.join(map(str, n))})" if n else "")
        )
    return min(shares, default=0) >= ALMOST, "; ".join(words)


def debias_better(table: "DataFrame") -> Found:
    plain, words = _better(table, GRASP_D, GRASP, "grasp", 200)
    ridge, more = _better(table, RIDGE_D, RIDGE, "ridge", 200)
    error = _wide(table, low=200)
    kept = error[RIDGE_KEPT] < error[RIDGE]
    return plain and ridge, f"{words}; {more}; with the ridge kept in the refit below in {kept.sum()} of {len(kept)}"


def variants_omp(table: "DataFrame") -> Found:
    """The text's "these variants" are those of the sentence before it; GraSP + l2 without debiasing is told too."""
    found = [_better(table, own, OMP, "omp") for own in (GRASP_D, RIDGE_D, RIDGE)]
    return all(holds for holds, _ in found[:2]), "; ".join(words for _, words in found)
