"""Which registered solvers a test over all of them may run on which problem."""

import pursuit
from problems import DUAL

PRIMAL = [solver for solver in pursuit.list_solvers() if solver not in DUAL]  # tests/dual is about the others


def suits(solver, l2):
    """Whether a solver takes a GLM with this ridge."""
    return l2 > 0 or solver not in DUAL
