"""The choice of k stopped by the clock, by the user or by a callback."""

import time

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

from pursuit import SparseRegressorCV
from pursuit.selection import validation

KS = range(5)


def regression(seed=0, n=60, p=10, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    return X, X[:, 0] - X[:, 3] + 0.5 * X[:, 5] + noise * rng.standard_normal(n)


def test_too_little_time_is_said():
    X, y = regression(n=100, p=50)
    with pytest.raises(TimeoutError, match="was over before a single fold was fitted"):
        SparseRegressorCV(time_limit=0.0).fit(X, y)


def clock_stops(monkeypatch, after):
    """A callback that sets the clock past every limit when so many folds are done."""
    calls, now = [], time.perf_counter

    def callback(done, total):
        calls.append(done)
        if len(calls) == after:
            monkeypatch.setattr(time, "perf_counter", lambda: now() + 1e9)

    return callback


def presses_ctrl_c(monkeypatch, after):
    def callback(done, total):
        if done == after:
            raise KeyboardInterrupt

    return callback


@pytest.mark.parametrize("stop", [clock_stops, presses_ctrl_c])
@pytest.mark.parametrize("settings", [{}, {"combine": "none", "scoring": "r2"}, {"combine": "average", "rule": "1se"}])
def test_finished_folds_are_kept_when_time_is_up(stop, settings, monkeypatch):
    X, y = regression(n=80, p=12)
    pairs = list(KFold(5, shuffle=True, random_state=3).split(X))
    few = SparseRegressorCV(ks=range(5), cv=pairs[:3], **settings).fit(X, y)
    cut = SparseRegressorCV(ks=range(5), cv=pairs, time_limit=1e6, n_jobs=1, **settings)
    with pytest.warns(ConvergenceWarning, match="after 3 of 5 folds, and the choice is from these"):
        cut.fit(X, y, callback=stop(monkeypatch, 3))
    assert "after 3 of 5 folds" in cut.reason_
    assert cut.k_ == few.k_
    np.testing.assert_allclose(cut.coef_, few.coef_, rtol=1e-6, atol=1e-9)
    assert "split2_loss" in cut.cv_results_
    assert "split3_loss" not in cut.cv_results_
    for name in few.sizes_:
        np.testing.assert_allclose(cut.sizes_[name], few.sizes_[name], rtol=1e-6, atol=1e-9)


def test_a_fold_that_is_fitted_later_keeps_its_number(monkeypatch):
    X, y = regression(n=80, p=12)
    pairs = list(KFold(4, shuffle=True, random_state=3).split(X))
    whole = SparseRegressorCV(ks=[1, 2], cv=pairs, combine="none", scoring="r2").fit(X, y).cv_results_
    original = validation.in_threads
    monkeypatch.setattr(validation, "in_threads", lambda ask, folds: original(ask, folds[::-1]))
    model = SparseRegressorCV(ks=[1, 2], cv=pairs, combine="none", scoring="r2", time_limit=1e6, n_jobs=1)
    with pytest.warns(ConvergenceWarning, match="after 2 of 4 folds"):
        model.fit(X, y, callback=clock_stops(monkeypatch, 2))
    for name in ("split2_loss", "split3_loss", "split2_score", "split3_score"):
        np.testing.assert_allclose(model.cv_results_[name], whole[name], rtol=1e-9)
    assert "split0_loss" not in model.cv_results_


@pytest.mark.parametrize("after", [5, 6])
def test_larger_sizes_on_some_folds_do_not_replace_smaller_ones_on_all(after, monkeypatch):
    monkeypatch.setattr("pursuit.selection.grid.DEFAULT_SIZES", (0, 1, 2))
    monkeypatch.setattr("pursuit.selection.grid.PROJECTED_SIZES", (0, 1, 2))
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 30))
    y = X[:, :8].sum(axis=1) + 0.1 * rng.standard_normal(80)
    few = SparseRegressorCV(ks=(0, 1, 2), cv=5).fit(X, y)
    assert max(SparseRegressorCV(cv=5).fit(X, y).sizes_["k"]) > 2
    cut = SparseRegressorCV(cv=5, time_limit=1e6, n_jobs=1)
    with pytest.warns(ConvergenceWarning, match="reached before sizes above 2 were tried on every fold"):
        cut.fit(X, y, callback=clock_stops(monkeypatch, after))
    np.testing.assert_allclose(cut.coef_, few.coef_, rtol=1e-9)
    assert "larger ones may predict better" in cut.reason_


def test_too_little_time_for_a_criterion_is_said():
    X, y = regression(n=100, p=50)
    with pytest.raises(TimeoutError, match="was over before the sizes were fitted"):
        SparseRegressorCV(time_limit=0.0, rule="bic").fit(X, y)


def test_callbacks_of_scikit_learn():
    pytest.importorskip("sklearn.callback", reason="scikit-learn has callbacks from 1.9 on")

    class Counts:
        def __init__(self):
            self.events = []

        def setup(self, estimator, context):
            self.events.append("setup")

        def on_fit_task_begin(self, estimator, context):
            pass

        def on_fit_task_end(self, estimator, context):
            self.events.append(context.task_name)

        def teardown(self, estimator, context):
            self.events.append("teardown")

    X = np.random.default_rng(0).normal(size=(60, 5))
    counts = Counts()
    model = SparseRegressorCV(range(3), cv=4).set_callbacks(counts).fit(X, X[:, 1])
    assert counts.events == ["setup", *["fold"] * 4, "fit", "teardown"]
    assert model.k_ == SparseRegressorCV(range(3), cv=4).fit(X, X[:, 1]).k_
