"""A graph: who is joined to whom given all others."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pursuit._utils.text import truncate
from pursuit._utils.types import ArrayLike, Columns, Flags, Matrix, Vector
from pursuit.plots._axes import DOWN, GREY, PALE, UP, NamedDisplay, axes
from pursuit.plots._labels import label_places, text_sizes
from pursuit.plots._layout import arranged, fitted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text
    from sklearn.base import BaseEstimator

NODE = "#2b2d42"
MAX_NAME_LENGTH = 26  # characters of a name that are drawn
MIN_LINE_WIDTH, MAX_LINE_WIDTH = 0.7, 5.0  # points, of no and of the strongest partial correlation
NODE_MARGIN = (30.0, 60.0)  # points around a node, beside its name
MIN_WIDTH = 6.4  # inches, width
ASPECT, ASPECTS = 4 / 3, (1.0, 3.0)  # of a page: wanted, and allowed where the graph is flat
LEGEND_HEIGHT = 22.0  # points above the graph, for what lines mean
MAX_ISOLATED_LINES = 6  # lines of names that have no edge


@dataclass(repr=False)
class GraphDisplay(NamedDisplay):
    """Nodes, and edges by the sign (colour, dashes) and size (width) of their partial correlation.

    ``GraphDisplay.from_estimator(model)`` draws. Places have no meaning but that strong neighbours are near; the same
    graph has the same places. Nodes without edges stand below.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        The axes and their figure.
    edges_ : array of shape (m, 2)
        The weakest first, as they are drawn.
    lines_ : list
        Two collections, positive and negative.
    places_ : array of shape (p, 2)
        Where the nodes are, in points; NaN without edges. Give them as ``places`` to draw another graph alike.
    names_ : list
        One text per node that is named.
    aside_ : list
        Those without edges.

    See Also
    --------
    EdgeFrequencyDisplay : Many graphs.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pursuit import SparsePrecision
    >>> from pursuit.plots import GraphDisplay
    >>> X, _ = load_iris(return_X_y=True, as_frame=True)
    >>> model = SparsePrecision(n_edges=3).fit(X)
    >>> GraphDisplay.from_estimator(model)
    GraphDisplay()
    """

    partial: Matrix
    names: list[str]

    @classmethod
    def from_estimator(
        cls, estimator: "BaseEstimator", *, names: Sequence[str] | None = None, ax: "Axes | None" = None, **how: Any
    ) -> "GraphDisplay":
        """Draw an estimator with a ``precision_``: SparsePrecision, SparsePrecisionCV, SparseLDA, scikit-learn's too.

        Parameters
        ----------
        estimator : estimator
            A fitted estimator.
        names : sequence of str or None, default None
            One name per node; None: the estimator's own.
        ax : matplotlib Axes or None, default None
            Where to draw; None makes new axes.
        **how : dict
            Passed to :meth:`plot`.

        Returns
        -------
        GraphDisplay
            The picture.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from pursuit import SparsePrecision
        >>> from pursuit.plots import GraphDisplay
        >>> X, _ = load_iris(return_X_y=True, as_frame=True)
        >>> model = SparsePrecision(n_edges=3).fit(X)
        >>> len(GraphDisplay.from_estimator(model).names_)
        4
        """
        if not hasattr(estimator, "precision_"):
            raise ValueError(f"estimator must be fitted and have a precision_, got {estimator!r}")
        own = getattr(estimator, "feature_names_in_", None)
        return cls.from_precision(estimator.precision_, names=own if names is None else names, ax=ax, **how)

    @classmethod
    def from_precision(
        cls, precision: ArrayLike, *, names: Sequence[str] | None = None, ax: "Axes | None" = None, **how: Any
    ) -> "GraphDisplay":
        """Draw a precision matrix: ``result.x`` of ``pursuit.solve(LogDet(S), k)``, or any other.

        Parameters
        ----------
        precision : array of shape (p, p)
            The matrix.
        names : sequence of str or None, default None
            One name per node.
        ax : matplotlib Axes or None, default None
            Where to draw; None makes new axes.
        **how : dict
            Passed to :meth:`plot`.

        Returns
        -------
        GraphDisplay
            The picture.

        Examples
        --------
        >>> import numpy as np
        >>> from pursuit.plots import GraphDisplay
        >>> W = np.array([[2.0, -1.0, 0.0], [-1.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
        >>> GraphDisplay.from_precision(W, names=["a", "b", "c"])
        GraphDisplay()
        """
        W = np.asarray(precision, dtype=np.float64)
        if W.ndim != 2 or len(W) != W.shape[-1] or not len(W) or not (W.diagonal() > 0).all():
            raise ValueError(f"precision must be a square matrix with a positive diagonal, got shape {W.shape}")
        if names is not None and len(names) != len(W):
            raise ValueError(f"names has {len(names)} entries, but the graph has {len(W)} nodes")
        called = [f"x{j}" for j in range(len(W))] if names is None else [str(name) for name in names]
        scale = np.sqrt(W.diagonal())
        partial = -W / scale / scale[:, None]
        np.fill_diagonal(partial, 0.0)
        return cls(partial, called).plot(ax, **how)

    def plot(
        self, ax: "Axes | None" = None, *, max_names: int = 200, places: ArrayLike | None = None
    ) -> "GraphDisplay":
        """Draw the graph.

        Parameters
        ----------
        ax : matplotlib Axes or None, default None
            Where to draw; None makes new axes as large as the graph needs.
        max_names : int, default 200
            How many of the best joined nodes have names.
        places : array of shape (p, 2) or None, default None
            Draws the nodes there, in proportion: another graph's ``places_``, a map, or what another package computes.

        Returns
        -------
        GraphDisplay
            This display.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from pursuit import SparsePrecision
        >>> from pursuit.plots import GraphDisplay
        >>> X, _ = load_iris(return_X_y=True, as_frame=True)
        >>> model = SparsePrecision(n_edges=3).fit(X)
        >>> GraphDisplay.from_estimator(model).plot()
        GraphDisplay()
        """
        adjacent = self.partial != 0
        degree = adjacent.sum(axis=1)
        inside, alone = np.flatnonzero(degree), np.flatnonzero(degree == 0)
        edges = np.argwhere(np.triu(adjacent))
        self.edges_: Columns = edges[np.argsort(np.abs(self.partial[tuple(edges.T)]), kind="stable")]
        self._points = float(np.clip(11.0 - 0.36 * np.sqrt(max(len(inside), 1)), 5.5, 9.5))
        self._words = [truncate(name, MAX_NAME_LENGTH) for name in self.names]
        self._sizes = text_sizes(self._words, self._points)
        self.ax_ = axes(ax)
        self.figure_ = self.ax_.figure
        page = None if ax is None else self._room()
        raw = (
            arranged(self.partial, ASPECT if page is None else page[0] / page[1])
            if places is None
            else _checked(places, adjacent)
        )
        wide, tall = self._needed(raw, inside) if page is None else page
        below = self._aside(alone, wide)
        if page is None:
            self.figure_.set_size_inches((wide + 12) / 72, (tall + below + LEGEND_HEIGHT + 12) / 72)  # type: ignore[union-attr]
        else:
            tall = max(tall - below, 0.4 * tall)
        self._place(raw, inside, wide, tall, move=places is None)
        self._draw_edges()
        self._radius = np.clip(5.0 - 0.15 * np.sqrt(len(inside)), 2.4, 4.5) * (0.75 + 0.25 * np.sqrt(degree))
        self.nodes_ = self.ax_.scatter(
            self.places_[inside, 0],
            self.places_[inside, 1],
            s=(2 * self._radius[inside]) ** 2,
            color=NODE,
            edgecolors="white",
            linewidths=0.8,
            zorder=3,
        )
        self._draw_names(inside, inside[np.argsort(-degree[inside], kind="stable")][:max_names], (wide, tall))
        self.ax_.set_xlim(-2, wide + 2)
        self.ax_.set_ylim(-below - 2, tall + LEGEND_HEIGHT + 2)
        self.ax_.set_aspect("equal")
        self.ax_.set_axis_off()
        self._legend()
        return self

    def _room(self) -> tuple[float, float]:
        """Width and height that given axes have for the graph, in points."""
        wide, tall = 72 * self.figure_.get_size_inches() * self.ax_.get_position().size  # type: ignore[union-attr]
        return float(wide), max(float(tall) - LEGEND_HEIGHT, 1.0)

    def _needed(self, raw: Matrix, inside: Columns) -> tuple[float, float]:
        """Width and height that names and edges ask for."""
        least = 72 * MIN_WIDTH
        if not len(inside):
            return least, 0.0
        wide, tall = np.maximum(np.ptp(raw[inside], axis=0), 0.3) + np.array([1.0, 0.6])
        aspect = float(np.clip(wide / tall, *ASPECTS))
        crowd = float(np.clip(np.sqrt(len(self.edges_) / len(inside)), 1.0, 2.0))
        area = len(inside) * crowd * (float(self._sizes[inside, 0].mean()) + NODE_MARGIN[0]) * NODE_MARGIN[1]
        wide = max(least, float(np.sqrt(area * aspect)))
        return wide, max(area / wide, min(wide / aspect, 0.6 * wide))

    def _place(self, raw: Matrix, inside: Columns, wide: float, tall: float, move: bool) -> None:
        """Onto the page, with room at its margins for names; nodes that are too near move apart."""
        name = float(self._sizes[inside, 0].mean()) if len(inside) else 0.0
        margin = np.array([name / 2 + 4, 1.6 * self._points + 4])
        gap = (name + 8, 2.6 * self._points) if move else (1e-9, 1e-9)
        across, up = np.maximum((wide, tall) - 2 * margin, 1.0)
        self.places_ = fitted(raw, float(across), float(up), gap) + margin

    def _width(self, strength: ArrayLike) -> Vector:
        top = float(np.abs(self.partial).max(initial=0.0)) or 1.0
        crowd = float(np.clip(np.sqrt(100 / max(len(self.edges_), 1)), 0.4, 1.0))
        return crowd * (MIN_LINE_WIDTH + (MAX_LINE_WIDTH - MIN_LINE_WIDTH) * np.abs(strength) / top)

    def _draw_edges(self) -> None:
        from matplotlib.collections import LineCollection
        from matplotlib.colors import to_rgba

        strength = self.partial[self.edges_[:, 0], self.edges_[:, 1]]
        self.lines_ = []
        for sign, color, dashes in ((1, UP, "-"), (-1, DOWN, (0, (2.2, 0.9)))):
            mine = np.sign(strength) == sign
            clear = 0.45 + 0.5 * np.sqrt(np.abs(strength[mine]) / np.abs(strength).max(initial=1e-9))
            lines = LineCollection(
                list(self.places_[self.edges_[mine]]),
                colors=[to_rgba(color, share) for share in clear],
                linewidths=self._width(strength[mine]),
                linestyles=[dashes],
                zorder=1,
                capstyle="butt",
            )
            self.lines_.append(self.ax_.add_collection(lines))

    def _draw_names(self, inside: Columns, named: Columns, page: tuple[float, float]) -> None:
        from matplotlib.patheffects import withStroke

        centres = np.full((len(self.names), 2), np.nan)
        centres[inside] = label_places(
            self.places_[inside],
            self._radius[inside],
            self._sizes[inside],
            self.places_[self.edges_],
            page,
            np.isin(inside, named),
        )
        halo = [withStroke(linewidth=2, foreground="white", alpha=0.85)]
        self.names_ = [
            self.ax_.text(
                centres[j][0],
                centres[j][1],
                self._words[j],
                fontsize=self._points,
                ha="center",
                va="center_baseline",
                color=NODE,
                zorder=4,
                path_effects=halo,
                clip_on=False,
            )
            for j in named
        ]

    def _aside(self, alone: Columns, wide: float) -> float:
        """Names of nodes without edges, in columns below the graph; the height that takes."""
        self.aside_: list[Text] = []
        if not len(alone):
            return 0.0
        line, column = 1.6 * self._points, float(self._sizes[alone, 0].max()) + 16
        across = max(1, int(wide / column))
        room = MAX_ISOLATED_LINES * across
        shown = alone if len(alone) <= room else alone[: room - 1]
        words = [self._words[j] for j in shown] + [f"and {len(alone) - len(shown)} more"] * (len(shown) < len(alone))
        down = -(-len(words) // across)
        nodes = "node" if len(alone) == 1 else "nodes"
        self.ax_.text(0, -line, f"{len(alone)} {nodes} without edges", fontsize=self._points, color=GREY, va="center")
        for n, word in enumerate(words):
            x, y = column * (n // down), -line * (2.2 + n % down)
            if n < len(shown):
                self.ax_.plot([x + 3], [y], "o", color=PALE, markersize=3.5)
            self.aside_.append(self.ax_.text(x + 9, y, word, fontsize=self._points, color=GREY, va="center"))
        return line * (1.9 + down)

    def _legend(self) -> None:
        """What colours, dashes and widths mean."""
        from matplotlib.lines import Line2D

        strength = np.abs(self.partial[self.edges_[:, 0], self.edges_[:, 1]])
        if not len(strength):
            return
        signs = self.partial[self.edges_[:, 0], self.edges_[:, 1]]
        handles = [
            Line2D([], [], color=color, linestyle=dashes, linewidth=2.4, label=word)
            for sign, color, dashes, word in (
                (1, UP, "-", "positive"),
                (-1, DOWN, (0, (2.2, 0.9)), "negative partial correlation"),
            )
            if (np.sign(signs) == sign).any()
        ]
        narrow = np.ptp(self.ax_.get_xlim()) < 72 * MIN_WIDTH - 20
        handles += [
            Line2D([], [], color=GREY, linewidth=float(self._width(float(size))), label=size)
            for size in sorted(
                {f"{q:.2f}" for q in np.quantile(strength, [0, 1] if narrow else [0, 0.5, 1])}, key=float
            )
        ]
        self.ax_.legend(
            handles=handles,
            loc="upper left",
            bbox_to_anchor=(0, 1),
            borderaxespad=0,
            ncols=len(handles),
            frameon=False,
            fontsize=7 if narrow else 8,
            labelcolor=GREY,
            handlelength=1.8 if narrow else 2.6,
            columnspacing=0.8 if narrow else 1.4,
        )


def _checked(places: ArrayLike, adjacent: Flags) -> Matrix:
    given = np.asarray(places, dtype=np.float64)
    if given.shape != (len(adjacent), 2):
        raise ValueError(f"places must have shape ({len(adjacent)}, 2), got {given.shape}")
    if not np.isfinite(given[adjacent.any(axis=1)]).all():
        raise ValueError("places must be finite for every node that has an edge")
    return given
