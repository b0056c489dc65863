"""Experiments of the diht paper."""

from pursuit_experiments.experiment import Experiment

from .figure5_1 import Figure51
from .figure5_2 import Figure52
from .figure5_3 import Figure53
from .figure5_4 import Figure54
from .figure5_5 import Figure55

EXPERIMENTS: tuple[Experiment, ...] = (Figure51(), Figure52(), Figure53(), Figure54(), Figure55())
