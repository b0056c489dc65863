"""Searches of columns that hardly vary next to their means, such as dates in seconds."""

import numpy as np
import pytest
from scipy.optimize import minimize

from pursuit import GLM, solve


def make_problem(loss, spread):
    """Two columns with an effect, and a third one, 50 or 50 (1 + spread), given without its mean too."""
    rng = np.random.default_rng(0)
    X, far = rng.standard_normal((600, 300)), rng.integers(0, 2, 600)
    eta = 2.5 * (far - 0.5) + X[:, 0] + X[:, 1]
    y = eta + rng.logistic(size=600) > 0 if loss == "logistic" else rng.poisson(np.exp(0.5 * eta))
    X[:, 5] = 50 * (1 + spread * far)
    return X, y.astype(float), np.column_stack([X[:, :2], far, np.ones(600)])


def least(loss, A, y):
    """The least mean loss on some columns, by L-BFGS of SciPy."""

    def mean(u):
        eta = A @ u
        value, slope = (
            (np.logaddexp(0, eta) - y * eta, 1 / (1 + np.exp(-eta)) - y)
            if loss == "logistic"
            else (np.exp(eta) - y * eta, np.exp(eta) - y)
        )
        return value.mean(), A.T @ slope / len(y)

    return minimize(mean, np.zeros(A.shape[1]), jac=True, method="L-BFGS-B", options={"gtol": 1e-9}).fun


@pytest.mark.parametrize("loss", ["logistic", "poisson"])
@pytest.mark.parametrize("spread", [1e-13, 1e-11, 1e-9, 3e-8, 1e-6])
def test_a_column_far_from_zero_is_found(loss, spread):
    X, y, same = make_problem(loss, spread)
    result = solve(GLM(X, y, loss), 3)
    assert result.support.tolist() == [0, 1, 5]
    assert result.value == pytest.approx(least(loss, same, y), abs=1e-6)
