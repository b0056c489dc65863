"""What half-samples agree on."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from .._utils.lazy import lazy
from .._utils.text import html_table
from .._utils.types import Columns, Matrix, Vector
from .._utils.validation import check_number, format_list, require_package
from .bounds import Bounds, bounds
from .partners import Partner, partners

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from ..plots.stability import StabilityDisplay

MAX_PRINTED = 12  # features, and pairs of them, that are printed


@dataclass(frozen=True, eq=False, repr=False)
class Stability:
    """Frequencies with which half-samples select each feature, at every size.

    Attributes
    ----------
    supports : tuple
        Of each half-sample, pair by pair, what it selects at each size, and last at one more than the largest: columns,
        or groups by their number.
    ks : array of int
        The sizes.
    threshold : float
        Frequency from which a feature counts as stable.
    n_pairs, n_done : int
        Complementary pairs requested, and done.
    names : tuple of str or None
        Names of the columns (with groups, of these).
    status, reason : str
        "converged", "interrupted" or "time_limit"; the same in a sentence.
    seconds : float
        How long it took.
    units : int
        How many columns or groups there are.
    forced : array of int
        Units that every half-sample must select.
    free : int
        How many units compete.
    unit_of : array of int or None
        Group of each column.
    what : str
        What is selected, in a word: features, or edges (then a column is a pair of columns, by its number).
    frequencies : array of shape (sizes, p)
        The share of half-samples that select each column.
    columns : array of int
        Those that some half-sample selects at some size, sorted.
    strength : array
        Of these, the largest frequency over the sizes.
    stable : array of int
        Columns whose largest frequency reaches the threshold, sorted.
    bounds : Bounds
        How many of them are wrong, at most, in the mean.
    partners : list of Partner
        Features that replace each other.

    See Also
    --------
    stability : Returns it.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((80, 8))
    >>> y = X[:, 3] + 0.1 * rng.standard_normal(80)
    >>> found = pursuit.stability(pursuit.SparseRegressor(k=1), X, y, n_pairs=5, random_state=0)
    >>> found.frequencies[0, 3].item()
    1.0
    """

    supports: tuple[tuple[Columns, ...], ...]
    ks: Columns
    threshold: float
    n_pairs: int
    units: int
    forced: Columns
    free: int
    unit_of: Columns | None
    names: Sequence[str] | None
    status: str
    reason: str
    seconds: float
    what: str = "features"

    @property
    def n_done(self) -> int:
        return len(self.supports) // 2

    @lazy
    def _chosen(self) -> Columns:
        """Units that some half-sample selects."""
        every = [support for sizes in self.supports for support in sizes[:-1]]
        return np.unique(np.concatenate([np.empty(0, np.int64), *every]))

    @lazy
    def _counts(self) -> Columns:
        """How many half-samples select each of these, a row per size."""
        counts = np.zeros((len(self.ks), len(self._chosen)), np.int64)
        for sizes in self.supports:
            for row, support in zip(counts, sizes[:-1], strict=True):
                row[self._chosen.searchsorted(support)] += 1
        return counts

    @property
    def _shares(self) -> Matrix:
        return self._counts / max(1, len(self.supports))

    @property
    def frequencies(self) -> Matrix:
        every = np.zeros((len(self.ks), self.units))
        every[:, self._chosen] = self._shares
        return every if self.unit_of is None else every[:, self.unit_of]

    @property
    def columns(self) -> Columns:
        return self._columns(self._chosen)

    @property
    def strength(self) -> Vector:
        most = self._shares.max(axis=0, initial=0.0)
        return most if self.unit_of is None else most[self._chosen.searchsorted(self.unit_of[self.columns])]

    @property
    def stable(self) -> Columns:
        return self._columns(self._stable)

    @property
    def _stable(self) -> Columns:
        return self._chosen[self._counts.max(axis=0, initial=0) >= self._needed] if self.supports else self._chosen

    @property
    def _needed(self) -> int:
        """Half-samples that must select a unit: a frequency is a multiple of 1 / (2 n_done)."""
        return int(np.ceil(len(self.supports) * self.threshold - 1e-9))

    @lazy
    def bounds(self) -> Bounds:
        if not self.supports or self.free == 0:
            return Bounds(0.0, self.free, 0.0, 0.0, 0.0, 0.0)
        ever = [np.setdiff1d(np.concatenate(sizes[:-1]), self.forced) for sizes in self.supports]
        q = float(np.mean([len(units) for units in ever]))
        return bounds(q, self.free, self._needed / len(self.supports), self.n_done)

    @lazy
    def partners(self) -> list[Partner]:
        return partners(self.supports, self.units, self.forced, self.threshold, self._called)

    def at(self, threshold: float) -> "Stability":
        """Return the same with another threshold: nothing is selected again.

        Parameters
        ----------
        threshold : float
            Above 0.5, at most 1.

        Returns
        -------
        Stability
            With the stable features of that threshold.

        Examples
        --------
        >>> import numpy as np, pursuit
        >>> rng = np.random.default_rng(0)
        >>> X = rng.standard_normal((80, 8))
        >>> y = X[:, 3] + 0.1 * rng.standard_normal(80)
        >>> found = pursuit.stability(pursuit.SparseRegressor(k=2), X, y, n_pairs=5, random_state=0)
        >>> found.at(0.9).stable.tolist()
        [3]
        """
        return replace(self, threshold=check_threshold(threshold))

    def to_frame(self) -> "DataFrame":
        """Tabulate the frequencies.

        Returns
        -------
        pandas.DataFrame
            A row per column that is ever selected, most often first, its frequency at every size.

        Examples
        --------
        >>> import numpy as np, pursuit
        >>> rng = np.random.default_rng(0)
        >>> X = rng.standard_normal((80, 8))
        >>> y = X[:, 3] + 0.1 * rng.standard_normal(80)
        >>> found = pursuit.stability(pursuit.SparseRegressor(k=2), X, y, n_pairs=5, random_state=0)
        >>> found.to_frame()["column"].tolist()[0]
        3
        """
        pd = require_package("pandas", "io", "to_frame")
        order = np.argsort(-self.strength, kind="stable")
        columns = self.columns[order]
        units = columns if self.unit_of is None else self.unit_of[columns]
        shares = self._shares[:, self._chosen.searchsorted(units)]
        table = {
            "column": columns,
            "name": [self._called(int(unit)) for unit in units],
            "strength": self.strength[order],
            "stable": np.isin(units, self._stable),
            **{f"k={k}": row for k, row in zip(self.ks, shares, strict=True)},
        }
        return pd.DataFrame(table)

    def most_often(self, most: int) -> tuple[Matrix, list[str]]:
        """List the units that are selected most often.

        Parameters
        ----------
        most : int
            How many.

        Returns
        -------
        frequencies : array
            Their frequencies at every size, a column each.
        names : list of str
            Their names.

        Examples
        --------
        >>> import numpy as np, pursuit
        >>> rng = np.random.default_rng(0)
        >>> X = rng.standard_normal((80, 8))
        >>> y = X[:, 3] + 0.1 * rng.standard_normal(80)
        >>> found = pursuit.stability(pursuit.SparseRegressor(k=2), X, y, n_pairs=5, random_state=0)
        >>> frequencies, names = found.most_often(1)
        >>> names, frequencies[:, 0].tolist()
        (['x3'], [1.0, 1.0])
        """
        shares = self._shares
        order = np.lexsort((-shares.mean(axis=0), -shares.max(axis=0, initial=0.0)))[:most]
        return shares[:, order], [self._called(int(self._chosen[j])) for j in order]

    def plot(self, ax: "Axes | None" = None, **how: Any) -> "StabilityDisplay":
        """Draw frequencies against k.

        Parameters
        ----------
        ax : matplotlib Axes or None, default None
            Where to draw; None makes a figure.
        **how : dict
            Passed to :class:`pursuit.plots.StabilityDisplay`.

        Returns
        -------
        StabilityDisplay
            The picture.

        Examples
        --------
        >>> import numpy as np, pursuit
        >>> rng = np.random.default_rng(0)
        >>> X = rng.standard_normal((80, 8))
        >>> y = X[:, 3] + 0.1 * rng.standard_normal(80)
        >>> found = pursuit.stability(pursuit.SparseRegressor(k=2), X, y, n_pairs=5, random_state=0)
        >>> found.plot()
        StabilityDisplay()
        """
        return import_module("pursuit.plots").StabilityDisplay.from_stability(self, ax=ax, **how)

    def _repr_html_(self) -> str:
        shares, names = self.most_often(MAX_PRINTED)
        rows = [(name, f"{share:.2f}") for name, share in zip(names, shares.max(axis=0, initial=0.0), strict=True)]
        first, *rest = repr(self).splitlines()
        return html_table(first, (self.what.removesuffix("s"), "largest frequency"), rows, rest)

    def __repr__(self) -> str:
        sizes = f"{self.ks[0]}..{self.ks[-1]}" if len(self.ks) > 1 else f"{self.ks[0]}"
        done = f"{self.n_done}" if self.n_done == self.n_pairs else f"{self.n_done} of {self.n_pairs}"
        first = f"Stability: {done} complementary pairs of half-samples, sizes {sizes}, {self.units} {self.what}"
        lines = [first + self._too_large()]
        stable, most = self._stable, dict(zip(self._chosen.tolist(), self._shares.max(axis=0, initial=0), strict=True))
        often = sorted(stable.tolist(), key=lambda unit: -most[unit])
        words = format_list((f"{self._called(unit)} {most[unit]:.2f}" for unit in often), MAX_PRINTED) or "nothing"
        lines.append(f"stable (frequency at least {self.threshold:g} at some size): {words}")
        found = self.bounds
        lines.append(
            f"wrong ones among them, in the mean, at most: {found.shah_samworth:.2g} (Meinshausen-Buehlmann, "
            f"Shah-Samworth); {found.unimodal:.2g} if unimodal, {found.r_concave:.2g} if r-concave"
        )
        if found.r_concave >= len(stable) > 0:
            lines.append("which says nothing here: fewer sizes, or a higher threshold, would")
        lines += [f"instead of each other: {pair}" for pair in self.partners[:MAX_PRINTED]]
        if self.status != "converged":
            lines.append(self.reason)
        return "\n".join(lines)

    def _too_large(self) -> str:
        """What the largest size means where it is more than half of all that compete."""
        room, size = int(self.ks[-1]) - len(self.forced), int(self.ks[-1])
        if room >= self.free > 1:
            return f": a model of size {size} has room for all of them, so that every one can be called stable"
        if room > max(1, self.free // 2):
            return f": a model of size {size} has room for more than half of them, so that many can be called stable"
        return ""

    def _columns(self, units: Columns) -> Columns:
        return units if self.unit_of is None else np.flatnonzero(np.isin(self.unit_of, units))

    def _called(self, unit: int) -> str:
        return f"x{unit}" if self.names is None else str(self.names[unit])


def check_threshold(threshold: Any) -> float:
    """Above one half, where the bounds begin, and at most 1."""
    value = check_number(threshold, "threshold", 0.5, strict=True)
    if value > 1:
        raise ValueError(f"threshold must be above 0.5 and at most 1, got {value:g}")
    return value
