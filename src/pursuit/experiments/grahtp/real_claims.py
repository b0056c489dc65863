"""What the claims on figures 4 and 5 count."""

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from pursuit.experiments.experiment import Judgement

from .methods import METHODS

if TYPE_CHECKING:
    from pandas import DataFrame

AVERAGED = "mean processor seconds over the budgets"
CLOSE = 0.05  # share by which objectives may differ and be called comparable
LARGE = "newsgroups_bigrams"
GENES = "chowdary"


def means(table: "DataFrame", method: str, value: str) -> dict[str, float]:
    """The mean of a column over the budgets that a method reached, per data set."""
    own = table[table["method"] == method].dropna(subset=[value])
    return {str(data): float(mean) for data, mean in own.groupby("data", sort=False)[value].mean().items()}


def most_of(some: Collection[str], data: Collection[str]) -> bool:
    """Three of four, as the paper counts."""
    return len(some) >= 0.75 * len(data)


def wide(table: "DataFrame", value: str) -> "DataFrame":
    """A line per data set and budget, a column per method."""
    return table.pivot_table(index=["data", "k"], columns="method", values=value, sort=False)[list(METHODS)]


def judgements(table: "DataFrame") -> Iterator[Judgement]:
    """Of the claims on figure 4."""
    return iter(())
