"""Discriminant analysis of breast cancer, in the conference version of the GraHTP paper (ICML 2014)."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pursuit_experiments.experiment import Judgement
from pursuit_experiments.grahtp.discriminant import ABOUT, LASSO, OURS, SHRUNK, Discriminant
from pursuit_experiments.grahtp.discriminant_claims import competitive
from pursuit_experiments.grahtp.table4 import WHY

if TYPE_CHECKING:
    from pandas import DataFrame


class LDA(Discriminant):
    name = "grahtp_icml/lda"
    view_of = "grahtp/table4"
    title = "discriminant analysis of breast cancer"
    about = f"""
The protocol of the journal version's table 4, without FoBa: the two texts differ in nothing but numbers that ours has
lost, the whole table among them. Divisions and fits are those of `grahtp/table4`, not others.
{ABOUT}"""
    expected_in = "lda.json"
    methods = ("GraHTP", "GraSP", "FBS", LASSO, OURS, SHRUNK)

    def judge(self, table: "DataFrame") -> Iterator[Judgement]:
        yield competitive(table, self.methods[:4], WHY["competitive"])
