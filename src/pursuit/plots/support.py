"""Which features each size has."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pursuit._utils.types import ArrayLike, Columns
from pursuit.plots._along import Along, along
from pursuit.plots._axes import DOWN, GREY, UP, NamedDisplay, axes, set_title, whole_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pursuit.paths.result import Path

MAX_FEATURES = 40  # features that are drawn
MIN_OPACITY = 0.15  # how strong the weakest coefficient is drawn, so that it is not taken for none


@dataclass(repr=False)
class SupportDisplay(NamedDisplay):
    """A heat map of features and sizes; ``SupportDisplay.from_path(path)`` draws.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        The axes and their figure.
    image_ : matplotlib image
        One row per feature, in the order in which they enter.
    rows_ : array of int
        The features of the rows, as positions in ``along.columns``.

    See Also
    --------
    PathDisplay : The coefficients.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> from pursuit.plots import SupportDisplay
    >>> X = np.random.default_rng(0).standard_normal((100, 20))
    >>> path = pursuit.path(pursuit.GLM(X, X[:, 3] - 2 * X[:, 7]), [1, 2, 3])
    >>> SupportDisplay.from_path(path)
    SupportDisplay()
    """

    along: Along

    @classmethod
    def from_path(
        cls,
        path: "Path",
        *,
        names: Sequence[str] | None = None,
        scale: ArrayLike | None = None,
        ax: "Axes | None" = None,
        **how: Any,
    ) -> "SupportDisplay":
        """Draw a :class:`pursuit.Path`.

        Parameters
        ----------
        path : Path
            What to draw.
        names : sequence of str or None, default None
            One name per column of X.
        scale : array or None, default None
            As in :meth:`PathDisplay.from_path`.
        ax : matplotlib Axes or None, default None
            Where to draw; None makes new axes.
        **how : dict
            Passed to :meth:`plot`.

        Returns
        -------
        SupportDisplay
            The picture.

        Examples
        --------
        >>> import numpy as np, pursuit
        >>> from pursuit.plots import SupportDisplay
        >>> X = np.random.default_rng(0).standard_normal((100, 20))
        >>> path = pursuit.path(pursuit.GLM(X, X[:, 3] - 2 * X[:, 7]), [1, 2, 3])
        >>> SupportDisplay.from_path(path).ax_.get_xlabel()
        'k, at most so many features'
        """
        return cls(along(path, names, scale)).plot(ax, **how)

    def plot(
        self, ax: "Axes | None" = None, *, max_rows: int = MAX_FEATURES, title: str | None = None
    ) -> "SupportDisplay":
        """Draw the heat map.

        Parameters
        ----------
        ax : matplotlib Axes or None, default None
            Where to draw; None makes new axes.
        max_rows : int
            How many features are drawn: those that most sizes have.
        title : str or None, default None
            Title of the axes.

        Returns
        -------
        SupportDisplay
            This display.

        Examples
        --------
        >>> import numpy as np, pursuit
        >>> from pursuit.plots import SupportDisplay
        >>> X = np.random.default_rng(0).standard_normal((100, 20))
        >>> path = pursuit.path(pursuit.GLM(X, X[:, 3] - 2 * X[:, 7]), [1, 2, 3])
        >>> SupportDisplay.from_path(path).plot()
        SupportDisplay()
        """
        self.ax_ = axes(ax)
        self.figure_ = self.ax_.figure
        from matplotlib.colors import LinearSegmentedColormap

        self.rows_ = self._rows(max_rows)
        coefs = self.along.coefs[:, self.rows_].T
        top = float(np.abs(coefs).max(initial=0.0)) or 1.0
        shade = np.sign(coefs) * np.where(
            coefs != 0, MIN_OPACITY + (1 - MIN_OPACITY) * np.sqrt(np.abs(coefs) / top), 0.0
        )
        if ax is None:
            wide = 8.0 if self.along.units == "edges" else 6.4  # two names are long
            self.figure_.set_size_inches(wide, max(2.4, 1.1 + 0.22 * len(self.rows_)))  # type: ignore[union-attr]
        ks = self.along.ks
        edges = np.concatenate([ks - 0.5, ks[-1:] + 0.5]) if (np.diff(ks) == 1).all() else np.arange(len(ks) + 1) - 0.5
        colours = LinearSegmentedColormap.from_list("signs", [DOWN, "#ffffff", UP])
        self.image_ = self.ax_.pcolormesh(
            edges,
            np.arange(len(self.rows_) + 1) - 0.5,
            shade,
            cmap=colours,
            vmin=-1,
            vmax=1,
            edgecolor="#f1f3f5",
            linewidth=0.6,
        )
        self.ax_.set_yticks(np.arange(len(self.rows_)), [self.along.names[j] for j in self.rows_])
        self.ax_.invert_yaxis()
        whole_ticks(self.ax_)
        if not (np.diff(ks) == 1).all():
            self.ax_.set_xticks(np.arange(len(ks)), [str(k) for k in ks])
        self.ax_.set_xlabel(self.along.sizes)
        self.ax_.set_ylabel(self.along.units.removesuffix("s"))
        self.ax_.spines[:].set_visible(False)
        self.ax_.tick_params(length=0, labelsize=9)
        self._bar()
        set_title(self.ax_, title)
        return self

    def _rows(self, most: int) -> Columns:
        """Those that most sizes have, in the order in which they enter; of one size, the strongest first."""
        present = self.along.coefs != 0
        kept = np.argsort(-present.sum(axis=0), kind="stable")[:most]
        first = present[:, kept].argmax(axis=0)
        strength = np.abs(self.along.coefs[first, kept])
        return kept[np.lexsort((kept, -strength, first))]

    def _bar(self) -> None:
        """What the shades mean."""
        bar = self.figure_.colorbar(self.image_, ax=self.ax_, ticks=[-1, 0, 1], shrink=0.6, aspect=18, pad=0.02)
        bar.ax.set_yticklabels(["negative", "not in", "positive"], fontsize=8, color=GREY)
        bar.outline.set_visible(False)
        bar.ax.tick_params(length=0)
        left_out = len(self.along.columns) - len(self.rows_)
        if left_out:
            self.ax_.set_title(
                f"{left_out} more {self.along.units} are in fewer sizes", fontsize=8.5, color=GREY, loc="left"
            )
