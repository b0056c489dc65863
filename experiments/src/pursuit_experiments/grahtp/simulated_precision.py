"""The simulation of precision matrices (JMLR 18 (2018), 6.3.1), which the conference version has too.

Figure 6 and its forerunner differ only in their methods and words.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from pursuit_experiments.experiment import Cell, Experiment, Row, Size
from pursuit_experiments.sums import paired, summed

from .methods import COLOURS, MARKS
from .precision import GREEDY, ROWS, Fit, Tuned, greedy, lasso_path, likelihood, our_rule, sample, sizes_of, tuned

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

SEED = 2028
SIZES = {30: 60, 60: 30, 120: 12, 200: 6}  # p, and how many replications it can have at most: they take up to a minute
LASSO, ON_CORRELATIONS, AT_K, RULE = (
    "GLasso",
    "GLasso, correlations",
    "GLasso at GraHTP's k",
    "SparsePrecisionCV's rule",
)
METHODS = (*GREEDY, LASSO, ON_CORRELATIONS, AT_K, RULE)
COLOUR = {**COLOURS, LASSO: "black", ON_CORRELATIONS: "dimgrey", AT_K: "darkgrey", RULE: "tab:purple"}
MARK = {**MARKS, LASSO: "x", ON_CORRELATIONS: "+", AT_K: "1", RULE: "*"}


class SimulatedPrecision(Experiment):
    methods: ClassVar[tuple[str, ...]]  # GraHTP first

    def cells(self, size: Size) -> list[Cell]:
        sizes = size.pick(SIZES, {12: 2})
        return [
            {"copy": copy, "p": p} for copy in size.copies(max(sizes.values()), 2) for p in sizes if copy < sizes[p]
        ]

    def run(self, cell: Cell) -> list[Row]:
        """Every method on one sample, each with what it chose by the other sample."""
        from pursuit.refits import eigenvalue_bounds

        omega, part = sample(cell["p"], SEED, cell["copy"])
        S, T = part.train, part.test
        s = np.sqrt(S.diagonal())
        units = np.outer(s, s)

        def score(fit: Fit) -> float:
            return likelihood(fit.W, T)

        found: dict[str, Tuned] = {}
        for name in GREEDY:
            found[name] = tuned(greedy(name, S, ROWS, sizes_of(cell["p"])), score)
        path: list[Fit] = []
        found[LASSO] = tuned(_kept(lasso_path(S), path), score)
        wanted = found["GraHTP"].best.edges
        found[AT_K] = Tuned(min(path, key=lambda fit: abs(fit.edges - wanted)), found[LASSO].spent, False)
        scaled = (fit._replace(W=fit.W / units) for fit in lasso_path(S / units))
        found[ON_CORRELATIONS] = tuned(scaled, score)
        found[RULE] = tuned([our_rule(part)], score)._replace(last=False)
        low, high = eigenvalue_bounds(S)
        real = np.triu(omega, 1) != 0
        rows = []
        for name in METHODS:
            fit = found[name].best
            edges, values = np.triu(fit.W, 1) != 0, np.linalg.eigvalsh(fit.W)
            rows.append(
                {
                    "method": name,
                    "edges": fit.edges,
                    "error": float(np.linalg.norm(fit.W - omega)),
                    "F": 2 * float((edges & real).sum()) / float(edges.sum() + real.sum()),
                    "seconds": fit.seconds,
                    "tuning": found[name].spent,
                    "within_bounds": float(low <= values[0] and values[-1] <= high),
                    "end_of_grid": float(found[name].last),
                }
            )
        return rows

    def table(self, rows: "DataFrame") -> "DataFrame":
        """Means with standard errors, and GraHTP minus each method on the same samples."""
        rows = rows[rows["method"].isin(self.methods)]
        values = ("edges", "error", "F", "seconds", "tuning")
        table = summed(rows, ("p", "method"), values)
        for share in ("within_bounds", "end_of_grid"):
            table[share] = rows.groupby(["p", "method"], sort=False)[share].mean().to_numpy()
        for value in ("error", "F", "seconds"):
            for other in self.methods[1:]:
                for _, gap in paired(rows, ("p",), "copy", "method", value, "GraHTP", other).iterrows():
                    here = (table["p"] == gap["p"]) & (table["method"] == other)
                    table.loc[here, [f"{value}_gap", f"{value}_gap_se"]] = gap["gap"], gap["se"]
        order = {name: place for place, name in enumerate(self.methods)}
        return table.sort_values(["p", "method"], key=lambda column: column.map(order).fillna(column))

    def draw(self, table: "DataFrame") -> "Figure":
        from matplotlib.figure import Figure as Sheet

        sheet = Sheet(figsize=(12, 4.2))
        panels = sheet.subplots(1, 3)
        sizes = sorted(table["p"].unique())
        labels = {
            "error": "Frobenius error",
            "F": "F-score of the edges",
            "seconds": "processor seconds of the chosen fit",
        }
        for panel, (value, label) in zip(panels, labels.items(), strict=True):
            for method in self.methods:
                own = table[table["method"] == method].sort_values("p")
                line = {"linestyle": "-" if method in (*GREEDY, LASSO) else "--", "linewidth": 1.3}
                panel.errorbar(
                    own["p"],
                    own[value],
                    own[f"{value}_se"].fillna(0),
                    label=method,
                    color=COLOUR[method],
                    marker=MARK[method],
                    markersize=5,
                    capsize=2,
                    **line,
                )
            panel.set(xlabel="dimension p", ylabel=label, xticks=sizes)
        panels[2].set_yscale("log")
        sheet.legend(*panels[0].get_legend_handles_labels(), loc="lower center", ncols=4, bbox_to_anchor=(0.5, -0.14))
        sheet.tight_layout()
        return sheet


def _kept(fits: Iterator[Fit], into: list[Fit]) -> Iterator[Fit]:
    for fit in fits:
        into.append(fit)
        yield fit
