"""Experiments of the grahtp_icml paper."""

from pursuit_experiments.experiment import Experiment

from .breast_loss import BreastLoss
from .estimation import Estimation
from .heatmaps import HeatMaps
from .lda import LDA
from .precision import Precision
from .rcv1_loss import Rcv1Loss
from .rcv1_test import Rcv1Test

EXPERIMENTS: tuple[Experiment, ...] = (
    Estimation(),
    Rcv1Loss(),
    Rcv1Test(),
    Precision(),
    HeatMaps(),
    BreastLoss(),
    LDA(),
)
