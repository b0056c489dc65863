"""All of scikit-learn's own checks, for the additive models and their transformer; none is expected to fail."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from pursuit import SmoothEffects, SparseAdditiveClassifier, SparseAdditiveRegressor

VARIANTS = [
    SmoothEffects(),
    SparseAdditiveRegressor(k=2),
    SparseAdditiveRegressor(cv=2, ks=[0, 1, 2], l2=0.1),
    SparseAdditiveClassifier(cv=2, ks=[1, 2], l2=0.1, include=[0]),
]


@pytest.mark.filterwarnings("ignore:y holds only 0 and 1")  # as it does in some checks of regressors
@parametrize_with_checks(VARIANTS)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)
