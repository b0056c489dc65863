"""The picture of figures 2 and 3: a row per metric, a column per budget."""

from typing import TYPE_CHECKING

from .methods import COLOURS, CONSTANT, MARKS, METHODS, SHORT

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame


def picture(table: "DataFrame") -> "Figure":
    from matplotlib.figure import Figure as Sheet

    budgets = sorted(table["k"].unique())
    sheet = Sheet(figsize=(4 * len(budgets), 6.4))
    axes = sheet.subplots(2, len(budgets), sharex=True, sharey=True, squeeze=False)
    for row, metric in zip(axes, ("exact", "relaxed"), strict=True):
        for panel, k in zip(row, budgets, strict=True):
            for method in (*METHODS, *CONSTANT):
                own = table[(table["k"] == k) & (table["method"] == method)]
                base = method.partition(",")[0]
                if method in CONSTANT:
                    dashes = ":" if SHORT in method else "--"
                    panel.plot(own["n"], 100 * own[metric], dashes, color=COLOURS[base], linewidth=1, label=method)
                    continue
                error = 100 * own[f"{metric}_se"].fillna(0)
                style = {"color": COLOURS[base], "marker": MARKS[base], "markersize": 4, "capsize": 2}
                panel.errorbar(own["n"], 100 * own[metric], error, label=method, **style)
            panel.set_title(f"k = {k}")
        row[0].set_ylabel(f"{metric} success (%)")
    for panel in axes[-1]:
        panel.set_xlabel("samples n")
    sheet.legend(*axes[0, 0].get_legend_handles_labels(), loc="lower center", ncols=5, bbox_to_anchor=(0.5, -0.07))
    sheet.tight_layout()
    return sheet
