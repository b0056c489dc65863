"""All of scikit-learn's own checks, for the estimators and a few of their variants; none is expected to fail."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from pursuit import Huber, SparseClassifier, SparseLDA, SparsePrecision, SparsePrecisionCV, SparseRegressor

VARIANTS = [
    SparseRegressor(),
    SparseRegressor(k=2, shared=False),
    SparseRegressor(solver="omp"),
    SparseRegressor(k=2, loss=Huber(delta=2.0), solver="grahtp", l2=1e-3),
    SparseRegressor(k=3, loss="huber", solver="grahtp"),
    SparseRegressor(standardize=False, fit_intercept=False, solver="grahtp"),
    SparseClassifier(),
    SparseClassifier(k=2, l2=0.01, solver="omp"),
    SparseClassifier(loss="smoothed_hinge", l2=0.01, solver="grahtp"),
    SparseClassifier(loss="hinge", l2=0.1, solver="grahtp"),
    SparseClassifier(class_weight="balanced", l2=0.1, solver="grahtp"),
    SparsePrecision(n_edges=3),
    SparsePrecision(n_edges=3, shrinkage=0.1, l1=0.05, assume_centered=True),
    SparsePrecisionCV(),
    SparsePrecisionCV(n_edges=[0, 2, 4], shrinkage=0.1, l1=0, cv=3, rule="1se"),
    SparsePrecisionCV(rule="ebic", assume_centered=True),
    SparseLDA(),
    SparseLDA(n_edges=2, shrinkage="cv", cv=3),
]


@pytest.mark.filterwarnings("ignore:y holds only 0 and 1")  # as it does in some checks of regressors
@parametrize_with_checks(VARIANTS)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)
