"""Intervals after selection: what they claim holds in simulations, and their numbers are the textbooks'."""

from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import Lasso
from sklearn.utils import Bunch

from pursuit import SparseClassifier, SparseRegressor, SparseRegressorCV, bootstrap_intervals, split_intervals
from pursuit.inference.split import _estimates
from pursuit.losses import as_loss


@pytest.fixture(scope="module")
def diabetes():
    return load_diabetes(return_X_y=True, as_frame=True)


def coverage(found, truth):
    """The share of first coefficients inside their interval, and how far chance can take it."""
    inside = [result.low[0] <= truth[result.columns[0]] <= result.high[0] for result in found]
    return np.mean(inside), np.sqrt(0.9 * 0.1 / len(inside))


def simulated(loss, runs, n, p, beta):
    for run in range(runs):
        rng = np.random.default_rng(run)
        X = rng.standard_normal((n, p))
        eta = X @ beta
        if loss == "squared":
            yield X, eta + rng.standard_normal(n)
        elif loss == "poisson":
            yield X, rng.poisson(np.exp(eta))
        else:
            yield X, (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(int)


@pytest.mark.parametrize("loss", ["squared", "logistic", "poisson"])
def test_split_intervals_cover(loss):
    beta = np.zeros(12)
    if loss == "squared":  # for other losses the slope on one column alone is another one, unless it is 0
        beta[:3] = 0.3, 0.2, 0.1
    make = SparseClassifier(k=1, solver="omp") if loss == "logistic" else SparseRegressor(k=1, loss=loss, solver="omp")
    found = [split_intervals(make, X, y, level=0.9, random_state=1) for X, y in simulated(loss, 400, 120, 12, beta)]
    share, error = coverage(found, beta)
    assert abs(share - 0.9) < 3.5 * error


def test_intervals_on_the_rows_that_selected_do_not_cover():
    """The reason for all this."""
    found = []
    for X, y in simulated("squared", 200, 60, 12, np.zeros(12)):
        cols = SparseRegressor(k=1, solver="omp").fit(X, y).support_
        beta, error, left = _estimates(X[:, cols], y, as_loss("squared"), True, None, False)
        half = stats.t.ppf(0.95, left) * error
        found.append(Bunch(columns=cols, low=beta - half, high=beta + half))
    share, error = coverage(found, np.zeros(12))
    assert share < 0.9 - 5 * error


def test_robust_intervals_cover_where_variances_differ():
    found, classical = [], []
    for run in range(300):
        rng = np.random.default_rng(run)
        X = rng.standard_normal((240, 4))
        y = X[:, 0] * (1 + rng.standard_normal(240) * 2)
        found.append(split_intervals(SparseRegressor(k=1, include=[0]), X, y, level=0.9, robust=True, random_state=0))
        classical.append(split_intervals(SparseRegressor(k=1, include=[0]), X, y, level=0.9, random_state=0))
    share, error = coverage(found, np.ones(4))
    assert abs(share - 0.9) < 4 * error
    assert coverage(classical, np.ones(4))[0] < share


def test_least_squares_by_hand():
    rng = np.random.default_rng(0)
    A, y = rng.standard_normal((50, 3)), rng.standard_normal(50)
    D = np.column_stack([A, np.ones(50)])
    beta, error, left = _estimates(A, y, as_loss("squared"), True, None, False)
    inverse = np.linalg.inv(D.T @ D)
    r = y - D @ inverse @ D.T @ y
    np.testing.assert_allclose(beta, inverse @ D.T @ y, rtol=1e-9)
    np.testing.assert_allclose(error, np.sqrt(r @ r / 46 * inverse.diagonal()), rtol=1e-9)
    assert left == 46
    _, sandwich, _ = _estimates(A, y, as_loss("squared"), True, None, True)
    meat = (D * r[:, None]).T @ (D * r[:, None])
    np.testing.assert_allclose(sandwich, np.sqrt((inverse @ meat @ inverse).diagonal() * 50 / 46), rtol=1e-9)
    weights = rng.random(50) + 0.1  # the scale of weights does not matter
    one, other = (_estimates(A, y, as_loss("squared"), True, s * weights, False)[1] for s in (1, 7))
    np.testing.assert_allclose(one, other)


def test_logistic_regression_by_hand():
    rng = np.random.default_rng(1)
    A = rng.standard_normal((200, 2)) * [1, 1e6]
    y = (rng.random(200) < 0.4).astype(float)
    beta, error, _ = _estimates(A, y, as_loss("logistic"), True, None, False)
    D = np.column_stack([A, np.ones(200)])
    mu = 1 / (1 + np.exp(-D @ beta))
    np.testing.assert_allclose((y - mu) @ D / np.abs(D).sum(axis=0), 0, atol=1e-8)
    H = D.T @ ((mu * (1 - mu))[:, None] * D)
    np.testing.assert_allclose(error, np.sqrt(np.linalg.inv(H).diagonal()), rtol=1e-6)


def by_hand(A, y, c, loss):
    """Maximum likelihood by Newton's method, and standard errors from the information c'V of the weighted rows."""
    D, beta = np.column_stack([A, np.ones(len(A))]), np.zeros(A.shape[1] + 1)
    for _ in range(50):
        eta = D @ beta
        mean = np.exp(eta) if loss == "poisson" else 1 / (1 + np.exp(-eta))
        information = (D.T * (c * (mean if loss == "poisson" else mean * (1 - mean)))) @ D
        beta = beta + np.linalg.solve(information, D.T @ (c * (y - mean)))
    return beta, np.sqrt(np.linalg.inv(information).diagonal())


@pytest.mark.parametrize("loss", ["logistic", "poisson"])
def test_rows_without_weight_have_no_part_in_standard_errors(loss):
    rng = np.random.default_rng(2)
    A, y = rng.standard_normal((160, 2)), rng.integers(0, 2, 160).astype(float)
    weights = np.where(rng.random(160) < 0.4, 0.0, 3.0)
    A[weights == 0] *= 1e9  # which must not set the scale of columns either
    used = weights > 0
    beta, error = by_hand(A[used], y[used], np.ones(used.sum()), loss)
    for s in (1.0, 1e-200, 1e200):
        found = _estimates(A, y, as_loss(loss), True, s * weights, False)
        np.testing.assert_allclose(found[0], beta, rtol=1e-6)
        np.testing.assert_allclose(found[1], error, rtol=1e-6)
    uneven = weights * rng.uniform(0.5, 2, 160)
    beta, error = by_hand(A[used], y[used], uneven[used] / uneven[used].mean(), loss)
    np.testing.assert_allclose(_estimates(A, y, as_loss(loss), True, uneven, False)[1], error, rtol=1e-6)


def test_intervals_cover_where_rows_have_no_weight():
    found, weights = [], np.tile([1.0, 0.0], 100)
    for X, y in simulated("logistic", 80, 200, 4, np.zeros(4)):
        model = SparseClassifier(k=1, solver="omp")
        found.append(split_intervals(model, X, y, level=0.9, robust=False, random_state=1, sample_weight=weights))
    share, error = coverage(found, np.zeros(4))
    assert abs(share - 0.9) < 3 * error
    selected, estimated = (int(word) for word in str(found[0]).split() if word.isdigit() and 20 < int(word) < 90)
    assert selected + estimated == 100  # rows with a weight


class Recorder(SparseRegressor):
    """Keeps the weights of every fit."""

    seen: ClassVar = []

    def fit(self, X, y=None, sample_weight=None, **more):
        self.seen.append(sample_weight)
        return super().fit(X, y, sample_weight, **more)


@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_weights_reach_the_fit_as_they_are(scale, diabetes):
    X, y = diabetes
    weights = scale * np.random.default_rng(0).integers(0, 4, len(y))
    Recorder.seen.clear()
    split_intervals(Recorder(2, solver="omp"), X, y, sample_weight=weights, random_state=0)
    bootstrap_intervals(Recorder(2, solver="omp"), X, y, sample_weight=weights, n_boot=3, random_state=0)
    first = np.sort(np.random.RandomState(0).permutation(len(y))[: len(y) // 2])
    assert np.array_equal(Recorder.seen[0], weights[first])
    assert np.array_equal(Recorder.seen[1], weights)
    for resampled in Recorder.seen[2:]:
        times = resampled[weights > 0] / weights[weights > 0]
        assert np.array_equal(times, np.round(times))


def test_an_estimator_that_chooses_k_chooses_the_same():
    """Whole-number weights are repeated rows, so that criteria have their sum for n."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((60, 8))
    y = X[:, :4] @ [1.0, 0.7, 0.5, 0.3] + rng.standard_normal(60)
    weights = rng.integers(5, 9, 60).astype(float)
    model = SparseRegressorCV(range(8), rule="bic").fit(X, y, weights)
    assert model.k_ != SparseRegressorCV(range(8), rule="bic").fit(X, y, weights / weights.mean()).k_
    result = bootstrap_intervals(SparseRegressorCV(range(8), rule="bic"), X, y, n_boot=2, sample_weight=weights)
    assert np.count_nonzero(result.estimate) == model.k_


@pytest.mark.parametrize("intervals", [split_intervals, bootstrap_intervals])
def test_weights_may_have_any_scale(intervals, diabetes):
    X, y = diabetes
    weights = np.random.default_rng(0).uniform(0.5, 1, len(y))
    more = {"n_boot": 3} if intervals is bootstrap_intervals else {}
    one, *others = (
        intervals(SparseRegressor(2), X, y, sample_weight=s * weights, random_state=0, **more)
        for s in (1.0, 1e308, 1e-308)
    )
    for other in others:
        np.testing.assert_allclose(other.low, one.low, rtol=1e-6, atol=1e-9)


def test_p_values_and_intervals_agree(diabetes):
    result = split_intervals(SparseRegressor(k=5), *diabetes, random_state=3)
    assert ((result.p_value < 0.05) == ((result.low > 0) | (result.high < 0))).all()
    assert result.names[-1] == "(intercept)"
    assert result.columns[-1] == -1
    assert "did not select" in str(result)
    assert "Selected on 221 rows, estimated on the 221 others" in str(result)
    assert list(result.to_frame()["feature"]) == list(result.names)


def test_the_split_is_reproducible_and_any_data_give_the_same(diabetes):
    X, y = diabetes
    result = split_intervals(SparseRegressor(k=3), X, y, random_state=0)
    for other in (X.to_numpy(), sp.csr_matrix(X.to_numpy())):
        np.testing.assert_allclose(
            split_intervals(SparseRegressor(k=3), other, y, random_state=0).low, result.low, rtol=1e-6
        )
    assert (split_intervals(SparseRegressor(k=3), X, y, random_state=1).low != result.low).any()
    weighted = split_intervals(SparseRegressor(k=3), X, y, random_state=0, sample_weight=np.ones(len(y)))
    np.testing.assert_allclose(weighted.estimate, result.estimate)
    assert "sandwich" in str(weighted)


def test_labels_and_huber(diabetes):
    X, y = load_breast_cancer(return_X_y=True)
    result = split_intervals(SparseClassifier(k=2), X, np.where(y, "good", "bad"), random_state=0)
    assert "speak for class good" in str(result)
    assert np.isfinite(result.low).all()
    result = split_intervals(SparseRegressor(k=2, loss="huber"), *diabetes)
    assert "sandwich" in str(result)


# Resampled rows.


def test_a_bootstrap_is_what_a_loop_gives(diabetes):
    X, y = diabetes
    result = bootstrap_intervals(SparseRegressor(k=3), X, y, n_boot=20, level=0.8, random_state=0)
    seeds = np.random.SeedSequence(np.random.RandomState(0).randint(2**31 - 1)).spawn(20)
    values = []
    for seed in seeds:
        times = np.random.default_rng(seed).multinomial(len(y), np.full(len(y), 1 / len(y)))
        values.append(SparseRegressor(k=3).fit(X.loc[X.index.repeat(times)], y.repeat(times)).coef_)
    values = np.array(values)[:, result.columns]
    np.testing.assert_allclose(result.low, np.quantile(values, 0.1, axis=0), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(result.high, np.quantile(values, 0.9, axis=0), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(result.frequency, (values != 0).mean(axis=0))


def test_threads_change_nothing(diabetes):
    one, two = (
        bootstrap_intervals(SparseRegressor(k=2), *diabetes, n_boot=10, random_state=5, n_jobs=j) for j in (1, 2)
    )
    np.testing.assert_allclose(one.low, two.low, rtol=1e-9)
    assert one.names == two.names


def test_what_a_bootstrap_says(diabetes):
    X, y = diabetes
    model = SparseRegressor(k=3).fit(X, y)
    result = bootstrap_intervals(SparseRegressor(k=3), X, y, n_boot=30, random_state=0)
    assert sorted(result.names[:3]) == sorted(model.get_feature_names_out())
    np.testing.assert_allclose(result.estimate[3:], 0)
    assert "not confidence intervals" in str(result)
    assert result.p_value is None
    assert "p_value" not in result.to_frame()
    assert not hasattr(SparseRegressor(k=3), "coef_")


def test_a_rare_class_is_in_every_resample():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 3)), np.arange(40) == 7
    result = bootstrap_intervals(SparseClassifier(k=1), X, y, n_boot=10, random_state=0)
    assert np.isfinite(result.high).all()


def test_weights_of_rows(diabetes):
    X, y = diabetes
    weights = np.random.default_rng(0).random(len(y)) + 0.1
    result = bootstrap_intervals(SparseRegressor(k=3), X, y, n_boot=5, random_state=0, sample_weight=weights)
    model = SparseRegressor(k=3).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(result.estimate[:3], model.coef_[result.columns[:3]])


# Bad input.


@pytest.mark.parametrize("intervals", [split_intervals, bootstrap_intervals])
def test_one_response_two_classes(intervals, diabetes):
    X, y = diabetes
    with pytest.raises(ValueError, match=r"y must hold one response per row, shape \(n,\), got shape \(442, 2\)"):
        intervals(SparseRegressor(k=2), X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="y must hold two classes, got 3"):
        intervals(SparseClassifier(k=2), *load_iris(return_X_y=True))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        intervals(SparseRegressor(k=2), X[:10], y)
    with pytest.raises(ValueError, match="level must be between 0 and 1, got 95"):
        intervals(SparseRegressor(k=2), X, y, level=95)


def test_splits_that_cannot_be(diabetes):
    X, y = diabetes
    with pytest.raises(ValueError, match=r"share=0\.99 leaves 4 rows for 8 coefficients"):
        split_intervals(SparseRegressor(k=8), X, y, share=0.99)
    with pytest.raises(ValueError, match=r"share=0\.001 leaves no rows"):
        split_intervals(SparseRegressor(k=2), X, y, share=0.001)
    with pytest.raises(TypeError, match=r"estimator must select columns \(have get_support\), got Lasso"):
        split_intervals(Lasso(), X, y)
    with pytest.raises(ValueError, match="loss 'hinge' is not differentiable"):
        split_intervals(SparseClassifier(k=2, loss="hinge"), X, y > 100)
    with pytest.raises(ValueError, match="robust=False needs a likelihood"):
        split_intervals(SparseRegressor(k=2, loss="huber"), X, y, robust=False)


def test_nothing_selected():
    y = np.random.default_rng(0).standard_normal(40)
    result = split_intervals(SparseRegressor(k=1), np.zeros((40, 2)), y, random_state=0)
    assert result.names == ("(intercept)",)
    rows = np.setdiff1d(np.arange(40), np.sort(np.random.RandomState(0).permutation(40)[:20]))
    assert result.standard_error[0] == pytest.approx(stats.sem(y[rows]))
    for seed in (0, 254):  # on the second the value of a zero column is 3 ulp below the null model's
        with pytest.raises(ValueError, match="selected nothing and has no intercept"):
            split_intervals(SparseRegressor(k=1, fit_intercept=False), np.zeros((40, 2)), y, random_state=seed)
    X, weight = np.random.default_rng(1).standard_normal((40, 2)), np.ones(40)
    weight[rows] = 0
    with pytest.raises(ValueError, match=r"share=0\.5 leaves 0 rows for 1 coefficients"):
        split_intervals(SparseRegressor(k=1), X, y, random_state=0, sample_weight=weight)


def test_separated_classes_have_no_intervals():
    X = np.random.default_rng(0).standard_normal((60, 3))
    with pytest.raises(ValueError, match="on the rows left to estimate there is no best fit"):
        split_intervals(SparseClassifier(k=1), X, X[:, 0] > 0, random_state=0)


def test_columns_that_cannot_be_told_apart():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    X[:, 1] = X[:, 0]
    with pytest.raises(ValueError, match="do not tell the selected columns apart"):
        split_intervals(SparseRegressor(k=2, include=[0, 1]), X, X[:, 0] + rng.standard_normal(40))
