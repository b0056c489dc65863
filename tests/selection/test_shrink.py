"""Slopes and intercepts of many models at once against a general minimiser."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from problems import problem
from pursuit import GLM
from pursuit.losses import as_loss
from pursuit.losses.vector import Multinomial
from pursuit.selection.held_out import losses
from pursuit.selection.shrink import intercepts, root, slopes

LOSSES = ["squared", "huber", "logistic", "poisson", "smoothed_hinge", "squared_hinge", "hinge"]


@pytest.mark.parametrize("loss", LOSSES)
def test_slopes(loss):
    given, rng = problem(loss, n=80), np.random.default_rng(0)
    kind = as_loss(loss)
    y, c = kind.encode(given.y), rng.uniform(0.5, 1.5, 80)
    null = rng.normal(size=(80, 1, 1)) * 0.1
    eta = null + rng.normal(size=(80, 5, 1)) * 0.3 + (y * np.array([[0.0], [0.5], [2.0], [-1.0], [9.0]])).T[:, :, None]
    found = slopes(kind, y, c, null, eta)
    assert ((found >= 0) & (found <= 1)).all()
    for m, s in enumerate(found):

        def cost(t, m=m):
            return float(c @ losses(kind, y, null + t * (eta[:, m : m + 1] - null))[:, 0])

        best = minimize_scalar(cost, bounds=(0, 1), method="bounded", options={"xatol": 1e-10})
        assert cost(s) <= min(best.fun, cost(0.0), cost(1.0)) + 1e-9 * abs(best.fun)


@pytest.mark.parametrize("loss", LOSSES)
def test_intercepts(loss):
    given = problem(loss, n=60, p=5, weights=True, offset=True)
    f = GLM(given.X, given.y, loss, l2=0.1, sample_weight=given.weight, offset=given.offset, standardize=True)
    B = np.random.default_rng(1).normal(size=(4, 5, 1))
    cols = np.arange(5)
    Z = f.data.design.block(cols).dense()
    found = intercepts(f, cols, B, np.einsum("ij,mjq->imq", Z, B))
    for m in range(4):
        best = f.at(cols, B[m, :, 0])
        mine = f.at(cols, B[m, :, 0], float(found[m, 0]))
        assert mine.value <= best.value + 1e-9 * abs(best.value)


def test_slopes_of_several_outputs():
    rng = np.random.default_rng(0)
    Y = np.eye(3)[rng.integers(3, size=50)]
    null, eta = np.zeros((50, 1, 3)), (Y * 2 + 3 * rng.normal(size=(50, 3)))[:, None]
    s = slopes(Multinomial(), Y, np.ones(50), null, eta)[0]
    cost = [losses(Multinomial(), Y, t * eta).sum() for t in (s - 1e-4, s, s + 1e-4)]
    assert 0 < s < 1
    assert cost[1] <= min(cost)


def test_roots_from_far_away():
    low, high = np.full(3, -np.inf), np.full(3, np.inf)
    target = np.array([-40.0, 0.0, 30.0])

    def rising(t):
        return np.exp(np.minimum(t, 700)) - np.exp(target), np.exp(np.minimum(t, 700))

    np.testing.assert_allclose(root(rising, np.array([0.0, 20.0, -20.0]), low, high)[1:], target[1:], atol=1e-9)
