"""Figure 1 of the GraHTP paper: the contraction factors of Theorems 2 and 5, a plot of formulas."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from pursuit_experiments.experiment import Cell, Experiment, Judgement, Row, Size

from .contraction import (
    GOLDEN,
    best_step,
    exact_budget,
    exact_relaxed,
    fast_budget,
    fast_relaxed,
    rho,
    steps_with_rho_below,
    widest_ratio,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

STEP = 0.5  # of Theorem 5, in units of 1/M: Remark 6
FEW = 4  # k / k-bar of the second curve of FGraHTP
END = {"2": 1.28, "5": 4.0}


class Figure1(Experiment):
    name = "grahtp/figure1"
    title = "contraction factors of Theorems 2 and 5"
    expected_in = "figure1.json"
    about = """
Formulas, evaluated on a grid of M/m; nothing is random or fitted.

- **Theorem 2** (left): rho = sqrt(1 - 2 step m + step^2 M^2), mu_1 = rho/(1 - rho) for GraHTP, mu_2 = 1.62 rho for
  FGraHTP. The paper does not say which step its curves take; we take the best one, m/M^2, which gives rho = sqrt(1 -
  (m/M)^2). The lower panel shows every step that the theorem admits: those of (3), rho < 1/2, for GraHTP, and rho <
  0.62 for FGraHTP.
- **Theorem 5** (right): step 1/(2M) as in Remark 6, which gives mu_1 = 1 - m/(8M) whatever k is. mu_2 = rho gamma
  depends on k / k-bar, of which the paper says only "with the same target sparsity"; we take the least k that part
  (a) asks for, (2 + 16 (M/m)^2) k-bar, and beside it 4 k-bar. The lower panel shows the k / k-bar that each part asks
  for.

Nothing here concerns units: the factors depend on M/m and on the step times M only.
"""

    def cells(self, size: Size) -> list[Cell]:
        return [{"theorem": theorem, "points": size.pick(281, 29)} for theorem in END]

    def run(self, cell: Cell) -> list[Row]:
        of = _arbitrary if cell["theorem"] == "2" else _relaxed
        return [{"ratio": ratio, **of(ratio)} for ratio in np.linspace(1, END[cell["theorem"]], cell["points"])]

    def table(self, rows: "DataFrame") -> "DataFrame":
        return rows.drop(columns="points").round(10)

    def draw(self, table: "DataFrame") -> "Figure":
        from matplotlib.figure import Figure as Sheet

        sheet = Sheet(figsize=(9, 6.4))
        axes = sheet.subplots(2, 2)
        for column, (theorem, own) in zip(axes.T, table.groupby("theorem"), strict=True):
            exact, fast = (own[own["factor_" + one] < 1] for one in ("grahtp", "fgrahtp"))
            least, same = ("", "") if theorem == 2 else (", at the least k it admits", ", at the same k")
            column[0].plot(exact["ratio"], exact["factor_grahtp"], "tab:blue", label=f"GraHTP{least}")
            column[0].plot(fast["ratio"], fast["factor_fgrahtp"], "tab:cyan", label=f"FGraHTP{same}")
            column[0].set(title=f"Theorem {theorem}", ylabel="contraction factor")
            column[1].set_xlabel("M/m")
            column[0].set_xlim(1, END[str(theorem)])
            column[1].set_xlim(1, END[str(theorem)])
        first, second = (table[table["theorem"].astype(str) == theorem] for theorem in END)
        for name, colour in (("GraHTP", "tab:blue"), ("FGraHTP", "tab:cyan")):
            of = name.lower()
            low, high = first[f"step_low_{of}"], first[f"step_high_{of}"]
            axes[1, 0].fill_between(first["ratio"], low, high, color=colour, alpha=0.35, label=f"admitted for {name}")
            axes[1, 1].plot(second["ratio"], second[f"budget_{of}"], colour)
        axes[1, 0].plot(first["ratio"], first["step"], "k--", linewidth=1, label="the best, m/M²")
        axes[1, 0].set_ylabel("step, in units of 1/M")
        few = second[second["factor_fgrahtp_few"] < 1]
        axes[0, 1].plot(
            few["ratio"], few["factor_fgrahtp_few"], "tab:cyan", linestyle="--", label=f"FGraHTP, k = {FEW} k̄"
        )
        axes[1, 1].set(ylabel="least k / k̄ at step 1/(2M)", yscale="log")
        for panel in axes.flat[:3]:
            panel.legend()
        sheet.tight_layout()
        return sheet

    def judge(self, table: "DataFrame") -> Iterator[Judgement]:
        first, second = (table[table["theorem"].astype(str) == theorem] for theorem in END)
        crossing = first.loc[first["factor_grahtp"] > first["factor_fgrahtp"], "ratio"].min()
        near = first[(first["ratio"] > 1) & (first["ratio"] < crossing)]
        later = first[first["ratio"] > crossing]
        yield Judgement.of(
            "order",
            _below(near, "grahtp", "fgrahtp") and _below(later, "fgrahtp", "grahtp"),
            f"mu_1 < mu_2 up to M/m = {crossing:.3f} (exactly where rho = 1 - 1/1.62), mu_1 > mu_2 beyond",
        )
        ends = {of: first.loc[first[f"step_low_{of}"].notna(), "ratio"].max() for of in ("grahtp", "fgrahtp")}
        yield Judgement.of(
            "necessary",
            abs(ends["grahtp"] - 2 / np.sqrt(3)) <= _spacing(first),
            f"some step has rho < 1/2 up to M/m = {ends['grahtp']:.3f} on the grid, {widest_ratio(0.5):.4f} by"
            " the formula",
        )
        yield Judgement.of(
            "necessary_fast",
            abs(ends["fgrahtp"] - 1.26) <= _spacing(first),
            f"some step has rho < 0.62 up to M/m = {ends['fgrahtp']:.3f} on the grid, {widest_ratio(0.62):.4f} by the "
            f"formula; 1.62 rho < 1 up to {widest_ratio(1 / GOLDEN):.4f}",
            "a slip of the paper: M/m < 1.26 is sufficient, not necessary; the necessary bound is the root of"
            " the golden"
            " ratio, 1.272",
        )
        factors = [first[f"factor_{of}"][first[f"factor_{of}"] < 1] for of in ("grahtp", "fgrahtp")]
        yield Judgement.of(
            "wide",
            all(one.min() < 0.01 and one.max() > 0.9 for one in factors),
            f"mu_1 from {factors[0].min():.3g} to {factors[0].max():.3f}, mu_2 from {factors[1].min():.3g} to"
            f" {factors[1].max():.3f}",
        )
        small = second["ratio"] <= 1.5
        meet = second.loc[second["factor_fgrahtp"] > second["factor_grahtp"], "ratio"].min()
        yield Judgement.of(
            "superior",
            _below(second[small], "fgrahtp", "grahtp"),
            f"mu_2 below mu_1 up to M/m = {meet:.2f} with k = (2 + 16 (M/m)^2) k-bar",
        )
        least = second["factor_grahtp"].min()
        yield Judgement.of(
            "narrow",
            abs(least - 0.87) < 0.01 and second["factor_grahtp"].max() < 1,
            f"mu_1 = 1 - m/(8M) lies in [{least:.3f}, 1)",
        )
        fast, few = second["factor_fgrahtp"].min(), second["factor_fgrahtp_few"].min()
        yield Judgement.of(
            "wider",
            fast < 0.66 and fast < least and few < 0.66,
            f"mu_2 begins at {fast:.3f} with k = (2 + 16 (M/m)^2) k-bar, at {few:.3f} with k = {FEW} k-bar, and"
            f" reaches 1:"
            " the lower end is a matter of k / k-bar, which the paper does not print (0.65 is k = 3.5 k-bar)",
        )


def _below(own: "DataFrame", one: str, other: str) -> bool:
    return bool((own[f"factor_{one}"] < own[f"factor_{other}"]).all())


def _spacing(own: "DataFrame") -> float:
    return float(own["ratio"].diff().max()) * 1.01


def _arbitrary(ratio: float) -> Row:
    """Theorem 2 at the best step."""
    step = best_step(ratio)
    found = rho(step, ratio)
    low, high = steps_with_rho_below(0.5, ratio)
    fast_low, fast_high = steps_with_rho_below(0.62, ratio)
    return {
        "step": step,
        "rho": found,
        "factor_grahtp": found / (1 - found),
        "factor_fgrahtp": GOLDEN * found,
        "step_low_grahtp": low,
        "step_high_grahtp": high,
        "step_low_fgrahtp": fast_low,
        "step_high_fgrahtp": fast_high,
    }


def _relaxed(ratio: float) -> Row:
    """Theorem 5 at the step 1/(2M)."""
    budget = exact_budget(STEP, ratio)
    return {
        "step": STEP,
        "rho": rho(STEP, ratio),
        "factor_grahtp": exact_relaxed(STEP, ratio),
        "factor_fgrahtp": fast_relaxed(STEP, ratio, budget),
        "factor_fgrahtp_few": fast_relaxed(STEP, ratio, FEW),
        "budget_grahtp": budget,
        "budget_fgrahtp": fast_budget(STEP, ratio),
    }
