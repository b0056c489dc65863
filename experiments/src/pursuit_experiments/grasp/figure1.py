"""Figure 1 of the GraSP paper: the logistic loss against the sampling ratio."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from ..experiment import DIFFERS, FAILED, Judgement
from . import loss_claims
from .simulation import Simulated

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame


class Figure1(Simulated):
    """S. Bahmani, B. Raj, P. T. Boufounos, JMLR 14 (2013), section 5.1."""

    name = "grasp/figure1"
    title = "logistic loss against the sampling ratio"
    expected_in = "figure1.json"
    whys: ClassVar[dict[str, str]] = {
        "closest_low": (
            "Only n = 50 differs: the ten best of 1000 columns all but separate 50 rows, and GraSP + l2, which finds"
            " them, ends further below the true loss than the lasso stays above it. From n = 100 on it is the closest."
        ),
    }
    failed: ClassVar[tuple[str, ...]] = ()

    def draw(self, table: "DataFrame") -> "Figure":
        from .simulation_picture import curves

        return curves(table, "loss", "mean logistic loss", log=False, limits=(0.0, 1.0))

    def judge(self, table: "DataFrame") -> Iterator[Judgement]:
        for claim in self.expected["claims"]:
            holds, measured, least = getattr(loss_claims, claim)(table)
            otherwise = FAILED if claim in self.failed else DIFFERS
            yield Judgement.of(claim, holds, measured, self.whys.get(claim, ""), otherwise, rests_on=least)
