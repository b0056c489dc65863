"""Table 2 of the GraSP paper: arcene."""

from typing import ClassVar

from .methods import eta
from .tables import ABOUT, RealTable


class Table2(RealTable):
    """S. Bahmani, B. Raj, P. T. Boufounos, JMLR 14 (2013), section 5.2."""

    name = "grasp/table2"
    title = "sparse logistic regression on arcene"
    expected_in = "table2.json"
    data = ("arcene",)
    source = "arcene"
    seconds = 5.0
    about = ABOUT.format(
        data="arcene (100 rows, 10000 mass intensities, entries 0 to 924)", eta=eta(100, 10000), seconds=seconds
    )
    whys: ClassVar[dict[str, str]] = {}
