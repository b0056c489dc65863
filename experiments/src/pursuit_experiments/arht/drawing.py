"""The pictures of the ARHT paper."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

COLOURS = {
    "lasso": "#999999",
    "lasso, refitted": "#555555",
    "OMP": "#e69f00",
    "OMPR": "#d55e00",
    "ARHT": "#0072b2",
    "ARHT as printed": "#56b4e9",
    "exhaustive search": "#009e73",
    "exhaustive search from the best": "#000000",
}


def curves(table: "DataFrame", methods: Sequence[str], floor: str) -> "Figure":
    """Above the loss, below how far it is from that of ``floor``, one column of panels per data set."""
    from matplotlib.figure import Figure

    datasets = list(dict.fromkeys(table["data"]))
    figure = Figure(figsize=(4.4 * len(datasets), 6.6), layout="constrained")
    axes = figure.subplots(2, len(datasets), squeeze=False)
    for (above, below), data in zip(axes.T, datasets, strict=True):
        here = table[table["data"] == data]
        base = here[here["method"] == floor].set_index("k")["share"]
        for method in methods:
            line = here[here["method"] == method].set_index("k").sort_index()
            if line.empty:
                continue
            dashed = method.startswith(("lasso", f"{floor} "))
            style = {"color": COLOURS[method], "ls": "--" if dashed else "-", "lw": 1.2, "marker": ".", "ms": 4}
            if len(line) < len(base):  # only where it was needed
                style |= {"ls": "", "marker": "x", "ms": 7}
            above.plot(line.index + 1, line["share"], label=method, **style)
            below.plot(line.index + 1, 100 * (line["share"] / base.reindex(line.index) - 1), **style)
        above.set_title(data)
        above.set_ylabel("loss / loss of the intercept alone")
        if here["share"].min() < 0.1:
            above.set_yscale("log")
        below.set_yscale("symlog", linthresh=1.0)
        below.set_ylabel(f"% above {floor}")
        below.set_xlabel("sparsity s (with the intercept)")
    pairs = [pair for panel in axes[0] for pair in zip(*panel.get_legend_handles_labels(), strict=True)]
    shown = {label: handle for handle, label in pairs}
    figure.legend(shown.values(), shown.keys(), loc="outside lower center", ncols=4)
    return figure
