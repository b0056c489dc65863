"""Rows on real Dask workers: the answers of one piece in memory, and the same bits when workers are killed."""

import operator
import os
import signal
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp

import pursuit
from pursuit import SparseClassifier, SparseClassifierCV, SparseRegressor, SparseRegressorCV
from pursuit.data import by_partition
from pursuit.engines import Dask

dask, da = pytest.importorskip("dask"), pytest.importorskip("dask.array")
pytestmark = [
    pytest.mark.xdist_group("dask"),
    pytest.mark.filterwarnings("ignore:Sending large graph"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

N, P = 240, 12


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, P))
    y = X[:, :3] @ [1.5, -1.0, 0.7] + 0.5 * rng.standard_normal(N)
    return X, y, np.where(y > 0, "yes", "no")


def chunked(A, size=50):
    return da.from_array(A, chunks=(size, *A.shape[1:]))


def assert_same_model(one, other):
    assert np.array_equal(one.support_, other.support_)
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(one.intercept_, other.intercept_, rtol=1e-8, atol=1e-8)


def frames(X, y):
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    names = [f"c{j}" for j in range(P)]
    return dd.from_pandas(pd.DataFrame(X, columns=names), npartitions=3), dd.from_pandas(pd.Series(y), npartitions=3)


def unknown(A):
    return chunked(A)[chunked(np.arange(N)) >= 0]


KINDS = {
    "array": lambda X, y: (chunked(X), chunked(y)),
    "columns in chunks, y in others": lambda X, y: (da.from_array(X, chunks=(50, 5)), chunked(y, 70)),
    "y here": lambda X, y: (chunked(X), y),
    "persisted": lambda X, y: (chunked(X).persist(), chunked(y).persist()),
    "sparse": lambda X, y: (chunked(X).map_blocks(sp.csr_matrix), y),
    "unknown sizes": lambda X, y: (unknown(X), unknown(y)),
    "empty partitions": lambda X, y: (
        da.concatenate([chunked(X[:0], 1), chunked(X), chunked(X[:0], 1)]),
        da.concatenate([chunked(y[:0], 1), chunked(y), chunked(y[:0], 1)]),
    ),
    "data frame": frames,
}


class Looks:
    """A function that notes, when it is pickled, whether another thread may take the client's lock of references."""

    def __init__(self, client):
        self.client, self.free = client, []

    def __call__(self, X):
        return len(X)

    def __reduce__(self):
        def look():
            self.free.append(self.client._refcount_lock.acquire(timeout=2))
            if self.free[-1]:
                self.client._refcount_lock.release()

        other = threading.Thread(target=look)
        other.start()
        other.join()
        return operator.attrgetter, ("shape",)


def test_a_model_is_pickled_before_the_client_locks_its_references(client, rows):
    """Pickling a model requests its summary from the workers, whose responses need that lock."""
    function = Looks(client)
    assert sum(n for n, _ in by_partition(function, chunked(rows[0]))) == N
    assert function.free == [True]


@pytest.mark.parametrize("kind", KINDS)
def test_collections_of_any_kind(client, rows, kind):
    X, y, _ = rows
    assert_same_model(SparseRegressor(k=3).fit(*KINDS[kind](X, y)), SparseRegressor(k=3).fit(X, y))


def test_predictions_of_partitions(client, rows):
    X, y, labels = rows
    model, there = SparseRegressor(k=3).fit(X, y), chunked(X)
    np.testing.assert_allclose(model.predict(there), model.predict(X), rtol=1e-12)
    assert model.score(there, y) == pytest.approx(model.score(X, y), rel=1e-12)
    assert np.array_equal(
        SparseClassifier(k=3).fit(X, labels).predict(there), SparseClassifier(k=3).fit(X, labels).predict(X)
    )


def test_stability_on_workers(client, rows):
    X, y, _ = rows
    here, there = (
        pursuit.stability(SparseRegressor(k=2), *given, n_pairs=3, random_state=0)
        for given in ((X, y), (chunked(X), chunked(y)))
    )
    assert np.array_equal(here.frequencies, there.frequencies)


def test_names_of_a_data_frame(client, rows):
    model = SparseRegressor(k=3).fit(*frames(*rows[:2]))
    assert model.get_feature_names_out().tolist() == ["c0", "c1", "c2"]


def test_rows_that_are_here_are_sent(client, rows):
    X, y, labels = rows
    weight = np.arange(N) % 3 + 1.0
    for given in (X, sp.csr_matrix(X)):
        there = SparseRegressor(k=3, solver="grahtp").fit(given, y, weight, offset=X[:, 5], engine=client)
        assert_same_model(there, SparseRegressor(k=3, solver="grahtp").fit(given, y, weight, offset=X[:, 5]))
    there = SparseClassifier(k=3, solver="grahtp").fit(X, labels, engine=Dask(client, patience=30.0))
    assert_same_model(there, SparseClassifier(k=3, solver="grahtp").fit(X, labels))
    one, other = (pursuit.path(pursuit.GLM(X, y), range(1, 5), engine=engine) for engine in (None, client))
    np.testing.assert_allclose([r.value for r in one], [r.value for r in other], rtol=1e-10)


def test_classes_and_the_choice_of_k(client, rows):
    X, y, labels = rows
    order = np.argsort(labels)  # some partitions have one label only
    X, y, labels = X[order], y[order], labels[order]
    settings = {"cv": 2, "ks": [1, 3], "l2": 0.01}
    one, other = (SparseRegressorCV(**settings).fit(*given) for given in ((X, y), (chunked(X), chunked(y))))
    assert one.k_ == other.k_
    assert_same_model(one, other)
    settings = {"cv": 2, "ks": [2], "l2": 0.01, "solver": "grahtp"}
    one, other = (SparseClassifierCV(**settings).fit(*given) for given in ((X, labels), (chunked(X), chunked(labels))))
    assert other.classes_.tolist() == ["no", "yes"]
    assert_same_model(one, other)


def test_no_rows_move(client):
    X = da.random.default_rng(0).standard_normal((4000, 50), chunks=(500, 50))
    y = X[:, 0] * 2.0 + X[:, 1]
    before = _moved(client)
    SparseRegressor(k=2, solver="grahtp").fit(X, y)
    X, y = dask.persist(X, y)
    SparseRegressor(k=2, solver="grahtp").fit(X, y)
    assert _moved(client) - before < 4000  # bytes of one partition's y; Dask's own seeds may move


def _moved(client):
    """Bytes that workers have sent to each other."""
    logs = client.run(lambda dask_worker: sum(entry["total"] for entry in dask_worker.transfer_outgoing_log))
    return sum(logs.values())


def logistic(client, rows):
    X, _, labels = rows
    return pursuit.GLM(chunked(X, 30), chunked((labels == "yes") * 1.0, 30), "logistic", l2=0.01, standardize=True)


@pytest.mark.parametrize("many", [1, 2])
def test_killed_in_the_middle(client, kill, rows, many):
    calm = pursuit.solve(logistic(client, rows), 3, solver="omp")
    f, killed = logistic(client, rows), []

    def strike(record):
        if not killed:
            killed.append(record.iteration)
            kill(many)

    after = pursuit.solve(f, 3, solver="omp", callback=strike)
    assert killed
    assert np.array_equal(calm.support, after.support)
    assert np.array_equal(calm.coef, after.coef)
    assert (calm.value, calm.intercept) == (after.value, after.intercept)


def test_sent_rows_survive_their_workers(client, kill, rows):
    X, y, _ = rows
    f = pursuit.GLM(X, y, "huber").to_engine(client)
    before = f.data.at(np.array([0, 1]), np.array([1.0, -1.0]), 0.2)
    kill(2)
    after = f.data.at(np.array([0, 1]), np.array([1.0, -1.0]), 0.2)
    assert before.value == after.value
    assert np.array_equal(before.gradient, after.gradient)


def test_a_hung_worker(client, rows):
    X, y, _ = rows
    f = pursuit.GLM(X, y, "huber").to_engine(Dask(client, patience=2.0))
    f.data.moments()
    pid = next(iter(client.run(os.getpid).values()))
    os.kill(pid, signal.SIGSTOP)
    try:
        began = time.monotonic()
        with pytest.raises(TimeoutError, match="gives no sign of life: is it hung"):
            f.data.at(np.array([0]), np.array([1.0]), 0.0)
        assert time.monotonic() - began < 20
    finally:
        os.kill(pid, signal.SIGCONT)


def test_a_worker_that_takes_its_time_is_not_hung(client, rows):
    X, y, _ = rows
    f = pursuit.GLM(X, y).to_engine(Dask(client, patience=1.0))
    assert f.data.each(lambda part: time.sleep(2.2), f.data.raw.parts) == [None, None]


def test_no_worker_is_left(rows):
    distributed = pytest.importorskip("dask.distributed")
    settings = {"threads_per_worker": 1, "processes": False, "dashboard_address": ":0", "silence_logs": 50}
    with (
        distributed.LocalCluster(n_workers=1, **settings) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        f = pursuit.GLM(*rows[:2], "huber").to_engine(Dask(client, patience=1.0))
        f.data.moments()
        cluster.sync(next(iter(cluster.workers.values())).close)
        with pytest.raises(TimeoutError, match="has had no worker for 1 s: start one"):
            f.data.at(np.array([0]), np.array([1.0]), 0.0)


def test_a_scheduler_that_dies(rows):
    distributed = pytest.importorskip("dask.distributed")
    X, y, _ = rows
    cluster = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0", silence_logs=50
    )
    client = distributed.Client(cluster, set_as_default=False)
    f = pursuit.GLM(X, y, "huber").to_engine(client)
    f.data.moments()
    threading.Timer(0.2, cluster.close).start()
    try:
        with pytest.raises(ConnectionError, match="make a new client and fit again"):
            pursuit.solve(f, 3, solver="fgrahtp", max_iter=10**6, tol=0.0, callback=lambda record: time.sleep(0.05))
    finally:
        client.close()


def test_bad_input(client, rows):
    X, y, _ = rows
    halves = chunked(X, 120).map_blocks(
        lambda block, block_info=None: block.astype(np.float32 if block_info[0]["chunk-location"][0] else np.float64),
        dtype=np.float64,
    )
    model = SparseRegressor(k=2)
    with pytest.raises(TypeError, match="some partitions of X hold float32 and others float64"):
        model.fit(halves, chunked(y))
    with pytest.raises(ValueError, match="one entry per row of X, 240, got 239"):
        model.fit(chunked(X), y[:-1])
    with pytest.raises(ValueError, match="one entry per row of X, 240, got 100"):
        model.fit(chunked(X), chunked(y[:100]))
    with pytest.raises(TypeError, match="y must be a Dask collection like X, whose chunk sizes are not known"):
        model.fit(unknown(X), y)
    with pytest.raises(TypeError, match="y must be given"):
        model.fit(chunked(X))
    with pytest.raises(TypeError, match="engine must be a dask"):
        model.fit(X, y, engine="cluster")
    with pytest.raises(ValueError, match=r"y must .*2 classes|y holds|labels"):
        pursuit.GLM(chunked(X), chunked(np.arange(N) % 3), "logistic")
    with pytest.raises(ValueError, match="patience must be"):
        Dask(client, patience=0)
    bad = X.copy()
    bad[130, 7] = np.nan
    with pytest.raises(ValueError, match=r"NaN or infinity .* in column 7"):
        model.fit(chunked(bad), chunked(y))
    with pytest.raises(ZeroDivisionError):  # what a partition raises, as it raises it
        model.fit(chunked(X).map_blocks(lambda block: 1 // 0, dtype=float, meta=np.empty((0, 0))), chunked(y))
    for solver in ("diht", "sdiht"):
        with pytest.raises(TypeError, match="parts"):
            pursuit.solve(pursuit.GLM(chunked(X), chunked(y), l2=0.1), 2, solver=solver)
    with pytest.raises(TypeError, match="LogDet has no rows"):
        pursuit.solve(pursuit.LogDet(np.eye(3)), 1, engine=client)


def raising(error):
    def raises(block):
        raise error

    return raises


@pytest.mark.parametrize(
    "error",
    [
        ValueError("of the user"),
        RuntimeError("of the user"),
        FileNotFoundError(2, "of the user"),
        KeyError("of the user"),
    ],
)
@pytest.mark.parametrize("persisted", [False, True])
def test_a_partition_that_raises(client, rows, monkeypatch, error, persisted):
    monkeypatch.setattr("pursuit.engines.dask.MAX_ATTEMPTS", 1)  # no second look at what is not lost
    X, y, _ = rows
    bad = chunked(X).map_blocks(raising(error), dtype=float, meta=np.empty((0, 0)))
    for given in ((bad, chunked(y)), (chunked(X), bad[:, 0])):
        given = dask.persist(*given) if persisted else given
        with pytest.raises(type(error), match="of the user"):
            SparseRegressor(k=2).fit(*given)


def test_a_partition_that_raises_while_another_is_computed(client, rows):
    from dask.distributed import Event

    X, y, _ = rows

    def slow_or_bad(block, block_info=None):
        if block_info[0]["chunk-location"][0]:
            raise ValueError("of the user")
        assert Event("raised").wait(timeout=20)
        return block

    bad = chunked(X, 120).map_blocks(slow_or_bad, dtype=float, meta=np.empty((0, 0)))
    with pytest.raises(ValueError, match="of the user"):
        SparseRegressor(k=2).fit(bad, chunked(y, 120))
    Event("raised").set()


@pytest.mark.parametrize("kind", ["object", "category"])
def test_a_column_that_is_no_number(client, rows, monkeypatch, kind):
    monkeypatch.setattr("pursuit.engines.dask.MAX_ATTEMPTS", 1)
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    word = pd.Series(["x", "y"] * (N // 2), dtype=kind)
    X, y = pd.DataFrame(rows[0][:, :2], columns=["a", "b"]).assign(word=word), pd.Series(rows[1])
    with pytest.raises(ValueError, match=r"partition [01]: .*column 'word' is not \(for example 'x' in 'word'\)"):
        SparseRegressor(k=2).fit(dd.from_pandas(X, npartitions=2), dd.from_pandas(y, npartitions=2))


def test_an_error_that_cannot_be_sent(client, rows):
    class OddError(Exception):
        def __init__(self, code, where):
            super().__init__(f"{code} at {where}")

    def fail(part):
        raise OddError(7, "home")

    f = pursuit.GLM(*rows[:2]).to_engine(client)
    with pytest.raises(RuntimeError, match="OddError: 7 at home"):
        f.data.each(fail, f.data.raw.parts)


def test_a_closed_client(cluster, rows):
    distributed = pytest.importorskip("dask.distributed")
    X, y, _ = rows
    client = distributed.Client(cluster, set_as_default=False)
    client.close()
    with pytest.raises(ConnectionError, match="the Dask client is closed"):
        SparseRegressor(k=2).fit(X, y, engine=client)


def test_no_client(rows):
    X, y, _ = rows
    with pytest.raises(ValueError, match="needs an active client"):
        SparseRegressor(k=2).fit(chunked(X), chunked(y))


def test_another_version(client, rows, monkeypatch):
    monkeypatch.setattr(pursuit, "__version__", "99.0")
    with pytest.raises(RuntimeError, match=r"a worker has pursuit .*, and this is 99"):
        SparseRegressor(k=2).fit(chunked(rows[0]), chunked(rows[1]))


def test_a_checkpoint_knows_rows_on_workers(client, rows, tmp_path):
    """By sums of the workers': other chunks of the same rows go on, other rows are refused, and no row travels."""
    X, y, _ = rows

    def fit(y, size):
        data = chunked(X, size), chunked(y, size)
        return SparseRegressor(3, solver="grahtp").fit(*data, checkpoint=tmp_path / "run")

    first = fit(y, 50)
    before = (tmp_path / "run").read_bytes()
    assert_same_model(fit(y, 120), first)
    assert_same_model(SparseRegressor(3, solver="grahtp").fit(X, y, checkpoint=tmp_path / "run"), first)
    assert (tmp_path / "run").read_bytes() == before
    with pytest.raises(ValueError, match="of other data"):
        fit(y + 100, 50)
