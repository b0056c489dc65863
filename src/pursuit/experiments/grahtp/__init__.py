"""Experiments of the grahtp paper."""

from pursuit.experiments.experiment import Experiment

EXPERIMENTS: tuple[Experiment, ...] = ()
