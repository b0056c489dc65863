"""Experiments of the grahtp_icml paper."""

from pursuit.experiments.experiment import Experiment

EXPERIMENTS: tuple[Experiment, ...] = ()
