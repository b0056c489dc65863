"""Figure 5.1 of the DIHT paper: estimation error and support recovery where N is about k (section 5.1)."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from pursuit_experiments.experiment import DECISIVE, Cell, Comparison, Experiment, Judgement, Row, Size, weakest
from pursuit_experiments.sums import paired, summed

from .ridge_regression import (
    ASCENTS,
    CONSTANT,
    EPOCHS,
    HTP,
    IHT,
    LAMBDAS,
    PAPERS,
    RAW,
    RELEVANT,
    SAMPLES,
    STEPS,
    solved,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

DIMENSIONS, SIZES, COPIES = (500, 300), (60, 80, 100, 120, 160), 150
LIKELY = (0.1, 1.0, 10.0)  # at which the copies that do not choose lambda are solved
SETTING = ["relevant", "d", "N"]
NEAR = (0.6, 1.2)  # N over k of the reach
LOOKS = {
    PAPERS: ("C0", "o", "-"),
    SAMPLES: ("C4", "o", "--"),
    RAW: ("C4", "o", ":"),
    IHT: ("C1", "s", "-"),
    HTP: ("C2", "^", "-"),
    CONSTANT: ("C2", "^", ":"),
}
BETTER_HTP = (
    "our HTP is a better one than the paper's: its step follows the curvature and is halved until f falls. With"
    " a constant step of 1/(largest eigenvalue), as HTP was published, its support repeats itself after one to four"
    " iterations, and the paper's gap appears"
)


class Figure51(Experiment):
    name = "diht/figure5_1"
    title = "estimation error and support recovery where N is about k"
    expected_in = "figure5_1.json"
    about = f"""
y = Xw + N(0, 1) noise with w one on the first {RELEVANT} of d features and zero on the rest. Those {RELEVANT} have
covariance 0.25 (1 on the diagonal), the others the identity, and every feature a mean of its own, drawn from N(0,
1) anew in each copy and not subtracted. k = {RELEVANT}, no intercept, nothing standardised. The paper's mean
squared error plus lambda/2 |w|^2 is twice our objective with l2 = lambda/2; lambda is one of 1e-6, 1e-5, ..., 1e2.

**Chosen by us**, since the text does not say: N = {", ".join(map(str, SIZES))}; decades as the grid of lambda;
lambda is the one of least mean estimation error over the first third of the copies, for each method, d and N by
itself (recovery as a criterion ties at 0 or 1 too often). All else is measured on the other two thirds, which are
solved at lambda = {", ".join(f"{one:g}" for one in LIKELY)} only, to save time: a choice outside (column `chosen`)
would be replaced by the nearest of them. A success is supp(w) = supp(true w): all {RELEVANT} features and no other,
as the paper defines it.

**Methods.** DIHT: {ASCENTS} of the paper's projected supergradient steps, whose length the text does not give:
Polyak's rule (`DIHT(step="polyak", halt=0, patience=0)`); the best point by its value, refitted on its support.
*Sample by sample*: `step="coordinate"`, {EPOCHS} epochs; *not refitted*: the raw primal, top_k of z. IHT: the
normalised one, at most {STEPS} steps, until x moves by less than 1e-5 of itself. HTP: `GraHTP`, whose step is the
curvature's and safeguarded; *constant step*: 1 / (largest eigenvalue of X'X/N + l2), the published HTP's step 1 for
columns that are not scaled. Sample by sample was tried first; after its {EPOCHS} epochs it is still short of the
maximum (`gap`) and behind HTP at d = 500. Polyak's rule was then taken because it came nearer on ten copies that are
not among these. It is the default for a dense X now: `solver="diht"` as it stands, which also halves the step where
D has stopped rising and ends by itself, recovers the judged copies as often at every setting, after 37 to 314 epochs
on average (run once, at the lambdas of the table; not part of it).

**Judged** by the paired differences over the same copies (columns `error_less`, `recovered_less`: DIHT minus the
method), within two standard errors: "consistently better" means nowhere worse, and better at more than half of the
settings. `gap` is DIHT's duality gap as a share of its value: how far from the global minimum its point can be at
most.
"""

    def cells(self, size: Size) -> list[Cell]:
        relevant, dimensions, sizes = size.pick((RELEVANT, DIMENSIONS, SIZES), (10, (30,), (8, 10)))
        copies = size.copies(COPIES, 2)
        grid, likely = size.pick((LAMBDAS, LIKELY), ((1.0,), (1.0,)))
        return [
            {"copy": copy, "relevant": relevant, "d": d, "N": N, "lambdas": list(grid if chooses else likely), **form}
            for copy, chooses in ((copy, copy < _choosing(len(copies))) for copy in copies)
            for d in dimensions
            for N in sizes
            for form in ({}, {"ascent": True})
        ]

    def run(self, cell: Cell) -> list[Row]:
        return solved(
            cell["N"],
            cell["d"],
            cell["relevant"],
            cell["copy"],
            tuple(cell["lambdas"]),
            ascent=cell.get("ascent", False),
        )

    def table(self, rows: "DataFrame") -> "DataFrame":
        copies = rows["copy"].nunique()
        chooses = rows["copy"] < _choosing(copies)
        by = [*SETTING, "method"]
        errors = rows[chooses].groupby([*by, "lambda"], sort=False)["error"].mean().reset_index()
        best = errors.loc[errors.groupby(by, sort=False)["error"].idxmin(), [*by, "lambda"]]
        best = best.rename(columns={"lambda": "chosen"})
        rest = rows[~chooses] if copies > 1 else rows
        solved_at = rest["lambda"].unique()
        best["lambda"] = [solved_at[np.argmin(np.abs(np.log(solved_at / one)))] for one in best["chosen"]]
        judged = rest.merge(best, on=[*by, "lambda"])
        judged["gap"] = judged["gap"].astype(float) / judged["value"]
        table = summed(judged, [*by, "chosen", "lambda"], ["error", "recovered", "gap"]).drop(columns="gap_se")
        return table.merge(_less_than(judged), on=by, how="left")

    def draw(self, table: "DataFrame") -> "Figure":
        from matplotlib.figure import Figure

        dimensions = sorted(table["d"].unique(), reverse=True)
        figure = Figure(figsize=(8.5, 3.2 * len(dimensions)), layout="constrained")
        axes = figure.subplots(len(dimensions), 2, sharex=True, squeeze=False)
        for row, d in zip(axes, dimensions, strict=True):
            for ax, value, scale in zip(row, ("error", "recovered"), (1, 100), strict=True):
                for method, (colour, marker, line) in LOOKS.items():
                    part = table[(table["d"] == d) & (table["method"] == method)]
                    spread = part[f"{value}_se"].fillna(0)
                    ax.errorbar(
                        part["N"],
                        scale * part[value],
                        scale * spread,
                        color=colour,
                        marker=marker,
                        linestyle=line,
                        markersize=5,
                        capsize=2,
                        label=method,
                    )
                ax.axvline(table["relevant"].iloc[0], color="0.8", linewidth=1, zorder=0)
                ax.set_title(f"d = {d}, k = {table['relevant'].iloc[0]} (grey line: N = k)")
                ax.set_xlabel("N")
            row[0].set_ylabel("estimation error |w - true w| / |true w|")
            row[0].set_ylim(bottom=0)
            row[1].set_ylabel("supports recovered, %")
        figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8)
        return figure

    def judge(self, table: "DataFrame") -> Iterator[Judgement]:
        for other in (IHT, HTP):
            for value, word in (("error", "lower error"), ("recovered", "more recoveries")):
                found = _compared(table, CONSTANT if other == HTP else other, value)
                named = "HTP as published, with a constant step," if other == HTP else other
                measured = f"{word} than {named} at {_better(found)} of {len(found)} settings, worse at {_worse(found)}"
                if other == HTP:
                    ours = _compared(table, HTP, value)
                    measured += f"; than our HTP at {_better(ours)}, worse at {_worse(ours)} ({BETTER_HTP})"
                holds = 2 * _better(found) > len(found) and not _worse(found)
                claim, why = f"{value}_{other.lower()}", "measured so; see the table"
                yield Judgement.of(claim, holds, measured, why, rests_on=weakest(found))
        k = table["relevant"]
        near = table[(table["N"] >= NEAR[0] * k) & (table["N"] <= NEAR[1] * k)]
        for value in ("recovered", "error"):
            each = {other: _compared(near, other, value) for other in (IHT, HTP)}
            words = [
                f"against {other}: better at {_better(found)}, worse at {_worse(found)} of {len(found)}"
                f" ({_widest(near, other, value)})"
                for other, found in each.items()
            ]
            every = [one for found in each.values() for one in found]
            why = "measured so; see the table"
            holds = not _worse(every)
            yield Judgement.of(f"reach_{value}", holds, "; ".join(words), why, "failed", rests_on=weakest(every))
        yield self._where_widest(table)

    def _where_widest(self, table: "DataFrame") -> Judgement:
        """Against IHT the widest mean gap near N = k is wider than the widest elsewhere, in error and in recovery."""
        iht, k = table[table["method"] == IHT], int(table["relevant"].iloc[0])
        groups = iht.groupby("N")
        words, found = [], []
        for value, sign in (("error", -1.0), ("recovered", 1.0)):
            gaps = sign * groups[f"{value}_less"].mean()
            errors = groups[f"{value}_less_se"].apply(lambda one: np.sqrt((one.fillna(0) ** 2).sum()) / len(one))
            near = gaps.index.to_series().between(NEAR[0] * k, NEAR[1] * k).to_numpy()
            words.append(f"the {value}'s gap is widest at N = {gaps.idxmax()} ({sign * gaps.max():+.2f})")
            if near.all() or not near.any():  # the quick form
                continue
            inside, outside = gaps[near].idxmax(), gaps[~near].idxmax()
            about = f"gap in {value} at N={inside} minus that at N={outside}"
            lead, error = gaps[inside] - gaps[outside], np.hypot(errors[inside], errors[outside])
            found.append(Comparison(about, float(lead), float(error), int(iht["copies"].min())))
        measured, why = f"against IHT {', '.join(words)}", "the gap is as wide elsewhere; see the table"
        if not found:
            return Judgement.of("widest_near_k", True, measured, why)
        return Judgement.by_leads("widest_near_k", found, measured, why)


def _choosing(copies: int) -> int:
    """How many of the copies choose lambda: a third, as the paper's 50 of 150."""
    return max(1, round(copies / 3))


def _less_than(rows: "DataFrame") -> "DataFrame":
    """For each other method: DIHT minus it over the same copies, of the error and of the recoveries."""
    import pandas as pd

    others = [method for method in LOOKS if method != PAPERS]
    found = []
    for other in others:
        parts: Any = None
        for value in ("error", "recovered"):
            gaps = paired(rows, SETTING, "copy", "method", value, PAPERS, other).drop(columns="copies")
            gaps = gaps.rename(columns={"gap": f"{value}_less", "se": f"{value}_less_se"})
            parts = gaps if parts is None else parts.merge(gaps, on=SETTING)
        found.append(parts.assign(method=other))
    return pd.concat(found, ignore_index=True)


def _compared(table: "DataFrame", other: str, value: str) -> list[Comparison]:
    """DIHT against another method on the same copies, at every setting."""
    part = table[table["method"] == other]
    sign = 1.0 if value == "recovered" else -1.0
    return [
        Comparison(
            f"{value} against {other}, d={line['d']}, N={line['N']}",
            sign * line[f"{value}_less"],
            float(np.nan_to_num(line[f"{value}_less_se"])),
            int(line["copies"]),
        )
        for line in part.to_dict("records")
    ]


def _better(found: list[Comparison]) -> int:
    return sum(one.ratio > DECISIVE for one in found)


def _worse(found: list[Comparison]) -> int:
    return sum(one.ratio < -DECISIVE for one in found)


def _widest(table: "DataFrame", other: str, value: str) -> str:
    part = table[table["method"] == other]
    gaps = part[f"{value}_less"]
    return f"DIHT minus {other} from {gaps.min():+.3f} to {gaps.max():+.3f}"
