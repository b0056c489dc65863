"""What one sample costs: phi(y, eta), its derivatives, its convex conjugate. A loss never sees X."""

from .base import Loss, as_loss, list_losses, register
from .hinges import Hinge, SmoothedHinge, SquaredHinge
from .likelihoods import Logistic, Poisson
from .multinomial import Multinomial
from .residuals import Huber, Squared
from .row_hessians import DiagonalHessian, RowHessian

for _loss in (Squared, Logistic, Huber, SmoothedHinge, Hinge, SquaredHinge, Poisson):
    register(_loss)

__all__ = [
    "DiagonalHessian",
    "Hinge",
    "Huber",
    "Logistic",
    "Loss",
    "Multinomial",
    "Poisson",
    "RowHessian",
    "SmoothedHinge",
    "Squared",
    "SquaredHinge",
    "as_loss",
    "list_losses",
    "register",
]
