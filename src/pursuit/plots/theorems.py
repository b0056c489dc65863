"""How much of each theorem's condition is used up."""

from typing import TYPE_CHECKING

import numpy as np

from pursuit.plots._axes import DOWN, GREY, PALE, UP, axes, quiet

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

COLOURS = {"certified": UP, "refuted": DOWN, "open": GREY}
MAX_LOAD = 1e4  # loads beyond it, or below its inverse, are drawn at the edge


def plot_theorems(table: "DataFrame", ax: "Axes | None" = None) -> "Axes":
    """Draw the load of every condition of :func:`pursuit.theorems`, from inside to certified, and return the axes.

    A condition holds left of the line at 1; what is not known lies between the two ends.

    Parameters
    ----------
    table : Theorems
        What :func:`pursuit.theorems` returns.
    ax : matplotlib axes or None
        Where to draw; None makes new axes.

    Returns
    -------
    matplotlib Axes
        What was drawn on.

    Raises
    ------
    TypeError, ValueError
        Where the table is not one of theorems, or holds no condition.

    See Also
    --------
    pursuit.theorems : The table that is drawn.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> from pursuit.plots import plot_theorems
    >>> X = np.random.default_rng(0).standard_normal((50, 6))
    >>> plot_theorems(pursuit.theorems(pursuit.GLM(X, X[:, 0]), 1)).get_xscale()
    'log'
    """
    if not hasattr(table, "statements"):
        raise TypeError(f"table must be a table of pursuit.theorems, got {type(table).__name__}")
    rows = [s for s in table.statements if s.load is not None and s.verdict in COLOURS][::-1]
    if not rows:
        raise ValueError("table holds no condition to draw")
    ax = axes(ax)
    for y, s in enumerate(rows):
        ends = np.clip(np.nan_to_num(np.array(s.load), posinf=np.inf), 1 / MAX_LOAD, MAX_LOAD)
        ax.plot(ends, [y, y], color=COLOURS[s.verdict], linewidth=3, solid_capstyle="round", zorder=2)
        ax.plot(ends[:1], [y], "o", color=COLOURS[s.verdict], markersize=5, zorder=3)
        if not np.isfinite(s.load.certified) or s.load.certified > MAX_LOAD:
            ax.plot([MAX_LOAD], [y], ">", color=COLOURS[s.verdict], markersize=6, zorder=3)
    ax.axvline(1.0, color=PALE, linewidth=1.5, zorder=1)
    ax.set_xscale("log")
    ax.set_yticks(range(len(rows)), [s.citation for s in rows])
    ax.set_xlabel("condition used up: from inside (dot) to certified; it holds below 1")
    for verdict, colour in COLOURS.items():
        if any(s.verdict == verdict for s in rows):
            ax.plot([], [], color=colour, linewidth=3, label=verdict)
    ax.legend(frameon=False, fontsize=8, loc="lower right")
    quiet(ax, "x")
    return ax
