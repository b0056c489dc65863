"""What tables 2 and 3 share: the methods of the paper on one set of real data, every s and every column."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pursuit import GLM

from ..experiment import DIFFERS, FAILED, Cell, Experiment, Judgement, Row, Size
from ..sources import load
from . import table_claims
from .methods import MIXING, best_found, eta, glmnet, grasp, logit_omp, loss_of
from .stopped import CHANGE, CHANGE_WARM, GRADIENT, Stopped
from .table_claims import BEST, RAW_OMP, RIDGE_KEPT

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

TOLERANCES = (1e-2, 1e-4, 1e-6, 1e-8)
USUAL = 1e-6  # the tolerance whose result stands in the column `loss`,
RULES = {"change": CHANGE, "change, warm": CHANGE_WARM, "gradient": GRADIENT}  # by the first of these rules
VARIANTS = {"G": ("plain", False), "Gd": ("debias", False), "Gl2": ("plain", True), "Gl2d": ("debias", True)}
CONVEX = {"l1": 1.0, "E-net": MIXING}
COLUMNS = (*VARIANTS, *CONVEX, "Logit-OMP")

ABOUT = """
The logistic loss, without any penalty, of models with at most s of the columns of {data}. **loss** is what a method
returns: GraSP's last iterate, its inner minimisations from zero and ended where a step lowers f by less than 1e-6.
**low** and **high** are the least and the largest loss over the inner tolerances 1e-2, 1e-4, 1e-6, 1e-8 of three
stopping rules, **lowest** and **highest** the same over all iterates of these runs: the paper says neither how it
minimises, nor when it stops, nor which iterate it returns, and plain GraSP's values rise and fall. For l1 and E-net
low and high are the two readings of "configured to produce s-sparse solutions" (below).

*Units.* The paper's f is ours: mean logistic loss, labels 0 and 1, eta/2 ||x||^2 with eta = (1 - 0.8) sqrt(log p /
n) = {eta:.4f}. Columns are as they lie in the files, neither centred nor scaled, but for glmnet, whose default
scales them (scaled, l1 and E-net differ as they do in the paper; unscaled they would be equal to three digits), and
for Logit-OMP, which Lozano et al. (2011) state for columns of length one; *OMP, raw columns* is pursuit's OMP
without that. The text has an intercept in its simulations and names none here: every method was run without and
with one (**intercept**), which is never penalised and never counted, and is the best one for the cut coefficients
of plain GraSP. With one 18 of 20 (arcene) and 54 of 60 (dexter) printed GraSP losses lie between our iterates,
without one 18 and 47, and only with one does Logit-OMP separate arcene at s = 10, as printed: an intercept
reproduces the paper better.

*Chosen.* GraSP is `pursuit.GraSP(variant="plain" or "debias", polish=False)`; it halts where x moves by less than
1e-4 of its length or after five iterations without a new best loss, at the latest after 60, and its last iterate
counts (`pursuit.solve` would return the best). Inner minimisations, each of at most 500 steps: SciPy's L-BFGS-B
from zero, the same from the last iterate, both until a step lowers f by less than the tolerance (relative to max(f,
1)), and BFGS from the last iterate until no entry of the gradient exceeds it. E-net is 0.8 ||x||_1 + 0.2 ||x||^2/2;
l1 and E-net are taken from skglm's path (100 points down to 1% of the first): the last point with at most s
non-zeros (grid, what glmnet's own options give), and with alpha bisected between it and the next one (**loss**),
where often exactly s are non-zero. *Gl2d* selects with the ridge and refits without; *Gl2d, ridge kept* is the
variant as section 3.1 words it. *Best of pursuit*: `auto`; then `auto` with restarts on standardised columns with a
ridge of 0.001, 0.003 and 0.01, each for {seconds:g} s, refitted without the ridge and improved by
`local_search(tries=100)`; less where a support separates the classes, whose loss has the infimum 0 (1e-9 counts as
reached).

*A slip to check.* A minimiser x of loss + eta/2 ||x||^2 has eta ||x||^2 = mean of m_i / (1 + exp(m_i)) over the
margins m_i (the slope along x is zero), which is at most about L log(1/L) for a mean loss L; and no margin is below
log(1/(nL)). So half the distance between the classes is at least log(1/(nL)) sqrt(eta / (L log(1/L))) (**needed**),
while s columns with entries from 0 to the largest one, a, leave room for a sqrt(s)/2 (**room**).

*Rules changed after a look at results.* A first pass over both tables had only the third way of minimising (BFGS,
gradient), which also gave the column **loss**. On arcene 5 of the 20 printed GraSP losses then lay outside the
iterates, Logit-OMP alone was best at s = 5, 10, 15 (so that the claim about debiasing differed), and l1 at s = 15
was off by 11% with glmnet's default intercept alone. The two other ways were added because of that, and the first
of them was chosen for **loss** because its losses look like the printed ones: agreement says that the table can be
had in this way, not that every way gives it. A tolerance of 1e-2 on the change of f hardly minimises, and makes
spreads wide.
"""


class RealTable(Experiment):
    """One of the paper's two tables."""

    source: ClassVar[str]
    seconds: ClassVar[float]  # for each search of the best
    whys: ClassVar[dict[str, str]]  # why a claim does not hold, where it was found not to
    failed: ClassVar[tuple[str, ...]] = ()  # claims for which no cause outside us is known

    @property
    def printed(self) -> dict[int, dict[str, float]]:
        lines = self.expected["printed"]["rows"]
        return {int(s): dict(zip(COLUMNS, values, strict=True)) for s, values in lines.items()}

    def cells(self, size: Size) -> list[Cell]:
        sizes = size.pick(list(self.printed), [5])
        common = {"tolerances": size.pick(TOLERANCES, (1e-2, USUAL)), "columns": size.pick(0, 60)}
        seconds, rules = size.pick(self.seconds, 0.1), size.pick(list(RULES), ["change"])
        cells: list[Cell] = []
        for intercept in size.pick((False, True), (True,)):
            cells += [
                {"part": "convex", "s": sizes, "column": column, "intercept": intercept, **common} for column in CONVEX
            ]
            for rule in rules:
                inner = {"intercept": intercept, "rule": rule, **common}
                cells += [{"part": "omp", "s": sizes, **inner}, *({"part": "grasp", "s": s, **inner} for s in sizes)]
            cells += [{"part": "best", "s": s, "intercept": intercept, "seconds": seconds, **common} for s in sizes]
        return cells

    def problem(self, columns: int) -> tuple[Any, np.ndarray]:
        """X and y as 0 or 1; of the quick form the first so many columns that are not empty, dense."""
        X, y = load(self.source)
        if columns:
            filled = np.flatnonzero(np.asarray((X != 0).sum(axis=0)).ravel() > 3)[:columns]
            X = X[:, filled] if isinstance(X, np.ndarray) else X[:, filled].toarray()
        return X, (y > 0).astype(float)

    def run(self, cell: Cell) -> list[Row]:
        X, y = self.problem(cell["columns"])
        work = {"convex": self._convex, "omp": self._omp, "grasp": self._grasp, "best": self._best}[cell["part"]]
        return list(work(X, y, cell))

    def _convex(self, X: Any, y: np.ndarray, cell: Cell) -> Iterator[Row]:
        f = GLM(X, y, "logistic", fit_intercept=cell["intercept"])
        for s, pair in glmnet(X, y, list(cell["s"]), CONVEX[cell["column"]], cell["intercept"]).items():
            losses = [loss_of(f, one) for one in pair]
            yield {
                "s": s,
                "method": cell["column"],
                **_spread(losses[1], losses, losses),
                "size": len(pair.refined.support),
            }

    def _omp(self, X: Any, y: np.ndarray, cell: Cell) -> Iterator[Row]:
        unit = np.sqrt(np.asarray((X * X).sum(axis=0)).ravel())
        unit[unit == 0] = 1.0
        for method, Z in (("Logit-OMP", X * (1 / unit)), (RAW_OMP, X)):
            f, most = GLM(Z, y, "logistic", fit_intercept=cell["intercept"]), max(cell["s"])
            runs = {
                tol: [one.value for one in logit_omp(f, most, tol, RULES[cell["rule"]])] for tol in cell["tolerances"]
            }
            for s in cell["s"]:
                ends = {tol: values[min(s, len(values)) - 1] for tol, values in runs.items()}
                yield {"s": s, "method": method, **_spread(ends[USUAL], ends.values(), ends.values())}

    def _grasp(self, X: Any, y: np.ndarray, cell: Cell) -> Iterator[Row]:
        s, rule = cell["s"], RULES[cell["rule"]]
        plain = GLM(X, y, "logistic", fit_intercept=cell["intercept"])
        for method, (variant, ridged) in VARIANTS.items():
            f = GLM(X, y, "logistic", l2=eta(*X.shape) if ridged else 0.0, fit_intercept=cell["intercept"])
            runs = {tol: grasp(f, s, variant, tol, rule) for tol in cell["tolerances"]}
            ends = {tol: run.losses[-1] for tol, run in runs.items()}
            every = [loss for run in runs.values() for loss in run.losses]
            if method != "Gl2d":
                yield {"method": method, **_spread(ends[USUAL], ends.values(), every)}
                continue
            yield {"method": RIDGE_KEPT, **_spread(ends[USUAL], ends.values(), every)}
            free = {tol: Stopped(plain, tol, rule).refit(run.last.support, run.last).value for tol, run in runs.items()}
            room = float(X.max()) * np.sqrt(s) / 2
            yield {
                "method": method,
                **_spread(free[USUAL], free.values(), [*free.values(), *every]),
                "room": room,
                "needed": needed(self.printed[s]["Gl2d"], len(y), eta(*X.shape)),
            }

    def _best(self, X: Any, y: np.ndarray, cell: Cell) -> Iterator[Row]:
        loss, how = best_found(X, y, cell["s"], cell["intercept"], cell["seconds"])
        yield {"method": BEST, **_spread(loss, [loss], [loss]), "how": how}

    def table(self, rows: "DataFrame") -> "DataFrame":
        order = {method: turn for turn, method in enumerate((*COLUMNS, RIDGE_KEPT, RAW_OMP, BEST))}
        rows = rows.reindex(columns=[*rows.columns, *({"needed", "room", "size", "how", "rule"} - set(rows.columns))])
        rows["turn"] = rows["method"].map(order)
        rows["first"] = rows["rule"].map({rule: turn for turn, rule in enumerate(RULES)})
        groups = rows.sort_values(["s", "turn", "intercept", "first"]).groupby(["s", "method", "intercept"], sort=False)
        least, most = {"low": "min", "lowest": "min"}, {"high": "max", "highest": "max"}
        kept = dict.fromkeys(("loss", "size", "how", "needed", "room"), "first")
        table = groups.agg({"loss": "first", **least, **most, **kept}).reset_index()
        printed = [self.printed[s].get(method, np.nan) for s, method in zip(table["s"], table["method"], strict=True)]
        table.insert(3, "printed", printed)
        return table[
            ["s", "method", "intercept", "printed", "loss", "low", "high", "lowest", "highest", *list(kept)[1:]]
        ]

    def draw(self, table: "DataFrame") -> "Figure":
        from .table_picture import picture

        return picture(table, (*COLUMNS, BEST))

    def judge(self, table: "DataFrame") -> Iterator[Judgement]:
        for claim in self.expected["claims"]:
            holds, measured = getattr(table_claims, claim)(table)
            otherwise = FAILED if claim in self.failed else DIFFERS
            yield Judgement.of(claim, holds, measured, self.whys.get(claim, ""), otherwise)


def _spread(loss: float, ends: Any, every: Any) -> Row:
    ends, every = list(ends), list(every)
    return {"loss": loss, "low": min(ends), "high": max(ends), "lowest": min(every), "highest": max(every)}


def needed(loss: float, n: int, ridge: float) -> float:
    """Half the distance between the classes that a ridge minimiser of this mean loss needs; 0: unknown."""
    least_margin = np.log(1 / (n * loss))
    return float(max(least_margin, 0.0) * np.sqrt(ridge / (loss * np.log(1 / loss))))
