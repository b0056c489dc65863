"""Precision matrices of a simulation, in the conference version of the GraHTP paper (ICML 2014)."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pursuit_experiments.experiment import Judgement
from pursuit_experiments.grahtp.figure6 import PROTOCOL, REASONS
from pursuit_experiments.grahtp.precision_claims import Lines, favourable, sparser, spread, times
from pursuit_experiments.grahtp.simulated_precision import AT_K, LASSO, ON_CORRELATIONS, RULE, SimulatedPrecision

if TYPE_CHECKING:
    from pandas import DataFrame

ABOUT = f"""
The simulation of the journal version (`grahtp/figure6`), without FoBa, which the conference version has not. Its
numbers (n, P, the dimensions) are lost in the text we have; its words are those of the journal version but for
numbers, so that these were taken. Draws and fits are the same as there, not others. "Numerical values over (lost) in
magnitude are considered to be nonzero": all that are not zero, for every method here has exact zeros.
{PROTOCOL}"""


class Precision(SimulatedPrecision):
    name = "grahtp_icml/precision"
    view_of = "grahtp/figure6"
    title = "precision matrices of a simulation"
    about = ABOUT
    expected_in = "precision.json"
    methods = ("GraHTP", "GraSP", "FBS", LASSO, ON_CORRELATIONS, AT_K, RULE)

    def judge(self, table: "DataFrame") -> Iterator[Judgement]:
        lines, greedy = Lines(table), ("GraSP", "FBS")
        yield from favourable(lines, greedy, REASONS)
        yield from spread(lines, greedy, REASONS)
        yield from times(lines, greedy, REASONS)
        yield sparser(lines, ("GraHTP", *greedy))
