"""Experiments of the grahtp_icml paper."""

from pursuit.experiments.experiment import Experiment

from .estimation import Estimation

EXPERIMENTS: tuple[Experiment, ...] = (Estimation(),)
