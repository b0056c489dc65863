"""Arrays are a source of rows like any other."""

import numpy as np
import pytest

import pursuit
from pursuit.data import Arrays, InParts
from pursuit.losses import as_loss


@pytest.fixture
def arrays(rng):
    X = rng.standard_normal((60, 5))
    return X, X[:, 1] - X[:, 3] + 0.1 * rng.standard_normal(60), rng.uniform(0.5, 2.0, 60), rng.standard_normal(60)


@pytest.mark.parametrize("labels", [False, True])
def test_arrays_answer_as_one_part_does(arrays, labels):
    X, y, w, offset = arrays
    y = np.array(["a", "b"])[(y > 0).astype(int)] if labels else y
    one, part = Arrays(X, y, w, offset), InParts([(X, y, w, offset)])
    assert one.shape == part.shape
    assert one.outputs == part.outputs
    assert np.array_equal(one.targets(), part.targets())
    assert np.array_equal(one.weights(), part.weights())
    cols, coef = np.array([1, 3]), np.array([2.0, -1.0])
    assert np.array_equal(one.predictors(cols, coef, 0.5), part.predictors(cols, coef, 0.5))
    assert np.array_equal(one.weighted(w + 1).weights(), part.weighted(w + 1).weights())
    loss, classes, factors = as_loss("squared"), None, None
    if labels:
        loss, (classes, shares), factors = as_loss("logistic"), one.classes(), np.array([1.0, 3.0])
        assert classes.tolist() == ["a", "b"]
        assert np.array_equal(shares, part.classes()[1])
    rows, others = (source.bound(loss, classes, factors).rows for source in (one, part))
    assert np.array_equal(rows.y, others.y)
    np.testing.assert_allclose(rows.c, others.c, rtol=1e-14)
    assert np.array_equal(rows.offset, others.offset)


def test_an_estimator_takes_it_in_place_of_X_and_y(arrays):
    X, y, w, _ = arrays
    plain = pursuit.SparseRegressor(k=2).fit(X, y, w)
    other = pursuit.SparseRegressor(k=2).fit(Arrays(X, y, w))
    assert np.array_equal(plain.coef_, other.coef_)
    assert other.score(Arrays(X, y, w)) == plain.score(X, y, w)


def test_scorers_see_rows_of_the_users_frame(arrays):
    pandas = pytest.importorskip("pandas")
    X, y, *_ = arrays
    frame = pandas.DataFrame(X, columns=list("abcde"))
    source = Arrays(X, y, frame=frame)
    assert source.splittable() is frame
    assert source.subset(np.array([4, 2])).index.tolist() == [4, 2]
    assert np.array_equal(Arrays(X, y).subset(np.array([4, 2])), X[[4, 2]])
