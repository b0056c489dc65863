"""Figure 5.5 of the DIHT paper: primal-dual gaps over the epochs, hinge (section 5.2.2)."""

from .gaps import ABOUT, Gaps
from .problems import HINGE


class Figure55(Gaps):
    name = "diht/figure5_5"
    title = "hinge: primal-dual gaps over the epochs"
    about = ABOUT
    expected_in = "figure5_5.json"
    loss = HINGE
