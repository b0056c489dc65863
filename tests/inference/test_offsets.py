"""Offsets in tables of subsets, intervals and scores: for squares an offset is the same as a shifted response."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, PoissonRegressor
from sklearn.metrics import r2_score

from pursuit import (
    GLM,
    InParts,
    SparseClassifier,
    SparseRegressor,
    best_subsets,
    bootstrap_intervals,
    split_intervals,
)

RNG = np.random.default_rng(3)
X = RNG.standard_normal((80, 5))
OFFSET = RNG.standard_normal(80)
Y = X[:, 1] - 2 * X[:, 3] + 0.3 * RNG.standard_normal(80)
COUNTS = RNG.poisson(np.exp(0.5 * X[:, 1] - 0.8 * X[:, 3] + OFFSET)).astype(float)


def poisson_value(columns):
    """The least mean Poisson loss on some columns, by scikit-learn: rates, weighted by their exposure."""
    A, exposure = X[:, list(columns)], np.exp(OFFSET)
    model = PoissonRegressor(alpha=0, tol=1e-10, max_iter=10_000).fit(A, COUNTS / exposure, exposure)
    eta = A @ model.coef_ + model.intercept_ + OFFSET
    return float(np.mean(np.exp(eta) - COUNTS * eta))


def test_best_subsets_of_counts_are_those_of_all_fits():
    table = best_subsets(X, COUNTS, 2, nbest=2, loss="poisson", offset=OFFSET)
    for k in (1, 2):
        ranked = sorted(combinations(range(5), k), key=poisson_value)[:2]
        assert [row.support for row in table if row.k == k] == ranked


def test_best_subsets_of_squares():
    shifted, plain = best_subsets(X, Y + OFFSET, 3, offset=OFFSET), best_subsets(X, Y, 3)
    assert [row.support for row in shifted] == [row.support for row in plain]
    np.testing.assert_allclose([row.rss for row in shifted], [row.rss for row in plain])
    with pytest.raises(TypeError, match="sample_weight and offset out"):
        best_subsets(GLM(X, Y), kmax=2, offset=OFFSET)
    with pytest.raises(TypeError, match="sample_weight and offset out"):
        best_subsets(GLM(X, Y), kmax=2, sample_weight=np.ones(80))


@pytest.mark.parametrize("intervals", [split_intervals, bootstrap_intervals])
def test_intervals_of_squares(intervals):
    more = {"n_boot": 5} if intervals is bootstrap_intervals else {"sample_weight": np.arange(80.0)}
    shifted = intervals(SparseRegressor(k=2), X, Y + OFFSET, offset=OFFSET, random_state=0, **more)
    plain = intervals(SparseRegressor(k=2), X, Y, random_state=0, **more)
    assert shifted.names == plain.names
    for name in ("estimate", "low", "high"):
        np.testing.assert_allclose(getattr(shifted, name), getattr(plain, name), atol=1e-9)


def test_intervals_of_counts_use_the_exposure():
    model = SparseRegressor(k=2, loss="poisson")
    found = split_intervals(model, X, COUNTS, offset=OFFSET, random_state=0)
    higher = split_intervals(model, X, COUNTS, offset=OFFSET + 2.0, random_state=0)
    np.testing.assert_allclose(higher.estimate, found.estimate - [0, 0, 2], atol=1e-6)  # the intercept takes it
    np.testing.assert_allclose(higher.high - higher.low, found.high - found.low, atol=1e-6)
    assert (found.low[:2] < [0.5, -0.8]).all()
    assert (found.high[:2] > [0.5, -0.8]).all()


def test_offsets_that_cannot_be_used():
    with pytest.raises(TypeError, match="whose fit takes it"):
        bootstrap_intervals(LinearRegression(), X, Y, offset=OFFSET)
    with pytest.raises(ValueError, match="offset"):
        split_intervals(SparseRegressor(k=1), X, Y, offset=OFFSET[:-1])


def test_score():
    model = SparseRegressor(k=2, loss="poisson").fit(X, COUNTS, offset=OFFSET)
    assert model.score(X, COUNTS, offset=OFFSET) == r2_score(COUNTS, model.predict(X, OFFSET))
    labels = np.where(Y > 0, "yes", "no")
    classes = SparseClassifier(k=2).fit(X, labels, offset=OFFSET)
    expected = np.mean(classes.predict(X, OFFSET) == labels)
    assert classes.score(X, labels, offset=OFFSET) == expected != classes.score(X, labels, offset=9.0 * OFFSET)
    with pytest.raises(TypeError, match="bring their own"):
        model.score(InParts([(X, COUNTS, None, OFFSET)]), offset=OFFSET)
