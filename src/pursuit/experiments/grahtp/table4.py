"""Table 4 of the GraHTP paper (JMLR 18, 2018; 6.3.2): discriminant analysis of breast cancer."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pursuit.experiments.experiment import Judgement

from .discriminant import ABOUT, LASSO, METHODS, Discriminant
from .discriminant_claims import as_printed, competitive, highest_mcc, lasso_rates, times
from .precision import GREEDY

if TYPE_CHECKING:
    from pandas import DataFrame

FIVE = (*GREEDY, LASSO)
WHY = {"competitive": "", "mcc": "", "glasso": "", "printed": "", "time_greedy": "", "time_glasso": ""}


class Table4(Discriminant):
    name = "grahtp/table4"
    title = "discriminant analysis of breast cancer"
    about = ABOUT
    expected_in = "table4.json"
    methods = METHODS

    def judge(self, table: "DataFrame") -> Iterator[Judgement]:
        yield competitive(table, FIVE, WHY["competitive"])
        yield highest_mcc(table, FIVE, WHY["mcc"])
        yield lasso_rates(table, FIVE, WHY["glasso"])
        yield as_printed(table, FIVE, WHY["printed"])
        yield from times(table, FIVE, WHY)
