"""Table 3 of the GraSP paper: dexter."""

from typing import ClassVar

from .methods import eta
from .tables import ABOUT, RealTable


class Table3(RealTable):
    """S. Bahmani, B. Raj, P. T. Boufounos, JMLR 14 (2013), section 5.2."""

    name = "grasp/table3"
    title = "sparse logistic regression on dexter"
    expected_in = "table3.json"
    data = ("dexter",)
    source = "dexter"
    seconds = 15.0
    about = ABOUT.format(data="dexter (300 texts, 20000 words, entries 0 to 907)", eta=eta(300, 20000), seconds=seconds)
    whys: ClassVar[dict[str, str]] = {}
