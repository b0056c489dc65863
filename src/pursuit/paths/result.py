"""What a path has found: one Result per size, and questions about all of them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from .._utils.text import format_number, html_table
from .._utils.types import Columns, Vector
from .._utils.validation import check_count, check_number, format_list, require_package
from ..certificates.tree import Progress
from ..objectives.glm import GLM
from ..solving.result import Result
from .certify import Certificates, certify_path

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from ..plots.path import PathDisplay


@dataclass(frozen=True, eq=False)
class Path(Sequence[Result]):
    """One :class:`Result` per size, smallest first: ``path[i]`` by position, ``path.at(k)`` by size.

    Attributes
    ----------
    results : tuple of Result
        One per size; values never rise with the size.
    null : float
        The value without features.
    lower : float
        The loss's infimum on the data, -inf where it is not known.
    status : str
        "converged", "time_limit" or "interrupted".
    reason : str
        The same in a sentence, with what was capped.
    seconds : float
        How long it took.
    sizes : tuple of int
        The requested sizes, or as many of them as time allowed.
    scores : array or None
        One number per size, the higher the better: held-out ones where a cross-validation made the path.
    ks : array of int
        The sizes.
    values : array
        The objective's value at every size.
    explained : array
        The share of the null model's loss that is explained: R2 for least squares without a ridge, else D2.
    columns : array of int
        Every column that some size uses, sorted.

    See Also
    --------
    path : Returns it.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> X = np.random.default_rng(0).standard_normal((100, 20))
    >>> found = pursuit.path(pursuit.GLM(X, X[:, 3] - 2 * X[:, 7]), [1, 2])
    >>> [result.support.tolist() for result in found]
    [[7], [3, 7]]
    """

    results: tuple[Result, ...] = field(repr=False)
    null: float
    lower: float
    status: str
    reason: str
    seconds: float
    sizes: tuple[int, ...]
    scores: Vector | None = None

    def __len__(self) -> int:
        return len(self.results)

    @overload
    def __getitem__(self, index: int) -> Result: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Result, ...]: ...
    def __getitem__(self, index: int | slice) -> Result | tuple[Result, ...]:
        return self.results[index]

    def __iter__(self) -> Iterator[Result]:
        return iter(self.results)

    @property
    def ks(self) -> Columns:
        return np.array(self.sizes, dtype=np.int64)

    @property
    def values(self) -> Vector:
        """The objective's value at every size."""
        return np.array([result.value for result in self.results])

    @property
    def explained(self) -> Vector:
        """The share of the null model's loss that is explained: R2 for least squares without a ridge, else D2.

        NaN never: where the infimum of the loss is not known, it is taken for 0.
        """
        lower = self.lower if np.isfinite(self.lower) else 0.0
        height = self.null - lower
        return 1.0 - (self.values - lower) / height if height > 0 else np.zeros(len(self))

    @property
    def columns(self) -> Columns:
        """Every column that some size uses, sorted."""
        return np.unique([j for result in self.results for j in result.support]).astype(np.int64)

    def at(self, k: int) -> Result:
        """Return the result of one size.

        Parameters
        ----------
        k : int
            The size.

        Returns
        -------
        Result
            Of that size.

        Raises
        ------
        KeyError
            Where the path does not have it.

        Examples
        --------
        >>> import numpy as np, pursuit
        >>> X = np.random.default_rng(0).standard_normal((100, 20))
        >>> f = pursuit.GLM(X, X[:, 3] - 2 * X[:, 7])
        >>> path = pursuit.path(f, [1, 2, 3])
        >>> path.at(2).support.tolist()
        [3, 7]
        """
        k = check_count(k, "k")
        if k not in self.sizes:
            raise KeyError(f"the path has no size {k}; it has {format_list(self.sizes, 12)}")
        return self.results[self.sizes.index(k)]

    def smallest(self, score: float | None = None, *, value: float | None = None) -> Result:
        """Return the smallest size that reaches a target.

        Parameters
        ----------
        score : float or None, default None
            Compared with ``scores`` where the path has held-out ones, else with ``explained``.
        value : float or None, default None
            Compared with the objective's value.

        Returns
        -------
        Result
            Of the smallest such size.

        Raises
        ------
        ValueError
            Where no size reaches it, or where not exactly one of the two is given.

        Examples
        --------
        >>> import numpy as np, pursuit
        >>> X = np.random.default_rng(0).standard_normal((100, 20))
        >>> f = pursuit.GLM(X, X[:, 3] - 2 * X[:, 7])
        >>> path = pursuit.path(f, [1, 2, 3])
        >>> len(path.smallest(score=0.9).support)
        2
        """
        if (score is None) == (value is None):
            raise ValueError("give score (the higher the better) or value (the lower the better)")
        self._need_sizes()
        if value is not None:
            target = check_number(value, "value", low=-np.inf)
            reached, best = np.flatnonzero(self.values <= target), f"the lowest value is {self.values.min():.6g}"
        else:
            target = check_number(score, "score", -np.inf)
            scores = self.explained if self.scores is None else self.scores
            reached, best = np.flatnonzero(scores >= target), f"the highest score is {np.max(scores):.6g}"
        if len(reached) == 0:
            raise ValueError(f"no size of the path reaches {target:g}; {best}")
        return self.results[int(reached[0])]

    def _need_sizes(self) -> None:
        if not self.results:
            raise ValueError(f"the path has no sizes: {self.reason}")

    def penalised(self, lam: float) -> Result:
        """Return the result with the least value + lam k; of several, the smallest.

        Parameters
        ----------
        lam : float
            What a feature costs.

        Returns
        -------
        Result
            The best by that price.

        Examples
        --------
        >>> import numpy as np, pursuit
        >>> X = np.random.default_rng(0).standard_normal((100, 20))
        >>> f = pursuit.GLM(X, X[:, 3] - 2 * X[:, 7])
        >>> path = pursuit.path(f, [1, 2, 3])
        >>> len(path.penalised(0.1).support)
        2
        """
        lam = check_number(lam, "lam")
        self._need_sizes()
        return self.results[int(np.argmin(self.values + lam * self.ks))]

    def certify(
        self,
        objective: GLM,
        *,
        time_limit: float | None = None,
        gap: float = 1e-6,
        progress: Callable[[int, Progress], object] | None = None,
    ) -> Certificates:
        """Bound every size from below and, given time, prove it: ``certify`` for all, each from what the last has left.

        Parameters
        ----------
        objective : GLM
            What the path is of.
        time_limit : float or None, default None
            Seconds for all sizes; what one does not need goes to those after it. None bounds without branching, 0 gives
            the cheap bounds.
        gap : float, default 1e-6
            Relative gap at which a solution counts as proved.
        progress : callable or None, default None
            Called with a size and (lower, upper, open nodes, nodes, seconds) while branching, and at its end.

        Returns
        -------
        Certificates
            One per size. Ctrl-C leaves what is proved so far, and cheap bounds for the rest.

        Examples
        --------
        >>> import numpy as np, pursuit
        >>> rng = np.random.default_rng(0)
        >>> X = rng.standard_normal((100, 20))
        >>> f = pursuit.GLM(X, X[:, 3] - 2 * X[:, 7] + rng.standard_normal(100))
        >>> pursuit.path(f, [1, 2]).certify(f, time_limit=10).proved
        (1, 2)
        """
        return certify_path(self, objective, time_limit, gap, progress)

    def to_frame(self) -> "DataFrame":
        """Tabulate the path.

        Returns
        -------
        pandas.DataFrame
            A row per size, with its value, what it explains, and its columns.

        Examples
        --------
        >>> import numpy as np, pursuit
        >>> X = np.random.default_rng(0).standard_normal((100, 20))
        >>> f = pursuit.GLM(X, X[:, 3] - 2 * X[:, 7])
        >>> path = pursuit.path(f, [1, 2, 3])
        >>> path.to_frame().shape
        (3, 5)
        """
        pd = require_package("pandas", "io", "to_frame")
        rows = [
            {
                "k": k,
                "value": result.value,
                "explained": share,
                "optimality": result.optimality,
                "columns": list(result.names if result.names is not None else map(int, result.support)),
            }
            for k, result, share in zip(self.sizes, self.results, self.explained, strict=True)
        ]
        frame = pd.DataFrame(rows)
        if self.scores is not None:
            frame.insert(3, "score", self.scores)
        return frame

    def plot(self, ax: "Axes | None" = None, **how: Any) -> "PathDisplay":
        """Draw coefficients against k (of graphs, partial correlations).

        Parameters
        ----------
        ax : matplotlib Axes or None, default None
            Where to draw; None makes a figure.
        **how : dict
            Passed to :class:`pursuit.plots.PathDisplay`.

        Returns
        -------
        PathDisplay
            The picture; of graphs an EdgePathDisplay.

        Examples
        --------
        >>> import numpy as np, pursuit
        >>> X = np.random.default_rng(0).standard_normal((100, 20))
        >>> f = pursuit.GLM(X, X[:, 3] - 2 * X[:, 7])
        >>> path = pursuit.path(f, [1, 2, 3])
        >>> path.plot()
        PathDisplay()
        """
        plots = import_module("pursuit.plots")
        graphs = len(self) > 0 and np.ndim(self.results[0].support) == 2
        return (plots.EdgePathDisplay if graphs else plots.PathDisplay).from_path(self, ax=ax, **how)

    def _repr_html_(self) -> str:
        scores = [()] * len(self) if self.scores is None else [(format_number(score),) for score in self.scores]
        rows = [
            (k, format_number(result.value), f"{share:.4f}", *score, result.optimality, _columns_text(result))
            for k, result, share, score in zip(self.sizes, self.results, self.explained, scores, strict=True)
        ]
        held_out = () if self.scores is None else ("held-out score",)
        headings = ("k", "value", "explained", *held_out, "optimality", "columns")
        return html_table(f"{len(self)} sizes, {self.status}", headings, rows, (self.reason,))

    def __repr__(self) -> str:
        words = f"{self.sizes[0]}..{self.sizes[-1]}" if self.sizes else "none"
        return f"Path(sizes {words} ({len(self)}), {self.status}: {self.reason})"


def _columns_text(result: Result) -> str:
    names = result.names if result.names is not None else [str(j) for j in result.support.tolist()]
    return format_list(names, 8)
