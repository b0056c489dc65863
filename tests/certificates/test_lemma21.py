"""A solution that one exchange improves is refuted without a ridge, and an optimal one never."""

import numpy as np
import pytest

import pursuit


@pytest.fixture
def problem():
    X = np.linalg.qr(np.random.default_rng(0).standard_normal((60, 8)))[0] * 8
    return X, 3 * X[:, 0] + 2 * X[:, 1] + 0.2 * X[:, 5]


def test_a_poor_support_is_refuted_and_named(problem):
    X, y = problem
    f = pursuit.GLM(X, y, fit_intercept=False)
    poor = np.zeros(8)
    poor[[0, 5]] = 3.0, 0.2
    found = pursuit.certify(f, poor, k=2, time_limit=0)
    assert "column 1 in place of column 5" in found.refutation
    assert found.refutation in found.reason
    assert pursuit.certify(f, pursuit.solve(f, 2), time_limit=0).refutation == ""


def test_nothing_is_claimed_with_a_ridge_or_a_forced_column(problem):
    X, y = problem
    poor = np.zeros(8)
    poor[[0, 5]] = 3.0, 0.2
    ridged = pursuit.GLM(X, y, l2=0.1, fit_intercept=False)
    assert pursuit.certify(ridged, poor, k=2, time_limit=0).refutation == ""
    f = pursuit.GLM(X, y, fit_intercept=False)
    assert pursuit.certify(f, poor, k=2, include=[5], time_limit=0).refutation == ""  # 0 is worth more than any outside


def test_logistic_refutations_are_true():
    rng = np.random.default_rng(1)
    decided = 0
    for _ in range(12):
        X = rng.standard_normal((80, 6))
        y = (X[:, 0] + X[:, 1] + rng.standard_normal(80) > 0).astype(int)
        f = pursuit.GLM(X, y, "logistic")
        S = np.sort(rng.choice(6, 2, replace=False))
        x = np.zeros(6)
        x[S] = f.refit(S).coef
        found = pursuit.certify(f, x, k=2, time_limit=0)
        if found.refutation:
            decided += 1
            assert pursuit.solve(f, 2).value < f.refit(S).value
    assert decided > 0
