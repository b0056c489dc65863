"""Rows on two local Dask workers: what a question costs, whether rows move, what kills cost, what a second worker buys.

    python benchmarks/scale_dask.py            # needs pursuit[dask]; a minute or two

Network figures are floors: both workers are on this machine, and with other work on it they are worse.
"""

import argparse
import os
import signal
import time
from typing import Any

import numpy as np
import scipy.sparse as sp

import pursuit
from pursuit.data import placed
from pursuit.engines import Dask

COLS, COEF = np.arange(10), np.linspace(1, 2, 10)


def wide(n: int, p: int) -> pursuit.GLM:
    """Few numbers, many columns: what a question costs is its way."""
    rng = np.random.default_rng(0)
    rows, columns = np.repeat(np.arange(n), 20), rng.integers(p, size=20 * n)
    X = sp.csr_matrix((rng.standard_normal(20 * n), (rows, columns)), shape=(n, p))
    return pursuit.GLM(X, rng.standard_normal(n), "huber")


def best(ask: Any, times: int) -> tuple[float, float]:
    """Seconds of the quickest of several, and of the middle one."""
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        ask()
        taken.append(time.perf_counter() - began)
    return min(taken), float(np.median(taken))


def questions(client: Any) -> None:
    for p, wanted in ((1_000, None), (100_000, 10), (1_000_000, 40)):
        f = wide(2000, p)
        here = f.data.raw
        half = here.take(np.arange(1000), 1.0)
        there = placed(here, client)
        there.at(COLS, COEF, 0.1)
        own, _ = best(lambda half=half: half.at(COLS, COEF, 0.1), 20)
        least, middle = best(lambda there=there: there.at(COLS, COEF, 0.1), 30)
        verdict = "" if wanted is None else f"   wanted {wanted}"
        print(
            f"a question, p={p:>9,}: {1e3 * (least - own):6.1f} ms beyond the part's own {1e3 * own:.1f} "
            f"(median {1e3 * (middle - own):.1f}){verdict}"
        )


def dense(n: int, p: int) -> tuple[Any, Any]:
    import dask.array as da

    X = da.random.default_rng(1).standard_normal((n, p), chunks=(n // 8, p), dtype=np.float64)
    return X, (X[:, :10] @ np.linspace(1, 2, 10) > 0).astype(float)


def fit(n: int, p: int, engine: Any, callback: Any = None, **how: Any) -> Any:
    X, y = dense(n, p)
    f = pursuit.GLM(pursuit.data.from_dask(X, y, engine=engine), loss="logistic", l2=1e-3)
    f.data.moments()  # the rows are there
    began = time.perf_counter()
    how = how or {"k": 20, "solver": "fgrahtp", "max_iter": 30, "tol": 0.0}
    result = pursuit.solve(f, callback=callback, **how)
    return result, time.perf_counter() - began


def moved(client: Any) -> int:
    logs = client.run(lambda dask_worker: sum(entry["total"] for entry in dask_worker.transfer_outgoing_log))
    return sum(logs.values())


def same(one: Any, other: Any) -> str:
    equal = np.array_equal(one.support, other.support) and np.array_equal(one.coef, other.coef)
    return "the same bits" if equal and one.value == other.value else "ANOTHER RESULT"


def kills(client: Any, n: int, p: int) -> None:
    before = moved(client)
    calm, seconds = fit(n, p, client)
    print(f"a fit, n={n:,}, p={p:,}: {seconds:.2f} s; {moved(client) - before:,} bytes moved between workers")
    for many, wanted in ((1, 3), (2, 8)):
        struck: list[float] = []

        def strike(record: Any, many: int = many, struck: list[float] = struck) -> None:
            if record.iteration == 5 and not struck:
                struck.append(1.0)
                for pid in list(client.run(os.getpid).values())[:many]:
                    os.kill(pid, signal.SIGKILL)

        result, longer = fit(n, p, client, strike)
        print(
            f"{many} of 2 workers killed in mid-fit: {longer - seconds:+.1f} s (wanted {wanted}), {same(calm, result)}"
        )
        try:
            client.wait_for_workers(2, timeout=20)
        except TimeoutError:  # a nanny that did not bring its killed worker back
            client.cluster.scale(len(client.cluster.worker_spec) + 1)
            client.wait_for_workers(2, timeout=60)


def second_worker(n: int, p: int) -> None:
    """Where flops dominate: passes over X share one memory on one machine."""
    from dask.distributed import Client, LocalCluster

    taken = {}
    for workers in (1, 2):
        with (
            LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0") as cluster,
            Client(cluster) as client,
        ):
            taken[workers] = min(fit(n, p, client, k=150, solver="grahtp", max_iter=3)[1] for _ in range(3))
    one, two = taken[1], taken[2]
    print(
        f"refits on 150 columns, n={n:,}: one worker {one:.2f} s, two {two:.2f} s: {one / two:.2f} times as fast "
        "(wanted 1.6)"
    )


def hung_and_gone(patience: float) -> None:
    from dask.distributed import Client, LocalCluster

    f = wide(500, 1000)
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50)
    client = Client(cluster)
    there = placed(f.data.raw, Dask(client, patience=patience))
    there.at(COLS, COEF, 0.0)
    pid = next(iter(client.run(os.getpid).values()))
    os.kill(pid, signal.SIGSTOP)
    _said(f"a hung worker, patience {patience:g}", lambda: there.at(COLS, COEF, 0.0))
    os.kill(pid, signal.SIGCONT)
    cluster.close()
    _said("the scheduler gone (wanted within 5 s)", lambda: there.at(COLS, COEF, 0.0))
    client.close()


def _said(what: str, ask: Any) -> None:
    began = time.perf_counter()
    try:
        ask()
    except (ConnectionError, TimeoutError) as error:
        print(f"{what}: after {time.perf_counter() - began:.1f} s: {error}")
    else:
        print(f"{what}: NOTHING WAS SAID")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=120_000)
    parser.add_argument("--columns", type=int, default=500)
    given = parser.parse_args()
    from dask.distributed import Client, LocalCluster

    settings: Any = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with LocalCluster(n_workers=2, **settings) as cluster, Client(cluster) as client:
        questions(client)
        kills(client, given.rows // 6, given.columns)
    second_worker(given.rows, given.columns)
    hung_and_gone(3.0)


if __name__ == "__main__":
    main()
