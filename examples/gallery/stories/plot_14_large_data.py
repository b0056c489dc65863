"""
Larger than memory, and a worker that dies
==========================================

The request was 50 GB on a machine with 8 GB, and two Dask workers of which one is killed. Here the file is small, 8 MB,
and read within a budget of 300 MB; the workers are real processes, and one is killed with SIGKILL in the middle of a
fit.
``python benchmarks/scale_disk.py`` measures 6 GB within 1 GB.
"""

import os
import signal
import tempfile
from pathlib import Path

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from dask.distributed import Client, LocalCluster

import pursuit


def on_disk():
    """Convert a file once, and fit from the folder within a budget of memory."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 100)).astype(np.float32)
    y = X[:, :5] @ np.array([2, -1.5, 1, 1, -0.5]) + rng.normal(0, 1, len(X))
    folder = Path(tempfile.mkdtemp())
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(100)]).assign(y=y)
    frame.to_parquet(folder / "big.parquet")
    pursuit.convert(folder / "big.parquet", folder / "big.pursuit", target="y")
    data = pursuit.open_data(folder / "big.pursuit", memory="300MB")
    return pursuit.SparseRegressor(k=5).fit(data), pursuit.SparseRegressor(k=5).fit(X.astype(float), y)


def on_workers():
    """Fit twice on two workers; the second time one of them is killed."""
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        X = da.random.default_rng(0).standard_normal((4000, 100), chunks=(500, 100))
        y = (X[:, :5] @ np.array([2.0, -1.5, 1.0, 1.0, -0.5]) > 0).astype(float)
        killed = []

        def kill_one(record):
            if not killed:
                killed.append(next(iter(client.run(os.getpid).values())))
                os.kill(killed[0], signal.SIGKILL)

        def fit(callback=None):
            f = pursuit.GLM(X, y, "logistic", l2=1e-3)
            return pursuit.solve(f, 5, solver="omp", callback=callback)

        return fit(), fit(kill_one), len(killed)


if __name__ == "__main__":  # workers are new processes that read this file
    disk, memory = on_disk()
    calm, struck, n_killed = on_workers()
    print(f"from disk {disk.support_}, in memory {memory.support_}")
    print(f"calm {calm.value:.12f} in {calm.seconds:.1f} s; one killed {struck.value:.12f} in {struck.seconds:.1f} s")

    fig, axes = plt.subplots(1, 2, figsize=(7, 3), layout="constrained")
    axes[0].plot(memory.coef_[:12], "o", markersize=9, alpha=0.5, label="in memory")
    axes[0].plot(disk.coef_[:12], "x", label="from disk")
    axes[0].set_xlabel("column")
    axes[0].set_ylabel("coefficient")
    axes[0].legend()
    axes[1].plot(calm.coef, "o", markersize=9, alpha=0.5, label="two workers")
    axes[1].plot(struck.coef, "x", label="one was killed")
    axes[1].set_xlabel("chosen column")
    axes[1].legend()

    # **Story 14.** The answers are the same; with the killed worker bit for bit:
    assert n_killed == 1
    assert np.array_equal(calm.support, struck.support)
    assert np.array_equal(calm.coef, struck.coef)
    assert np.array_equal(disk.support_, memory.support_)
    assert np.allclose(disk.coef_, memory.coef_, rtol=1e-5)
