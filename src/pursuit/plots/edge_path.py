"""Edges against their number."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pursuit._types import Columns
from pursuit.plots._along import Along
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
        if not hasattr(path, "sizes") or not len(path) or np.ndim(path[0].support) != 2:
            raise ValueError(
                "path must be a pursuit.Path of graphs with at least one size: pursuit.path(LogDet(S), ks)"
            )
        if scale is not None:
            raise ValueError("scale must be None: partial correlations have no unit")
        return cls(_along(path, names), path.null - path.values).plot(ax, **how)

    def plot(self, ax: Any = None, *, max_names: int = NAMED) -> "EdgePathDisplay":
        """Draw on ``ax``, or on new axes with what is explained below; the ``max_names`` strongest edges have names."""
        super().plot(ax, max_names=max_names)
        if ax is None:
            self.figure_.set_size_inches(8.6, 5.6)  # two names are long
        self.ax_.set_ylabel("partial correlation")
        (self.explained_ax_ or self.ax_).set_xlabel("k, at most so many edges")
        return self

    def _explained(self, ax: Any) -> None:
        ks, size = self.along.ks, 3.5 if len(self.along.ks) <= MARKED else 0.0
        ax.fill_between(ks, 0, self.explained, color=UP, alpha=0.12, linewidth=0)
        ax.plot(ks, self.explained, color=UP, linewidth=1.6, marker="o", markersize=size)
        ax.set_ylim(0, 1.06 * max(float(self.explained.max()), 1e-9))
        ax.set_ylabel("explained")
        quiet(ax, "y")


def _along(path: Any, names: Sequence[str] | None) -> Along:
    """Partial correlations: one row per size, one column per edge that some size has."""
    p = len(path[0].intercept)
    if names is not None and len(names) != p:
        raise ValueError(f"names has {len(names)} entries, but the graphs have {p} nodes")
    codes = [_codes(result.support, p) for result in path]
    edges = np.unique(np.concatenate(codes))
    partial = np.zeros((len(path), len(edges)))
    for row, own, result in zip(partial, codes, path, strict=True):
        d = np.sqrt(result.intercept)
        row[edges.searchsorted(own)] = -result.coef / d[result.support[:, 0]] / d[result.support[:, 1]]
    given = {
        int(code): name
        for numbers, result in zip(codes, path, strict=True)
        for code, name in zip(numbers, result.names or (), strict=False)
    }
    called = names if names is not None else [f"x{j}" for j in range(p)]
    words = [(names is None and given.get(int(code))) or f"{called[code // p]} - {called[code % p]}" for code in edges]
    return Along(path.ks, edges, partial, words, "")


def _codes(support: Columns, p: int) -> Columns:
    """An edge as one number, sorted as pairs are."""
    return np.asarray(support[:, 0] * p + support[:, 1])
