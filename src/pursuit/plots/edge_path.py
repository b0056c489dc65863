"""Edges against their number."""

from collections.abc import Sequence
from typing import Any

from pursuit.plots._along import along, of_graphs
from pursuit.plots._axes import UP, quiet
from pursuit.plots.path import MARKED, NAMED, PathDisplay


class EdgePathDisplay(PathDisplay):
    """Partial correlations against the number of edges; ``EdgePathDisplay.from_path(path)`` draws.

    Below stands what the edges explain: the fall of tr(RW) - log det W from its value without edges, which is the
    deviance per row.

    Attributes
    ----------
    ax_, figure_, lines_ : the axes of the partial correlations, their figure, one line per edge that some size has
    explained_ax_ : the axes below; None where one axes was given
    """

    @classmethod
    def from_path(
        cls, path: Any, *, names: Sequence[str] | None = None, scale: Any = None, ax: Any = None, **how: Any
    ) -> "EdgePathDisplay":
        """Draw ``pursuit.path(LogDet(S), ks)``; ``names`` holds one name per node, where the matrix has none."""
        if not of_graphs(path):
            raise ValueError(
                "path must be a pursuit.Path of graphs with at least one size: pursuit.path(LogDet(S), ks)"
            )
        if scale is not None:
            raise ValueError("scale must be None: partial correlations have no unit")
        return cls(along(path, names, None), path.null - path.values).plot(ax, **how)

    def plot(self, ax: Any = None, *, max_names: int = NAMED, title: str | None = None) -> "EdgePathDisplay":
        """Draw on ``ax``, or on new axes with what is explained below; the ``max_names`` strongest edges have names."""
        super().plot(ax, max_names=max_names, title=title)
        if ax is None:
            self.figure_.set_size_inches(8.6, 5.6)  # two names are long
        return self

    def _explained(self, ax: Any) -> None:
        ks, size = self.along.ks, 3.5 if len(self.along.ks) <= MARKED else 0.0
        ax.fill_between(ks, 0, self.explained, color=UP, alpha=0.12, linewidth=0)
        ax.plot(ks, self.explained, color=UP, linewidth=1.6, marker="o", markersize=size)
        ax.set_ylim(0, 1.06 * max(float(self.explained.max()), 1e-9))
        ax.set_ylabel("explained")
        quiet(ax, "y")
