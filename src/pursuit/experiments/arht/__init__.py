"""Experiments of the arht paper."""

from pursuit.experiments.experiment import Experiment

EXPERIMENTS: tuple[Experiment, ...] = ()
