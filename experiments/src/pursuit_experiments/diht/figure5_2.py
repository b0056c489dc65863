"""Figure 5.2 of the DIHT paper: time to IHT's loss, smoothed hinge (section 5.2.1)."""

from .problems import HUBER
from .race import ABOUT, Race


class Figure52(Race):
    name = "diht/figure5_2"
    title = "smoothed hinge (the paper's Huber loss, gamma = 0.25): time to IHT's loss"
    about = ABOUT.format(kinks="")
    expected_in = "figure5_2.json"
    loss = HUBER
