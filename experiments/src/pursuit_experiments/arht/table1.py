"""Table 1 of K. Axiotis, M. Sviridenko (2020): OMPR recovers where delta_{s + s*} is below the bound."""

from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from pursuit import GLM, OMPR, solve

from ..experiment import Cell, Comparison, Experiment, Judgement, Row, Size
from .designs import SHAPES, SPREADS, STARTS, delta_of, design

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

BELOW = (0.5, 0.9, 0.99)  # shares of the printed bound
BEYOND = (0.25, 0.5, 0.75, 0.9)  # shares of the way from the bound to 1
TARGETS = {1: (5, 20), 2: (5, 30), 3: (5, 40), 30: (2, 80)}  # s* and the number of columns for every s / s*
RECOVERED = 1e-12  # share of f(0) that counts as none


def bound(ratio: float) -> float:
    """Corollary 3.9 with theta towards 0."""
    return float((2 * np.sqrt(ratio) - 1) / (2 * np.sqrt(ratio) + 1))


class Table1(Experiment):
    name = "arht/table1"
    title = "OMPR from bad starts on designs whose RIP constant is known"
    expected_in = "table1.json"
    about = """
The table is a consequence of Theorem 3.7: without noise OMPR finds the s*-sparse minimiser, from any start, if
delta_{s+s*} < (2 sqrt(s/s*) - 1) / (2 sqrt(s/s*) + 1). (The text of section 1.2 prints this with misplaced roots;
Corollary 3.9 and the table's numbers have it right.) We build square designs whose delta_{s+s*} is known exactly, an
orthogonal matrix plus one of rank one, X'X/n = I + c u u' (`designs.py`), no intercept, no noise, and let OMPR begin
at s columns that hold none of the right ones, or at random ones. Every copy goes through c > 0 and c < 0; u on just the
s + s* columns of target and start, on all columns alike, or Gaussian; coefficients all alike, of random
signs, near to u, or Gaussian: 48 runs. delta is set to 0.5, 0.9 and 0.99 of the printed bound, and beyond it to a
quarter, a half, three quarters and nine tenths of the way to 1, where nothing is promised. (With c < 0 and u on more
than s + s* columns the matrix would cease to be positive; then delta is as large as it can be: `delta_least`.)
s* = 5 of 20, 30 and 40 columns; for s = 30 s* it is 2 of 80. Recovered: the loss is below 1e-12 of that of nothing, and
the right columns are among the s. Here s and s* count no intercept.
"""

    def cells(self, size: Size) -> list[Cell]:
        places = [(True, place) for place in BELOW] + [(False, place) for place in BEYOND]
        return [
            {"copy": copy, "ratio": ratio, "below": below, "place": place}
            for copy in size.copies(12, 1)
            for ratio in TARGETS
            for below, place in size.pick(places, places[2:3])
        ]

    def run(self, cell: Cell) -> list[Row]:
        ratio, (few, p) = cell["ratio"], TARGETS[cell["ratio"]]
        printed = self.expected["printed"][str(ratio)]
        share = cell["place"]
        delta = share * printed if cell["below"] else printed + share * (1 - printed)
        rng = np.random.default_rng([2020, cell["copy"], ratio, round(1000 * delta)])
        rows = []
        for sign, spread, shape, begin in product((1, -1), SPREADS, SHAPES, STARTS):
            one = design(delta, (p, ratio * few, few), sign, spread, shape, begin, rng)
            f = GLM(one.X, one.y, fit_intercept=False)
            found = solve(f, ratio * few, solver=OMPR(), start=one.start)
            fine = found.value <= RECOVERED * f.null.value and np.isin(one.target, found.support).all()
            known = delta_of(one.X, (ratio + 1) * few)
            rows.append(
                {
                    "sign": sign,
                    "spread": spread,
                    "asked": delta,
                    "delta": known,
                    "recovered": bool(fine),
                    "iterations": found.n_iter,
                }
            )
        return rows

    def table(self, rows: "DataFrame") -> "DataFrame":
        groups = rows.groupby(["ratio", "below", "asked"], sort=True)
        table = groups.agg(
            runs=("recovered", "size"),
            recovered=("recovered", "sum"),
            delta_least=("delta", "min"),
            delta_most=("delta", "max"),
            iterations=("iterations", "mean"),
            iterations_most=("iterations", "max"),
            copies=("copy", "nunique"),
        ).reset_index()
        for sign, name in ((1, "positive"), (-1, "negative")):
            part = rows[rows["sign"] == sign].groupby(["ratio", "below", "asked"])["recovered"].mean()
            table[f"rate_{name}"] = part.to_numpy()
        table.insert(1, "printed", [self.expected["printed"][str(ratio)] for ratio in table["ratio"]])
        table.insert(2, "formula", [bound(ratio) for ratio in table["ratio"]])
        return table.sort_values(["ratio", "asked"]).round(4)

    def draw(self, table: "DataFrame") -> "Figure":
        from matplotlib.figure import Figure

        figure = Figure(figsize=(6.4, 3.8), layout="constrained")
        axes = figure.subplots()
        for ratio, colour in zip(TARGETS, ("#0072b2", "#d55e00", "#009e73", "#cc79a7"), strict=True):
            here = table[table["ratio"] == ratio]
            if here.empty:
                continue
            label = "s = s*" if ratio == 1 else f"s = {ratio} s*"
            axes.plot(here["asked"], 100 * (1 - here["recovered"] / here["runs"]), ".-", color=colour, label=label)
            axes.axvline(here["printed"].iloc[0], color=colour, ls=":", lw=1)
        axes.set_xlabel(r"$\delta_{s+s^*}$ (dotted: the printed bound)")
        axes.set_ylabel("% of runs that do not recover")
        axes.legend()
        return figure

    def judge(self, table: "DataFrame") -> Iterator[Judgement]:
        printed = table.groupby("ratio")["printed"].first()
        formula = table.groupby("ratio")["formula"].first()
        fits = bool((np.floor(100 * formula) / 100 - printed <= 1e-9).all() and (printed <= formula).all())
        words = ", ".join(f"{formula[ratio]:.4f}" for ratio in printed.index)
        yield Judgement.of("numbers", fits, f"the formula gives {words}: the table's, cut to two digits", "")
        copies = int(table["copies"].min())
        for ratio in printed.index:
            here = table[(table["ratio"] == ratio) & table["below"]]
            runs, good = int(here["runs"].sum()), int(here["recovered"].sum())
            past = table[(table["ratio"] == ratio) & ~table["below"]]
            words = f"{good} of {runs} runs recover at delta up to {here['delta_most'].max():.3f}"
            if len(past):
                words += f"; beyond the bound {int(past['recovered'].sum())} of {int(past['runs'].sum())}"
            rate = good / runs
            error = float(np.sqrt(max(rate * (1 - rate), 1 / runs) / runs))  # at least that of one failure
            share = Comparison("share of runs that recover, less one half", rate - 0.5, error, copies)
            yield Judgement.of(f"recovers_{ratio}", runs == good, words, rests_on=share)
