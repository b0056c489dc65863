"""Measures of recovery against scikit-learn and by hand."""

import numpy as np
import pytest
from sklearn.metrics import f1_score, matthews_corrcoef

import pursuit


def test_measures_of_supports_are_scikit_learns():
    rng = np.random.default_rng(0)
    for _ in range(20):
        a, b = (rng.standard_normal(12) * (rng.random(12) < 0.4) for _ in range(2))
        a[0] = b[1] = 1.0
        assert pursuit.support_f1(a, b) == pytest.approx(f1_score(a != 0, b != 0))
        assert pursuit.support_mcc(a, b) == pytest.approx(matthews_corrcoef(a != 0, b != 0))


@pytest.mark.parametrize(
    ("estimate", "exact", "relaxed"),
    [
        ([1.0, 0.0, -3.0, 0.0], True, True),
        ([1.0, 0.1, -3.0, 0.0], True, True),  # supp(w, k*) = supp(w*)
        ([1.0, 2.0, -3.0, 0.0], False, True),  # supp(w*) within supp(w)
        ([0.0, 2.0, -3.0, 0.0], False, False),
        ([1.0, 0.0, 0.0, 0.0], False, False),
    ],
)
def test_exact_and_relaxed_recovery_are_those_of_the_grahtp_paper(estimate, exact, relaxed):
    truth = [2.0, 0.0, 1.0, 0.0]
    assert pursuit.exact_recovery(truth, estimate) is exact
    assert pursuit.relaxed_recovery(truth, estimate) is relaxed


def test_a_result_is_an_estimate_and_wrong_shapes_are_named():
    X = np.random.default_rng(0).standard_normal((50, 6))
    truth = np.array([0, 2.0, 0, 0, -1.0, 0])
    result = pursuit.solve(pursuit.GLM(X, X @ truth), 2)
    assert pursuit.exact_recovery(truth, result)
    assert pursuit.relative_error(truth, result) < 1e-9
    assert pursuit.relative_error(truth, np.zeros(6)) == 1.0
    with pytest.raises(ValueError, match="as long as truth"):
        pursuit.support_f1(truth, [1.0])
    with pytest.raises(ValueError, match="not zero"):
        pursuit.relative_error(np.zeros(6), truth)
    assert pursuit.support_mcc(truth, np.zeros(6)) == 0.0
    assert pursuit.support_f1(np.zeros(3), np.zeros(3)) == 1.0
