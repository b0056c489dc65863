"""Rows on Dask workers: fit, kill a worker in the middle, and get the same answer, bit for bit.

.venv/bin/python examples/dask_fit.py        # after make test, or pip install "pursuit[dask]"
"""

import os
import signal

import dask.array as da
import numpy as np
from dask.distributed import Client, LocalCluster

import pursuit


def main() -> None:
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster) as client:
        X = da.random.default_rng(0).standard_normal((20_000, 300), chunks=(2_500, 300))  # computed on the workers
        y = (X[:, :5] @ np.array([2.0, -1.5, 1.0, 1.0, -0.5]) > 0).astype(float)

        model = pursuit.SparseClassifier(k=5, solver="grahtp").fit(X, y)
        print(f"columns {model.support_.tolist()}, accuracy {model.score(X, y.compute()):.3f}")

        def fit(callback=None):
            return pursuit.solve(pursuit.GLM(X, y, "logistic", l2=1e-3), 5, solver="omp", callback=callback)

        killed = []

        def kill_one(record):
            if not killed:
                killed.append(next(iter(client.run(os.getpid).values())))
                os.kill(killed[0], signal.SIGKILL)
                print(f"iteration {record.iteration}: worker process {killed[0]} is killed")

        calm, struck = fit(), fit(kill_one)
        print(f"without the fault: value {calm.value!r}, in {calm.seconds:.1f} s")
        print(f"with it:           value {struck.value!r}, in {struck.seconds:.1f} s")
        same = np.array_equal(calm.support, struck.support) and np.array_equal(calm.coef, struck.coef)
        print("the same coefficients, bit for bit" if same else "DIFFERENT coefficients")


if __name__ == "__main__":  # workers are new processes that read this file
    main()
