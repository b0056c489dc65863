"""Deadlines: who sets them, for whom they hold, and what happens when time is up."""

import threading
import time

import numpy as np
import pytest

from pursuit import GLM, solve
from pursuit.engines import TimeUpError, check_time, late, seconds_left, until


def test_an_inner_deadline_does_not_outlast_an_outer_one():
    now = time.perf_counter()
    with until(now + 100):
        with until(now + 1000):
            assert seconds_left() <= 100
        with until(now + 10):
            assert seconds_left() <= 10
        assert 10 < seconds_left() <= 100
    assert seconds_left() == np.inf


def test_time_that_is_up_is_told_and_raised():
    assert not late()
    with until(time.perf_counter() - 1):
        assert late()
        assert seconds_left() == 0
        with pytest.raises(TimeUpError):
            check_time()
    check_time()


def test_a_deadline_holds_for_its_own_thread():
    answers = []
    with until(time.perf_counter() - 1):
        other = threading.Thread(target=lambda: answers.append(late()))
        other.start()
        other.join()
    assert answers == [False]


def test_a_refit_that_runs_out_of_time_leaves_the_best_point(monkeypatch):
    """Time is up in the middle of the third refit after that of the null model."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 10))
    f = GLM(X, (X[:, 0] + rng.standard_normal(80) > 0).astype(float), "logistic", l2=1e-3)
    refits = []

    def refit(support, start=None, whole=f.refit):
        refits.append(support)
        if len(refits) == 4:
            raise TimeUpError
        return whole(support, start)

    monkeypatch.setattr(f, "refit", refit)
    result = solve(f, 5, solver="omp", time_limit=60)
    assert result.status == "time_limit"
    assert result.reason.startswith("the time limit of 60 s was reached")
    assert np.array_equal(result.support, refits[2])
    assert len(refits) == 4
