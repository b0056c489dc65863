"""A time limit holds inside a refit: whatever takes long asks for the time."""

import time

import numpy as np
import pytest
import scipy.sparse as sp

import pursuit
from pursuit.engines import TimeUpError, until

LIMIT, ENOUGH = 0.2, 3.0  # seconds by the clock, and processor seconds of all threads


def classes(q, n=2000, p=60):
    rng = np.random.default_rng(0)
    X, C = rng.standard_normal((n, p)), np.zeros((p, q))
    C[:5] = 1.5 * rng.standard_normal((5, q))
    return X, np.argmax(X @ C + rng.gumbel(size=(n, q)), axis=1)


def binary(n, p, density=None):
    rng = np.random.default_rng(0)
    if density is None:
        X = rng.standard_normal((n, p))
    else:
        per = int(density * p)
        X = sp.csr_array((rng.standard_normal(n * per), rng.integers(p, size=n * per), per * np.arange(n + 1)), (n, p))
    return X, np.where(X @ np.r_[np.ones(10), np.zeros(p - 10)] + rng.logistic(size=n) > 0, 1.0, -1.0)


PROBLEMS = {
    "40 classes": lambda: (pursuit.MultiGLM(*classes(40), l2=1e-3), 5),
    "600 classes": lambda: (pursuit.MultiGLM(*classes(600, n=1200), l2=1e-3), 5),
    "hinge": lambda: (pursuit.GLM(*binary(20000, 100), "hinge", l2=1e-4), 60),
    "huber": lambda: (pursuit.GLM(*binary(100_000, 60), "huber"), 30),
    "logistic": lambda: (pursuit.GLM(*binary(100_000, 60), "logistic"), 40),
    "sparse": lambda: (pursuit.GLM(*binary(50_000, 20_000, 0.005), "logistic", l2=1e-4, standardize=True), 300),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_limit_is_kept(name):
    objective, k = PROBLEMS[name]()
    objective.null
    began = time.process_time()
    pursuit.solve(objective, k, time_limit=LIMIT)
    assert time.process_time() - began < ENOUGH


@pytest.mark.parametrize("loss", ["logistic", "hinge", "huber", "poisson"])
def test_a_refit_ends_when_time_is_up(loss):
    X, y = binary(3000, 130)
    f = pursuit.GLM(X, np.abs(y) if loss == "poisson" else y, loss, l2=1e-9)
    for size in (20, 130):  # by the kernel, and beyond what it takes on
        with until(time.perf_counter() - 1.0), pytest.raises(TimeUpError):
            f.refit(np.arange(size))


def test_many_classes_form_no_second_derivatives_pair_by_pair(monkeypatch):
    X, y = classes(40, n=300)
    f = pursuit.MultiGLM(X, y, l2=1e-3)
    calls = []
    whole = type(f.loss).row_hessian
    monkeypatch.setattr(type(f.loss), "row_hessian", lambda self, *at: calls.append(1) or whole(self, *at))
    point = f.refit(np.arange(5 * f.width))
    assert len(calls) < 30  # one for each Newton step
    calls.clear()
    f.hessian_rows(point, point.support)
    f.curvatures(point, point.support)
    assert len(calls) == 1  # kept for the point
