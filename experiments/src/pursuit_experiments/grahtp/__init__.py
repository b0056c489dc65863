"""Experiments of the grahtp paper."""

from pursuit_experiments.experiment import Experiment

from .figure1 import Figure1
from .figure2 import Figure2
from .figure3 import Figure3
from .figure4 import Figure4
from .figure5 import Figure5
from .figure6 import Figure6
from .table4 import Table4

EXPERIMENTS: tuple[Experiment, ...] = (
    Figure1(),
    Figure2(),
    Figure3(),
    Figure4(),
    Figure5(),
    Figure6(),
    Table4(),
)
