"""Questions to a path that was found."""

import gc
import pickle
import weakref

import numpy as np
import pandas as pd
import pytest

import pursuit
from paths.cases import glm, several


@pytest.fixture(scope="module")
def path():
    return pursuit.path(glm("squared").f, [5, 0, 1, 2, 3])


def test_by_position_and_by_size(path):
    assert len(path) == 5
    assert list(path) == list(path.results)
    assert path[-1] is path.at(5) is path[4]
    assert path[1:3] == (path.at(1), path.at(2))
    assert path[::-1][0] is path.at(5)
    assert path.at(np.int64(3)).k == 3
    with pytest.raises(IndexError):
        path[5]
    with pytest.raises(KeyError, match="the path has no size 4; it has 0, 1, 2, 3, 5"):
        path.at(4)
    with pytest.raises(TypeError, match="k must be a whole number"):
        path.at(1.0)
    assert path.at(2) in path
    assert path.index(path.at(2)) == 2


def test_values_and_shares(path):
    assert path.ks.tolist() == [0, 1, 2, 3, 5]
    np.testing.assert_array_equal(path.values, [result.value for result in path])
    np.testing.assert_allclose(path.explained, 1 - path.values / path.null, rtol=1e-12)
    assert set(path.columns) == set(np.concatenate([result.support for result in path]))


def test_the_smallest_that_reaches_a_target(path):
    assert path.smallest(path.explained[2]).k == 2
    assert path.smallest(score=-1.0).k == 0
    assert path.smallest(value=path.values[3]).k == 3
    with pytest.raises(ValueError, match=r"no size of the path reaches 1\.5; the highest score is"):
        path.smallest(1.5)
    with pytest.raises(ValueError, match="the lowest value is"):
        path.smallest(value=-1.0)
    for wrong in ({}, {"score": 0.5, "value": 1.0}):
        with pytest.raises(ValueError, match="give score"):
            path.smallest(**wrong)
    with pytest.raises(TypeError, match="score must be a number"):
        path.smallest("much")


def test_a_price_per_column(path):
    assert path.penalised(0).k == 5
    assert path.penalised(1e9).k == 0
    for lam in (1e-3, 1e-2, 0.1):
        assert path.penalised(lam).k == path.ks[np.argmin(path.values + lam * path.ks)]
    with pytest.raises(ValueError, match="lam must be a finite number at least 0"):
        path.penalised(-1)


def test_a_frame(path):
    frame = path.to_frame()
    assert list(frame.columns) == ["k", "value", "explained", "optimality", "columns"]
    assert frame.k.tolist() == [0, 1, 2, 3, 5]
    assert frame["columns"][2] == path.at(2).support.tolist()


def test_names_of_a_frame():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((30, 4)), columns=["a", "b", "c", "d"])
    path = pursuit.path(pursuit.GLM(X, X["b"] - X["d"]), [1, 2], include=["b"])
    assert path.at(2).names == ("b", "d")
    assert path.to_frame()["columns"][1] == ["b", "d"]


def test_in_words(path):
    assert repr(path) == "Path(sizes 0..5 (5), converged: no size improves from its neighbours)"
    stopped = pursuit.path(glm("squared").f, [3], callback=lambda k, value: True)
    assert repr(stopped) == "Path(sizes none (0), interrupted: stopped by the callback at size 0)"
    assert len(stopped) == 0
    assert stopped.to_frame().empty
    assert stopped.columns.size == 0
    with pytest.raises(ValueError, match="the path has no sizes"):
        stopped.penalised(1.0)
    with pytest.raises(ValueError, match="the path has no sizes"):
        stopped.smallest(0.5)


@pytest.mark.parametrize("case", [lambda: glm("squared"), lambda: glm("logistic"), lambda: several("multinomial")])
def test_pickled_and_back(case):
    path = pursuit.path(case().f, range(4))
    again = pickle.loads(pickle.dumps(path))
    np.testing.assert_array_equal(again.values, path.values)
    assert again.ks.tolist() == path.ks.tolist()
    assert (again.status, again.reason, again.null) == (path.status, path.reason, path.null)
    np.testing.assert_array_equal(again.at(3).x, path.at(3).x)


@pytest.mark.parametrize("loss", ["squared", "logistic", "hinge"])
@pytest.mark.parametrize("solver", ["auto", "omp"])
def test_a_path_does_not_hold_the_data(loss, solver):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 40))
    y = X[:, 0] if loss == "squared" else X[:, 0] > 0
    f = pursuit.GLM(X, y + 0.0, loss, l2=0.1)
    path = pursuit.path(f, range(4), solver=solver)
    held = weakref.ref(f)
    small = len(pickle.dumps(path))
    del f
    gc.collect()
    assert held() is None
    assert small < X.nbytes
    assert path.at(3).k == 3
