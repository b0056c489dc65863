"""Experiments of the GraSP paper."""

from pursuit_experiments.experiment import Experiment

from .figure1 import Figure1
from .figure2 import Figure2
from .table2 import Table2
from .table3 import Table3

EXPERIMENTS: tuple[Experiment, ...] = (Figure1(), Figure2(), Table2(), Table3())
