"""Additive models of rows on real Dask workers, one of which is killed."""

import numpy as np
import pytest

import pursuit
from pursuit import SmoothEffects, SparseAdditiveClassifier, SparseAdditiveRegressor
from pursuit.effects import sampled

dask, da = pytest.importorskip("dask"), pytest.importorskip("dask.array")
pytestmark = [
    pytest.mark.xdist_group("dask"),
    pytest.mark.filterwarnings("ignore:Sending large graph"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
N = 300
CHOSEN = {"ks": [0, 1, 2, 3], "cv": 3, "random_state": 0}


@pytest.fixture(scope="module")
def rows():
    g = np.random.default_rng(0)
    X = g.normal(size=(N, 5))
    y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.5 * X[:, 2] + 0.3 * g.normal(size=N)
    return X, y


def chunked(A, size=70):
    return da.from_array(A, chunks=(size, *A.shape[1:]))


@pytest.mark.parametrize("options", [{"k": 3}, CHOSEN])
def test_collections_have_the_model_of_rows_in_memory(client, rows, options):
    X, y = rows
    model = SparseAdditiveRegressor(**options).fit(X, y)
    there = SparseAdditiveRegressor(**options).fit(chunked(X), chunked(y))
    assert np.array_equal(model.support_, there.support_)
    np.testing.assert_allclose(there.predict(X), model.predict(X), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(there.predict(chunked(X)), there.predict(X), rtol=1e-12)
    assert there.score(chunked(X), y) == pytest.approx(model.score(X, y), rel=1e-9)


def test_data_frames_and_labels(client, rows):
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    X, y = rows
    frame, labels = pd.DataFrame(X, columns=list("abcde")), pd.Series(np.where(y > 1, "high", "low"))
    there = SparseAdditiveClassifier(k=2).fit(
        dd.from_pandas(frame, npartitions=3), dd.from_pandas(labels, npartitions=3)
    )
    model = SparseAdditiveClassifier(k=2).fit(frame, labels)
    assert there.get_feature_names_out().tolist() == model.get_feature_names_out().tolist()
    np.testing.assert_allclose(there.decision_function(frame), model.decision_function(frame), rtol=1e-6, atol=1e-6)


def test_a_worker_is_killed_between_folds(client, kill, rows, monkeypatch):
    monkeypatch.setattr(sampled, "MAX_SAMPLED_ROWS", 100)  # so that means and scales are sums of the workers
    X, y = rows
    calm = SparseAdditiveRegressor(**CHOSEN).fit(chunked(X), chunked(y))
    killed = []

    def strike(done, folds):
        if not killed:
            killed.append(done)
            kill(1)

    after = SparseAdditiveRegressor(**CHOSEN).fit(chunked(X), chunked(y), callback=strike)
    assert killed
    assert np.array_equal(calm.support_, after.support_)
    assert np.array_equal(calm.predict(X), after.predict(X))


def test_columns_of_a_collection(client, rows):
    X, y = rows
    effects = SmoothEffects().fit(chunked(X))
    np.testing.assert_allclose(effects.transform(X), SmoothEffects().fit(X).transform(X), rtol=1e-9, atol=1e-9)
    lazy = effects.transform(chunked(X))
    assert isinstance(lazy, da.Array)
    np.testing.assert_array_equal(lazy.compute(), effects.transform(X))
    model = pursuit.SparseRegressor(k=3, groups=effects.groups_, standardize=False, l2=0.02).fit(lazy, y)
    assert set(effects.groups_[model.support_]) == {0, 1, 2}
