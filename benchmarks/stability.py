"""100 half-samples of 100 x 20000, k = 1..10: ``python benchmarks/stability.py``; the same with scikit-learn's LARS.

Processor seconds stand beside wall seconds, since a busy machine stretches the latter. LARS gets ten steps on each
half, one half at a time: it is what one would count with by hand.
"""

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.linear_model import lars_path

from pursuit import SparseRegressor, stability
from pursuit.engines import threads
from pursuit.resampling.split import complementary_halves


def problem(n: int, p: int, k: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """AR(1) columns with rho = 0.5, k coefficients of size 1..2, SNR 5."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    for j in range(1, p):
        X[:, j] = 0.5 * X[:, j - 1] + np.sqrt(0.75) * X[:, j]
    true = np.sort(rng.choice(p, k, replace=False))
    signal = X[:, true] @ (rng.uniform(1, 2, k) * rng.choice([-1.0, 1.0], k))
    return X, signal + rng.standard_normal(n) * signal.std() / np.sqrt(5), true


def timed(run: Callable[[], Any]) -> tuple[Any, float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    found = run()
    return found, time.perf_counter() - wall, time.process_time() - cpu


def lars(X: np.ndarray, y: np.ndarray, pairs: int, k: int) -> np.ndarray:
    """The largest frequency of every column along LARS."""
    counts = np.zeros((k, X.shape[1]))
    with threads(1):
        for rows in complementary_halves(np.arange(len(y)), pairs, 0):
            Z, z = X[rows] - X[rows].mean(axis=0), y[rows] - y[rows].mean()
            _, _, coefs = lars_path(Z / Z.std(axis=0), z, max_iter=k, method="lar")
            counts[: coefs.shape[1] - 1] += (coefs[:, 1:] != 0).T
    return counts.max(axis=0) / (2 * pairs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=50)
    parser.add_argument("--shape", type=int, nargs=2, default=(100, 20000), metavar=("N", "P"))
    options = parser.parse_args()
    X, y, true = problem(*options.shape, 5, seed=0)
    table = Table(
        "", "wall s", "cpu s", "stable", "of these true", title=f"{2 * options.pairs} half-samples, k = 1..10"
    )
    for jobs in (1, 2):
        ask = partial(stability, SparseRegressor(k=10), X, y, n_pairs=options.pairs, random_state=0, n_jobs=jobs)
        run, wall, cpu = timed(ask)
        hits = np.isin(run.stable, true).sum()
        table.add_row(f"pursuit, n_jobs={jobs}", f"{wall:.2f}", f"{cpu:.2f}", str(len(run.stable)), str(hits))
    strength, wall, cpu = timed(lambda: lars(X, y, options.pairs, 10))
    stable = np.flatnonzero(strength >= 0.6)
    table.add_row("LARS", f"{wall:.2f}", f"{cpu:.2f}", str(len(stable)), str(np.isin(stable, true).sum()))
    Console().print(table)


if __name__ == "__main__":
    main()
