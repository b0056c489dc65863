"""Experiments of the grasp paper."""

from pursuit.experiments.experiment import Experiment

EXPERIMENTS: tuple[Experiment, ...] = ()
