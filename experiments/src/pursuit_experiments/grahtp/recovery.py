"""Support recovery on simulated data: what figures 2 (linear) and 3 (logistic) share.

Section 6.1: w has 50 non-zeros of p = 500, Gaussian "with significant mean"; u is Gaussian; a *relaxed* success is
supp(w) inside the support found, an *exact* one supp(w) = the 50 largest entries of the solution.
"""

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from pursuit_experiments.experiment import Cell, Experiment, Row, Size
from pursuit_experiments.sums import paired, summed

from .methods import HALF, LONGEST, METHODS, SHORT, constant_steps, methods, sparse_eigenvalue

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

    from pursuit import GLM, Solver

MEAN = 5.0  # of the non-zeros, whose standard deviation is 1
SHRUNK = 10  # the quick form divides p, the non-zeros, n and k by this
METRICS = ("exact", "relaxed")


class SupportRecovery(Experiment):
    """Chance of exact and relaxed success against n, for three budgets."""

    loss: ClassVar[str]
    rows: ClassVar[tuple[int, ...]]  # n
    copies: ClassVar[int]
    constant_copies: ClassVar[int] = 5  # replications in which the constant steps run
    lambdas: ClassVar[tuple[float, ...]] = ()  # the paper's ridge, lambda/2 ||w||^2; the first one is judged
    beside_copies: ClassVar[int] = 20  # replications in which the other lambdas run
    bend: ClassVar[float] = 1.0  # the bound of the loss's second derivative
    tag: ClassVar[int]  # of the seeds

    def cells(self, size: Size) -> list[Cell]:
        small = size.pick(1, SHRUNK)
        found: list[Cell] = []
        for copy in size.copies(self.copies, 1):
            for n in size.pick(self.rows, self.rows[3:6:2]):
                plain: Cell = {"copy": copy, "n": n // small, "p": 500 // small, "true": 50 // small}
                ridges = self.lambdas if copy < self.beside_copies else self.lambdas[:1]
                for cell in [{**plain, "lambda": one} for one in ridges] or [plain]:
                    found += [cell] if copy >= self.constant_copies else [cell, {**cell, "constant": True}]
        return found

    def run(self, cell: Cell) -> list[Row]:
        from pursuit import GLM

        X, y, support = drawn(cell, self.loss == "logistic", self.tag)
        l2 = cell.get("lambda", 0.0) / 4  # our x is twice the paper's w
        f = GLM(X, y, self.loss, l2=l2, fit_intercept=False)
        H = X.T @ X / len(X)
        found = []
        for k in (cell["true"], cell["true"] * 7 // 5, cell["true"] * 11 // 5):
            solvers = methods()
            if cell.get("constant"):
                largest = self.bend * sparse_eigenvalue(H, 2 * k) + l2
                solvers = constant_steps(1 / (2 * largest), 1 / (2 * self.bend))
            found += [{"k": k, "method": name, **judged(f, k, one, support)} for name, one in solvers.items()]
        return found

    def table(self, rows: "DataFrame") -> "DataFrame":
        """Rates with standard errors; ``*_lead``: GraHTP's rate minus the method's on the same draws."""
        import pandas as pd

        rows = rows if "lambda" in rows else rows.assign(**{"lambda": 0.0})
        by = ["lambda", "k", "n"]
        rows = rows.sort_values([*by, "copy"], kind="stable")
        table = summed(rows, [*by, "method"], METRICS)
        for metric in METRICS:
            columns = {"gap": f"{metric}_lead", "se": f"{metric}_lead_se"}
            found = [
                paired(rows, by, "copy", "method", metric, f"GraHTP{step}", method + step).assign(method=method + step)
                for method in METHODS
                for step in ("", f", {SHORT}", f", {HALF}")
                if method + step in set(rows["method"]) and method != "GraHTP"
            ]
            leads = pd.concat(found).drop(columns="copies").rename(columns=columns)
            table = table.merge(leads, on=[*by, "method"], how="left")
        return table

    def draw(self, table: "DataFrame") -> "Figure":
        from .recovery_picture import picture

        return picture(table)


def drawn(cell: Cell, logistic: bool, tag: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng([tag, cell["copy"], cell["n"]])
    support = np.sort(random.choice(cell["p"], cell["true"], replace=False))
    X = random.standard_normal((cell["n"], cell["p"]))
    signal = X[:, support] @ random.normal(MEAN, 1.0, cell["true"])
    if logistic:  # P(v = 1) with margin 2 w.u
        return X, (random.random(cell["n"]) < 1 / (1 + np.exp(-2 * signal))).astype(float), support
    return X, signal + random.standard_normal(cell["n"]), support


def judged(f: "GLM", k: int, solver: "Solver", support: np.ndarray) -> Row:
    from pursuit import solve

    result = solve(f, k, solver=solver, max_iter=LONGEST if getattr(solver, "step", None) else None)
    largest = result.support[np.argsort(-np.abs(result.coef))[: len(support)]]
    return {
        "exact": float(np.array_equal(np.sort(largest), support)),
        "relaxed": float(np.isin(support, result.support).all()),
    }
