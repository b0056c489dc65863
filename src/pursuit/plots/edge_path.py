"""Edges against their number."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from pursuit._utils.types import ArrayLike
from pursuit.plots._along import along, of_graphs
from pursuit.plots._axes import UP, quiet
from pursuit.plots.path import MAX_MARKED_SIZES, PathDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pursuit.paths.result import Path


class EdgePathDisplay(PathDisplay):
    """Partial correlations against the number of edges; ``EdgePathDisplay.from_path(path)`` draws.

    Below stands what the edges explain: the fall of tr(RW) - log det W from its value without edges, which is the
    deviance per row.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        The axes of the partial correlations, and their figure.
    lines_ : list
        One line per edge that some size has.
    explained_ax_ : matplotlib Axes or None
        The axes below; None where one axes was given.

    See Also
    --------
    PathDisplay : The same for columns.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import pursuit
    >>> from pursuit.plots import EdgePathDisplay
    >>> X, _ = load_iris(return_X_y=True, as_frame=True)
    >>> path = pursuit.path(pursuit.LogDet(X.cov()), range(1, 6))
    >>> EdgePathDisplay.from_path(path)
    EdgePathDisplay()
    """

    figure_size: ClassVar[tuple[float, float]] = (8.6, 5.6)  # two names are long

    @classmethod
    def from_path(
        cls,
        path: "Path",
        *,
        names: Sequence[str] | None = None,
        scale: ArrayLike | None = None,
        ax: "Axes | None" = None,
        **how: Any,
    ) -> "EdgePathDisplay":
        """Draw ``pursuit.path(LogDet(S), ks)``.

        Parameters
        ----------
        path : Path
            A path of graphs.
        names : sequence of str or None, default None
            One name per node, where the matrix has none.
        scale : None
            Not used: partial correlations have no unit.
        ax : matplotlib Axes or None, default None
            Where to draw; None makes new axes.
        **how : dict
            Passed to :meth:`plot`.

        Returns
        -------
        EdgePathDisplay
            The picture.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> import pursuit
        >>> from pursuit.plots import EdgePathDisplay
        >>> X, _ = load_iris(return_X_y=True, as_frame=True)
        >>> path = pursuit.path(pursuit.LogDet(X.cov()), range(1, 6))
        >>> EdgePathDisplay.from_path(path, max_names=3)
        EdgePathDisplay()
        """
        if not of_graphs(path):
            raise ValueError(
                "path must be a pursuit.Path of graphs with at least one size: pursuit.path(LogDet(S), ks)"
            )
        if scale is not None:
            raise ValueError("scale must be None: partial correlations have no unit")
        return cls(along(path, names, None), path.null - path.values).plot(ax, **how)

    def _explained(self, ax: "Axes") -> None:
        ks, size = self.along.ks, 3.5 if len(self.along.ks) <= MAX_MARKED_SIZES else 0.0
        ax.fill_between(ks, 0, self.explained, color=UP, alpha=0.12, linewidth=0)
        ax.plot(ks, self.explained, color=UP, linewidth=1.6, marker="o", markersize=size)
        ax.set_ylim(0, 1.06 * max(float(self.explained.max()), 1e-9))
        ax.set_ylabel("explained")
        quiet(ax, "y")
