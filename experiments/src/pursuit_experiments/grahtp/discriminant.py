"""Tables of discriminant analysis by precision matrices: the journal's (table 4) and the conference version's."""

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from pursuit_experiments.experiment import Cell, Experiment, Row, Size
from pursuit_experiments.sums import paired, summed

from .lda import DATA, EDGES, GENES, by_greedy, by_lasso, by_ours, division, measures, predicted
from .methods import COLOURS
from .precision import GREEDY

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

LASSO, OURS, SHRUNK = "GLasso", "SparseLDA", "SparseLDA, shrinkage by CV"
METHODS = (*GREEDY, LASSO, OURS, SHRUNK)
METRICS = ("specificity", "sensitivity", "mcc")
COLOUR = {**COLOURS, LASSO: "black", OURS: "tab:purple", SHRUNK: "tab:pink"}
DIVISIONS = 12
ABOUT = """
In each random division 5 pCR and 16 RD subjects are held out. Of the other 112, whose t statistics choose 113 genes,
and which standardise these, means and shares of the classes are taken, and the precision matrix of the rows about the
means of their classes (divided by n). The discriminant scores decide; pCR is positive. The number of edges, or the
penalty, is chosen by 6 folds, which are the same for all methods.

**Not the paper's data.** Its 22,283 genes are here 1,400 (`breast_cancer_hess`), which others screened with the
labels of all 133 subjects: rates are optimistic, for every method.

| the paper | here |
|---|---|
| L(Omega) on the sample covariance matrix, bounds on eigenvalues | `LogDet` on the correlation matrix, refits \
without bounds (see figure 6: they do not bind there) |
| 2k off-diagonal entries | k edges, from 57 to 2,000 by roots of two; sizes are tried in turn until the likelihood \
falls; `end_of_grid`: share of choices at 2,000 |
| criterion of cross-validation: not given | Gaussian log-likelihood of the held-out rows about the means of their \
classes |
| GraHTP, GraSP, FBS, FoBa | our defaults (figure 6) |
| GLasso | scikit-learn's `GraphicalLassoCV` on the correlations, 12 penalties from 0.95 to 0.05 of the one that \
leaves no edge |
| CPU time | processor seconds, one thread: folds and the last fit. FBS and FoBa pass all sizes in one run |

`SparseLDA` is ours: edges by the same folds, by default without and here also with shrinkage by them. `*_sd` is the
standard deviation over divisions, `*_se` the standard error of the mean, `*_gap` GraHTP's value minus the method's on
the same divisions, `*_lasso_gap` GLasso's. Divisions overlap, so that standard errors are too
small for statements about other subjects.
"""


class Discriminant(Experiment):
    data = (DATA,)
    methods: ClassVar[tuple[str, ...]]  # GraHTP first

    def cells(self, size: Size) -> list[Cell]:
        return [{"copy": copy, "genes": size.pick(GENES, 10)} for copy in size.copies(DIVISIONS)]

    def run(self, cell: Cell) -> list[Row]:
        """Every method on one division."""
        part = division(cell["copy"], cell["genes"])
        sizes = EDGES if cell["genes"] == GENES else (4, 8)
        found = {name: by_greedy(name, part, sizes) for name in GREEDY}
        found |= {LASSO: by_lasso(part), OURS: by_ours(part, 0.0), SHRUNK: by_ours(part, "cv")}
        return [
            {
                "method": name,
                **measures(part.held, predicted(fit.W, part)),
                "edges": fit.edges,
                "seconds": fit.seconds,
                "end_of_grid": float(fit.end),
            }
            for name, fit in found.items()
        ]

    def table(self, rows: "DataFrame") -> "DataFrame":
        """Means with standard errors, standard deviations, GraHTP minus each method, and what the paper printed."""
        rows = rows[rows["method"].isin(self.methods)]
        table = summed(rows, ("method",), (*METRICS, "edges", "seconds"))
        for value in METRICS:
            table[f"{value}_sd"] = table[f"{value}_se"] * np.sqrt(table["copies"])
        table["end_of_grid"] = rows.groupby("method", sort=False)["end_of_grid"].mean().to_numpy()
        rows = rows.assign(all=0)
        for column, base, values in (("gap", "GraHTP", (*METRICS, "seconds")), ("lasso_gap", LASSO, METRICS)):
            for value in values:
                for other in (method for method in self.methods if method != base):
                    gap = paired(rows, ("all",), "copy", "method", value, base, other).iloc[0]
                    here, columns = table["method"] == other, [f"{value}_{column}", f"{value}_{column}_se"]
                    table.loc[here, columns] = gap["gap"], gap["se"]
        for value in (*METRICS, "seconds"):
            said = self.expected.get("printed", {}).get(value, {})
            if said:
                table[f"{value}_paper"] = [said.get(method, np.nan) for method in table["method"]]
        return table

    def draw(self, table: "DataFrame") -> "Figure":
        from matplotlib.figure import Figure as Sheet

        sheet = Sheet(figsize=(11, 3.6), layout="constrained")
        panels = sheet.subplots(1, 4, sharey=True)
        places = np.arange(len(table))[::-1]
        labels = (*METRICS[:2], "MCC", "processor seconds, choice included")
        for panel, value, label in zip(panels, (*METRICS, "seconds"), labels, strict=True):
            for place, line in zip(places, table.to_dict("records"), strict=True):
                reach, colour = np.nan_to_num(2 * line[f"{value}_se"]), COLOUR[line["method"]]
                panel.errorbar(line[value], place, xerr=reach, color=colour, marker="o", capsize=3)
            if f"{value}_paper" in table:
                panel.plot(table[f"{value}_paper"], places, "k|", markersize=14, label="printed")
            panel.set(xlabel=label, yticks=places)
            panel.set_yticklabels(table["method"])
        panels[3].set_xlim(left=0)
        if "mcc_paper" in table:
            sheet.legend(*panels[0].get_legend_handles_labels(), loc="outside lower left")
        return sheet
