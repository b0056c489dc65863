"""Estimation error and time of sparse logistic regression on simulated data.

X.-T. Yuan, P. Li, T. Zhang, "Gradient Hard Thresholding Pursuit", conference version, the figure on Monte-Carlo
simulations with logistic regression (panels: estimation error, time; n varied at fixed k, k varied at fixed n).
"""

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from pursuit import GLM, solve

from ..experiment import Cell, Experiment, Judgement, Row, Size
from ..sums import paired, summed
from .estimation_judging import judgements
from .logistic import COLOURS, MARKS, METHODS, methods

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

BY_N, BY_K = "n varied", "k varied"
COLUMNS, NONZEROS, CORRELATION, LAMBDA = 1000, 100, 0.5, 1e-4


class Estimation(Experiment):
    name = "grahtp_icml/estimation"
    title = "estimation error and time, n varied at fixed k and k varied at fixed n"
    expected_in = "estimation.json"
    about = """
The model is, as the text says, GraSP's: p = 1000, coefficients N(0, 1), columns of an autoregressive process of
variance 1; labels with probability exp(2 w.u) / (1 + exp(2 w.u)). GraHTP, FGraHTP (no refit at the end), GraSP with
debiasing and FBS from w = 0, until w changes by no more than 1e-4 of its length. The error is |w - w*| / |w*|, time is
processor time on one thread.

**Units.** The paper's margin is 2 v w.u with lambda/2 |w|^2: our x is 2 w and l2 is lambda/4. No intercept, no
standardisation. GraSP's model has an intercept, this text's formula (by the JMLR version) none: none here.

**The setting is a reading, since the text has lost its numbers.** 100 non-zeros, correlation 1/2 (the middle of
GraSP's), lambda = 1e-4; k = 100 with n = 100, 200, ..., 1000 (GraSP's range), and n = 500 with k = 100, 200, ..., 500.
It was fixed before anything of it was run but for one copy up to k = 400, and after an earlier reading, GraSP's 10
non-zeros with k = 10 to 100, had been seen: there GraSP had the least error at small n, and FBS's grew thirteenfold
with k. Steps are the library's own (from the curvature, with a safeguard), not the paper's constant one, whose value
is lost too.

The columns `gap` and `fgap` of the table are a method's error less GraHTP's and FGraHTP's on the same copies, with
their standard errors; two of these count as different. "Superior" is judged by them in the mean over n or k.
"""

    def cells(self, size: Size) -> list[Cell]:
        true, columns = size.pick(NONZEROS, 10), size.pick(COLUMNS, 150)
        by_n = [(BY_N, n, true) for n in size.pick(range(100, 1001, 100), (100, 300))]
        by_k = [(BY_K, size.pick(500, 200), k) for k in size.pick(range(100, 501, 100), (10, 20))]
        return [
            {"copy": copy, "case": case, "n": n, "k": k, "columns": columns, "true": true}
            for copy in size.copies(20, 2)
            for case, n, k in (*by_n, *by_k)
        ]

    def run(self, cell: Cell) -> list[Row]:
        rng = np.random.default_rng([2014, cell["copy"], cell["n"]])
        U, v, w = simulated(cell["n"], cell["columns"], cell["true"], rng)
        f = GLM(U, v, "logistic", l2=LAMBDA / 4, fit_intercept=False)
        rows = []
        for name, method in methods().items():
            began = time.process_time()
            found = solve(f, cell["k"], solver=method)
            spent = time.process_time() - began
            error = float(np.linalg.norm(found.x / 2 - w) / np.linalg.norm(w))
            hit = float(np.isin(np.flatnonzero(w), found.support).mean())
            rows.append(
                {
                    "method": name,
                    "error": error,
                    "hit": hit,
                    "loss": found.value,
                    "seconds": spent,
                    "iterations": found.n_iter,
                }
            )
        return rows

    def table(self, rows: "DataFrame") -> "DataFrame":
        import pandas as pd

        by = ["case", "n", "k"]
        table = summed(rows, [*by, "method"], ["error", "hit", "loss", "seconds", "iterations"])
        for name, other in (("gap", "GraHTP"), ("fgap", "FGraHTP")):
            parts = [paired(rows, by, "copy", "method", "error", one, other).assign(method=one) for one in METHODS]
            gaps = pd.concat(parts).drop(columns="copies").rename(columns={"gap": name, "se": f"{name}_se"})
            table = table.merge(gaps, on=[*by, "method"], how="left")
        return table

    def draw(self, table: "DataFrame") -> "Figure":
        from matplotlib.figure import Figure

        figure = Figure(figsize=(8.4, 6.2), layout="constrained")
        axes = figure.subplots(2, 2, sharex="col")
        for column, (case, along) in enumerate(((BY_N, "n"), (BY_K, "k"))):
            here = table[table["case"] == case]
            fixed = "k" if along == "n" else "n"
            for row, (value, label) in enumerate((("error", "|w - w*| / |w*|"), ("seconds", "processor seconds"))):
                panel = axes[row, column]
                for method in METHODS:
                    line = here[here["method"] == method]
                    style = {"color": COLOURS[method], "marker": MARKS[method], "ms": 4, "lw": 1.2, "capsize": 2}
                    panel.errorbar(line[along], line[value], 2 * line[f"{value}_se"], label=method, **style)
                panel.set_yscale("log")
                panel.set_ylabel(label)
            axes[0, column].set_title(f"{case}, {fixed} = {here[fixed].iloc[0]}")
            axes[1, column].set_xlabel(along)
        axes[0, 0].legend()
        return figure

    def judge(self, table: "DataFrame") -> Iterator[Judgement]:
        yield from judgements(table, BY_N, BY_K)


def simulated(n: int, p: int, true: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """U, labels (true or false) and the parameter."""
    w = np.zeros(p)
    w[rng.permutation(p)[:true]] = rng.standard_normal(true)
    U = rng.standard_normal((n, p))
    for j in range(1, p):
        U[:, j] = CORRELATION * U[:, j - 1] + np.sqrt(1 - CORRELATION**2) * U[:, j]
    return U, rng.random(n) < 1 / (1 + np.exp(-2 * U @ w)), w
