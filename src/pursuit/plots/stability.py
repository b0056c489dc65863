"""How often half-samples select features."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pursuit._utils.types import Columns, Matrix
from pursuit._utils.validation import check_choice
from pursuit.plots._axes import GREY, PALE, UP, NamedDisplay, axes, looks, name_at_margin, quiet, set_title, whole_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer
    from matplotlib.lines import Line2D
    from matplotlib.ticker import PercentFormatter

    from pursuit.resampling.result import Stability

MAX_NAMED_LINES = 10  # lines that have a name and a colour
MAX_LINES = 200  # lines at most: those that are selected most often
MAX_BARS = 20
KINDS = ("path", "bars")


@dataclass(repr=False)
class StabilityDisplay(NamedDisplay):
    """Selection frequencies; ``StabilityDisplay.from_stability(found)`` draws.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        The axes and their figure.
    lines_ : list
        Kind "path": one line per unit drawn, most often selected first.
    bars_ : matplotlib container or None
        Kind "bars".

    See Also
    --------
    EdgeFrequencyDisplay : The same for graphs.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> from pursuit.plots import StabilityDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((80, 8))
    >>> y = X[:, 3] + 0.1 * rng.standard_normal(80)
    >>> found = pursuit.stability(pursuit.SparseRegressor(k=2), X, y, n_pairs=5, random_state=0)
    >>> StabilityDisplay.from_stability(found)
    StabilityDisplay()
    """

    ks: Columns
    frequencies: Matrix
    names: list[str]
    threshold: float

    @classmethod
    def from_stability(cls, found: "Stability", *, ax: "Axes | None" = None, **how: Any) -> "StabilityDisplay":
        """Draw a :class:`pursuit.Stability`; groups are drawn once.

        Parameters
        ----------
        found : Stability
            What to draw.
        ax : matplotlib Axes or None, default None
            Where to draw; None makes new axes.
        **how : dict
            Passed to :meth:`plot`.

        Returns
        -------
        StabilityDisplay
            The picture.

        Examples
        --------
        >>> import numpy as np, pursuit
        >>> from pursuit.plots import StabilityDisplay
        >>> rng = np.random.default_rng(0)
        >>> X = rng.standard_normal((80, 8))
        >>> y = X[:, 3] + 0.1 * rng.standard_normal(80)
        >>> found = pursuit.stability(pursuit.SparseRegressor(k=2), X, y, n_pairs=5, random_state=0)
        >>> StabilityDisplay.from_stability(found, kind="path").ax_.get_ylabel()
        'share of half-samples that select it'
        """
        if not hasattr(found, "most_often"):
            raise ValueError(f"found must be a pursuit.Stability, got {type(found).__name__}")
        frequencies, names = found.most_often(MAX_LINES)
        return cls(found.ks, frequencies, names, found.threshold).plot(ax, **how)

    def plot(
        self,
        ax: "Axes | None" = None,
        *,
        kind: str = "bars",
        max_names: int = MAX_NAMED_LINES,
        title: str | None = None,
    ) -> "StabilityDisplay":
        """Draw the frequencies.

        Parameters
        ----------
        ax : matplotlib Axes or None, default None
            Where to draw; None makes new axes.
        kind : {"bars", "path"}, default "bars"
            "path" draws against k, "bars" the largest over sizes.
        max_names : int
            How many units have names.
        title : str or None, default None
            Title of the axes.

        Returns
        -------
        StabilityDisplay
            This display.

        Examples
        --------
        >>> import numpy as np, pursuit
        >>> from pursuit.plots import StabilityDisplay
        >>> rng = np.random.default_rng(0)
        >>> X = rng.standard_normal((80, 8))
        >>> y = X[:, 3] + 0.1 * rng.standard_normal(80)
        >>> found = pursuit.stability(pursuit.SparseRegressor(k=2), X, y, n_pairs=5, random_state=0)
        >>> StabilityDisplay.from_stability(found).plot(kind="bars")
        StabilityDisplay()
        """
        check_choice(kind, "kind", KINDS)
        self.ax_ = axes(ax)
        self.figure_ = self.ax_.figure
        self.lines_: list[Line2D] = []
        self.bars_: BarContainer | None = None
        if kind == "path":
            self._paths(max_names)
        else:
            self._bars(max(max_names, MAX_BARS), resize=ax is None)
        set_title(self.ax_, title)
        return self

    def _paths(self, max_names: int) -> None:
        stable = self.frequencies.max(axis=0, initial=0.0) >= self.threshold - 1e-9
        named = [j for j in range(len(self.names)) if self.frequencies[:, j].max() > 0][:max_names]
        for j in reversed(range(len(self.names))):
            how = looks(j) if j in named else {"color": PALE}
            width = 1.9 if stable[j] else 1.1
            line = self.ax_.plot(
                self.ks,
                self.frequencies[:, j],
                linewidth=width,
                alpha=1.0 if stable[j] or j not in named else 0.75,
                marker="o" if len(self.ks) <= 30 and stable[j] else "",
                markersize=3.5,
                zorder=3 if j in named else 1.5,
                label=self.names[j],
                **how,
            )[0]
            self.lines_.insert(0, line)
        self.ax_.set_ylim(-0.02, 1.03)
        self.ax_.axhline(self.threshold, color=GREY, linewidth=1, linestyle=":", zorder=2)
        words, colors = [self.names[j] for j in named], [looks(j)["color"] for j in named]
        self.names_ = name_at_margin(self.ax_, self.ks, words, self.frequencies[-1, named], colors)
        self._called_threshold()
        self.ax_.set_xlabel("k, at most so many features")
        self.ax_.set_ylabel("share of half-samples that select it")
        self.ax_.yaxis.set_major_formatter(_percent())
        whole_ticks(self.ax_)
        quiet(self.ax_, "y")

    def _called_threshold(self) -> None:
        self.ax_.annotate(
            "threshold",
            (0, self.threshold),
            (4, 3),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            fontsize=8,
            color=GREY,
            zorder=4,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.5},
        )

    def _bars(self, most: int, resize: bool) -> None:
        strength = self.frequencies.max(axis=0, initial=0.0)[:most]
        at = np.arange(len(strength))
        colors = [UP if share >= self.threshold - 1e-9 else PALE for share in strength]
        if resize:
            self.figure_.set_size_inches(6.4, max(2.4, 1.2 + 0.24 * len(at)))  # type: ignore[union-attr]
        self.bars_ = self.ax_.barh(at, strength, color=colors, height=0.66)
        self.ax_.bar_label(self.bars_, [f"{share:.0%}" for share in strength], padding=4, fontsize=8, color=GREY)
        self.ax_.set_yticks(at, self.names[:most], fontsize=8.5)
        self.ax_.invert_yaxis()
        self.ax_.axvline(self.threshold, color=GREY, linewidth=1, linestyle=":", zorder=2)
        self.ax_.set_xlim(0, 1.09)
        self.ax_.xaxis.set_major_formatter(_percent())
        sizes = f"k = {self.ks[0]}..{self.ks[-1]}" if len(self.ks) > 1 else f"k = {self.ks[0]}"
        self.ax_.set_xlabel(f"largest share of half-samples that select it, {sizes}")
        self.ax_.set_ylabel("feature")
        quiet(self.ax_, "x")
        self.ax_.spines["left"].set_visible(False)
        self.ax_.tick_params(axis="y", length=0)


def _percent() -> "PercentFormatter":
    from matplotlib.ticker import PercentFormatter

    return PercentFormatter(1.0, decimals=0)
