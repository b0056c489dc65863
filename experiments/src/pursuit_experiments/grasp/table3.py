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
    failed: ClassVar[tuple[str, ...]] = ("reach",)
    whys: ClassVar[dict[str, str]] = {
        "grasp_columns": (
            "Gl2 at s=5 tells most: with the ridge inner minimisers are unique, which leaves the iterate and the"
            " cut's intercept to choose, and on the columns of the file all iterates lie between 0.32 and 0.65"
            " (0.47 to 1.43 where the columns are centred and no intercept is fitted), not at 3.30. That points to"
            " columns prepared in a way that the text does not tell, although l1 and E-net, for which columns are"
            " scaled, agree. Gd at s=25 is a separable support, which our iterates first meet at s=30: where 3s"
            " columns separate the classes the direction of b is the minimiser's choice."
        ),
        "omp_column": (
            "Not our program: Logit-OMP has nothing random in it, and one written for the purpose with NumPy and SciPy"
            " alone gives the same losses to four digits (s = 5, 10, .., 25; columns raw and of length one, with and"
            " without an intercept). So the paper's dexter was prepared or divided in a way that its text does not"
            " tell. No preparation that was tried (columns raw, of length, standard deviation or maximum one;"
            " rows of length or sum one, logarithms, presence only) gives the printed sequence, and at s=5 the"
            " printed loss is below the lowest one that any search here found on five columns (see the last"
            " claim). On the 300 validation rows Logit-OMP comes nearer (0.268, 0.171, 0.099, 0.040 at s = 5, 10,"
            " 15, 20), but there l1 is further off (0.483 and 0.422 against 0.523 and 0.488 at s = 10, 15)."
        ),
        "reach": (
            "At s=5 and s=10 no search found the printed loss. Restarts of `auto` under six ridges, with and"
            " without an intercept, 15 s each at s=5, ended at 0.2714 or 0.281; at s=10, 25 to 60 s each under"
            " eight ridges, between 0.1406 (three times) and 0.167. At s=10 these are not the"
            " minima: a forward search that keeps 300 supports at every size and refits 40 newcomers of each, written"
            " for the purpose and not part of pursuit, ends at 0.1319, still above 0.128 (without a ridge a rare word"
            " that settles a few rows is worth more than the model of exchanges credits it with). At s=5 it ends"
            " where ours do, so that there the paper's dexter was probably prepared or divided differently (Gl2 at"
            " s=5 says so too). Rows of"
            " length or sum one, logarithms or presence in place of counts gave 0.273 or more at s=5 in shorter"
            " searches; the 300 validation rows gave 0.2575 at s=5 and 0.1354 at s=10. From s=15 on the printed"
            " losses are undercut, and from s=20 on (the paper: 25) the classes are separated."
        ),
    }
