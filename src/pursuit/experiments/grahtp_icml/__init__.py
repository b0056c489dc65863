"""Experiments of the grahtp_icml paper."""

from pursuit.experiments.experiment import Experiment

from .estimation import Estimation
from .rcv1_loss import Rcv1Loss
from .rcv1_test import Rcv1Test

EXPERIMENTS: tuple[Experiment, ...] = (Estimation(), Rcv1Loss(), Rcv1Test())
