"""Graphs: times of refits, paths and cross-validation, brute force, and what scikit-learn cannot do.

``python benchmarks/graphs.py [refits|paths|large|cv|brute|hard ...]``, next to what issue 12 asks for. One thread, but
for ``cv``, which everybody runs on all (GraphicalLassoCV: one grid of 20 penalties, no refinement). The fastest of some
calls counts. Written to ``--out``/graphs.json.
"""

import argparse
import json
import os
import resource
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.covariance import GraphicalLasso, GraphicalLassoCV

import pursuit
from pursuit.engines import available_threads, threads
from pursuit.kernels.graph import graph_path
from pursuit.refits.graph import graph_refit
from pursuit_experiments.grahtp.precision import sample

Row = tuple[str, str, str, str]  # what, what was measured, what is wanted, whether it was met


def best(call: Callable[[], Any], turns: int = 3) -> float:
    seconds = []
    for _ in range(turns):
        began = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - began)
    return min(seconds)


def timed(what: str, seconds: float, most: float) -> Row:
    return what, f"{seconds:.4g} s", f"below {most:g} s", "met" if seconds < most else "NOT MET"


def chain(p: int, n: int, seed: int = 0, degree: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Rows of a sparse random graph, and their correlation matrix."""
    rng = np.random.default_rng(seed)
    W = np.zeros((p, p))
    for _ in range(degree * p // 2):
        i, j = rng.choice(p, 2, replace=False)
        W[i, j] = W[j, i] = rng.choice((-1, 1)) * rng.uniform(0.2, 0.5)
    W += np.diag(np.abs(W).sum(axis=1) + 0.3)
    X = np.linalg.solve(np.linalg.cholesky(W).T, rng.standard_normal((p, n))).T
    return X, np.corrcoef(X.T)


def refits() -> Iterator[Row]:
    for p, n, k, most in ((200, 400, 1000, 0.012), (1000, 1500, 2000, 0.8), (1000, 1500, 10000, 0.8)):
        _, R = chain(p, n)
        strongest = np.argsort(-np.abs(np.triu(R, 1)), axis=None)[:k]
        edges = np.stack(np.divmod(np.sort(strongest), p), axis=1)
        with threads(1):
            fit = graph_refit(R, edges, tol=1e-9)
            seconds = best(lambda: graph_refit(R, edges, tol=1e-9))  # noqa: B023
        gap = np.inf if fit is None else float(np.abs((np.linalg.inv(fit.W) - R)[tuple(edges.T)]).max())
        yield timed(f"refit p={p}, {k} edges, inverse within {gap:.0e}", seconds, most)


def paths() -> Iterator[Row]:
    for p, top, most in ((60, 300, 0.06), (200, 1000, 0.7)):
        part = sample(p, 0, 0)[1]
        f = pursuit.LogDet(part.train, n_samples=100)
        sizes = np.unique(np.linspace(top / 20, top, 20).astype(int))
        with threads(1):
            yield timed(f"path p={p}, 20 sizes to {top}", best(lambda: graph_path(f.R, sizes)), most)  # noqa: B023


def large() -> Iterator[Row]:
    X, _ = chain(1000, 500, degree=4)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.perf_counter()
    with threads(1):
        model = pursuit.SparsePrecision(n_edges=2000).fit(X)
    seconds = time.perf_counter() - began
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    yield timed(f"SparsePrecision p=1000, n=500, {model.n_edges_} edges", seconds, 10)
    yield "its memory", f"{grown:.0f} MB", "below 400 MB", "met" if grown < 400 else "NOT MET"


def cv() -> Iterator[Row]:
    for p, fixed, tuned in ((60, 20.0, 4.0), (200, 12.0, 2.0)):
        omega = sample(p, 1, 0)[0]
        rng = np.random.default_rng(1)
        X = np.linalg.solve(np.linalg.cholesky(omega).T, rng.standard_normal((p, 100))).T
        sizes = np.unique(np.linspace(p / 4, 5 * p, 20).astype(int)).tolist()
        turns = 3 if p < 100 else 1

        def lasso() -> None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                GraphicalLassoCV(alphas=20, cv=5, n_refinements=1, n_jobs=available_threads()).fit(X)  # noqa: B023

        theirs = best(lasso, turns)
        for name, wanted, grid in (
            ("shrinkage fixed", fixed, {"shrinkage": 0.2, "l1": 0.0}),
            ("shrinkage of 5 values", tuned, {"shrinkage": [0, 0.1, 0.2, 0.3, 0.5], "l1": 0.0}),
            ("shrinkage and l1 as by default", 1.0, {}),
        ):
            model = pursuit.SparsePrecisionCV(sizes, cv=5, **grid)
            ratio = theirs / best(lambda: model.fit(X), turns)  # noqa: B023
            what = f"CV p={p}, 20 edge counts, {name}: times faster than GraphicalLassoCV ({theirs:.2f} s)"
            yield what, f"{ratio:.1f}", f"{wanted:g}", "met" if ratio >= wanted else "NOT MET"


def brute() -> Iterator[Row]:
    pairs = list(combinations(range(5), 2))
    found = dict.fromkeys((3, 4, 5), 0)
    for seed in range(50):
        rng = np.random.default_rng(seed)
        S = np.cov(rng.standard_normal((30, 5)) @ rng.standard_normal((5, 5)), rowvar=False)
        f = pursuit.LogDet(S, n_samples=30)
        for k in found:
            fits = (graph_refit(f.R, np.array(graph)) for graph in combinations(pairs, k))
            least = min(fit.value for fit in fits if fit is not None)
            found[k] += pursuit.solve(f, k).value - f.units <= least + 1e-8
    for k, times in found.items():
        yield (
            f"brute force p=5, {k} edges, 50 seeds: optimum found",
            f"{times}",
            "48",
            "met" if times >= 48 else "NOT MET",
        )


def hard() -> Iterator[Row]:
    """Where scikit-learn's GraphicalLasso has raised "Non SPD result", or has no answer."""
    rng = np.random.default_rng(0)
    base = rng.standard_normal((50, 20))
    factors = rng.standard_normal((800, 5)) @ rng.standard_normal((5, 200)) + 0.1 * rng.standard_normal((800, 200))
    cases = {
        "collinear columns": (np.hstack([base, base[:, :5]]), 0.001, 30),
        "nearly so": (np.hstack([base, base[:, :5] + 1e-9 * rng.standard_normal((50, 5))]), 0.001, 30),
        "n < p": (rng.standard_normal((10, 40)), 0.01, 60),
        "p=200, n=800, five factors": (factors / factors.std(axis=0), 0.05, 400),
        "cliques above the rank": (rng.standard_normal((5, 12)), 0.001, 60),
    }
    for name, (X, alpha, k) in cases.items():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                GraphicalLasso(alpha).fit(X)
            theirs = "answers"
        except Exception as error:  # whatever it is, it is reported
            theirs = f"{type(error).__name__}: {str(error).splitlines()[0][:14]}"
        models = pursuit.SparsePrecision(k, time_limit=5), pursuit.SparsePrecisionCV([k // 2, k], cv=3)
        fits = [model.fit(X) for model in models]
        least = min(float(np.linalg.eigvalsh(fit.precision_)[0]) for fit in fits)
        sound = least > 0 and all(np.array_equal(fit.precision_, fit.precision_.T) for fit in fits)
        yield (
            f"{name} (GraphicalLasso: {theirs})",
            f"least eigenvalue {least:.1e}",
            "positive",
            "met" if sound else "NOT MET",
        )


PARTS = {"refits": refits, "paths": paths, "large": large, "cv": cv, "brute": brute, "hard": hard}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="part", help=", ".join(PARTS), default=list(PARTS))
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    given = parser.parse_args()
    unknown = set(given.parts) - set(PARTS)
    if unknown:
        sys.exit(f"unknown: {', '.join(unknown)}; there are {', '.join(PARTS)}")
    rows = []
    table = Table(title=f"graphs, load before the run {os.getloadavg()[0]:.1f}")
    for name in ("what", "measured", "wanted", ""):
        table.add_column(name)
    for part in given.parts:
        for row in PARTS[part]():
            rows.append(row)
            table.add_row(*row)
    Console().print(table)
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / "graphs.json").write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
