"""Figure 2 of the GraHTP paper: support recovery by sparse linear regression."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pursuit_experiments.experiment import Judgement

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
            "reach", not any(behind.values()),
            f"mean over n: {curves.means(left, 'exact', ('GraHTP', *GREEDY))}; GraHTP is behind by more than"
            f" two standard"
            f" errors at {sum(map(len, behind.values()))} of {2 * table['n'].nunique()} comparisons",
            f"behind at {behind}", "failed",
        )  # fmt: skip
        yield _middle(curves, middle)
        gaps = {k: max(curves.spread(k, metric) for metric in METRICS) for k in (left, middle)}
        yield Judgement.of(
            "closer", gaps[middle] < gaps[left],
            f"best minus worst mean rate: {100 * gaps[left]:.0f} points at k={left}, {100 * gaps[middle]:.0f}"
            f" at k={middle}",
            "the gap does not shrink in these replications", "failed",
        )  # fmt: skip
        yield _right(curves, right)
        yield balance(curves)


def _refit(curves: Curves) -> Judgement:
    leads = {f"k={k} {one}": curves.lead(k, "GraHTP", "FGraHTP", one) for k in curves.budgets for one in METRICS}
    shown = ", ".join(f"{panel} {100 * lead.mean:+.0f}" for panel, lead in leads.items())
    above, below = sum(lead.above for lead in leads.values()), sum(lead.below for lead in leads.values())
    constant = "; ".join(f"k={k} {curves.means(k, 'relaxed', CONSTANT[2:])}" for k in curves.budgets)
    return Judgement.of(
        "refit", above > 0 and not below,
        f"GraHTP minus FGraHTP in points, mean over n: {shown}; beyond two standard errors in {above} of {len(leads)}"
        f" panels, behind in {below}. With the constant step 1/2: {constant}",
        "FGraHTP with the library's safeguarded step is no worse here", "failed",
    )  # fmt: skip


def _left(curves: Curves, k: int) -> Judgement:
    ahead = [
        curves.lead(k, one, other, "exact").above and not curves.behind(k, one, other, "exact")
        for one in THRESHOLDING
        for other in GREEDY
    ]
    return Judgement.of(
        "left", all(ahead),
        f"mean over n: {curves.means(k, 'exact')}; of the six pairs {sum(ahead)} are beyond two standard errors and"
        " nowhere behind",
        "", "failed",
    )  # fmt: skip


def _middle(curves: Curves, k: int) -> Judgement:
    others = ("FGraHTP", *GREEDY)
    pairs = {(one, other): curves.lead(k, one, other, "relaxed") for one in ("GraHTP", "GraSP") for other in others}
    n, rates, _ = curves.points(k, "GraSP", "relaxed")
    course = ", ".join(f"{100 * rate:.0f}% at n={size:.0f}" for size, rate in zip(n, rates, strict=True))
    holds = all(not lead.below for lead in pairs.values()) and pairs["GraHTP", "FBS"].above
    return Judgement.of(
        "middle", holds and not any(curves.behind(k, "GraSP", other, "relaxed") for other in others),
        f"mean over n: {curves.means(k, 'relaxed')}. GraSP: {course}",
        "true of GraHTP, not of GraSP at n = 200: what it merges, 2k gradient entries and k kept ones less those in"
        " common, is 185 to 200 columns, so that its least-squares problem is as good as square and the minimiser"
        " blows up (f rises a thousandfold from one iteration to the next); with clearly fewer rows the least-norm"
        " minimiser works again. Whether the paper's grid of n met this it does not say",
    )  # fmt: skip


def _right(curves: Curves, k: int) -> Judgement:
    good = ("GraHTP", *GREEDY)
    pairs = {(one, bad): curves.lead(k, one, bad, "relaxed") for one in good for bad in ("FGraHTP", "GraSP")}
    half = tuple(f"{one}, {HALF}" for one in METHODS[:2])
    return Judgement.of(
        "right", all(lead.above for lead in pairs.values()),
        f"mean over n: {curves.means(k, 'relaxed')}. With the constant step 1/2: {curves.means(k, 'relaxed', half)}",
        "true of GraSP, not of our FGraHTP: its step follows the curvature. With the constant step 1/2, which serves at"
        " the smaller k, FGraHTP diverges at the largest k and falls behind all three, as the paper says; so"
        " the paper's"
        " FGraHTP probably had one step for all k",
    )  # fmt: skip
