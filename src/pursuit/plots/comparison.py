"""Several solvers on one problem: distances to the best value, and seconds."""

from typing import TYPE_CHECKING

from pursuit.plots._axes import DOWN, GREY, UP, quiet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pursuit.solving.compare import Comparison


def plot_comparison(comparison: "Comparison", *, axs: "tuple[Axes, Axes] | None" = None) -> "tuple[Axes, Axes]":
    """Draw a :class:`pursuit.Comparison`: how far each solver is from the best value, and how long it took.

    Parameters
    ----------
    comparison : Comparison
        What :func:`pursuit.compare` returned.
    axs : pair of matplotlib Axes or None, default None
        Where to draw; None makes a figure.

    Returns
    -------
    pair of matplotlib Axes
        Of the distances (as shares of the best value) and of the seconds, one row per solver.

    Raises
    ------
    ImportError
        Where matplotlib is missing.

    See Also
    --------
    plot_trace : How each run went.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> from pursuit.plots import plot_comparison
    >>> X = np.random.default_rng(0).standard_normal((100, 20))
    >>> found = pursuit.compare(pursuit.GLM(X, X[:, 3] - 2 * X[:, 7]), 2, solvers=["omp", "grahtp"])
    >>> left, right = plot_comparison(found)
    >>> right.get_xlabel()
    'seconds'
    """
    names = list(comparison.results)
    left, right = _two_axes(len(names)) if axs is None else axs
    rows = range(len(names) - 1, -1, -1)  # the best one is the first row
    distances = [comparison.distance(name) for name in names]
    seconds = [max(comparison.results[name].seconds, 1e-6) for name in names]
    above = [d for d in distances if d > 0]
    left.barh(rows, distances, color=DOWN, height=0.6)
    if above:
        left.set_xscale("log")
        left.set_xlim(min(above) / 10, max(above) * 3)
    else:
        left.set_xlim(0, 1)
        left.set_xticks([])
    for row, distance in zip(rows, distances, strict=True):
        if distance == 0:
            left.annotate(
                "best",
                (0, row),
                xycoords=("axes fraction", "data"),
                xytext=(4, 0),
                textcoords="offset points",
                va="center",
                fontsize=8,
                color=GREY,
            )
    low = min(seconds) / 3  # where bars begin, on a log scale
    right.barh(rows, [value - low for value in seconds], left=low, color=UP, height=0.6)
    right.set_xscale("log")
    left.set_yticks(list(rows), names)
    left.set_xlabel("above the best value, share of it")
    right.set_xlabel("seconds")
    for ax in (left, right):
        quiet(ax, "x")
    right.tick_params(axis="y", labelleft=False, length=0)
    return left, right


def _two_axes(rows: int) -> "tuple[Axes, Axes]":
    """Two axes side by side that share their rows."""
    from pursuit._utils.validation import require_package

    require_package("matplotlib", "plot", "drawing")
    from matplotlib import pyplot

    size = (7.5, 1.2 + 0.3 * rows)
    return pyplot.subplots(1, 2, sharey=True, layout="constrained", figsize=size, width_ratios=[3, 2])[1]
