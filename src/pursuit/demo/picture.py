"""The demo's picture: who predicts how well with how many features, what k was chosen from, and the model."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pursuit._utils.files import atomic_write
from pursuit._utils.types import Array
from pursuit.demo.comparison import SUBSETS, MeanScore
from pursuit.plots._axes import GREY, LINES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from sklearn.base import BaseEstimator


def draw(
    path: Path,
    title: str,
    ks: Sequence[int],
    lines: dict[str, list[float]],
    chosen: dict[str, MeanScore],
    what: str,
    splits: int,
    model: "BaseEstimator",
    names: Sequence[str],
) -> None:
    """Left, held-out scores of the comparison; right, the model of all rows and the curve that chose its size."""
    from matplotlib.figure import Figure

    from pursuit.plots import CVDisplay, plot_coefficients, plot_scores

    figure = Figure(figsize=(13, 5.6), layout="constrained", dpi=150)
    panels: Array = figure.subfigures(1, 2, width_ratios=(1, 1.25))  # type: ignore[assignment]
    ax = plot_scores(ks, lines, ylabel=f"{what} on held-out rows, mean of {splits} splits", ax=panels[0].subplots())
    for (who, scores), mark, size, color in zip(chosen.items(), "*D", (17, 8), ("#2b2d42", LINES[1]), strict=False):
        ax.plot([scores.features], [scores.score], mark, markersize=size, color=color, label=who, zorder=4)
    ax.set_xlabel("number of features (in the mean, where it is chosen)")
    ax.legend(frameon=False, fontsize=8.5, loc="lower right")
    most = max([*ks, *(scores.features for scores in chosen.values())])
    ax.set_xticks([*ks, *range(20, int(most) + 1, 5)])
    ax.set_xlim(0, most + 1)
    _cut(ax, lines)
    top, below = panels[1].subplots(2, 1, height_ratios=(1.7, 1))
    plot_coefficients(model, names, top)
    top.set_title(f"The model of all rows: k = {model.k_}", fontsize=10, loc="left")
    CVDisplay.from_estimator(model, ax=below)
    figure.suptitle(title, fontsize=12, x=0.01, ha="left")
    with atomic_write(path) as file:
        figure.savefig(file, format=path.suffix[1:])


def _cut(ax: "Axes", lines: dict[str, list[float]]) -> None:
    """Leave room for what matters: a line that begins far below the subsets' is cut, and the picture says so."""
    high, first = ax.get_ylim()[1], lines[SUBSETS][0]
    low = first - 0.35 * (high - first)
    ax.set_ylim(low, high + 0.04 * (high - low))
    if min(map(min, lines.values())) < low:
        ax.set_title("points below the frame are in the table", fontsize=8.5, color=GREY, loc="left")
