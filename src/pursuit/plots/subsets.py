"""A criterion of the best subsets against their size."""

from typing import TYPE_CHECKING

from pursuit.plots._axes import GREY, UP, axes, quiet

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

LABELS = {"rss": "residual sum of squares", "r2": "R2", "adjusted_r2": "adjusted R2", "cp": "Mallows' Cp"}
LABEL_OFFSET = 4  # points from the label to what it names


def plot_subsets(table: "DataFrame", criterion: str = "bic", ax: "Axes | None" = None) -> "Axes":
    """Draw a criterion of :func:`pursuit.best_subsets` against k.

    The best subset of every size is on the line, runners-up are dots beside it; hollow ones are not proved. The dotted
    line marks the size that the criterion chooses.

    Parameters
    ----------
    table : Subsets
        What ``best_subsets`` returned.
    criterion : str, default "bic"
        Which criterion.
    ax : matplotlib Axes or None, default None
        Where to draw; None makes new axes.

    Returns
    -------
    matplotlib Axes
        What was drawn on.

    Raises
    ------
    TypeError, ValueError
        Where the table is not one of best_subsets, or holds no subsets.

    See Also
    --------
    PathDisplay : The coefficients of every size.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from pursuit import best_subsets
    >>> from pursuit.plots import plot_subsets
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> plot_subsets(best_subsets(X, y, 5), "cp").get_ylabel()
    "Mallows' Cp"
    """
    if not hasattr(table, "criterion"):
        raise TypeError(f"table must be a table of pursuit.best_subsets, got {type(table).__name__}")
    name = table.criterion(criterion)
    if not table:
        raise ValueError("table holds no subsets to draw")
    ax = axes(ax)
    first = [row for row in table if row.rank == 1]
    best = table.best(name)
    ax.axvline(best.k, color=GREY, linewidth=1, linestyle=":", zorder=1)
    ax.plot([row.k for row in first], [getattr(row, name) for row in first], color=UP, linewidth=1.8, zorder=2)
    for row in table:
        ax.plot(
            [row.k],
            [getattr(row, name)],
            "o",
            color=UP if row.rank == 1 else GREY,
            zorder=3,
            markersize=5 if row.rank == 1 else 3,
            markerfacecolor=None if row.proved else "white",
        )
    ax.annotate(
        f"k = {best.k}",
        (best.k, 1),
        xycoords=("data", "axes fraction"),
        xytext=(LABEL_OFFSET, -LABEL_OFFSET),
        textcoords="offset points",
        va="top",
        fontsize=8,
        color=GREY,
    )
    ax.set_xticks(sorted({row.k for row in table}))
    ax.set_xlabel("k, size of the subset")
    ax.set_ylabel(LABELS.get(name, name if name == "deviance" else name.upper()))
    quiet(ax, "y")
    return ax
