"""What the pictures share: axes, colours, a quiet frame."""

from typing import Any

from pursuit._errors import need

UP, DOWN, GREY = "#2a6f97", "#c8553d", "#6c757d"
LINES = (UP, DOWN, "#5f8b4c", "#8a6fb0", "#d99a2b", "#1b9e9e", "#2b2d42")
DASHES = ("-", "--", "-.", (0, (1, 1.2)))
MARKERS = "osD^vP*X<>hp8d"


def style(i: int) -> dict[str, Any]:
    """Colour, dashes and marker of the i-th line; the first 196 differ, neighbours in all but the dashes."""
    return {
        "color": LINES[i % len(LINES)],
        "linestyle": DASHES[i // len(LINES) % len(DASHES)],
        "marker": MARKERS[i % len(MARKERS)],
    }


def axes(ax: Any | None) -> Any:
    """The axes to draw on; new ones where none are given."""
    need("matplotlib", "plot", "drawing")
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(layout="constrained")[1]


def quiet(ax: Any, grid: str) -> None:
    """Leave only what carries numbers."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color("#adb5bd")
    ax.tick_params(color="#adb5bd", labelsize=9)
    ax.grid(axis=grid, color="#e9ecef", linewidth=0.8)
    ax.set_axisbelow(True)
