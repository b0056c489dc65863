"""Experiments of the arht paper."""

from pursuit_experiments.experiment import Experiment

from .figure1 import Figure1
from .figure2 import Figure2
from .table1 import Table1

EXPERIMENTS: tuple[Experiment, ...] = (Figure1(), Figure2(), Table1())
