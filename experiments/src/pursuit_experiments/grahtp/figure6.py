"""Figure 6 of the GraHTP paper (JMLR 18, 2018; 6.3.1): precision matrices of a simulation."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pursuit_experiments.experiment import Judgement

from .precision_claims import Lines, favourable, spread, times
from .simulated_precision import METHODS, SimulatedPrecision

if TYPE_CHECKING:
    from pandas import DataFrame

PROTOCOL = """
Truth: ones off the diagonal with probability 0.1, and the diagonal that makes the condition number p. A sample of 100
rows to fit, and an independent one of 100 rows, by whose Gaussian log-likelihood (about the mean of the first) every
method chooses its parameter. Error: Frobenius distance to the truth, in its units. F-score: of the edges, which are
the entries that are not zero. Seconds of the processor, one thread: `seconds` for the chosen fit alone, `tuning` for
all fits that were tried. `*_gap` is GraHTP's value minus the method's, on the same samples, with its standard error.

| the paper | here |
|---|---|
| L(Omega) on the sample covariance matrix | `LogDet`: on the correlation matrix, so that pairs are chosen the same \
way in all units; what comes back is in the units of the data |
| 2k off-diagonal entries | k edges |
| eta, halting condition: not given | step from the curvature, halved until L falls; until the graph repeats |
| alpha I <= Omega <= beta I, by ADMM | refits without them, by dual sweeps, which is the same where they do not \
bind: `within_bounds` is the share of chosen fits within the paper's (xi = 0.01; p for its n) |
| GraSP with "a similar two-stage strategy" | `GraSP()`: a refit on the merged graph, cut to k edges, refitted |
| FBS, FoBa | one edge at a time, with a refit of all. A run to the most edges passes every smaller number as a run \
to that number would, so that its tuning is one run |
| grid of k: not given | 17 numbers from p/4 to 4p, in which tuning ends after three that were worse in a row; \
`end_of_grid` is the share of choices at its end |
| GLasso, variant and grid not given | scikit-learn's `graphical_lasso` on the covariance matrix, and again on the \
correlation matrix; up to 25 penalties from 0.95 to 0.03 of the one that leaves no edge, with the same end |

Beside the paper's: *GLasso at GraHTP's k*, the point of GLasso's path whose number of edges is next to GraHTP's; and
*SparsePrecisionCV's rule*, ours, which chooses edges, shrinkage and an l1 term together (its seconds are of all that).
"""

MISLED = (
    "the paper has a figure without numbers, and does not say how its GLasso was tuned. With 100 rows the constrained"
    " problem itself misleads from p=60 on: at the true number of edges GraHTP's graph has a lower loss than the true"
    " one (in all of ten samples that were looked at, with p = 60, 120 and 200), so that no better solver would help."
    " More edges then add error, since entries are not shrunk; held-out likelihood stops far below the true number,"
    " where GLasso keeps many small entries. With as many edges as GraHTP it is worse at every p (next claim but one)"
)
REASONS = {
    "error_greedy": "",
    "F_greedy": "",
    "error_glasso": MISLED,
    "F_glasso": "it holds at p = 30 and 60. Beyond, as for the error: held-out likelihood stops GraHTP at a third"
    " (p = 120) and a seventh (p = 200) of the true edges, and lets GLasso have about twice as many as there are",
    "equal_k": "",
    "spread": "",
    "spread_greedy": "",
    "time_glasso": "other programs: refits are dual sweeps in compiled code here, tens to hundreds of times faster than"
    " the paper's ADMM. FBS and FoBa, with a refit for every edge, are slower than GLasso here too",
    "time_greedy": "",
}


class Figure6(SimulatedPrecision):
    name = "grahtp/figure6"
    title = "precision matrices of a simulation"
    about = PROTOCOL
    expected_in = "figure6.json"
    methods = METHODS

    def judge(self, table: "DataFrame") -> Iterator[Judgement]:
        lines, greedy = Lines(table), ("GraSP", "FBS", "FoBa")
        yield from favourable(lines, greedy, REASONS)
        yield from spread(lines, greedy, REASONS)
        yield from times(lines, greedy, REASONS)
