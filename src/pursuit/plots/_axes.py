"""What the pictures share: axes, colours, a quiet frame, names at the right margin."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from pursuit._utils.types import Columns, Keywords, Vector
from pursuit._utils.validation import require_package

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation

UP, DOWN, GREY = "#2a6f97", "#c8553d", "#6c757d"
LINES = (UP, DOWN, "#5f8b4c", "#8a6fb0", "#d99a2b", "#1b9e9e", "#2b2d42")
DASHES = ("-", "--", "-.", (0, (1, 1.2)))
MARKERS = "osD^vP*X<>hp8d"
# Okabe and Ito, without yellow
COLOUR_BLIND_SAFE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#2b2d42")
PALE = "#ced4da"
LABEL_SIZE = 8.5  # points
MIN_NAME_DISTANCE = 1.25  # heights of a line that names are apart at least


class NamedDisplay:
    """A picture that prints as its name: its numbers are attributes."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


def style(i: int) -> Keywords:
    """Colour, dashes and marker of the i-th line; the first 196 differ, neighbours in all but the dashes."""
    return {
        "color": LINES[i % len(LINES)],
        "linestyle": DASHES[i // len(LINES) % len(DASHES)],
        "marker": MARKERS[i % len(MARKERS)],
    }


def axes(ax: "Axes | None") -> "Axes":
    """The axes to draw on; new ones where none are given."""
    require_package("matplotlib", "plot", "drawing")
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(layout="constrained")[1]


def two_axes(size: tuple[float, float]) -> "tuple[Axes, Axes]":
    """New axes, and lower ones below that share x."""
    require_package("matplotlib", "plot", "drawing")
    from matplotlib import pyplot

    figure, (top, below) = pyplot.subplots(2, sharex=True, height_ratios=[3, 1], layout="constrained", figsize=size)
    figure.align_ylabels()
    return top, below


def set_title(ax: "Axes", title: str | None) -> None:
    """A title on the left, where there is one."""
    if title:
        ax.set_title(title, fontsize=10.5, loc="left")


def quiet(ax: "Axes", grid: Literal["both", "x", "y"]) -> None:
    """Leave only what carries numbers."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color("#adb5bd")
    ax.tick_params(color="#adb5bd", labelsize=9)
    ax.grid(axis=grid, color="#e9ecef", linewidth=0.8)
    ax.set_axisbelow(True)


def whole_ticks(ax: "Axes") -> None:
    """Sizes are whole numbers."""
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))


def looks(i: int) -> Keywords:
    """Colour and dashes of the i-th named line: those who see no colours have the dashes, and the names."""
    return {
        "color": COLOUR_BLIND_SAFE[i % len(COLOUR_BLIND_SAFE)],
        "linestyle": DASHES[i // len(COLOUR_BLIND_SAFE) % len(DASHES)],
    }


def name_at_margin(
    ax: "Axes", ks: Columns, names: Sequence[str], heights: Vector, colors: Sequence[str]
) -> "list[Annotation]":
    """Names right of the axes next to the ends of lines over ``ks``, moved apart where they would overlap."""
    wide = max(float(ks[-1] - ks[0]), 1.0)
    ax.set_xlim(ks[0] - 0.02 * wide, ks[-1] + 0.01 * wide)
    if not names:
        return []
    low, high = ax.get_ylim()
    inches = ax.figure.get_size_inches()[1] * ax.get_position().height  # type: ignore[union-attr]
    gap = MIN_NAME_DISTANCE * LABEL_SIZE / 72.0 / inches * (high - low)
    places = spread(heights, gap, low, high)
    return [
        ax.annotate(
            name,
            (ks[-1], height),
            (1.03, place),
            textcoords=("axes fraction", "data"),
            fontsize=LABEL_SIZE,
            color=color,
            va="center",
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": color,
                "linewidth": 0.6,
                "shrinkA": 1,
                "shrinkB": 0,
                "relpos": (0, 0.5),
            },
        )
        for name, height, place, color in zip(names, heights, places, colors, strict=True)
    ]


def spread(heights: Vector, gap: float, low: float, high: float) -> Vector:
    """Heights moved as little as it takes to be ``gap`` apart, and inside where there is room."""
    order = np.argsort(heights, kind="stable")
    ranked = heights[order] - gap * np.arange(len(order))
    blocks: list[list[float]] = []  # means and sizes of runs that touch: isotonic regression
    for height in ranked:
        blocks.append([float(height), 1.0])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (a, m), (b, n) = blocks[-2], blocks.pop()
            blocks[-1] = [(a * m + b * n) / (m + n), m + n]
    fitted = np.concatenate([np.full(int(n), mean) for mean, n in blocks]) + gap * np.arange(len(order))
    fitted += max(0.0, low - fitted[0])
    fitted -= max(0.0, fitted[-1] - high)
    placed = np.empty(len(order))
    placed[order] = fitted
    return placed
