"""Figure 5.4 of the DIHT paper: time to IHT's loss, hinge (section 5.2.2)."""

from .problems import HINGE
from .race import ABOUT, KINKS, Race


class Figure54(Race):
    name = "diht/figure5_4"
    title = "hinge: time to IHT's loss"
    about = ABOUT.format(kinks=KINKS)
    expected_in = "figure5_4.json"
    loss = HINGE
