"""``auto`` on small data: its time next to abess's, and whether anything beats it.

    .venv/bin/python benchmarks/auto.py [--problems 300] [--long] [--seed 0]

Times are the best of many calls that take turns, one thread each; ours include building the objective. Problems are
drawn afresh from ``--seed``: correlated, wide, binary, badly scaled and nearly separable ones among them. The four
parts of ``auto`` (grahtp, omp, ompr, local_search) and, where l2 = 0, abess are judged by the same refits. ``--long``
compares with 400 restarts as well.
"""

import argparse
import os

os.environ["OMP_NUM_THREADS"] = "1"

import time
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.special import expit
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.preprocessing import PolynomialFeatures

from pursuit import GLM, MultiGLM, SparseClassifier, SparseRegressor, solve
from pursuit.solvers import Auto

PARTS = ("grahtp", "omp", "ompr", "local_search")
LOSSES = ("logistic", "poisson", "multinomial", "squared", "huber", "smoothed_hinge", "squared_hinge")
TURNS = 40


def objective(loss: str, X: np.ndarray, y: np.ndarray, **options: Any) -> Any:
    return MultiGLM(X, y, **options) if loss == "multinomial" else GLM(X, y.astype(float), loss, **options)


def peer(loss: str, k: int) -> Any:
    import abess

    kinds = {
        "squared": abess.LinearRegression,
        "logistic": abess.LogisticRegression,
        "poisson": abess.PoissonRegression,
        "multinomial": abess.MultinomialRegression,
    }
    return kinds[loss](support_size=[k], thread=1)


def value_of(f: Any, model: Any) -> float:
    """The objective on the support that a peer found."""
    coef = np.asarray(model.coef_)
    columns = np.flatnonzero(coef if coef.ndim == 1 else np.abs(coef).sum(axis=1))
    width = getattr(f, "width", 1)
    return float(f.refit((columns[:, None] * width + np.arange(width)).ravel()).value)


def best_of(*calls: Callable[[], Any]) -> list[float]:
    """Seconds of the fastest of many turns of each."""
    fastest = [np.inf] * len(calls)
    for _ in range(TURNS):
        for i, call in enumerate(calls):
            began = time.perf_counter()
            call()
            fastest[i] = min(fastest[i], time.perf_counter() - began)
    return fastest


def timed() -> Table:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 20))
    eta = X[:, :3] @ np.array([1.0, -1.0, 0.7])
    diabetes, target = load_diabetes(return_X_y=True)
    squares = PolynomialFeatures(2, include_bias=False).fit_transform(diabetes)[:, :64]
    cases = [
        ("logistic 569x30", "logistic", *load_breast_cancer(return_X_y=True), 10),
        ("multinomial iris", "multinomial", *load_iris(return_X_y=True), 2),
        ("multinomial 100x20", "multinomial", X, np.digitize(eta + rng.logistic(size=100), [-1, 1]), 3),
        ("poisson 100x20", "poisson", X, rng.poisson(np.exp(0.5 * eta)), 3),
        ("squared 442x64", "squared", squares, target, 10),
        ("squared 100x20", "squared", X, eta + rng.standard_normal(100), 3),
    ]
    table = Table("problem", "k", "auto ms", "abess ms", "ratio", "estimator ms", "value", "abess's", title="Time")
    for name, loss, A, y, k in cases:
        kind = SparseClassifier if loss in ("logistic", "multinomial") else SparseRegressor
        options = {} if kind is SparseClassifier else {"loss": loss}
        ours, theirs, whole = best_of(
            lambda A=A, y=y, k=k, loss=loss: solve(objective(loss, A, y), k),
            lambda A=A, y=y, k=k, loss=loss: peer(loss, k).fit(A, y),
            lambda A=A, y=y, k=k, kind=kind, options=options: kind(k, l2=0, **options).fit(A, y),
        )
        f = objective(loss, A, y)
        values = solve(f, k).value, value_of(f, peer(loss, k).fit(A, y))
        shown = [f"{1e3 * s:.2f}" for s in (ours, theirs)] + [f"{ours / theirs:.2f}", f"{1e3 * whole:.2f}"]
        table.add_row(name, str(k), *shown, *(f"{v:.6g}" for v in values))
    return table


def draw(rng: np.random.Generator, loss: str) -> tuple[np.ndarray, np.ndarray, int, dict[str, Any]]:
    n, p = int(rng.choice([40, 60, 100, 200, 400])), int(rng.choice([10, 20, 40, 100]))
    k, rho, size = int(rng.integers(2, min(10, p // 2) + 1)), rng.choice([0.0, 0.5, 0.9]), rng.choice([0.5, 1, 3, 8])
    X = rng.standard_normal((n, p))
    for j in range(1, p):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    if rng.random() < 0.3:
        X = X * np.exp(rng.normal(0, 1.5, p))
    if rng.random() < 0.3:
        X = (X > 0.5).astype(float)
    true = rng.choice(p, k, replace=False)
    outputs = int(rng.integers(3, 5)) if loss == "multinomial" else 1
    eta = X[:, true] @ (rng.choice([-1, 1], (k, outputs)) * rng.uniform(0.5, 1.5, (k, outputs)))
    eta = size * (eta - eta.mean(axis=0)) / (eta.std() + 1e-9)
    if loss == "multinomial":
        y = np.append((eta + rng.gumbel(size=eta.shape)).argmax(axis=1)[outputs:], np.arange(outputs))
    elif loss == "poisson":
        y = rng.poisson(np.exp(np.clip(eta[:, 0] / 2, -5, 4)))
    elif loss in ("squared", "huber"):
        y = eta[:, 0] + rng.standard_t(3, n)
    else:
        y = np.append((rng.random(n) < expit(eta[:, 0]))[2:], [False, True])
    ridge = 0.0 if rng.random() < 0.6 else 10 ** rng.uniform(-4, -1)
    return X, y, k, {"l2": ridge, "standardize": bool(rng.random() < 0.5)}


def judged(loss: str, seed: int, long: bool) -> Counter[str]:
    X, y, k, options = draw(np.random.default_rng([seed, LOSSES.index(loss)]), loss)
    f, tally = objective(loss, X, y, **options), Counter(problems=1)
    ours = solve(f, k)
    tally[ours.optimality] += 1

    def beaten(value: float) -> bool:
        return ours.value > max(value + 1e-9 * f.scale(value), f.floor)

    parts = min(solve(f, k, solver=name).value for name in PARTS)
    tally["worse than a part"] += beaten(parts)
    tally["by over 1%"] += beaten(parts) and ours.value > parts + 0.01 * f.scale(parts)
    if options["l2"] == 0 and loss in LOSSES[:4]:
        try:
            value = value_of(f, peer(loss, k).fit(X, y))
        except Exception:  # it raises on some of these data
            tally["abess failed"] += 1
        else:
            tally["abess ran"] += 1
            tally["abess better"] += beaten(value)
            tally["abess worse"] += value > ours.value + 1e-9 * f.scale(value)
    if long:
        tally["not the best known"] += beaten(solve(f, k, solver=Auto(restarts=400), random_state=1).value)
    return tally


def quality(problems: int, seed: int, long: bool) -> Table:
    tallied = [
        "problems",
        "worse than a part",
        "by over 1%",
        "abess ran",
        "abess better",
        "abess worse",
        "abess failed",
        "swap_optimal",
        *(["not the best known"] if long else []),
    ]
    table = Table("loss", *tallied, title="Quality")
    for loss in LOSSES:
        tally = sum((judged(loss, seed * 10**6 + i, long) for i in range(problems)), Counter[str]())
        table.add_row(loss, *(str(tally[word]) for word in tallied))
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=300, help="for each loss")
    parser.add_argument("--long", action="store_true", help="compare with 400 restarts too")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    screen = Console(width=160)
    screen.print(timed())
    screen.print(quality(options.problems, options.seed, options.long))


if __name__ == "__main__":
    main()
