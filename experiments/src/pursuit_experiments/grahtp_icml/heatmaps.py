"""Heat maps of the edges that are found in a simulation, in the conference version of the GraHTP paper (ICML 2014)."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from pursuit_experiments.experiment import Cell, Comparison, Experiment, Judgement, Row, Size
from pursuit_experiments.grahtp.precision import ROWS, drawn, greedy, lasso_path, likelihood, sizes_of, truth, tuned

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

GREEDY, LASSO = ("GraHTP", "GraSP", "FBS"), "GLasso"
METHODS = (*GREEDY, LASSO)
SEED = 2014


class HeatMaps(Experiment):
    name = "grahtp_icml/heatmaps"
    title = "how often each entry of the precision matrix is found"
    expected_in = "heatmaps.json"
    about = """
One truth with p = 60 (the paper's p is lost in our text; 60 can be seen entry by entry), made as in `grahtp/figure6`,
and samples of 100 rows from it, each with another one to choose the number of edges or the penalty. A line of the
table is a pair i < j: whether it is an edge of the truth, and in which share of the samples each method has it.
Methods, grids and choices are those of `grahtp/figure6`; GLasso is scikit-learn's on the covariance matrix.
"""

    def cells(self, size: Size) -> list[Cell]:
        return [{"copy": copy, "p": size.pick(60, 12)} for copy in size.copies(100, 2)]

    def run(self, cell: Cell) -> list[Row]:
        p, copy = cell["p"], cell["copy"]
        omega = truth(p, np.random.default_rng([SEED, p]))
        part = drawn(omega, np.random.default_rng([SEED, p, copy]))
        paths = {name: greedy(name, part.train, ROWS, sizes_of(p)) for name in GREEDY}
        paths[LASSO] = lasso_path(part.train)
        rows = []
        for name, path in paths.items():
            W = tuned(path, lambda fit: likelihood(fit.W, part.test)).best.W
            rows.append({"method": name, "pairs": np.flatnonzero(np.triu(W, 1))})
        return rows

    def table(self, rows: "DataFrame") -> "DataFrame":
        import pandas as pd

        p = int(rows["p"].iloc[0])
        omega = truth(p, np.random.default_rng([SEED, p]))
        i, j = np.triu_indices(p, 1)
        table = pd.DataFrame(
            {"i": i, "j": j, "copies": rows["copy"].nunique(), "truth": (omega[i, j] != 0).astype(int)}
        )
        for name in METHODS:
            found = rows.loc[rows["method"] == name, "pairs"]
            counts = np.bincount(np.concatenate([np.asarray(one, dtype=int) for one in found]), minlength=p * p)
            table[name] = counts[i * p + j] / len(found)
            edges = np.array([len(one) for one in found], dtype=float)
            table[f"{name}_edges_se"] = edges.std(ddof=1) / np.sqrt(len(edges)) if len(edges) > 1 else 0.0
        return table

    def draw(self, table: "DataFrame") -> "Figure":
        from matplotlib.figure import Figure as Sheet

        p = int(table["j"].max()) + 1
        sheet = Sheet(figsize=(14, 3.4), layout="constrained")
        panels = sheet.subplots(1, 1 + len(METHODS), sharey=True)
        for panel, name in zip(panels, ("truth", *METHODS), strict=True):
            share = np.zeros((p, p))
            share[table["i"], table["j"]] = share[table["j"], table["i"]] = table[name]
            shown = panel.imshow(share, cmap="Greys", vmin=0, vmax=1, interpolation="nearest")
            panel.set(title=f"{name}, {table[name].sum():.0f} edges", xlabel="variable")
        panels[0].set_ylabel("variable")
        sheet.colorbar(shown, ax=panels, shrink=0.8, label="share of samples in which it is found")
        return sheet

    def judge(self, table: "DataFrame") -> Iterator[Judgement]:
        edges = {name: table[name].sum() for name in ("truth", *METHODS)}
        real = table["truth"] == 1
        words = [
            f"{name} {edges[name]:.0f} edges on average, with {100 * table.loc[real, name].mean():.0f}% of the true"
            f" and {100 * table.loc[~real, name].mean():.0f}% of the other pairs"
            for name in METHODS
        ]
        found = []
        for name in GREEDY:
            error = np.hypot(_deviation(table, name), _deviation(table, LASSO))
            about = f"GLasso's mean edges minus {name}'s"
            found.append(Comparison(about, edges[LASSO] - edges[name], float(error), int(table["copies"].min())))
        measured = f"truth {edges['truth']:.0f} edges; {'; '.join(words)}"
        yield Judgement.by_leads("sparser", found, measured, "see the table")


def _deviation(table: "DataFrame", name: str) -> float:
    """The standard error of a method's mean number of edges; of a table without it, as if pairs were independent."""
    if f"{name}_edges_se" in table:
        return float(table[f"{name}_edges_se"].iloc[0])
    share = table[name]
    return float(np.sqrt((share * (1 - share)).sum() / table["copies"].iloc[0]))
