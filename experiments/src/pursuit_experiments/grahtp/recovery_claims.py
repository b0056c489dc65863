"""Rates and their errors as the claims on figures 2 and 3 need them.

A curve is summed up by its mean over the grid of n, whose draws are independent. Two methods meet the same draws:
GraHTP's lead over another is that of pairs (columns ``*_lead`` of the table); of two others the squared standard errors
are added up, which errs on the side of no difference.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pursuit_experiments.experiment import DECISIVE, Comparison, Judgement, weakest

from .methods import METHODS

if TYPE_CHECKING:
    from pandas import DataFrame

METRICS = ("exact", "relaxed")


class Rate(NamedTuple):
    """A rate, or a difference of rates, with its standard error."""

    mean: float
    se: float

    def __str__(self) -> str:
        return f"{100 * self.mean:.0f}%"

    @property
    def above(self) -> bool:
        """More than zero by more than twice the standard error."""
        return self.mean > 2 * self.se and self.mean > 0

    @property
    def below(self) -> bool:
        return Rate(-self.mean, self.se).above


class Curves:
    """The curves of a table, one per budget, method and metric."""

    def __init__(self, table: "DataFrame", ridge: float | None = None) -> None:
        """Of one lambda, where the table has several (one of an earlier run has not)."""
        self.table = table[table["lambda"] == ridge] if ridge is not None and "lambda" in table else table
        self.budgets = sorted(int(k) for k in table["k"].unique())

    def points(self, k: int, method: str, metric: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """n, rates, standard errors (0 where one replication has none)."""
        own = self.table[(self.table["k"] == k) & (self.table["method"] == method)].sort_values("n")
        return tuple(own[name].fillna(0).to_numpy(dtype=float) for name in ("n", metric, f"{metric}_se"))

    def mean(self, k: int, method: str, metric: str) -> Rate:
        _, rates, errors = self.points(k, method, metric)
        return Rate(float(rates.mean()), float(np.sqrt(np.sum(errors**2)) / len(rates)))

    def lead(self, k: int, one: str, other: str, metric: str) -> Rate:
        """Of the first method over the second, in the mean over n; by pairs where the table has them."""
        if one == f"GraHTP{other.removeprefix(other.partition(',')[0])}" and f"{metric}_lead" in self.table:
            _, gaps, errors = self.points(k, other, f"{metric}_lead")
            return Rate(float(gaps.mean()), float(np.sqrt(np.sum(errors**2)) / len(gaps)))
        a, b = self.mean(k, one, metric), self.mean(k, other, metric)
        return Rate(a.mean - b.mean, float(np.hypot(a.se, b.se)))

    def leads(self, k: int, one: str, other: str, metric: str) -> Iterator[tuple[int, Rate]]:
        """The same at each n, not by pairs."""
        n, a, a_se = self.points(k, one, metric)
        _, b, b_se = self.points(k, other, metric)
        for place, size in enumerate(n):
            yield int(size), Rate(float(a[place] - b[place]), float(np.hypot(a_se[place], b_se[place])))

    def behind(self, k: int, one: str, other: str, metric: str) -> list[int]:
        """The n at which the first method is behind by more than two standard errors."""
        return [n for n, lead in self.leads(k, one, other, metric) if lead.below]

    def compare(self, k: int, one: str, other: str, metric: str) -> Comparison:
        """The lead of one method over another in the mean over n."""
        lead = self.lead(k, one, other, metric)
        copies = min(self.copies(one), self.copies(other))
        return Comparison(f"{one} over {other}, k={k}, {metric}", lead.mean, lead.se, copies)

    def climbs(self) -> list[Comparison]:
        """By how much each curve of a printed method rises from one n to the next."""
        found = []
        for k in self.budgets:
            for method in METHODS:
                for metric in METRICS:
                    n, rates, errors = self.points(k, method, metric)
                    for place in range(1, len(n)):
                        about = f"{method} k={k} {metric} from n={n[place - 1]:.0f} to {n[place]:.0f}"
                        rise, error = rates[place] - rates[place - 1], np.hypot(*errors[place - 1 : place + 1])
                        found.append(Comparison(about, float(rise), float(error), self.copies(method)))
        return found

    def means(self, k: int, metric: str, names: Iterable[str] = METHODS) -> str:
        """The means over n of some methods in words."""
        return ", ".join(f"{name} {self.mean(k, name, metric)}" for name in names)

    def spread(self, k: int, metric: str) -> Rate:
        """Best minus worst mean of the printed methods."""
        found = sorted((self.mean(k, method, metric) for method in METHODS), key=lambda rate: rate.mean)
        return Rate(found[-1].mean - found[0].mean, float(np.hypot(found[-1].se, found[0].se)))

    def worst(self, method: str) -> tuple[float, float, str]:
        """Where the method falls furthest behind the best one of the same panel: lag, its standard error, and where."""
        lags = {}
        for k in self.budgets:
            for metric in METRICS:
                best = max((self.mean(k, one, metric) for one in METHODS), key=lambda rate: rate.mean)
                own = self.mean(k, method, metric)
                lags[f"k={k} {metric}"] = best.mean - own.mean, float(np.hypot(best.se, own.se))
        where = max(lags, key=lambda panel: lags[panel][0])
        return *lags[where], where

    def copies(self, method: str) -> int:
        """The fewest replications of a method at any n."""
        return int(self.table.loc[self.table["method"] == method, "copies"].min())


SQUARE = (
    "only GraSP falls: what it merges (up to 3k columns, less those in common) has at this n about as many columns as"
    " there are rows, its least-squares problem is as good as square and the minimiser blows up; with fewer rows the"
    " least-norm minimiser works again, with more the least-squares one"
)


def rises(curves: Curves) -> Judgement:
    climbs = curves.climbs()
    falls = [one.about for one in climbs if one.ratio < -DECISIVE]
    measured = f"{len(falls)} falls beyond two standard errors{': ' + '; '.join(falls) if falls else ''}"
    why = SQUARE if all("GraSP" in one for one in falls) else ""
    return Judgement.of("rises", not falls, measured, why, rests_on=weakest(climbs))


def balance(curves: Curves, why: str = "another method is more even over the panels", beside: str = "") -> Judgement:
    lags = {method: curves.worst(method) for method in METHODS}
    measured = f"furthest behind the best method of a panel, in points of the mean over n: {said(lags)}{beside}"
    ours = lags["GraHTP"]
    found = [
        Comparison(
            f"{method}'s furthest lag minus GraHTP's",
            lag - ours[0],
            float(np.hypot(error, ours[1])),
            curves.copies("GraHTP"),
        )
        for method, (lag, error, _) in lags.items()
        if method != "GraHTP"
    ]
    return Judgement.by_leads("balance", found, measured, why)


def said(lags: dict[str, tuple[float, float, str]]) -> str:
    """The lags in words."""
    return ", ".join(f"{method} {100 * lag:.0f} ({where})" for method, (lag, _, where) in lags.items())
