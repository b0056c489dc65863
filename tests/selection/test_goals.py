"""The two goals: a model that predicts, and a subset that explains."""

import re

import numpy as np
import pytest

from pursuit import SparseClassifierCV, SparseRegressorCV, certify
from pursuit.selection.choose import BySize


def terms(u):
    """Monomials of the three coordinates up to degree 3."""
    x, y, z = u.T
    powers = [(i, j, k) for d in (1, 2, 3) for i in range(d, -1, -1) for j in range(d - i, -1, -1) for k in [d - i - j]]
    return np.column_stack([x**i * y**j * z**k for i, j, k in powers]), powers


def lorenz(n=400, dt=0.02):
    """States on the attractor, by Runge and Kutta, and their derivatives."""

    def slope(u):
        return np.array([10 * (u[1] - u[0]), u[0] * (28 - u[2]) - u[1], u[0] * u[1] - 8 / 3 * u[2]])

    states = [np.array([-8.0, 7.0, 27.0])]
    while len(states) < n:
        u = states[-1]
        a = slope(u)
        b = slope(u + dt / 2 * a)
        c = slope(u + dt / 2 * b)
        states.append(u + dt / 6 * (a + 2 * b + 2 * c + slope(u + dt * c)))
    states = np.array(states)
    return states, np.array([slope(u) for u in states])


TRUE = [{(1, 0, 0), (0, 1, 0)}, {(1, 0, 0), (0, 1, 0), (1, 0, 1)}, {(1, 1, 0), (0, 0, 1)}]


@pytest.mark.parametrize("noise", [0.0, 0.01, 0.3])
def test_the_terms_of_lorenz_are_found(noise):
    states, slopes = lorenz()
    X, powers = terms(states)
    slopes = slopes + noise * np.random.default_rng(0).standard_normal(slopes.shape)
    for j in range(3):
        model = SparseRegressorCV(goal="explain").fit(X, slopes[:, j])
        assert {powers[i] for i in model.support_} == TRUE[j]


def data(seed=0, n=80, p=12):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    return X, 2 * X[:, 0] - X[:, 3] + rng.standard_normal(n)


@pytest.mark.parametrize("classes", [False, True])
def test_what_explains_is_one_refitted_subset(classes):
    X, y = data()
    kind = SparseClassifierCV if classes else SparseRegressorCV
    model = kind(goal="explain").fit(X, y > 0 if classes else y)
    assert (model.rule_, model.combine_, model.gamma_) == ("1se", "none", 0)
    np.testing.assert_allclose(model.coef_, model.refit_coef_, rtol=1e-8)
    np.testing.assert_allclose(np.ravel(model.coef_)[model.support_], model.result_.coef, rtol=1e-6)
    assert np.array_equal(model.result_.support, model.support_)
    assert model.result_.value == pytest.approx(model.objective_.refit(model.support_).value)
    assert "whose coefficients are not the ones above" not in str(model.summary())
    assert certify(model.objective_, model.result_).upper == pytest.approx(model.result_.value)


def test_what_is_explained_by_least_squares_is_least_squares():
    X, y = data(1)
    model = SparseRegressorCV(goal="explain").fit(X, y)
    A = np.column_stack([np.ones(len(y)), X[:, model.support_]])
    np.testing.assert_allclose(model.coef_[model.support_], np.linalg.lstsq(A, y, rcond=None)[0][1:], rtol=1e-8)


def test_goals_set_rule_and_combine_unless_they_are_given():
    X, y = data(0)
    for goal, rule, combine in (("predict", "0.5se", "project"), ("explain", "1se", "none")):
        given = SparseRegressorCV(goal=goal, cv=4).fit(X, y)
        assert (given.rule_, given.combine_) == (rule, combine)
        assert SparseRegressorCV(goal=goal, cv=4, rule="min").fit(X, y).rule_ == "min"
        assert SparseRegressorCV(goal=goal, cv=4, combine="average").fit(X, y).combine_ in ("average", "none")
    with pytest.raises(ValueError, match="goal 'explian' is unknown; did you mean 'explain'"):
        SparseRegressorCV(goal="explian").fit(X, y)
    assert SparseRegressorCV(goal="explain", rule="bic").fit(X, y).rule_ == "bic"


def test_the_reason_names_the_sizes_that_come_near():
    X, y = data(3, p=30)
    model = SparseRegressorCV(cv=5).fit(X, y)
    losses = dict(zip(model.sizes_["k"], model.sizes_["smoothed"], strict=True))
    least = min(losses, key=losses.get)
    if least == model.k_:
        assert f"k={model.k_} has the least held-out loss" in model.reason_
    else:
        lower = 100 * (1 - losses[least] / losses[model.k_])
        assert f"that of k={least}, {lower:.2g}% lower" in model.reason_
    assert (f"k={model.k_1se_} is within one standard error" in model.reason_) == (model.k_1se_ < model.k_)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({}, r"k=2 has the least held-out loss; no smaller size is within one standard error"),
        ({"rule": "bic"}, r"k=2 has the least BIC; k=3 comes next, [0-9.]+ above"),
        ({"ks": [2, 3]}, r"k=2 has the least held-out loss"),
        ({"ks": [1], "rule": "bic"}, r"k=1 has the least BIC.*"),
        (
            {"goal": "explain"},
            r"k=2 is the smallest within one standard error of the least held-out loss, that of k=4, [0-9.]+% lower",
        ),
    ],
)
def test_the_reason_names_the_alternative(how, words):
    X, y = data(0, n=200)
    model = SparseRegressorCV(cv=5, **how).fit(X, y)
    assert re.fullmatch(words + "(; the best single candidate predicts instead .*)?", model.reason_)


def test_no_feature_is_not_called_best_where_it_is_not():
    rng = np.random.default_rng(1)
    for seed in range(20):
        X = np.random.default_rng(seed).standard_normal((30, 3))
        model = SparseRegressorCV(goal="explain", cv=5).fit(X, 0.4 * X[:, 0] + rng.standard_normal(30))
        if model.k_ == 0 and "within one standard error" in model.reason_:
            assert model.reason_.endswith("% lower; no feature is used")
            return
    pytest.fail("no data set was of this kind")


def test_a_projection_whose_average_has_fewer_columns():
    """Candidates have five features at most, so that the average may have fewer than the ten of the projection."""
    X, _ = data(5, n=60, p=10)
    y = X @ np.r_[np.ones(6), np.zeros(4)] + 0.01 * X[:, 7]
    model = SparseRegressorCV(cv=3).fit(np.column_stack([X, X[:, :3]]), y)
    assert model.held_out_ is not None
    assert "0% lower" not in model.reason_
    assert model.k_1se_ <= model.k_


def test_losses_that_differ_by_rounding_are_equal():
    each = np.array([[1.0, 1.2], [2e-25, 1e-25], [1e-26, 3e-26]])
    sizes = BySize((0, 2, 5), {}, each.mean(axis=1), each)
    assert sizes.best == sizes.within(0.0) == 1


def test_a_projection_may_be_larger_than_every_candidate():
    """Equal effects of 80 columns: the average of candidates with up to 50 has them all."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 80))
    model = SparseRegressorCV(cv=3).fit(X, X.sum(axis=1) + 0.1 * rng.standard_normal(200))
    assert model.k_ > 50
    assert len(model.result_.support) == model.k_
    assert model.path_.sizes[-1] >= model.k_
