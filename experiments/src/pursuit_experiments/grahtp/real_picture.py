"""The pictures of figures 4 and 5: a column per data set, a row per measure."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .methods import COLOURS, MARKS, PRINTED_FBS

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

OTHER = {"lasso": ("tab:purple", "P"), PRINTED_FBS: ("tab:olive", "<")}  # of one figure only: colour, mark
LOGARITHMIC = ("objective", "seconds")


def picture(table: "DataFrame", across: str, along: Sequence[str], names: dict[str, str]) -> "Figure":
    """Each measure of ``along`` against the column ``across``; ``names`` is what the axes are called."""
    from matplotlib.figure import Figure as Sheet

    data = list(dict.fromkeys(table["data"]))
    sheet = Sheet(figsize=(3.4 * max(len(data), 2), 2.6 * len(along)))
    axes = sheet.subplots(len(along), len(data), squeeze=False, sharex="col")
    for column, one in zip(axes.T, data, strict=True):
        column[0].set_title(one)
        column[-1].set_xlabel(names[across])
        for panel, measure in zip(column, along, strict=True):
            for method in dict.fromkeys(table["method"]):
                own = table[(table["data"] == one) & (table["method"] == method)].dropna(subset=[measure])
                colour, mark = OTHER.get(method) or (COLOURS[method], MARKS[method])
                panel.plot(own[across], own[measure], color=colour, marker=mark, markersize=4, label=method)
            if measure in LOGARITHMIC:
                panel.set_yscale("log")
    for row, measure in zip(axes, along, strict=True):
        row[0].set_ylabel(names[measure])
    handles, labels = axes[0, 0].get_legend_handles_labels()
    sheet.legend(handles, labels, loc="lower center", ncols=len(labels), bbox_to_anchor=(0.5, -0.04))
    sheet.tight_layout()
    return sheet
