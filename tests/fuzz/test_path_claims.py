"""A few of the problems that ``tools/fuzz_exchange.py --paths`` runs by the thousand: claims of all sizes of a path."""

import numpy as np
import pytest

from fuzz.exchange_problems import draw
from fuzz.path_judge import FEWEST_COLUMNS, PathJudge, on_working_set
from pursuit import GLM, MultiGLM
from pursuit.kernels.path import PathPlan

SEEDS = [seed for seed in range(2000, 2200) if draw(seed).X.shape[1] >= FEWEST_COLUMNS]


@pytest.mark.parametrize("part", range(4))
def test_no_exchange_helps_at_a_size_where_that_is_said(part):
    found, claimed = {}, 0
    for seed in SEEDS[part::4]:
        judge = PathJudge(draw(seed))
        with np.errstate(all="ignore"):
            found[seed] = [complaint for complaint in judge.complaints() if complaint.kind != "next best"]
        claimed += judge.notes["claimed"]
    assert {seed: some for seed, some in found.items() if some} == {}
    assert claimed > 4 * len(found)


def data(seed, n=150, p=600, responses=None):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    for j in range(1, p):
        X[:, j] += 0.7 * X[:, j - 1]
    B = np.zeros((p, responses or 1))
    B[rng.choice(p, 12, replace=False)] = rng.uniform(1, 2, (12, responses or 1))
    y = X @ B + 3 * rng.standard_normal((n, responses or 1))
    return X, y if responses else y[:, 0]


def light(should_stop=lambda: False, reached=None):
    return PathPlan(False, 0, should_stop, reached)


@pytest.mark.parametrize("responses", [None, 3])
@pytest.mark.parametrize("l2", [0.0, 0.5])
def test_every_exchange_with_a_column_outside_is_judged(l2, responses):
    """By explicit least squares, at every size; with one response and with several."""
    X, y = data(1, responses=responses)
    f = MultiGLM(X, y, "squared", l2=l2) if responses else GLM(X, y, l2=l2)
    found = on_working_set(f, f.sparse_set(9), light())
    assert [at.optimality for at in found.points[1:]] == ["swap_optimal"] * 9
    A = np.vstack([X - X.mean(axis=0), np.sqrt(len(X) * l2) * np.eye(600)]) / np.sqrt(len(X))
    t = np.zeros((len(A), responses or 1))
    t[: len(X)] = (y - y.mean(axis=0)).reshape(len(X), -1) / np.sqrt(len(X))
    for at in found.points[1:]:
        S = np.unique(at.support // (responses or 1))
        for i in S:
            Q = np.linalg.qr(A[:, S[i != S]])[0]
            rest, left = t - Q @ (Q.T @ t), A - Q @ (Q.T @ A)
            left[:, S] = 0.0
            gain = ((rest.T @ left) ** 2).sum(axis=0) / (2 * np.maximum((left**2).sum(axis=0), 1e-12))
            assert (rest**2).sum() / 2 - gain.max() >= at.value * (1 - 1e-10)


def test_a_path_that_is_stopped_claims_nothing_that_was_not_tested():
    X, y = data(2, n=400, p=8000)
    f = GLM(X, y)
    found = on_working_set(f, f.sparse_set(60), light(should_stop=lambda: True))
    assert found is None or all(at.optimality == "none" for at in found.points)


def test_a_callback_ends_the_path_at_a_size_that_is_tested_all_the_same():
    X, y = data(3)
    f, sizes = GLM(X, y), []
    found = on_working_set(f, f.sparse_set(9), light(reached=lambda size, _: sizes.append(size) or size == 5))
    assert sizes == list(range(6))
    assert found.stopped
    assert [at.optimality for at in found.points[1:]] == ["swap_optimal"] * 5


@pytest.mark.parametrize("unit", [1e-60, 1.0, 1e60])
def test_units_of_the_response_change_nothing(unit):
    X, y = data(4)
    f, g = GLM(X, y), GLM(X, y * unit)
    for a, b in zip(*(on_working_set(h, h.sparse_set(8), light()).points for h in (f, g)), strict=True):
        assert a.optimality == b.optimality
        np.testing.assert_array_equal(a.support, b.support)


def test_columns_that_are_all_alike_are_no_working_set():
    """Every column is contested: the path on all of them is followed."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 1)) + 0.05 * rng.standard_normal((60, 400))
    y = X[:, 3] + 0.05 * rng.standard_normal(60)
    f = GLM(X, y)
    found = on_working_set(f, f.sparse_set(5), light())
    assert [at.optimality for at in found.points[1:]] == ["swap_optimal"] * 5
