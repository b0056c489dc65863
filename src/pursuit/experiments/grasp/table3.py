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
    failed: ClassVar[tuple[str, ...]] = ("omp_column", "reach")
    whys: ClassVar[dict[str, str]] = {
        "grasp_columns": (
            "Gl2 at s=5 tells most: with the ridge inner minimisers are unique, nothing is left to choose but the"
            " iterate, and on the columns of the file all iterates lie between 0.32 and 0.64 (between 0.47 and"
            " 1.43 where the columns are centred and no intercept is fitted), not at 3.30. So the paper's columns"
            " are not those of the file in its units, although l1 and E-net, which scale them, agree. Gd at s=25"
            " is a separable support that our runs reach at s=30: where 75 columns separate the classes the"
            " direction of b is the minimiser's choice."
        ),
        "omp_column": (
            "Not found. No scaling that was tried (raw, length, standard deviation or maximum one; rows of length"
            " or sum one, logarithms, presence only) gives the printed sequence, and at s=5 the printed loss is"
            " below the lowest one that any search here found on five columns (see the last claim)."
        ),
        "reach": (
            "At s=5 and s=10 no search found the printed loss: restarts of `auto` under nine ridges, with and"
            " without an intercept, minutes each, end again and again at 0.2714 and 0.1406, which is no proof. If"
            " these are the minima, the paper's dexter was prepared in a way that the text does not tell (its Gl2"
            " at s=5 says so too); rows of length one, logarithms or presence in place of counts do not lead to"
            " 0.264 either. From s=15 on the printed losses are undercut, and from s=20 on (the paper: 25) the"
            " classes are separated."
        ),
    }
