"""A ridge next to nothing on rare 0/1 columns: pieces of a loss without curvature of their own."""

import numpy as np
import pytest

from pursuit import GLM

RIDGES = [10.0**-e for e in range(8, 21, 2)]


@pytest.mark.parametrize("loss", ["smoothed_hinge", "squared_hinge", "huber", "logistic", "squared"])
@pytest.mark.parametrize("seed", range(4))
def test_the_refit_is_as_good_as_the_one_without_a_ridge(loss, seed):
    rng = np.random.default_rng(seed)
    n = 77
    X = (rng.random((n, 3)) < 0.1).astype(float)
    y = np.maximum((rng.random(n) < 0.45).astype(float), X[:, 0])  # the first column has rows of one class only
    for cols in ([0], [0, 1], [0, 1, 2]):
        free = GLM(X, y, loss).refit(np.array(cols))
        for ridge in RIDGES:
            f = GLM(X, y, loss, l2=ridge)
            point = f.refit(np.array(cols))
            # coefficients that separate rows have no end without a ridge: those that cost next to nothing are as good
            best = min(f.at(np.array(cols), np.clip(free.coef, -50, 50), free.free).value, f.null.value)
            assert point.value <= best + 1e-7
            assert point.lower_bound <= best * (1 + 1e-10)  # claims have room for 1e-9
