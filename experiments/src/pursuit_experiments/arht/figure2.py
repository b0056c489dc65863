"""Figure 2 of K. Axiotis, M. Sviridenko (2020): the logistic loss."""

from typing import ClassVar

from .curves import ABOUT, CLOSED_FORM, Curves

ROWS = 40_000


class Figure2(Curves):
    """census and kddcup04_bio."""

    name = "arht/figure2"
    title = "logistic loss against sparsity"
    expected_in = "figure2.json"
    data = ("census", "kddcup04_bio")
    printed = False
    datasets: ClassVar = {
        "census": {"full": {"sizes": range(1, 31), "rows": ROWS}, "quick": None},
        "kddcup04_bio": {
            "full": {"sizes": range(1, 31), "rows": ROWS},
            "quick": {"sizes": (2, 3), "rows": 1000, "columns": 30},
        },
    }
    about = ABOUT.format(
        printed="",
        exhaustive="For the logistic loss its quadratic model misjudges what it costs to drop a strong column; where "
        "it finds nothing more, `LocalSearch` therefore drops every column in turn, refits f without it, ranks the "
        "newcomers there and refits the 20 most promising exchanges (the table is of an earlier version of that "
        "search, with fewer newcomers for each column). ",
        path="skglm's proximal Newton path, 300 weights down to 1e-4 of the largest",
        data="census (our one-hot encoding, 510 columns) and kddcup04_bio (74 columns) are the paper's; of each "
        f"{ROWS} rows drawn with a fixed seed, for time. k to 30.",
    )
    why: ClassVar[dict[str, str]] = {
        "search_lowest": "At one size, by little: one of ARHT's many descents, some at random, ends below "
        "the search's only one, from OMP. Begun at the best of the others the search is the lowest (next line).",
        "cheaper": CLOSED_FORM,
    }
