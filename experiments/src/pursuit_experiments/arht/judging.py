"""What figures 1 and 2 are judged by."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..experiment import DIFFERS, FAILED, Judgement

if TYPE_CHECKING:
    from pandas import DataFrame

EQUAL = 1e-9  # relative difference of losses that counts as none
SEARCH, BEST = "exhaustive search", "exhaustive search from the best"


def judgements(table: "DataFrame", experiment: Any) -> Iterator[Judgement]:
    why: dict[str, str] = experiment.why
    wide = table.pivot_table(index=["data", "k"], columns="method", values="loss", sort=False)
    for claim, ours, others, otherwise in (
        ("search_lowest", SEARCH, ["OMP", "OMPR", "ARHT"], DIFFERS),
        ("search_from_best", BEST, ["OMP", "OMPR", "ARHT"], FAILED),
        ("arht_below_ompr", "ARHT", ["OMPR"], FAILED),
        ("lasso_above", SEARCH, ["lasso", "lasso, refitted"], FAILED),
    ):
        beaten = _above(wide, ours, others)
        lower = int((wide[ours] < wide[others].min(axis=1) * (1 - EQUAL)).sum())
        words = f"{ours} never above {' or '.join(others)}" if beaten.empty else f"{ours} above at {_sizes(beaten)}"
        words += f"; strictly below {'all of them' if len(others) > 1 else 'it'} at {lower} of {len(wide)} sizes"
        yield Judgement.of(claim, beaten.empty, words, why.get(claim, ""), otherwise)
    yield _advantage(wide, why)
    yield _oscillates(wide, why)
    yield _cheaper(table, why)


def _above(wide: "DataFrame", ours: str, others: list[str]) -> Any:
    """By what share our loss exceeds the lowest of others, where it does."""
    excess = wide[ours] / wide[others].min(axis=1) - 1
    return excess[excess > EQUAL]


def _sizes(excess: Any) -> str:
    parts = []
    for data, part in excess.groupby(level="data", sort=False):
        ks = ", ".join(str(k) for k in part.index.get_level_values("k"))
        parts.append(f"{data} k = {ks} (by up to {100 * part.max():.2g}%)")
    return "; ".join(parts)


def _advantage(wide: "DataFrame", why: dict[str, str]) -> Judgement:
    """Both searches against the better of OMP and OMPR: on average, on every data set."""
    gains_by_data, holds = [], True
    for data, here in wide.groupby(level="data", sort=False):
        old = here[["OMP", "OMPR"]].min(axis=1)
        gains = {name: 100 * (1 - here[name] / old) for name in ("ARHT", SEARCH)}
        holds &= all(gain.mean() > 0 for gain in gains.values())
        words = (f"{name} by {gain.mean():.2g}% (at most {gain.max():.2g}%)" for name, gain in gains.items())
        gains_by_data.append(f"{data}: {', '.join(words)}")
    return Judgement.of(
        "advantage",
        holds,
        "below the better of OMP and OMPR, mean over sizes: " + "; ".join(gains_by_data),
        why.get("advantage", ""),
    )


def _oscillates(wide: "DataFrame", why: dict[str, str]) -> Judgement:
    counts, between = [], 0
    for data, here in wide.groupby(level="data", sort=False):
        apart = here[here[SEARCH] < here["OMPR"] * (1 - EQUAL)]
        share = (apart["OMPR"] - apart["ARHT"]) / (apart["OMPR"] - apart[SEARCH])
        low, high = int((share <= 0.1).sum()), int((share >= 0.9).sum())
        between += (low > 0 or len(share) - low - high > 0) and (high > 0 or len(share) - low - high > 0)
        counts.append(f"{data}: {low} at OMPR's, {len(share) - low - high} between, {high} at the search's or below")
    words = "of the sizes at which the two differ, ARHT is (within a tenth of the distance) on " + "; ".join(counts)
    return Judgement.of("oscillates", between > 0, words, why.get("oscillates", ""))


def _cheaper(table: "DataFrame", why: dict[str, str]) -> Judgement:
    spent = table[table["method"].isin(["ARHT", SEARCH])].pivot_table(
        index="data", columns="method", values="seconds", aggfunc="sum", sort=False
    )
    seconds = "; ".join(f"{data}: {row['ARHT']:.3g} s against {row[SEARCH]:.3g} s" for data, row in spent.iterrows())
    holds = bool((spent["ARHT"] < spent[SEARCH]).all())
    words = f"processor time over all sizes, ARHT against exhaustive search: {seconds}"
    return Judgement.of("cheaper", holds, words, why.get("cheaper", ""))
