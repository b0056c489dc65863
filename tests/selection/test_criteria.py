"""Criteria against their formulas, and where there are none."""

import numpy as np
import pytest
from scipy.special import comb
from scipy.stats import norm, poisson
from sklearn.linear_model import LinearRegression

from problems import problem
from pursuit import SparseClassifierCV, SparseRegressorCV

PENALTY = {
    "aic": lambda n, p, k: 2 * (k + 1),
    "bic": lambda n, p, k: np.log(n) * (k + 1),
    "ebic": lambda n, p, k: np.log(n) * (k + 1) + 2 * np.log(comb(p, k)),
    "gic": lambda n, p, k: np.log(p) * np.log(np.log(n)) * (k + 1),
    "hq": lambda n, p, k: 2 * np.log(np.log(n)) * (k + 1),
}


@pytest.mark.parametrize("rule", PENALTY)
def test_gaussian_criteria_from_the_density(rule):
    given = problem("squared", n=70, p=8)
    model = SparseRegressorCV(range(6), rule=rule).fit(given.X, given.y)
    wanted = []
    for result in list(model.path_)[:6]:
        r = given.y - given.X[:, result.support] @ result.coef - result.intercept
        loglik = norm.logpdf(r, scale=np.sqrt(np.mean(r**2))).sum()
        wanted.append(-2 * loglik + PENALTY[rule](70, 8, len(result.support)))
    found = model.cv_results_[rule]
    np.testing.assert_allclose(found - found[0], np.array(wanted) - wanted[0], rtol=1e-9, atol=1e-8)
    assert model.k_ == int(np.argmin(wanted))
    np.testing.assert_allclose(model.coef_, model.result_.x, rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(model.coef_, model.refit_coef_, rtol=1e-8, atol=1e-12)
    assert model.l2_ == 0
    assert rule.upper() in model.reason_


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("n", [70, 10])
def test_cp_from_the_full_model(intercept, n):
    given = problem("squared", n=n, p=8)
    model = SparseRegressorCV(range(9), rule="cp", fit_intercept=intercept).fit(given.X, given.y)
    full = LinearRegression(fit_intercept=intercept).fit(given.X, given.y)
    noise = np.sum((given.y - full.predict(given.X)) ** 2) / (n - 8 - intercept)
    for result, found in zip(model.path_, model.cv_results_["cp"], strict=True):
        r = given.y - given.X[:, result.support] @ result.coef - result.intercept
        assert found == pytest.approx(r @ r / noise - n + 2 * (len(result.support) + intercept), rel=1e-8, abs=1e-7)
    assert model.cv_results_["cp"][-1] == pytest.approx(8 + intercept)


def test_cp_needs_a_row_more_than_coefficients():
    given = problem("squared", n=9, p=8)
    assert SparseRegressorCV(range(3), rule="cp", fit_intercept=False).fit(given.X, given.y).k_ >= 0
    with pytest.raises(ValueError, match="there are 8 columns and an intercept for 9 rows"):
        SparseRegressorCV(range(3), rule="cp").fit(given.X, given.y)
    with pytest.raises(ValueError, match="there are 8 columns for 8 rows"):
        SparseRegressorCV(range(3), rule="cp", fit_intercept=False).fit(given.X[:8], given.y[:8])


def test_gic_needs_two_columns():
    given = problem("squared", n=30, p=2)
    with pytest.raises(ValueError, match="penalty log p log log n, which is 0 for the one column of X; use rule='bic'"):
        SparseRegressorCV(rule="gic").fit(given.X[:, :1], given.y)
    SparseRegressorCV(rule="gic").fit(given.X, given.y)


def test_the_likelihood_of_counts_and_of_classes():
    given = problem("poisson", n=70, p=6)
    model = SparseRegressorCV(range(4), loss="poisson", rule="bic").fit(given.X, given.y)
    wanted = []
    for result in list(model.path_)[:4]:
        mean = np.exp(given.X[:, result.support] @ result.coef + result.intercept)
        wanted.append(-2 * poisson.logpmf(given.y, mean).sum() + np.log(70) * (len(result.support) + 1))
    found = model.cv_results_["bic"]
    np.testing.assert_allclose(found - found[0], np.array(wanted) - wanted[0], rtol=1e-9)
    three = np.digitize(given.y, [1, 2])
    model = SparseClassifierCV(range(3), rule="aic").fit(given.X, three)
    assert model.cv_results_["df"].tolist() == [2, 4, 6]  # two free coefficients per feature


def test_weights_that_are_whole_numbers_are_repeated_rows():
    given = problem("squared", n=50, p=6, weights=True)
    one = SparseRegressorCV(range(5), rule="ebic").fit(given.X, given.y, given.weight)
    times = given.weight.astype(int)
    two = SparseRegressorCV(range(5), rule="ebic").fit(given.X.repeat(times, axis=0), given.y.repeat(times))
    np.testing.assert_allclose(one.cv_results_["ebic"], two.cv_results_["ebic"], rtol=1e-9)
    half = SparseRegressorCV(range(5), rule="bic").fit(given.X, given.y, 0.5 * given.weight + 0.1)
    scaled = SparseRegressorCV(range(5), rule="bic").fit(given.X, given.y, 7.3 * (0.5 * given.weight + 0.1))
    np.testing.assert_allclose(half.cv_results_["bic"], scaled.cv_results_["bic"], rtol=1e-9)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (SparseRegressorCV(loss="huber", rule="bic"), "needs a likelihood, and loss 'huber' has none; use rule='min'"),
        (SparseClassifierCV(loss="hinge", rule="aic"), "loss 'hinge' has none"),
        (SparseClassifierCV(rule="cp"), "is for loss='squared'"),
        (SparseRegressorCV(rule="cp"), "needs more rows than columns"),
        (SparseRegressorCV(rule="bci"), "rule 'bci' is unknown; did you mean 'bic'"),
    ],
)
def test_what_has_no_criterion_says_so(model, words):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 25)), np.arange(20) % 2
    with pytest.raises(ValueError, match=words):
        model.fit(X, y)
