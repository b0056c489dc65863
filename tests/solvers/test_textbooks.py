"""Sparse recovery: no solver finds fewer signals than the algorithm it is named after does in a textbook.

``benchmarks/textbooks.py`` runs all sizes with 50 trials; here are the sizes at which some once fell behind.
"""

import numpy as np
import pytest

import pursuit
from solvers.references import TEXTBOOKS, recovery

TRIALS = 12


@pytest.mark.parametrize(
    ("solver", "kind", "k"),
    [("fgrahtp", "flat", 50), ("fgrahtp", "decaying", 80), ("grasp", "gaussian", 70), ("grahtp", "flat", 50)],
)
def test_as_many_signals_as_the_textbook(solver, kind, k):
    mine = theirs = 0
    for trial in range(TRIALS):
        A, x = recovery(kind, k, trial)
        y = A @ x
        found = pursuit.solve(pursuit.GLM(A, y, fit_intercept=False), k, solver=solver).x
        reference = TEXTBOOKS[solver](A, y, k)
        mine += np.linalg.norm(found - x) < 1e-3 * np.linalg.norm(x)
        theirs += np.linalg.norm(reference - x) < 1e-3 * np.linalg.norm(x)
    share = theirs / TRIALS
    assert theirs >= 4  # or this would say nothing
    assert mine >= theirs - 2 * np.sqrt(TRIALS * share * (1 - share))
