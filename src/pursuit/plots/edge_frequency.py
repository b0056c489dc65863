"""How often each edge is there, over replications or half-samples."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pursuit._utils.types import ArrayLike, Columns, Flags, Keywords, Matrix
from pursuit._utils.validation import check_choice
from pursuit.plots._axes import DOWN, GREY, NamedDisplay, axes
from pursuit.plots._labels import text_sizes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from sklearn.base import BaseEstimator

    from pursuit.resampling import Stability

MAX_NAMED_NODES = 90  # nodes up to which all have their name on both axes
SHADES = ("#ffffff", "#c6dbe6", "#79aac4", "#2a6f97", "#0b2c40")  # one hue, from light to dark
ORDERS = ("given", "similar")


@dataclass(repr=False)
class EdgeFrequencyDisplay(NamedDisplay):
    """A heat map of nodes and nodes: the share of graphs that have the edge.

    ``EdgeFrequencyDisplay.from_graphs(graphs)`` and ``.from_stability(found)`` draw.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        The axes and their figure.
    image_ : matplotlib image
        The heat map.
    order_ : array of int
        The nodes, as rows and columns show them.

    See Also
    --------
    GraphDisplay : One graph.

    Examples
    --------
    >>> import numpy as np
    >>> from pursuit.plots import EdgeFrequencyDisplay
    >>> chain = np.eye(4, k=1) + np.eye(4, k=-1)
    >>> star = np.zeros((4, 4))
    >>> star[0, 1:] = star[1:, 0] = 1
    >>> EdgeFrequencyDisplay.from_graphs([chain, star]).frequencies[0].tolist()
    [0.0, 1.0, 0.5, 0.5]
    """

    frequencies: Matrix
    names: list[str]
    what: str
    truth: Flags | None = None

    @classmethod
    def from_graphs(
        cls,
        graphs: Sequence["ArrayLike | BaseEstimator"],
        *,
        names: Sequence[str] | None = None,
        truth: ArrayLike | None = None,
        ax: "Axes | None" = None,
        **how: Any,
    ) -> "EdgeFrequencyDisplay":
        """Draw what several graphs have in common.

        Parameters
        ----------
        graphs : sequence
            Adjacency or precision matrices, or estimators that have these.
        names : sequence of str or None, default None
            One name per node.
        truth : array or None, default None
            A matrix of the same kind that marks the edges that ought to be there: in a simulation they are known.
        ax : matplotlib Axes or None, default None
            Where to draw; None makes new axes.
        **how : dict
            Passed to :meth:`plot`.

        Returns
        -------
        EdgeFrequencyDisplay
            The picture.

        Examples
        --------
        >>> import numpy as np
        >>> from pursuit.plots import EdgeFrequencyDisplay
        >>> chain = np.eye(4, k=1) + np.eye(4, k=-1)
        >>> star = np.zeros((4, 4))
        >>> star[0, 1:] = star[1:, 0] = 1
        >>> EdgeFrequencyDisplay.from_graphs([chain, star], names=list("abcd")).what
        'share of 2 graphs'
        """
        matrices = [_adjacency(graph, f"graphs[{i}]") for i, graph in enumerate(graphs)]
        if not matrices:
            raise ValueError("graphs is empty; give at least one adjacency matrix")
        for i, matrix in enumerate(matrices):
            if matrix.shape != matrices[0].shape:
                raise ValueError(f"graphs[{i}] has {len(matrix)} nodes, but graphs[0] has {len(matrices[0])}")
        own = next((g.feature_names_in_ for g in graphs if hasattr(g, "feature_names_in_")), None)
        mean, what = np.mean(matrices, axis=0), f"share of {len(matrices)} graphs"
        return cls._drawn(mean, own if names is None else names, what, truth, ax, how)

    @classmethod
    def from_stability(
        cls,
        found: "Stability",
        *,
        k: int | None = None,
        truth: ArrayLike | None = None,
        ax: "Axes | None" = None,
        **how: Any,
    ) -> "EdgeFrequencyDisplay":
        """Draw a :class:`pursuit.Stability` of graphs.

        Parameters
        ----------
        found : Stability
            What to draw.
        k : int or None, default None
            The size; None is the largest.
        truth : array or None, default None
            A matrix that marks the edges that ought to be there.
        ax : matplotlib Axes or None, default None
            Where to draw; None makes new axes.
        **how : dict
            Passed to :meth:`plot`.

        Returns
        -------
        EdgeFrequencyDisplay
            The picture.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> import pursuit
        >>> from pursuit.plots import EdgeFrequencyDisplay
        >>> X, _ = load_iris(return_X_y=True, as_frame=True)
        >>> found = pursuit.stability(pursuit.SparsePrecision(2), X, n_pairs=3, random_state=0)
        >>> EdgeFrequencyDisplay.from_stability(found, k=2).what
        'share of half-samples, k = 2'
        """
        pairs = getattr(getattr(found, "names", None), "pairs", None)
        if pairs is None:
            raise ValueError(f"found must be a pursuit.Stability of a SparsePrecision, got {type(found).__name__}")
        sizes = [int(size) for size in found.ks]
        k = sizes[-1] if k is None else k
        if k not in sizes:
            raise ValueError(f"found has no size k = {k}; it has {', '.join(map(str, sizes))}")
        mean = np.zeros((pairs.p, pairs.p))
        mean[pairs.ends] = found.frequencies[sizes.index(k)]
        what = f"share of half-samples, k = {k}"
        return cls._drawn(mean + mean.T, pairs.names, what, truth, ax, how)

    @classmethod
    def _drawn(
        cls,
        mean: Matrix,
        names: Sequence[str] | None,
        what: str,
        truth: ArrayLike | None,
        ax: "Axes | None",
        how: Keywords,
    ) -> "EdgeFrequencyDisplay":
        called = [f"x{j}" for j in range(len(mean))] if names is None else [str(name) for name in names]
        if len(called) != len(mean):
            raise ValueError(f"names has {len(called)} entries, but the graphs have {len(mean)} nodes")
        known = None if truth is None else _adjacency(truth, "truth")
        if known is not None and known.shape != mean.shape:
            raise ValueError(f"truth has {len(known)} nodes, but the graphs have {len(mean)}")
        return cls(mean, called, what, known).plot(ax, **how)

    def plot(self, ax: "Axes | None" = None, *, order: str = "given") -> "EdgeFrequencyDisplay":
        """Draw the heat map.

        Parameters
        ----------
        ax : matplotlib Axes or None, default None
            Where to draw; None makes new axes.
        order : {"given", "similar"}, default "given"
            "similar" puts nodes with the same neighbours side by side.

        Returns
        -------
        EdgeFrequencyDisplay
            This display.

        Examples
        --------
        >>> import numpy as np
        >>> from pursuit.plots import EdgeFrequencyDisplay
        >>> chain = np.eye(4, k=1) + np.eye(4, k=-1)
        >>> star = np.zeros((4, 4))
        >>> star[0, 1:] = star[1:, 0] = 1
        >>> EdgeFrequencyDisplay.from_graphs([chain, star]).plot(order="similar")
        EdgeFrequencyDisplay()
        """
        check_choice(order, "order", ORDERS)
        from matplotlib.colors import LinearSegmentedColormap

        p = len(self.names)
        self.order_: Columns = np.arange(p) if order == "given" else _similar(self.frequencies)
        self.ax_ = axes(ax)
        self.figure_ = self.ax_.figure
        size = float(np.clip(2.4 + 0.12 * p, 3.4, 11.0))
        if ax is None:
            long = float(text_sizes(self.names, 8.0)[:, 0].max()) / 72 if p <= MAX_NAMED_NODES else 0.3
            self.figure_.set_size_inches(size + long + 1.0, size + long)  # type: ignore[union-attr]
        shown = self.frequencies[np.ix_(self.order_, self.order_)]
        cells = np.arange(p + 1) - 0.5
        self.image_ = self.ax_.pcolormesh(
            cells,
            cells,
            shown,
            cmap=LinearSegmentedColormap.from_list("often", SHADES),
            vmin=0,
            vmax=1,
            edgecolor="#f1f3f5" if p <= MAX_NAMED_NODES else "none",
            linewidth=0.4,
        )
        self._name_nodes(p)
        if self.truth is not None:
            self._mark(self.truth[np.ix_(self.order_, self.order_)], 72 * size / p)
        self._bar()
        return self

    def _name_nodes(self, p: int) -> None:
        ax = self.ax_
        if p <= MAX_NAMED_NODES:
            words, points = [self.names[j] for j in self.order_], float(np.clip(9.5 - 0.05 * p, 5.0, 9.0))
            ax.set_xticks(np.arange(p), words, rotation=90, fontsize=points)
            ax.set_yticks(np.arange(p), words, fontsize=points)
        else:
            ax.set_xlabel("node")
            ax.set_ylabel("node")
        ax.invert_yaxis()
        ax.set_aspect("equal")
        ax.spines[:].set_color("#ced4da")
        ax.tick_params(length=0)

    def _mark(self, truth: Flags, cell: float) -> None:
        """A ring where an edge ought to be."""
        y, x = np.nonzero(truth)
        side = float(np.clip(0.45 * cell, 1.0, 6.0))
        self.rings_ = self.ax_.scatter(
            x, y, s=side**2, facecolors="none", edgecolors=DOWN, linewidths=0.9, label="true edge"
        )
        self.ax_.legend(loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2, frameon=False, fontsize=8.5)

    def _bar(self) -> None:
        """What the shades mean."""
        from matplotlib.ticker import PercentFormatter

        bar = self.figure_.colorbar(self.image_, ax=self.ax_, shrink=0.6, aspect=22, pad=0.02)
        bar.ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        bar.ax.tick_params(length=0, labelsize=8, labelcolor=GREY)
        bar.outline.set_visible(False)
        bar.set_label(self.what, fontsize=8.5, color=GREY)


def _adjacency(graph: object, name: str) -> Flags:
    """True where there is an edge: of an estimator, an adjacency matrix or a precision matrix."""
    held = getattr(graph, "adjacency_", getattr(graph, "precision_", graph))
    matrix = np.asarray(held)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.dtype.kind not in "fiub":
        raise ValueError(f"{name} must be a square matrix or a fitted estimator of one, got {type(graph).__name__}")
    there = matrix != 0
    np.fill_diagonal(there, False)
    if not np.array_equal(there, there.T):
        raise ValueError(f"{name} must be symmetric")
    return there


def _similar(frequencies: Matrix) -> Columns:
    """Leaves of average linkage over rows, so that nodes with the same neighbours are side by side."""
    from scipy.cluster.hierarchy import leaves_list, linkage

    if len(frequencies) < 3:
        return np.arange(len(frequencies))
    return np.asarray(leaves_list(linkage(frequencies + np.eye(len(frequencies)), "average", optimal_ordering=True)))
