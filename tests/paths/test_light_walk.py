"""The light walk that folds use: sizes that are wanted are searched for, others passed through."""

from itertools import combinations

import numpy as np
import pytest

from pursuit import GLM, MultiGLM
from pursuit.engines import TimeUpError, until
from pursuit.paths import every_size


def binary(n=80, p=9, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + rng.standard_normal((n, 1))
    y = (X[:, 1] - X[:, 4] + 0.7 * X[:, 6] + rng.logistic(size=n) > 0).astype(float)
    return X, y


MAKERS = {
    "logistic": lambda X, y: GLM(X, y, "logistic", l2=0.01),
    "hinge": lambda X, y: GLM(X, y, "hinge", l2=0.01),
    "classes": lambda X, y: MultiGLM(X, (y + (X[:, 2] > 1)).astype(int), l2=0.01),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_wanted_sizes_are_searched_for(make):
    f = make(*binary())
    found = every_size(f, f.sparse_set(6), [2, 5])
    assert sorted(found) == list(range(7))
    values = [found[k].value for k in range(7)]
    assert values == sorted(values, reverse=True)
    q = f.width
    for k, slack in ((2, 1e-6), (5, 1e-2)):
        every = (np.add.outer(np.array(S) * q, np.arange(q)).ravel() for S in combinations(range(9), k))
        best = min(f.refit(S).value for S in every)
        assert best * (1 - 1e-6) <= found[k].value <= best * (1 + slack)


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_sizes_between_are_valid_fits(make):
    f = make(*binary(seed=1))
    found = every_size(f, f.sparse_set(6), [1, 6])
    for k in (3, 4):
        assert len(found[k].support) <= k * f.width
        assert f.at(found[k].support, found[k].coef, found[k].free).value == pytest.approx(found[k].value, rel=1e-6)


def test_a_walk_in_python_keeps_to_a_deadline():
    f = MAKERS["hinge"](*binary())
    constraint = f.sparse_set(6)
    with until(0.0), pytest.raises(TimeUpError):
        every_size(f, constraint)


def test_a_working_set_grows_where_the_null_model_has_no_curvature(monkeypatch):
    """A smoothed hinge is straight there: columns were divided by a curvature of zero, and none came in."""
    monkeypatch.setattr("pursuit.kernels.search.MAX_SMALL_ENTRIES", 24_000)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 600))
    latent = X[:, 5] + rng.standard_normal(60)
    f = GLM(X, (latent > np.median(latent)).astype(float), "smoothed_hinge", l2=0.1)
    with np.errstate(divide="raise", invalid="raise"):
        found = every_size(f, f.sparse_set(4))
    assert f.refit(found[1].support).value <= min(f.refit(np.array([j])).value for j in range(600)) * 1.01
