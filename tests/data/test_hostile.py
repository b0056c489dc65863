"""What a hostile tester found: each of these once gave a wrong answer or an exception that names nothing."""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

from pursuit import GLM, InParts, MultiGLM, solve
from pursuit.losses import as_loss

rng = np.random.default_rng(0)
X = rng.standard_normal((40, 4))
Y = X[:, 0] - X[:, 2] + 0.3 * rng.standard_normal(40)
LABELS = np.arange(40) % 4


def cut(X, y, at=9):
    return InParts([(X[:at], y[:at]), (X[at:], y[at:])])


@pytest.mark.parametrize("solver", ["grahtp", "auto", "omp"])
def test_a_start_brings_no_intercept_where_there_is_none(solver):
    with_one, without = GLM(X, Y + 5), GLM(X, Y + 5, fit_intercept=False)
    result = solve(without, 1, solver=solver, start=solve(with_one, 1))
    assert result.intercept == 0
    best = min(without.refit(np.array([j])).value for j in range(4))
    assert result.value >= best * (1 - 1e-9)
    both = np.column_stack([Y + 5, Y - 5])
    multi = MultiGLM(X, both, "squared", fit_intercept=False)
    start = solve(MultiGLM(X, both, "squared"), 1)
    again = solve(multi, 1, solver=solver, start=start)
    assert not np.any(again.intercept)
    assert again.value == pytest.approx(0.5 * np.mean(((X @ again.x - both) ** 2).sum(axis=1)))


@pytest.mark.parametrize("settings", [{}, {"standardize": True}, {"fit_intercept": False}])
@pytest.mark.parametrize("base", [{}, {"standardize": True}])
def test_data_of_an_objective_are_seen_anew(base, settings):
    far = X * 3 + 1e6
    keep = LABELS != 0
    for fold in (
        GLM(far, Y, **base).data.folds(LABELS).train(0),
        GLM(InParts([(far[j == LABELS], Y[j == LABELS]) for j in range(4)]), **base).data.folds().train(0),
    ):
        one, other = solve(GLM(far[keep], Y[keep], **settings), 2), solve(GLM(fold, **settings), 2)
        np.testing.assert_allclose(other.coef, one.coef, rtol=1e-5)
        predicted = far[keep][:, other.support] @ other.coef + other.intercept
        assert 0.5 * np.mean((predicted - Y[keep]) ** 2) == pytest.approx(other.value, rel=1e-4)
        assert other.value == pytest.approx(one.value, rel=1e-7)


@pytest.mark.parametrize("factor", [1e4, 1e6, 1e8, 1e12])
@pytest.mark.parametrize("standardize", [True, False])
def test_outliers_in_the_part_that_is_left_out_cost_nothing(factor, standardize):
    wild = X.copy()
    wild[:8] *= factor
    want = solve(GLM(X[8:], Y[8:], standardize=standardize), 2)
    labels = np.repeat([0, 1, 2], [8, 16, 16])
    for data in (
        cut(wild, Y, 8).bound(as_loss("squared")).folds(),
        GLM(wild, Y).data.folds(labels),
    ):
        got = solve(GLM(data.train(0), standardize=standardize), 2)
        assert np.array_equal(got.support, want.support)
        assert got.value == pytest.approx(want.value, rel=1e-9)


def test_rows_without_weight_do_not_spoil_a_poisson_fit():
    counts = rng.poisson(np.exp(0.5 * X[:, 0])).astype(float)
    wild, weight = X.copy(), np.r_[np.zeros(8), np.ones(32)]
    wild[:8] *= 1e6
    want = solve(GLM(X[8:], counts[8:], "poisson"), 2)
    got = solve(GLM(wild, counts, "poisson", sample_weight=weight), 2)
    assert np.array_equal(got.support, want.support)
    assert got.value == pytest.approx(want.value, rel=1e-9)


def test_what_is_done_to_a_result_does_not_reach_its_point():
    f = GLM(X, Y)
    result = solve(f, 2)
    value = result.value
    result.coef[:] = 100.0
    again = solve(f, 2, start=result, time_limit=0.0)
    assert again.value == pytest.approx(0.5 * np.mean((X @ again.x + again.intercept - Y) ** 2))
    assert again.value == pytest.approx(value)


@pytest.mark.parametrize("loss", ["squared", "logistic", "poisson"])
def test_a_part_without_weight(loss):
    y = {"squared": Y, "logistic": (Y > 0).astype(float), "poisson": np.round(np.exp(Y / 2))}[loss]
    weight = np.r_[np.zeros(9), np.ones(31)]
    parts = InParts([(X[:9], y[:9], weight[:9]), (X[9:], y[9:], weight[9:])])
    got, want = solve(GLM(parts, loss=loss, l2=0.01), 2), solve(GLM(X[9:], y[9:], loss, l2=0.01), 2)
    assert got.value == pytest.approx(want.value, rel=1e-9)


def test_separable_parts_without_an_intercept():
    y = np.where(X[:, 0] + 0.1 > 0, 1.0, -1.0)
    got = solve(GLM(cut(X, y), loss="logistic", fit_intercept=False), 2)
    assert got.status == solve(GLM(X, y, "logistic", fit_intercept=False), 2).status


@pytest.mark.parametrize("twice", [copy.copy, copy.deepcopy, lambda data: pickle.loads(pickle.dumps(data))])
def test_folds_can_be_sent(twice):
    for fold in (cut(X, Y).bound(as_loss("squared")).folds().train(0), GLM(X, Y).data.folds(LABELS).train(1)):
        assert solve(GLM(twice(fold)), 2).value == pytest.approx(solve(GLM(fold), 2).value, rel=1e-12)


def test_folds_keep_no_data_alive():
    gc.disable()
    try:
        mine = X.copy()
        alive = weakref.ref(mine)
        data = GLM(mine, Y).data.folds(LABELS)
        fold = data.train(0)
        solve(GLM(fold), 2)
        del mine, data, fold
        assert alive() is None
    finally:
        gc.enable()


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda: InParts(None), "parts must be a list of tuples"),
        (lambda: InParts([None]), "parts must be a list of tuples"),
        (lambda: InParts([(X, Y)], each=3), "each must be a function"),
        (lambda: cut(X, Y).bound(as_loss("squared")).folds().train("a"), "j must be a whole number"),
    ],
)
def test_wrong_arguments_are_named(spoil, message):
    with pytest.raises(TypeError, match=message):
        spoil()


def test_a_negative_weight_names_its_part():
    with pytest.raises(ValueError, match="part 1: sample_weight must be non-negative, got -2"):
        GLM(InParts([(X[:9], Y[:9]), (X[9:], Y[9:], -2.0)]))


def test_a_start_of_several_outputs_is_named():
    several = solve(MultiGLM(X[:, :2], np.column_stack([Y, Y]), "squared"), 1)
    with pytest.raises(ValueError, match="start is the solution of an objective with another number of outputs"):
        solve(GLM(X, Y), 2, start=several)
