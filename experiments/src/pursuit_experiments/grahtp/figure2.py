"""Figure 2 of the GraHTP paper: support recovery by sparse linear regression."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from pursuit_experiments.experiment import DECISIVE, FAILED, Comparison, Judgement, weakest

from .methods import CONSTANT, HALF, METHODS
from .recovery import SupportRecovery
from .recovery_claims import METRICS, Curves, balance, rises

if TYPE_CHECKING:
    from pandas import DataFrame

THRESHOLDING, GREEDY = METHODS[:3], METHODS[3:]


class Figure2(SupportRecovery):
    name = "grahtp/figure2"
    title = "support recovery by sparse linear regression"
    expected_in = "figure2.json"
    about = """
p = 500, 50 non-zeros, entries of X and the noise N(0, 1), no intercept; the mean squared error (ours is halved as the
paper's is) without a ridge. *Exact* success: the 50 largest entries of the solution are the true support; *relaxed*:
the solution's support holds it. Methods meet the same draws.

What the text leaves open, and what we chose: non-zeros "with significant mean" are N(5, 1); n goes over the range in
which the rates rise from 0 to 1; FBS has atoms of unit length; GraSP is the printed one (no refit after the cut, but
the least-norm minimiser where 3k > n columns explain everything); FoBa removes at half of the last gain.

**The step.** For linear regression the paper gives none; for figure 3 it is 1/(2 M_2k). The solid lines have the
library's own: GraHTP weighs an exchange by the curvature of single coordinates and looks back when f does not fall,
FGraHTP takes the curvature along the gradient, safeguarded. Algorithm 1 with a constant step stands beside them, in
fewer replications (column `copies`): 1/(2 M_2k) with M_2k from the truncated power method (dotted), and 1/2 (dashed).
"""
    loss, rows, copies, tag = "squared", (150, 175, 200, 225, 250, 300, 400), 100, 2

    def judge(self, table: "DataFrame") -> Iterator[Judgement]:
        curves = Curves(table)
        left, middle, right = curves.budgets
        yield rises(curves)
        yield _refit(curves)
        yield _left(curves, left)
        behind = {other: curves.behind(left, "GraHTP", other, "exact") for other in GREEDY}
        yield Judgement.of(
            "reach",
            not any(behind.values()),
            f"mean over n: {curves.means(left, 'exact', ('GraHTP', *GREEDY))}; GraHTP is behind by more than"
            f" two standard"
            f" errors at {sum(map(len, behind.values()))} of {2 * table['n'].nunique()} comparisons",
            f"behind at {behind}",
            "failed",
            rests_on=weakest(curves.compare(left, "GraHTP", other, "exact") for other in GREEDY),
        )
        yield _middle(curves, middle)
        yield _closer(curves, left, middle)
        yield _right(curves, right)
        yield balance(curves)


def _refit(curves: Curves) -> Judgement:
    """Superior in the mean over all panels, and behind in none."""
    leads = [curves.compare(k, "GraHTP", "FGraHTP", one) for k in curves.budgets for one in METRICS]
    shown = ", ".join(f"{one.about.partition(', ')[2]} {100 * one.lead:+.0f}" for one in leads)
    below = sum(one.ratio < -DECISIVE for one in leads)
    printed = "; ".join(f"k={k} {curves.means(k, 'relaxed', CONSTANT)}" for k in curves.budgets)
    mean = Comparison(
        "GraHTP over FGraHTP in the mean over all panels",
        sum(one.lead for one in leads) / len(leads),
        sum(one.se for one in leads) / len(leads),
        curves.copies("GraHTP"),
    )
    measured = (
        f"GraHTP minus FGraHTP in points, mean over n: {shown}; behind by two standard errors in {below} of"
        f" {len(leads)} panels. As printed, with a constant step and no refit: {printed}"
    )
    why = "FGraHTP with the library's safeguarded step is no worse here"
    if below:
        return Judgement.of("refit", False, measured, why, FAILED, rests_on=weakest(leads))
    return Judgement.by_leads("refit", [mean], measured, why, FAILED)


def _left(curves: Curves, k: int) -> Judgement:
    found = [curves.compare(k, one, other, "exact") for one in THRESHOLDING for other in GREEDY]
    measured = f"mean over n: {curves.means(k, 'exact')}"
    return Judgement.by_leads("left", found, measured, "", FAILED)


def _closer(curves: Curves, left: int, middle: int) -> Judgement:
    gaps = {k: max((curves.spread(k, metric) for metric in METRICS), key=lambda one: one.mean) for k in (left, middle)}
    found = Comparison(
        f"gap at k={left} minus gap at k={middle}",
        gaps[left].mean - gaps[middle].mean,
        float(np.hypot(gaps[left].se, gaps[middle].se)),
        min(curves.copies(method) for method in METHODS),
    )
    measured = f"best minus worst mean rate: {gaps[left]} at k={left}, {gaps[middle]} at k={middle}"
    return Judgement.by_leads("closer", [found], measured, "the gap does not shrink in these replications", FAILED)


def _middle(curves: Curves, k: int) -> Judgement:
    others = ("FGraHTP", *GREEDY)
    found = [curves.compare(k, one, other, "relaxed") for one in ("GraHTP", "GraSP") for other in others]
    n, rates, _ = curves.points(k, "GraSP", "relaxed")
    course = ", ".join(f"{100 * rate:.0f}% at n={size:.0f}" for size, rate in zip(n, rates, strict=True))
    behind = [n for other in others for n in curves.behind(k, "GraSP", other, "relaxed")]
    measured = f"mean over n: {curves.means(k, 'relaxed')}. GraSP: {course}"
    why = (
        "true of GraHTP, not of GraSP at n = 200: what it merges, 2k gradient entries and k of its own less those in"
        " common, is 185 to 200 columns, so that its least-squares problem is as good as square and the minimiser"
        " blows up (f rises a thousandfold from one iteration to the next); with clearly fewer rows the least-norm"
        " minimiser works again. Whether the paper's grid of n met this it does not say"
    )
    if behind:
        return Judgement.of("middle", False, measured, why, rests_on=weakest(found))
    return Judgement.by_leads("middle", found, measured, why)


def _right(curves: Curves, k: int) -> Judgement:
    """FGraHTP as printed, with a constant step and without a refit; ours beside it."""
    good, printed = ("GraHTP", *GREEDY), f"FGraHTP, {HALF}"
    found = [curves.compare(k, one, bad, "relaxed") for one in good for bad in (printed, "GraSP")]
    left = curves.budgets[0]
    return Judgement.by_leads(
        "right",
        found,
        f"mean over n: {curves.means(k, 'relaxed')}. The claim is judged with FGraHTP as printed, with a constant step"
        f" and no refit, and of the two steps with 1/2: {curves.means(k, 'relaxed', CONSTANT)}. With 1/(2 M_2k), which"
        f" the paper prints for figure 3 only, neither method could lead at k={left}, as the paper has it"
        f" ({curves.means(left, 'exact', CONSTANT)}). Our own FGraHTP, whose step follows the curvature, keeps up",
        "measured so; see the table",
    )
