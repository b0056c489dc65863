"""What the claims on figures 4 and 5 count."""

from collections.abc import Collection, Iterator
from statistics import fmean
from typing import TYPE_CHECKING

from pursuit_experiments.experiment import Judgement

from .methods import METHODS, PRINTED_FBS

if TYPE_CHECKING:
    from pandas import DataFrame

AVERAGED = "mean processor seconds over the budgets"
CLOSE = 0.05  # share by which objectives may differ and be called comparable
LARGE = "newsgroups_bigrams"
GENES = "chowdary"


def means(table: "DataFrame", method: str, value: str) -> dict[str, float]:
    """The mean of a column over the budgets that a method reached, per data set.

    Correctly rounded: test errors are counts over a few rows, so a mean may lie halfway between two printed numbers,
    where the last bit decides, and pandas' own mean of groups differs in it from one version to the next.
    """
    own = table[table["method"] == method].dropna(subset=[value])
    return {str(data): fmean(values) for data, values in own.groupby("data", sort=False)[value]}


def most_of(some: Collection[str], data: Collection[str]) -> bool:
    """Three of four, as the paper counts."""
    return len(some) >= 0.75 * len(data)


def wide(table: "DataFrame", value: str) -> "DataFrame":
    """A line per data set and budget, a column per method."""
    return table.pivot_table(index=["data", "k"], columns="method", values=value, sort=False)[list(METHODS)]


def judgements(table: "DataFrame") -> Iterator[Judgement]:
    """Of the claims on figure 4."""
    value, error, seconds = (wide(table, one) for one in ("objective", "error", "seconds"))
    lowest = value.min(axis=1)
    wins = {method: int((value[method] <= lowest * (1 + 1e-6)).sum()) for method in METHODS}
    pairs = value["GraHTP"].to_numpy()[:, None] < value.drop(columns="GraHTP").to_numpy()
    met = value.drop(columns="GraHTP").notna().to_numpy()
    yield Judgement.of(
        "optimality",
        bool(pairs.sum() > 0.5 * met.sum()) and max(wins, key=lambda one: wins[one]) == "GraHTP",
        f"of {len(value)} budgets on {_sets(value)} data sets the lowest objective is that of {_counted(wins)};"
        f" GraHTP is below another method in {pairs.sum()} of {met.sum()} comparisons{_by_set(value)}{_beside(table)}",
        WHY_OPTIMALITY,
    )
    over = {
        str(data): float((own["FGraHTP"] / own.drop(columns="FGraHTP").median(axis=1)).median() - 1)
        for data, own in value.groupby(level="data", sort=False)
    }
    stand_in, *others = over
    yield Judgement.of(
        "fast_optimality",
        over[stand_in] > CLOSE and all(abs(over[data]) <= CLOSE for data in others),
        "FGraHTP's objective against the median of the others', median over k: "
        + ", ".join(f"{data} {100 * share:+.0f}%" for data, share in over.items()),
        WHY_FAST_OPTIMALITY,
    )
    ranks = error.rank(axis=1)
    mean = {method: float(ranks[method].mean()) for method in METHODS}
    ordered = sorted(METHODS, key=lambda method: mean[method])
    errors = {method: means(table, method, "error") for method in METHODS}
    shown = "; ".join(
        f"{data}: "
        + ", ".join(f"{method} {100 * errors[method][data]:.1f}%" for method in METHODS if data in errors[method])
        for data in over
    )
    words = f"mean rank over all budgets: {', '.join(f'{one} {mean[one]:.1f}' for one in ordered)}. Mean error: {shown}"
    yield Judgement.of("accuracy", set(ordered[:2]) == {"GraHTP", "GraSP"}, words, WHY_ACCURACY)
    yield Judgement.of(
        "fast_accuracy",
        ordered[0] != "FGraHTP" and ordered[-1] != "FGraHTP",
        f"FGraHTP's mean rank is {mean['FGraHTP']:.1f}, in place {ordered.index('FGraHTP') + 1} of the five",
        WHY_FAST_ACCURACY,
    )
    yield from _times(seconds)


def _times(seconds: "DataFrame") -> Iterator[Judgement]:
    data = [one for one in dict.fromkeys(seconds.index.get_level_values("data")) if one != GENES]
    first = {one: seconds.loc[one].rank(axis=1).mean().sort_values() for one in data}
    holds = all(list(ranks.index[:2]) == ["FGraHTP", "GraHTP"] for ranks in first.values())
    middle = seconds.groupby(level="data", sort=False).median()
    shown = "; ".join(
        f"{one}: " + ", ".join(f"{name} {middle.loc[one, name]:.2g}" for name in METHODS) for one in middle.index
    )
    yield Judgement.of("time", holds, f"median processor seconds over k. {shown}", WHY_TIME)
    large = seconds.loc[LARGE if LARGE in middle.index else data[-1]].dropna()
    slow = large[["GraSP", "FBS", "FoBa"]].min(axis=1)
    shares = {name: float((slow / large[name]).median()) for name in METHODS[:2]}
    yield Judgement.of(
        "large",
        all(share > 1.5 for share in shares.values()),
        "the quickest of GraSP, FBS and FoBa takes "
        + ", ".join(f"{share:.1f} times as long as {name}" for name, share in shares.items())
        + " (median over the k that all reached)",
        WHY_LARGE,
    )


def _sets(value: "DataFrame") -> int:
    return int(value.index.get_level_values("data").nunique())


def _beside(table: "DataFrame") -> str:
    """How often FBS with the paper's atoms is below GraHTP; empty where it was not run."""
    value = table.pivot_table(index=["data", "k"], columns="method", values="objective", sort=False)
    if PRINTED_FBS not in value:
        return ""
    both = value[["GraHTP", "FBS", PRINTED_FBS]].dropna(subset=[PRINTED_FBS])
    lower = [int((both[PRINTED_FBS] < both[other]).sum()) for other in ("GraHTP", "FBS")]
    return (
        f". FBS on coordinates, as printed, is below GraHTP at {lower[0]} of the {len(both)} budgets that it reached,"
        f" and below FBS on atoms of unit curvature at {lower[1]}"
    )


def _counted(wins: dict[str, int]) -> str:
    return ", ".join(f"{method} {count} times" for method, count in wins.items())


def _by_set(value: "DataFrame") -> str:
    """How often GraHTP is below the others, per data set."""
    parts = []
    for data, own in value.groupby(level="data", sort=False):
        others = own.drop(columns="GraHTP")
        below = (own["GraHTP"].to_numpy()[:, None] < others.to_numpy()).sum()
        parts.append(f"{data} {below} of {int(others.notna().to_numpy().sum())}")
    return f" ({', '.join(parts)})"


WHY_OPTIMALITY = (
    "GraHTP is mostly below FGraHTP and GraSP, as the paper says; FBS and FoBa are lower where they get to k within "
    "their time, at many times the cost of GraHTP. Other data than the paper's, and a better FBS: its atoms have unit "
    "curvature, the printed ones are coordinates. That is a part of it only: on coordinates (not run on the bigrams) "
    "FBS is above itself on unit atoms nearly everywhere, above GraHTP on dorothea at 8 of 10 budgets, and below "
    "GraHTP at every budget on chowdary and rcv1_binary. What else differs is not known"
)
WHY_FAST_OPTIMALITY = (
    "other data: gisette is not to be had. On the two text sets FGraHTP stops at the paper's relative change of "
    "1e-4 while the support could still improve"
)
WHY_ACCURACY = (
    "GraHTP is first; plain GraSP is last by dorothea, where its objective is far above the others' too, and "
    "within a few test rows of the others elsewhere. Other data than the paper's: a row is half a point on "
    "dorothea and two on chowdary. Mean errors of FBS and FoBa are over the k they reached"
)
WHY_FAST_ACCURACY = "other data; the ranks of the five are close to each other"
WHY_TIME = (
    "better refits: GraHTP needs 5 to 35 supports, each refitted by Newton steps on k columns in compiled code, "
    "while FGraHTP takes hundreds of gradients over all columns; on chowdary, with more columns than rows, it is "
    "the other way round, as in the paper. GraSP is level with both on dorothea"
)
WHY_LARGE = (
    "true of GraHTP; FGraHTP needs hundreds of gradients over 1.28 million columns, while GraSP and the first "
    "hundreds of single additions need few: their refits by Newton steps on k columns cost little here"
)
