"""Coefficients against k."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pursuit._utils.types import ArrayLike, Vector
from pursuit.objectives.sparse_set import SparseSet
from pursuit.paths import path as follow
from pursuit.plots._along import Along, along
from pursuit.plots._axes import (
    PALE,
    UP,
    NamedDisplay,
    axes,
    looks,
    name_at_margin,
    quiet,
    set_title,
    two_axes,
    whole_ticks,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from sklearn.base import BaseEstimator

    from pursuit.paths.result import Path

MAX_NAMED_LINES = 10  # lines that have a name and a colour
MAX_MARKED_SIZES = 30  # sizes up to which each has a marker


@dataclass(repr=False)
class PathDisplay(NamedDisplay):
    """Coefficients against k, and what is explained below; ``PathDisplay.from_path(path)`` draws.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        The axes of the coefficients, and their figure.
    lines_ : list
        One line per feature that some size has.
    explained_ax_ : matplotlib Axes or None
        The axes below; None where one axes was given.

    See Also
    --------
    SupportDisplay : Which columns every size has.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> from pursuit.plots import PathDisplay
    >>> X = np.random.default_rng(0).standard_normal((100, 20))
    >>> path = pursuit.path(pursuit.GLM(X, X[:, 3] - 2 * X[:, 7]), [1, 2, 3])
    >>> PathDisplay.from_path(path)
    PathDisplay()
    """

    along: Along
    explained: Vector
    figure_size: ClassVar[tuple[float, float]] = (7, 5.6)

    @classmethod
    def from_path(
        cls,
        path: "Path",
        *,
        names: Sequence[str] | None = None,
        scale: ArrayLike | None = None,
        ax: "Axes | None" = None,
        **how: Any,
    ) -> "PathDisplay":
        """Draw a :class:`pursuit.Path`.

        Parameters
        ----------
        path : Path
            What to draw. Coefficients are those of the standardised columns where the objective standardises, else in
            the units of X; with several outputs a line is the norm of a feature's coefficients.
        names : sequence of str or None, default None
            One name per column of X.
        scale : array or None, default None
            The standard deviations of all columns, where coefficients per standard deviation are wanted instead.
        ax : matplotlib Axes or None, default None
            Where to draw; None makes new axes.
        **how : dict
            Passed to :meth:`plot`.

        Returns
        -------
        PathDisplay
            The picture.

        Examples
        --------
        >>> import numpy as np, pursuit
        >>> from pursuit.plots import PathDisplay
        >>> X = np.random.default_rng(0).standard_normal((100, 20))
        >>> path = pursuit.path(pursuit.GLM(X, X[:, 3] - 2 * X[:, 7]), [1, 2, 3])
        >>> PathDisplay.from_path(path, max_names=2)
        PathDisplay()
        """
        return cls(along(path, names, scale), path.explained).plot(ax, **how)

    @classmethod
    def from_estimator(cls, estimator: "BaseEstimator", *, ax: "Axes | None" = None, **how: Any) -> "PathDisplay":
        """Draw the path of a fitted estimator: that of a CV estimator, else the best models of sizes up to its k.

        Parameters
        ----------
        estimator : estimator
            A fitted SparseRegressor, SparseClassifier, SparseRegressorCV or SparseClassifierCV, or a pipeline that ends
            with one.
        ax : matplotlib axes or None, default None
            Where to draw the coefficients; None is a new figure.
        **how : dict
            Further arguments of ``plot``.

        Returns
        -------
        PathDisplay
            What was drawn.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from pursuit import SparseRegressor
        >>> from pursuit.plots import PathDisplay
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> PathDisplay.from_estimator(SparseRegressor(k=3).fit(X, y))
        PathDisplay()
        """
        model = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
        if isinstance(model, type) or not hasattr(model, "fit"):
            raise TypeError(f"estimator must be a fitted estimator such as SparseRegressorCV(), got {model!r}")
        check_is_fitted(model)
        found = getattr(model, "path_", None)
        if found is None:
            objective = getattr(model, "objective_", None)
            if objective is None:
                raise ValueError("the path of a fixed k needs the training data, which a pickled estimator has not")
            first = max(1, len(model.result_.constraint.include))
            found = follow(
                objective,
                range(first, max(first, model.result_.constraint.k) + 1),
                solver=model.solver,
                random_state=model.random_state,
                **SparseSet.of(model)._asdict(),
            )
        return cls.from_path(found, names=getattr(model, "feature_names_in_", None), ax=ax, **how)

    def plot(self, ax: "Axes | None" = None, *, max_names: int = MAX_NAMED_LINES, title: str | None = None) -> Self:
        """Draw the lines.

        Parameters
        ----------
        ax : matplotlib Axes or None, default None
            Where to draw; None makes new axes with what is explained below.
        max_names : int
            How many of the strongest lines have names.
        title : str or None, default None
            Title of the axes.

        Returns
        -------
        PathDisplay
            This display.

        Examples
        --------
        >>> import numpy as np, pursuit
        >>> from pursuit.plots import PathDisplay
        >>> X = np.random.default_rng(0).standard_normal((100, 20))
        >>> path = pursuit.path(pursuit.GLM(X, X[:, 3] - 2 * X[:, 7]), [1, 2, 3])
        >>> PathDisplay.from_path(path).plot(max_names=1)
        PathDisplay()
        """
        self.explained_ax_: Axes | None = None
        self.ax_: Axes
        self.ax_, self.explained_ax_ = two_axes(self.figure_size) if ax is None else (axes(ax), None)
        self.figure_ = self.ax_.figure
        last = np.abs(self.along.coefs[-1])
        named = [int(j) for j in np.argsort(-last, kind="stable")[:max_names] if last[j] > 0]
        self.ax_.axhline(0, color="#adb5bd", linewidth=0.8, zorder=1)
        self.lines_ = [self._line(j, named.index(j) if j in named else None) for j in range(len(last))]
        colors = [looks(i)["color"] for i in range(len(named))]
        words, ends = [self.along.names[j] for j in named], self.along.coefs[-1, named]
        self.names_ = name_at_margin(self.ax_, self.along.ks, words, ends, colors)
        self.ax_.set_ylabel(f"{self.along.what} {self.along.unit}".rstrip())
        quiet(self.ax_, "y")
        if self.explained_ax_ is not None:
            self._explained(self.explained_ax_)
        (self.explained_ax_ or self.ax_).set_xlabel(self.along.sizes)
        whole_ticks(self.ax_)
        set_title(self.ax_, title)
        return self

    def _line(self, j: int, rank: int | None) -> "Line2D":
        """A feature's line from the size before it enters to the one after it leaves."""
        y = self.along.coefs[:, j].copy()
        near = np.pad(y != 0, 1)
        y[~(near[:-2] | near[1:-1] | near[2:])] = np.nan
        size = 3.5 if len(y) <= MAX_MARKED_SIZES else 0.0
        how = {"color": PALE, "linewidth": 1.0, "zorder": 1.5} if rank is None else {**looks(rank), "linewidth": 1.8}
        return self.ax_.plot(self.along.ks, y, marker="o", markersize=size, label=self.along.names[j], **how)[0]

    def _explained(self, ax: "Axes") -> None:
        ks, size = self.along.ks, 3.5 if len(self.along.ks) <= MAX_MARKED_SIZES else 0.0
        seen = self.explained[ks > 0] if (ks > 0).any() else self.explained
        low = max(0.0, float(seen.min()) - 0.35 * float(np.ptp(seen)) - 0.02)  # from 0 on the curve would be flat
        ax.fill_between(ks, low, self.explained, color=UP, alpha=0.12, linewidth=0, where=self.explained >= low)
        ax.plot(ks, self.explained, color=UP, linewidth=1.6, marker="o", markersize=size)
        top = float(seen.max())
        ax.set_ylim(low, top + 0.08 * (top - low) + 0.005)
        ax.set_ylabel("explained")
        ax.annotate(
            f"{self.explained[-1]:.2f}",
            (1.0, self.explained[-1]),
            (6, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            fontsize=8.5,
            color=UP,
            va="center",
        )
        quiet(ax, "y")
