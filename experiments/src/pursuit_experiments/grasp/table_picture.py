"""The picture of tables 2 and 3: a panel per column, printed losses as crosses, our spread as bars."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

COLOURS = {False: "tab:blue", True: "tab:orange"}
FLOOR = 1e-10  # losses below it are drawn there


def picture(table: "DataFrame", methods: Sequence[str]) -> "Figure":
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 6.2), layout="constrained")
    axes = figure.subplots(2, 4, sharex=True, squeeze=False).ravel()
    step = 0.3 * min(np.diff(sorted(table["s"].unique())), default=5)
    for axis, method in zip(axes, methods, strict=True):
        for intercept, colour in COLOURS.items():
            own = table[(table["method"] == method) & (table["intercept"] == intercept)]
            low, high, loss = (own[name].clip(lower=FLOOR) for name in ("low", "high", "loss"))
            lowest, highest = own["lowest"].clip(lower=FLOOR), own["highest"].clip(lower=FLOOR)
            x = own["s"] + (0.5 if intercept else -0.5) * step
            label = "with an intercept" if intercept else "no intercept"
            axis.vlines(x, lowest, highest, color=colour, lw=1, alpha=0.6, label=f"all iterates, {label}")
            axis.vlines(x, low, high, color=colour, lw=5, alpha=0.5, label=f"tolerances 1e-2 to 1e-8, {label}")
            axis.plot(x, loss, "o", color=colour, ms=4, label=f"ours, {label}")
        printed = table[table["method"] == method].groupby("s")["printed"].first()
        axis.plot(printed.index, printed, "kx", ms=7, label="printed in the paper")
        if not printed.notna().any():
            lowest_printed = table.groupby("s")["printed"].min()
            axis.plot(lowest_printed.index, lowest_printed, "k_", ms=9, label="lowest printed in the row")
        axis.set(title=method, yscale="log")
    for axis in axes[4:]:
        axis.set_xlabel("s")
    for axis in axes[::4]:
        axis.set_ylabel("logistic loss")
    handles = {label: handle for axis in axes for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)}
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=4)
    return figure
