"""Processor time of ``SparseRegressorCV()`` next to LassoCV's: ``python benchmarks/choice_time.py``.

One thread; the two alternate, and the best of ``--repeats`` counts, on several data sets of each shape. Set
OMP_NUM_THREADS=1 and OPENBLAS_NUM_THREADS=1 for the process, since libraries read them when they are loaded.
"""

import argparse
import os
import time

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import numpy as np
from choosers import FOLDS, quiet
from sklearn.linear_model import LassoCV

from pursuit import SparseRegressorCV

SHAPES = ((800, 50, 8), (100, 1000, 8))  # rows, columns, features that matter


def data(n: int, p: int, s: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Independent columns, a signal-to-noise ratio of 1."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    return X, X[:, :s].sum(axis=1) + np.sqrt(s) * rng.standard_normal(n)


def seconds(model: object, X: np.ndarray, y: np.ndarray) -> float:
    began = time.process_time()
    quiet(model.fit, X, y)
    return time.process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=8)
    parser.add_argument("--sets", type=int, default=3)
    given = parser.parse_args()
    for n, p, s in SHAPES:
        for seed in range(given.sets):
            X, y = data(n, p, s, seed)
            spent = [
                (seconds(SparseRegressorCV(n_jobs=1), X, y), seconds(LassoCV(cv=FOLDS), X, y))
                for _ in range(given.repeats)
            ]
            ours, theirs = np.min(spent, axis=0)
            print(f"{n} x {p}, seed {seed}: pursuit {ours:.3f} s, LassoCV {theirs:.3f} s, ratio {ours / theirs:.2f}")


if __name__ == "__main__":
    main()
