"""Slopes and intercepts of many models at once against a general minimiser."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from problems import PHI, problem
from pursuit import GLM, InParts, MultiGLM
from pursuit.data import batch
from pursuit.selection.line_fits import intercepts, root, slopes
from pursuit.selection.models import Models

LOSSES = ["squared", "huber", "logistic", "poisson", "smoothed_hinge", "squared_hinge", "hinge"]
COLS = np.arange(5)


def objective(loss, parts=False):
    """A small problem, and its objective in one piece or in parts."""
    given = problem(loss, n=80, p=5, weights=True, offset=True)
    how = {"loss": loss, "l2": 0.1, "standardize": True}
    X, y, w, o = given.X, given.y, given.weight, given.offset
    f = GLM(InParts(given.parts()), **how) if parts else GLM(X, y, sample_weight=w, offset=o, **how)
    return given, f


def losses(given, f, models, s):
    """The mean loss of (1 - s) null + s model, of every model, in plain NumPy."""
    cost = []
    for i in range(len(models.B)):
        cols, coef, b = models.in_units(i)
        eta = given.X[:, cols] @ coef + b
        at = (1 - s) * f.null.free + s * eta + given.offset
        cost.append(given.c @ PHI[given.loss](given.y, at))
    return np.array(cost)


@pytest.mark.parametrize("small", [True, False])
@pytest.mark.parametrize("loss", LOSSES)
def test_slopes(loss, small, monkeypatch):
    """Of rows in two folds; where predictors are too many they are not kept, and come a few rows at a time."""
    if not small:
        monkeypatch.setattr(batch, "MIN_CACHED_PREDICTORS", 10)
        monkeypatch.setattr(batch, "CACHE_DIVISOR", 1 << 30)
        for name in ("PREDICTORS", "GATHERED_ENTRIES", "PICKED_ENTRIES"):
            monkeypatch.setattr(batch, f"{name}_AT_A_TIME", 60)
    given, f = objective(loss)
    fit = f.refit(COLS)
    times = np.array([0.0, 0.5, 2.0, -1.0, 9.0])
    B = times[:, None, None] * fit.coef[:, None] + 0.02 * np.random.default_rng(0).normal(size=(5, 5, 1))
    models = Models(f, COLS, B, np.full((5, 1), fit.free))
    folds = f.data.raw.folds(np.arange(80) % 2)
    found = slopes([(folds.held_out(j), models) for j in (0, 1)])
    assert ((found >= 0) & (found <= 1)).all()
    least = np.array([losses(given, f, models, s)[i] for i, s in enumerate(found)])
    np.testing.assert_allclose(sum(shrunk_losses(folds.held_out(j), models, found) for j in (0, 1)), least, rtol=1e-12)
    for i in range(5):

        def cost(t, i=i):
            return losses(given, f, models, t)[i]

        best = minimize_scalar(cost, bounds=(0, 1), method="bounded", options={"xatol": 1e-10})
        assert least[i] <= min(best.fun, cost(0.0), cost(1.0)) + 1e-9 * abs(best.fun)


def shrunk_losses(rows, models, s):
    """Weighted sums of losses of shrunk models."""
    b = (1 - s[:, None]) * models.null + s[:, None] * models.b
    less = Models(models.f, models.cols, s[:, None, None] * models.B, b)
    return less.losses(rows) * rows.weight


@pytest.mark.parametrize("parts", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_intercepts(loss, parts):
    _, f = objective(loss, parts)
    B = np.random.default_rng(1).normal(size=(4, 5, 1))
    found = intercepts(f, COLS, B)
    for m in range(4):
        best = f.at(COLS, B[m, :, 0])
        mine = f.at(COLS, B[m, :, 0], float(found[m, 0]))
        assert mine.value <= best.value + 1e-9 * abs(best.value)


def test_slopes_of_several_outputs():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(50, 5)), np.eye(3)[rng.integers(3, size=50)]
    f = MultiGLM(X, Y, l2=0.01)
    B = f.refit(np.arange(15)).coef.reshape(1, 5, 3) * 2 + 0.3 * rng.normal(size=(1, 5, 3))
    models = Models(f, COLS, B, intercepts(f, COLS, B))
    s = slopes([(f.data.raw, models)])
    assert 0 < s[0] < 1
    cost = [float(shrunk_losses(f.data.raw, models, t)[0]) for t in (s - 1e-4, s, s + 1e-4)]
    assert cost[1] <= min(cost)
    np.testing.assert_allclose(f.data.batch(COLS, B).levels(models.b)[0], 0.0, atol=1e-9)


def test_roots_from_far_away():
    low, high = np.full(3, -np.inf), np.full(3, np.inf)
    target = np.array([-40.0, 0.0, 30.0])

    def rising(t):
        return np.exp(np.minimum(t, 700)) - np.exp(target), np.exp(np.minimum(t, 700))

    np.testing.assert_allclose(root(rising, np.array([0.0, 20.0, -20.0]), low, high)[1:], target[1:], atol=1e-9)
