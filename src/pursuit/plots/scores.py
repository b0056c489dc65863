"""Scores, or losses, against k."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pursuit._utils.types import Keywords
from pursuit.plots._axes import GREY, LINES, axes, quiet

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_scores(
    ks: Sequence[int],
    scores: Mapping[str, Sequence[float]],
    *,
    chosen: int | None = None,
    ylabel: str | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw one line per entry of ``scores``.

    Parameters
    ----------
    ks : sequence of int
        The sizes.
    scores : mapping of str to sequence of float
        Label to values, one per k.
    chosen : int or None, default None
        A size to mark.
    ylabel : str or None, default None
        Label of the axis.
    ax : matplotlib Axes or None, default None
        Where to draw; None makes new axes.

    Returns
    -------
    matplotlib Axes
        What was drawn on.

    Raises
    ------
    ValueError
        Where a line has another length than ``ks``, or ``chosen`` is not one of them.

    See Also
    --------
    CVDisplay : What a cross-validation chose from.

    Examples
    --------
    >>> from pursuit.plots import plot_scores
    >>> ax = plot_scores([1, 2, 3], {"held out": [0.3, 0.5, 0.4]}, chosen=2, ylabel="R2")
    >>> ax.get_ylabel()
    'R2'
    """
    ks = [int(k) for k in ks]
    for label, values in scores.items():
        if len(values) != len(ks):
            raise ValueError(f"scores[{label!r}] has {len(values)} values for {len(ks)} ks")
    if chosen is not None and chosen not in ks:
        raise ValueError(f"chosen is {chosen}, which is not one of ks")
    ax = axes(ax)
    if chosen is not None:
        ax.axvline(chosen, color=GREY, linewidth=1, linestyle=":", zorder=1)
    for i, (label, values) in enumerate(scores.items()):
        style: Keywords = (
            {"marker": "o", "linewidth": 1.8} if i == 0 else {"marker": "s", "linewidth": 1.2, "linestyle": "--"}
        )
        ax.plot(ks, values, color=LINES[i % len(LINES)], markersize=4.5, label=label, **style)
    ax.set_xticks(ks)
    ax.set_xlabel("k, at most so many features")
    ax.set_ylabel(ylabel or "score")
    if len(scores) > 1:
        ax.legend(frameon=False, fontsize=9)
    quiet(ax, "y")
    return ax
