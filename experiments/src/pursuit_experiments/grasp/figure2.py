"""Figure 2 of the GraSP paper: the relative error against the sampling ratio."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from ..experiment import DIFFERS, FAILED, Judgement
from . import error_claims
from .simulation import Simulated

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame


class Figure2(Simulated):
    """S. Bahmani, B. Raj, P. T. Boufounos, JMLR 14 (2013), section 5.1."""

    name = "grasp/figure2"
    view_of = "grasp/figure1"
    title = "relative error against the sampling ratio"
    expected_in = "figure2.json"
    whys: ClassVar[dict[str, str]] = {}
    failed: ClassVar[tuple[str, ...]] = ()

    def draw(self, table: "DataFrame") -> "Figure":
        from .simulation_picture import curves

        return curves(table, "error", "mean relative error", log=True, limits=(0.1, 1e3))

    def judge(self, table: "DataFrame") -> Iterator[Judgement]:
        for claim in self.expected["claims"]:
            holds, measured, least = getattr(error_claims, claim)(table)
            otherwise = FAILED if claim in self.failed else DIFFERS
            yield Judgement.of(claim, holds, measured, self.whys.get(claim, ""), otherwise, rests_on=least)
