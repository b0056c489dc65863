"""A fuzzer for checkpoints: whatever changes between two runs, the second answers its own problem or refuses the file.

Whether an answer is right is decided by formulas of NumPy alone and by a run without a checkpoint.
"""

import os

import numpy as np
import pytest
import scipy.sparse as sp

import pursuit
from pursuit.losses import Huber

PAIRS = 500


def loss_of(name, y, eta):
    """Every row's loss, by the formulas of the documentation."""
    if name == "squared":
        return 0.5 * (y - eta) ** 2
    if name == "huber":
        r = np.abs(y - eta)
        return np.where(r <= 1.0, 0.5 * r**2, r - 0.5)
    if name == "logistic":
        return np.logaddexp(0.0, eta) - y * eta
    assert name == "poisson"
    return np.exp(eta) - y * eta


class Given:
    """One problem; ``change`` gives the next one."""

    def __init__(self, rng):
        n, p = int(rng.integers(12, 40)), int(rng.integers(4, 9))
        self.X = rng.standard_normal((n, p))
        eta = self.X[:, 0] - 0.5 * self.X[:, 1] + rng.standard_normal(n)
        self.loss = str(rng.choice(["squared", "huber", "logistic", "poisson"]))
        self.y = {
            "logistic": (eta > 0).astype(float),
            "poisson": rng.poisson(np.exp(np.clip(eta, -3, 1))).astype(float),
        }.get(self.loss, eta)
        self.weights = rng.random(n) + 0.1 if rng.random() < 0.3 else None
        self.offset = 0.3 * rng.standard_normal(n) if rng.random() < 0.3 else None
        self.l2 = float(rng.choice([0.01, 0.1]))
        self.intercept, self.standardize = bool(rng.random() < 0.8), bool(rng.random() < 0.5)
        self.k, self.how, self.start = int(rng.integers(1, 4)), {}, None
        self.solver = str(rng.choice(["grahtp", "omp", "auto", "ompr"]))

    def objective(self):
        options = {"fit_intercept": self.intercept, "standardize": self.standardize, "l2": self.l2}
        loss = Huber(1.0) if self.loss == "huber" else self.loss
        return pursuit.GLM(self.X, self.y, loss, sample_weight=self.weights, offset=self.offset, **options)

    def value(self, result):
        """The objective at a result's coefficients."""
        X = self.X.toarray() if sp.issparse(self.X) else np.asarray(self.X, float)
        w = np.ones(len(self.y)) if self.weights is None else self.weights
        w = w / w.sum()
        eta = X @ result.x + result.intercept + (0.0 if self.offset is None else self.offset)
        x = result.x
        if self.standardize:
            m = w @ X if self.intercept else np.zeros(X.shape[1])
            x = x * np.sqrt(w @ (X - m) ** 2)
        return w @ loss_of(self.loss, self.y, eta) + 0.5 * self.l2 * x @ x

    def run(self, checkpoint=None):
        return pursuit.solve(self.objective(), self.k, solver=self.solver, checkpoint=checkpoint, **self.how)


def nothing(g, rng):
    pass


def shift_y(g, rng):
    if g.loss in ("logistic", "poisson"):
        shift_offset(g, rng)
    else:
        g.y = g.y + rng.choice([1e-6, 1.0, 100.0])


def scale_y(g, rng):
    g.y = 1 - g.y if g.loss == "logistic" else g.y * rng.choice([1.0 + 1e-9, 2.0, 1e6 if g.loss != "poisson" else 3.0])


def flip_y(g, rng):
    g.y = 1 - g.y if g.loss == "logistic" else g.y[::-1].copy() if g.loss == "poisson" else -g.y


def shift_X(g, rng):
    g.X = g.X + rng.choice([1e-6, 1.0, 273.0])


def shift_column(g, rng):
    g.X = g.X.copy()
    g.X[:, rng.integers(g.X.shape[1])] += 1.0


def scale_X(g, rng):
    g.X = g.X * rng.choice([1 + 1e-9, 2.0, 1e-3])


def scale_column(g, rng):
    g.X = g.X.copy()
    g.X[:, rng.integers(g.X.shape[1])] *= 3.0


def flip_column(g, rng):
    g.X = g.X.copy()
    g.X[:, rng.integers(g.X.shape[1])] *= -1.0


def flip_X(g, rng):
    g.X = -g.X


def permute_rows(g, rng):
    order = rng.permutation(len(g.y))
    g.X, g.y = g.X[order], g.y[order]
    g.weights = None if g.weights is None else g.weights[order]
    g.offset = None if g.offset is None else g.offset[order]


def permute_targets(g, rng):
    g.y = g.y[rng.permutation(len(g.y))]


def permute_columns(g, rng):
    g.X = g.X[:, rng.permutation(g.X.shape[1])]


def swap_two_entries(g, rng):
    g.X = g.X.copy()
    i, j = rng.choice(len(g.y), 2, replace=False)
    g.X[[i, j], 0] = g.X[[j, i], 0]


def one_entry(g, rng):
    g.X = g.X.copy()
    g.X[rng.integers(len(g.y)), rng.integers(g.X.shape[1])] += 1e-3


def other_weights(g, rng):
    g.weights = rng.random(len(g.y)) + 0.1


def scaled_weights(g, rng):
    g.weights = (np.ones(len(g.y)) if g.weights is None else g.weights) * rng.choice([3.0, 1e-5])


def other_offset(g, rng):
    g.offset = rng.standard_normal(len(g.y))


def shift_offset(g, rng):
    g.offset = (0.0 if g.offset is None else g.offset) + np.full(len(g.y), rng.choice([1e-6, 0.5, 5.0]))


def more_rows(g, rng):
    g.X, g.y = np.vstack([g.X, g.X[:1]]), np.append(g.y, g.y[0])
    g.weights = None if g.weights is None else np.append(g.weights, 1.0)
    g.offset = None if g.offset is None else np.append(g.offset, 0.0)


def other_loss(g, rng):
    g.loss = {"squared": "huber", "huber": "squared", "logistic": "squared", "poisson": "squared"}[g.loss]


def other_l2(g, rng):
    g.l2 *= rng.choice([1 + 1e-9, 2.0])


def other_k(g, rng):
    g.k += 1


def other_intercept(g, rng):
    g.intercept = not g.intercept


def other_view(g, rng):
    g.standardize = not g.standardize


def other_include(g, rng):
    g.how = {"include": [3]}


def other_exclude(g, rng):
    g.how = {"exclude": [0]}


def other_bounds(g, rng):
    g.how = {"bounds": (-0.2, 0.2)}


def other_groups(g, rng):
    g.how = {"groups": np.arange(g.X.shape[1]) // 2}


def other_start(g, rng):
    x = np.zeros(g.X.shape[1])
    x[1] = 0.5
    g.how = {"start": x}


def single_precision(g, rng):
    g.X = g.X.astype(np.float32)


def column_major(g, rng):
    g.X = np.asfortranarray(g.X)


def as_sparse(g, rng):
    g.X = (sp.csr_array if rng.random() < 0.5 else sp.csc_array)(g.X)


SAME = (nothing, column_major, as_sparse, scaled_weights)
CHANGES = (
    *SAME,
    shift_y,
    scale_y,
    flip_y,
    shift_X,
    shift_column,
    scale_X,
    scale_column,
    flip_column,
    flip_X,
    permute_rows,
    permute_targets,
    permute_columns,
    swap_two_entries,
    one_entry,
    other_weights,
    other_offset,
    shift_offset,
    more_rows,
    other_loss,
    other_l2,
    other_k,
    other_intercept,
    other_view,
    other_include,
    other_exclude,
    other_bounds,
    other_groups,
    other_start,
    single_precision,
)


def answered(given, file):
    """The second run's result; None where it refused the file with a sentence."""
    try:
        return given.run(file)
    except ValueError as error:
        if f"checkpoint {file} is of another problem" in str(error):
            return None
        raise


@pytest.mark.parametrize("part", range(5))
def test_no_pair_of_problems_is_answered_wrongly(part, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda handle: None)  # of 500 files that nobody needs tomorrow
    taken_up = 0
    for i in range(part * PAIRS // 5, (part + 1) * PAIRS // 5):
        rng = np.random.default_rng(i)
        given, change, file = Given(rng), CHANGES[i % len(CHANGES)], tmp_path / f"{i}.npz"
        stopped = rng.random() < 0.5  # by a limit: the file then holds a log, and not an end
        given.how = {"max_iter": 1} if stopped else {}
        given.run(file)
        given.how = {}
        change(given, rng)
        label = f"pair {i}: {change.__name__}, {given.loss}, {given.solver}, stopped {stopped}"
        found = answered(given, file)
        if found is None:
            assert change not in SAME, label
            continue
        fresh = given.run()
        assert found.value == pytest.approx(given.value(found), rel=1e-7, abs=1e-10), label
        assert found.value == pytest.approx(fresh.value, rel=1e-6, abs=1e-9), label
        taken_up += 1
    assert taken_up >= 10  # or refusing everything would do
