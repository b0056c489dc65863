"""Figure 5.3 of the DIHT paper: primal-dual gaps over the epochs, smoothed hinge (section 5.2.1)."""

from .gaps import ABOUT, Gaps
from .problems import HUBER


class Figure53(Gaps):
    name = "diht/figure5_3"
    title = "smoothed hinge (the paper's Huber loss, gamma = 0.25): primal-dual gaps over the epochs"
    about = ABOUT
    expected_in = "figure5_3.json"
    loss = HUBER
