"""The effects of an additive model, a panel per chosen feature."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pursuit._utils.types import ArrayLike, Matrix, MatrixLike, Seed, Vector
from pursuit._utils.validation import check_count, require_package, unknown_name_message
from pursuit.data import Source, is_dask
from pursuit.data.sources import opened
from pursuit.effects import Effect
from pursuit.estimators.additive.bands import bootstrap_bands
from pursuit.plots._axes import COLOUR_BLIND_SAFE, DOWN, GREY, PALE, UP, quiet

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from sklearn.base import BaseEstimator

PANEL_WIDTH, PANEL_HEIGHT = 3.1, 2.4  # inches
MAX_COLUMNS = 4  # panels side by side
RANGE_MARGIN = 0.08  # of the training rows' range that is drawn beyond it, in grey
MAX_RUG = 300  # ticks of a rug; more are thinned
GRID_POINTS = 160


class EffectDisplay:
    """The curve of every chosen feature: what it adds to the linear predictor, centred on the training rows.

    Make it with :meth:`from_estimator`.

    Attributes
    ----------
    names : tuple of str
        The features that are drawn.
    grids, curves : dict of str to ndarray
        Values of each feature, and the effect there; with several outputs a column each.
    bands : dict of str to ndarray
        Where a bootstrap was requested: its 5 and 95 percent quantiles at the grid, shape (2, points).
    figure_, axes_ : the figure, and the axes by the name of the feature

    See Also
    --------
    plot_coefficients : Of linear models.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from pursuit import SparseAdditiveRegressor
    >>> from pursuit.plots import EffectDisplay
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = SparseAdditiveRegressor(k=3).fit(X, y)
    >>> display = EffectDisplay.from_estimator(model, X)
    >>> display.names
    ('bmi', 'bp', 's5')
    """

    def __init__(
        self,
        effects: dict[str, Effect],
        rug: dict[str, Vector],
        bands: dict[str, Matrix],
        unit: str,
        outputs: Sequence[str] = (),
    ) -> None:
        self.effects, self.rug, self.bands, self.unit, self.outputs = effects, rug, bands, unit, tuple(outputs)
        self.names = tuple(effects)
        self.grids = {name: _grid(effect) for name, effect in effects.items()}
        self.curves = {name: effect(self.grids[name]) for name, effect in effects.items()}
        self.figure_: Figure | None = None
        self.axes_: dict[str, Axes] = {}

    @classmethod
    def from_estimator(
        cls,
        estimator: "BaseEstimator",
        X: MatrixLike | None = None,
        y: ArrayLike | None = None,
        *,
        features: Sequence[str] | None = None,
        n_bootstrap: int = 0,
        random_state: Seed = 0,
        sample_weight: ArrayLike | None = None,
    ) -> "EffectDisplay":
        """Draw the effects of a fitted :class:`pursuit.SparseAdditiveRegressor` or classifier.

        Parameters
        ----------
        estimator : SparseAdditiveRegressor or SparseAdditiveClassifier
            A fitted one.
        X : array or data frame, optional
            The training rows, for the rug. Rows that are not in memory have none.
        y : array, optional
            Their targets, for a bootstrap.
        features : list of str, optional
            The features to draw; by default all that were chosen.
        n_bootstrap : int, default 0
            Bootstrap samples of the rows, each fitted with the chosen features: bands cover 5 to 95 percent of their
            curves. The choice of the features is taken as given, so that bands are too narrow where it is in doubt.
        random_state : int or RandomState
            Seed of the bootstrap.
        sample_weight : array, optional
            Weights of the rows, as at ``fit``.

        Returns
        -------
        EffectDisplay
            With the figure drawn.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from pursuit import SparseAdditiveRegressor
        >>> from pursuit.plots import EffectDisplay
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> model = SparseAdditiveRegressor(k=2).fit(X, y)
        >>> len(EffectDisplay.from_estimator(model).axes_)
        2
        """
        if not hasattr(estimator, "effects_"):
            raise TypeError(f"estimator must be a fitted additive model with effects_, got {type(estimator).__name__}")
        effects = dict(estimator.effects_)
        if features is not None:
            for name in features:
                if name not in effects:
                    known = unknown_name_message(str(name), list(effects))
                    raise ValueError(f"features names {name!r}, which was not chosen; {known}")
            effects = {name: effects[name] for name in features}
        if not effects:
            raise ValueError("the model chose no feature, so there is no effect to draw")
        elsewhere = X is not None and (is_dask(X) or isinstance(opened(X), Source))
        rows = None if X is None or elsewhere else np.asarray(estimator.model_._read(X, reset=False))
        rug = {} if rows is None else {name: _thin(rows[:, effect.column]) for name, effect in effects.items()}
        bands = {}
        if check_count(n_bootstrap, "n_bootstrap"):
            if elsewhere:
                raise TypeError("n_bootstrap needs X as an array or a data frame, whose rows are in memory")
            if rows is None or y is None:
                raise ValueError("n_bootstrap needs X and y, the training rows and their targets")
            grids = {name: _grid(effect) for name, effect in effects.items()}
            bands = bootstrap_bands(estimator, rows, y, grids, n_bootstrap, random_state, sample_weight)
        classes = getattr(estimator, "classes_", None)
        several = np.ndim(estimator.intercept_) > 0
        outputs = [] if not several else [f"output {r}" for r in range(len(estimator.intercept_))]
        if classes is not None:
            outputs = [str(label) for label in classes] if several else []
            unit = "log-odds" if not several else "log-odds by class"
            unit += f" of {classes[1]}" if not several else ""
        else:
            unit = "y" if str(getattr(estimator, "loss", "squared")) == "squared" else "linear predictor"
        display = cls(effects, rug, bands, f"effect on {unit}", outputs)
        display.plot()
        return display

    def plot(self) -> "Figure":
        """Draw the panels on a new figure.

        Returns
        -------
        matplotlib.figure.Figure
            The figure, also kept as ``figure_``.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from pursuit import SparseAdditiveRegressor
        >>> from pursuit.plots import EffectDisplay
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> model = SparseAdditiveRegressor(k=2).fit(X, y)
        >>> figure = EffectDisplay.from_estimator(model).plot()
        >>> len(figure.axes)
        2
        """
        require_package("matplotlib", "plot", "drawing")
        from matplotlib import pyplot

        columns = min(MAX_COLUMNS, len(self.names))
        rows = -(-len(self.names) // columns)
        figure, panels = pyplot.subplots(
            rows,
            columns,
            sharey=True,
            squeeze=False,
            layout="constrained",
            figsize=(PANEL_WIDTH * columns, PANEL_HEIGHT * rows),
        )
        for ax, name in zip(panels.ravel(), self.names, strict=False):
            self._panel(ax, name)
            self.axes_[name] = ax
        for ax in panels.ravel()[len(self.names) :]:
            ax.set_visible(False)
        for row in panels:
            row[0].set_ylabel(self.unit, fontsize=9)
        if self.outputs:
            panels[0, 0].legend(frameon=False, fontsize=8)
        self.figure_ = figure
        return figure

    def _panel(self, ax: "Axes", name: str) -> None:
        effect, x, curve = self.effects[name], self.grids[name], self.curves[name]
        inside = (x >= effect.low) & (x <= effect.high)
        ax.axhline(0, color="#adb5bd", linewidth=0.8)
        if name in self.bands:
            ax.fill_between(x[inside], *self.bands[name][:, inside], color=UP, alpha=0.16, linewidth=0)
        lines = curve[:, None] if curve.ndim == 1 else curve
        for r in range(lines.shape[1]):
            colour = UP if curve.ndim == 1 else COLOUR_BLIND_SAFE[r % len(COLOUR_BLIND_SAFE)]
            label = self.outputs[r] if self.outputs else None
            ax.plot(x[inside], lines[inside, r], color=colour, linewidth=1.8, label=label)
            for side in (x <= effect.low, x >= effect.high):
                ax.plot(x[side], lines[side, r], color=GREY, linewidth=1.2, linestyle=(0, (2, 1.5)))
        for low, high in ((x[0], effect.low), (effect.high, x[-1])):
            ax.axvspan(low, high, color=PALE, alpha=0.35, linewidth=0)
        if name in self.rug:
            ax.plot(
                self.rug[name],
                np.zeros(len(self.rug[name])),
                "|",
                color=DOWN,
                alpha=0.5,
                markersize=5,
                transform=ax.get_xaxis_transform(),
                clip_on=False,
            )
        ax.set_xlim(x[0], x[-1])
        ax.set_xlabel(name, fontsize=9)
        quiet(ax, "y")


def _grid(effect: Effect) -> Vector:
    room = RANGE_MARGIN * (effect.high - effect.low)
    inner = np.linspace(effect.low, effect.high, GRID_POINTS)
    return np.concatenate([[effect.low - room], inner, [effect.high + room]])


def _thin(x: Vector) -> Vector:
    ordered = np.sort(x)
    return ordered[np.linspace(0, len(ordered) - 1, min(len(ordered), MAX_RUG)).astype(int)]
