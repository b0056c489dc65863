"""A panel per rho, a curve per method; the true parameter's loss with its band where that is requested."""

from typing import TYPE_CHECKING

from .simulation import CORRELATIONS, GRASP, GRASP_D, LASSO, METHODS, NET, OMP, RIDGE, RIDGE_D, TRUTH, P

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

STYLES = {
    GRASP: ("tab:blue", "-", "o"),
    GRASP_D: ("tab:blue", "--", "^"),
    RIDGE: ("tab:red", "-", "o"),
    RIDGE_D: ("tab:red", "--", "^"),
    LASSO: ("tab:green", "-", "s"),
    NET: ("tab:olive", "-", "s"),
    OMP: ("tab:purple", "-", "D"),
}


def curves(table: "DataFrame", value: str, label: str, *, log: bool, limits: tuple[float, float]) -> "Figure":
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 7.2), layout="constrained")
    axes = figure.subplots(2, 2, sharex=True, sharey=True).ravel()
    for axis, rho in zip(axes, CORRELATIONS, strict=True):
        own = table[table["rho"].astype(str) == rho]
        axis.set(title=f"rho = {rho}", ylim=limits, yscale="log" if log else "linear")
        for method in METHODS:
            colour, line, marker = STYLES[method]
            one = own[own["method"] == method]
            axis.errorbar(
                one["n"] / P,
                one[value],
                one[f"{value}_se"],
                color=colour,
                ls=line,
                marker=marker,
                ms=3,
                lw=1.2,
                elinewidth=0.6,
                label=method,
            )
        truth = own[own["method"] == TRUTH]
        if value == "loss" and len(truth):
            low, high = truth["loss"] - truth["sd"], truth["loss"] + truth["sd"]
            axis.plot(truth["n"] / P, truth["loss"], "k-", lw=1.5, label=TRUTH)
            axis.fill_between(
                truth["n"] / P, low, high, color="k", alpha=0.12, label="one standard deviation around it"
            )
    for axis in axes[2:]:
        axis.set_xlabel("n / p")
    for axis in axes[::2]:
        axis.set_ylabel(label)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure
