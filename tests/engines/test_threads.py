"""Threads, processes and memory: nothing waits for anything it does not need, and nothing is left behind."""

import gc
import os
import pickle
import subprocess
import sys
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_info, threadpool_limits

import pursuit
from pursuit.engines import streamed, threads
from pursuit.refits import NotFiniteError


def data(n=80, p=30, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    return X, X[:, 0] - X[:, 1] + rng.standard_normal(n)


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


@pytest.fixture
def two_blas_threads():
    """One thread, as elsewhere in the tests, would hide a solve that leaves BLAS on one."""
    with threadpool_limits(2, user_api="blas"):
        assert set(blas_threads()) == {2}
        yield


@pytest.mark.usefixtures("two_blas_threads")
def test_overlapping_blocks_leave_blas_as_it_was():
    before = blas_threads()
    inside, leave = threading.Event(), threading.Event()

    def first():
        with threads():
            inside.set()
            leave.wait(10)

    thread = threading.Thread(target=first)
    thread.start()
    inside.wait(10)
    with threads():
        leave.set()
        thread.join()
        assert set(blas_threads()) == {1}
    assert blas_threads() == before


@pytest.mark.usefixtures("two_blas_threads")
@pytest.mark.parametrize("shared", [False, True])
def test_overlapping_solves_are_those_in_sequence(shared):
    """20 solves in 8 threads, bit for bit; one objective may serve them all."""
    X, y = data()
    before, ours = blas_threads(), pursuit.GLM(X, y > 0, "logistic", l2=0.01)
    solvers = ["auto", "grahtp", "omp", "local_search", "svrght", "diht", "sdiht"]

    def run(seed):
        target, solver = y + np.sin(np.arange(len(y)) * seed), solvers[seed % len(solvers)]
        if shared:
            f = ours
        elif seed % 3:
            f = pursuit.GLM(X, target, l2=0.01)
        else:
            f = pursuit.GLM(sparse.csr_array(X), target > 0, "logistic", l2=0.01)
        bounds = (-0.4, 0.4) if seed % 5 == 0 else None
        result = pursuit.solve(f, 1 + seed % 6, solver=solver, bounds=bounds, random_state=seed, max_iter=100)
        trace = [(record.value, record.size) for record in result.trace]
        return result.support.tolist(), result.coef.tobytes(), result.value, result.intercept, result.reason, trace

    expected = [run(seed) for seed in range(20)]
    for _ in range(3):
        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(run, range(20))) == expected
    assert blas_threads() == before


def test_a_fit_does_not_wait_for_another_ones_pass():
    """Gradients are computed at their first use, each without a lock that others share."""
    waiting, go = threading.Event(), threading.Event()

    class Slow:
        shape, dtype = (4, 2), np.float64

    def slow():
        waiting.set()
        assert go.wait(10)
        return np.zeros(2)

    from pursuit import Point

    stuck = Point(2, np.array([0]), np.ones(1), 0.0, 1.0, slow)
    thread = threading.Thread(target=lambda: stuck.gradient)
    thread.start()
    assert waiting.wait(10)
    X, y = data()
    assert pursuit.solve(pursuit.GLM(X, y), 3).converged  # while the other one is inside its pass
    go.set()
    thread.join()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_forked_inside_a_fit_can_fit():
    code = """
import os, threading
import numpy as np, pursuit
from pursuit import Point
rng = np.random.default_rng(0)
X = rng.standard_normal((60, 8)); y = X[:, 0] + rng.standard_normal(60)
inside = threading.Event()
def slow():
    inside.set()
    threading.Event().wait(20)
    return np.zeros(2)
from pursuit.engines import streamed, threads
def fit():
    with threads():
        Point(2, np.array([0]), np.ones(1), 0.0, 1.0, slow).gradient
threading.Thread(target=fit, daemon=True).start()
inside.wait(10)
child = os.fork()
if child == 0:
    pursuit.solve(pursuit.GLM(X, y), 2)
    os._exit(0)
print(os.waitpid(child, 0)[1])
os._exit(0)
"""
    command = [sys.executable, "-W", "ignore", "-c", code]
    env = {**os.environ, "OPENBLAS_NUM_THREADS": "2"}  # threads of BLAS that the child does not have
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True, env=env)
    assert done.stdout.strip() == "0"


@contextmanager
def freed(X):
    """Inside, X goes as soon as its last user does: nothing waits for the garbage collector."""
    gone = weakref.ref(X)
    del X
    gc.disable()
    try:
        yield
        assert gone() is None, "X waits for the garbage collector, or the result holds it"
    finally:
        gc.enable()


def interrupt(record):
    if record.iteration == 2:
        raise KeyboardInterrupt


class Fails(pursuit.Solver):
    """Ends as a run of a broken objective does."""

    def iterate(self, f, constraint, start):
        yield f.refit(np.array([1]))
        raise NotFiniteError("the gradient is nan at coordinate 3")


ENDS = {
    **{name: {"solver": name} for name in ("auto", "grahtp", "omp", "grasp", "arht", "foba", "svrght")},
    "diht": {"solver": "diht", "max_iter": 50},  # its trace has a line for each of hundreds of epochs
    "interrupted": {"solver": "omp", "callback": interrupt},
    "auto interrupted": {"callback": interrupt},
    "auto out of time": {"time_limit": 0.002, "solver": pursuit.Auto(restarts="limit")},
    "failed": {"solver": Fails()},
    "limited": {"solver": "omp", "max_iter": 1},
    "bounded": {"bounds": (0, 1)},
}


@pytest.mark.parametrize("make", [np.array, sparse.csc_array])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("end", ENDS)
def test_a_result_keeps_no_data_alive(loss, end, make):
    X, y = data()
    X = make(X)
    with freed(X if make is np.array else X.data):
        f = pursuit.GLM(X, y if loss == "squared" else y > 0, loss, l2=0.01)
        result = pursuit.solve(f, 3, **ENDS[end])
        again = pursuit.solve(f, 4, start=result, solver="local_search")
        del f, X
    assert len(pickle.dumps((result, again))) < 40_000
    for held in (*vars(result).values(), *vars(result.point).values()):  # nor a view into something larger
        while isinstance(held, np.ndarray):
            assert held.nbytes <= 8 * result.dim
            held = held.base


def test_a_solve_that_raises_keeps_no_data_alive():
    X, y = data()

    def wrong(record):
        raise RuntimeError("in my callback")

    with freed(X):
        f = pursuit.GLM(X, y)
        with pytest.raises(RuntimeError, match="in my callback"):
            pursuit.solve(f, 3, callback=wrong)
        del f, X


def test_several_outputs_and_bounds_keep_no_data_alive():
    X, y = data()
    for make in (
        lambda X: pursuit.solve(pursuit.MultiGLM(X, (y > 0) * 1 + (y > 1)), 2),
        lambda X: pursuit.solve(pursuit.GLM(X, y), 3, bounds=(0, 1)),
        lambda X: pursuit.certify(f := pursuit.GLM(X, y, l2=0.1), pursuit.solve(f, 2), time_limit=1),
    ):
        own = X.copy()
        gone = weakref.ref(own)
        gc.disable()
        try:
            kept = make(own)
            del own
            assert gone() is None
        finally:
            gc.enable()
        assert kept is not None


def test_blas_is_there_before_the_first_kernel():
    """A refit gives the same bits whatever was imported before it."""
    code = """
import numpy as np
from pursuit.objectives.glm import GLM
rng = np.random.default_rng(0)
X = rng.standard_normal((300, 12)); y = X.sum(axis=1) + rng.standard_normal(300)
first = GLM(X, y, "logistic" if {0} else "squared") if False else GLM(X, y)
a = first.refit(np.arange(12)).coef
import pursuit; pursuit.solve(GLM(X, y), 2)
b = GLM(X, y).refit(np.arange(12)).coef
print(np.array_equal(a, b))
"""
    env = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)
    assert done.stdout.strip() == "True"


@pytest.mark.parametrize("count", [1, 3])
def test_streamed_answers_come_in_order_and_stop_when_closed(count):
    calls = []

    def ask(part):
        calls.append(part)
        time.sleep(0.005 if part > 10 else 0)  # else all are done before anybody can close
        return part * part

    with threads(count):
        assert list(streamed(ask, range(10))) == [i * i for i in range(10)]
        calls.clear()
        answers = streamed(ask, range(1000))
        assert [next(answers), next(answers)] == [0, 1]
        answers.close()
    assert len(calls) < 1000
