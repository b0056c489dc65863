"""Experiments of the diht paper."""

from pursuit.experiments.experiment import Experiment

EXPERIMENTS: tuple[Experiment, ...] = ()
