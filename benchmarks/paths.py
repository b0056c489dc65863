"""Paths and cross-validation side by side with abess and scikit-learn, one thread each: part of ``make bench``.

Contenders take turns and the fastest turn counts. abess's values are those of supports that it finds in a search of one
size alone, at some sizes (it keeps none of its path), recomputed by one neutral function. The floor of a linear path is
one pass over X and the flops of the Gram columns of all supports on the path, at the speed of a square dgemm.
"""

import argparse
import os
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from floor import best_of, gemm_speed
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.linear_model import LassoCV, LinearRegression
from sklearn.model_selection import cross_val_score

import pursuit
from problems import Data, Problem, objective

LINEAR = {
    "500x1000, k=1..20": (Problem("linear", 500, 1000, 10, "small"), 3),
    "1000x5000, k=1..100": (Problem("linear", 1000, 5000, 50, "middle"), 20),
    "2000x10000, k=1..200": (Problem("linear", 2000, 10000, 100, "large"), 20),
    "500x50000, k=1..40": (Problem("linear", 500, 50000, 20, "large"), 10),
}
LOGISTIC = Problem("logistic", 1000, 5000, 30, "middle")
EQUAL = 1e-6  # of the value without features
FLOOR = 4  # multiple of the floor that is wanted at most


@dataclass
class Line:
    """One row: seconds of ours and theirs, the ratio wanted, and what is to be said."""

    what: str
    ours: float
    theirs: float
    wanted: float
    note: str

    def shown(self) -> tuple[str, ...]:
        ratio = self.theirs / self.ours
        met = "met" if ratio >= self.wanted else "NOT MET"
        return self.what, f"{self.ours:.4f}", f"{self.theirs:.3f}", f"{ratio:.1f}", f"{self.wanted:g}", met, self.note


def race(ours: Callable[[], Any], theirs: Callable[[], Any], turns: int) -> tuple[float, float]:
    """Best seconds of both, in turns; the faster one has three calls in each."""
    mine = other = np.inf
    for _ in range(turns):
        mine = min(mine, best_of(ours, 3, 1.0))
        other = min(other, best_of(theirs, 1, 0.0))
    return mine, other


def abess(kind: str, **options: Any) -> Any:
    from abess import LinearRegression as Linear
    from abess import LogisticRegression as Logistic

    return (Linear if kind == "linear" else Logistic)(thread=1, **options)


def worst(problem: Problem, data: Data, path: pursuit.Path, ks: list[int]) -> str:
    """The largest excess of our value over abess's, at a few sizes."""
    excess = []
    for k in ks:
        theirs = np.flatnonzero(abess(problem.kind, support_size=k).fit(data.X, data.y).coef_)
        best = objective(problem.kind, data, theirs)
        excess.append(objective(problem.kind, data, path.at(k).support) / best - 1)
    return f"value {100 * min(excess):+.2f}% to {100 * max(excess):+.2f}% at k={', '.join(map(str, ks))}"


def path_line(name: str, problem: Problem, wanted: float, turns: int, values: bool) -> Line:
    data, ks = problem.make(0), range(1, 2 * problem.k + 1)
    loss = "squared" if problem.kind == "linear" else "logistic"

    def ours() -> pursuit.Path:
        return pursuit.path(pursuit.GLM(data.X, data.y, loss), ks)

    mine, other = race(ours, lambda: abess(problem.kind, support_size=ks).fit(data.X, data.y), turns)
    path, notes = ours(), []
    if values:
        notes.append(worst(problem, data, path, [1, problem.k // 2, problem.k, 3 * problem.k // 2, 2 * problem.k]))
    if problem.kind == "linear":
        n, p = data.X.shape
        once = best_of(lambda: data.X.T @ data.y, 20, 0.5)
        floor = once + 2 * n * p * len(path.columns) / gemm_speed()
        notes.append(f"{mine / floor:.1f} floors of {1e3 * floor:.1f} ms{'' if mine <= FLOOR * floor else ' NOT MET'}")
    return Line(f"{problem.kind} path {name}", mine, other, wanted, "; ".join(notes))


def cv_lines(turns: int) -> list[Line]:
    lines, (X, y) = [], load_breast_cancer(return_X_y=True)
    plain = {"combine": "none", "l2": 1e-3, "gamma": 1.0, "cv": 5, "n_jobs": 1}
    pair = race(
        lambda: pursuit.SparseClassifierCV(range(1, 16), **plain).fit(X, y),
        lambda: abess("logistic", support_size=range(1, 16), cv=5).fit(X, y),
        turns,
    )
    lines.append(Line("breast cancer, 5 folds, k=1..15", *pair, 5, "abess"))
    data = Problem("linear", 1000, 5000, 25, "middle").make(0)
    plain["l2"] = 0.0
    pair = race(
        lambda: pursuit.SparseRegressorCV(range(1, 51), **plain).fit(data.X, data.y),
        lambda: abess("linear", support_size=range(1, 51), cv=5).fit(data.X, data.y),
        turns,
    )
    lines.append(Line("1000x5000, 5 folds, k=1..50", *pair, 10, "abess"))
    small = Problem("linear", 100, 1000, 10, "small").make(0)
    pair = race(
        lambda: pursuit.SparseRegressorCV(n_jobs=1).fit(small.X, small.y),
        lambda: LassoCV(cv=10).fit(small.X, small.y),
        turns,
    )
    lines.append(Line("100x1000, the default choice", *pair, 1, "LassoCV, 10 folds"))
    return lines


def forward_line() -> Line:
    """The job of SequentialFeatureSelector: 20 of 1000 columns, by 5-fold cross-validation."""
    data = Problem("linear", 1000, 1000, 20, "small").make(0)
    selector = SequentialFeatureSelector(LinearRegression(), n_features_to_select=20, cv=5)
    mine = best_of(lambda: pursuit.SparseRegressor(20, n_jobs=1).fit(data.X, data.y), 5, 2.0)
    other = best_of(lambda: selector.fit(data.X, data.y), 1, 0.0)
    ours = pursuit.SparseRegressor(20).fit(data.X, data.y).support_
    scores = [
        cross_val_score(LinearRegression(), data.X[:, cols], data.y, cv=5).mean()
        for cols in (ours, np.flatnonzero(selector.get_support()))
    ]
    return Line(
        "1000x1000, 20 features", mine, other, 50, f"SequentialFeatureSelector; R2 {scores[0]:.4f}, {scores[1]:.4f}"
    )


def against_solve(problems: int, seed: int) -> str:
    """How often a path's value is above that of ``solve``, on linear problems with p <= 300 of all kinds."""
    rng, worse, total = np.random.default_rng(seed), 0, 0
    for _ in range(problems):
        n, p, rho = int(rng.integers(40, 160)), int(rng.integers(20, 300)), rng.choice([0, 0.5, 0.9])
        X = rng.standard_normal((n, p))
        for j in range(1, p):
            X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
        true = rng.choice(p, int(rng.integers(1, 15)), replace=False)
        signal = X[:, true] @ rng.standard_normal(len(true))
        y = signal + rng.standard_normal(n) * np.sqrt(signal.var() / rng.choice([0.5, 1, 5, 20]))
        settings = {"standardize": True, "l2": float(rng.choice([0, 0, 0.1]))}
        X *= 10.0 ** rng.integers(-3, 4, p)
        path = pursuit.path(pursuit.GLM(X, y, **settings), range(1, min(p, n // 3, 15) + 1))
        for k in path.ks:
            alone = pursuit.solve(pursuit.GLM(X, y, **settings), int(k)).value
            worse, total = worse + (path.at(int(k)).value > alone * (1 + 1e-9)), total + 1
    return f"{problems} problems, p <= 300: a path is worse than solve at {worse} of {total} sizes (1% allowed)"


def loss_tables() -> None:
    """Print paths of real tables with two classes or counts next to the supports of abess, sizes up to 10.

    Values are refits of both supports by one objective, in units of the value without features above its
    floor; processor seconds.
    """
    from abess import LogisticRegression as Logistic
    from abess import PoissonRegression as Poisson
    from search_tables import data_file

    total, better, equal, worse = np.zeros(2), 0, 0, 0
    with np.load(data_file(), allow_pickle=False) as file:
        for name in sorted({entry.split("/")[0] for entry in file.files}):
            X, y, kind = (file[f"{name}/{part}"] for part in ("X", "y", "kind"))
            classes = np.unique(y)
            if str(kind) not in "cn" or (str(kind) == "c" and len(classes) != 2):
                continue
            X = np.ascontiguousarray(X, dtype=float)
            loss, peer = ("logistic", Logistic) if str(kind) == "c" else ("poisson", Poisson)
            y = (y == classes[1]).astype(float) if loss == "logistic" else y.astype(float)
            ks, seconds = range(1, min(10, X.shape[1] - 1) + 1), np.full(2, np.inf)
            calls = (
                lambda X=X, y=y, loss=loss, ks=ks: pursuit.path(pursuit.GLM(X, y, loss, standardize=True), ks),
                lambda X=X, y=y, peer=peer, ks=ks: peer(thread=1, support_size=ks).fit(X, y),
            )
            for _ in range(3):
                for i, call in enumerate(calls):
                    began = time.process_time()
                    call()
                    seconds[i] = min(seconds[i], time.process_time() - began)
            f, path = pursuit.GLM(X, y, loss, standardize=True), calls[0]()
            theirs = [f.refit(np.flatnonzero(peer(thread=1, support_size=k).fit(X, y).coef_)).value for k in ks]
            excess = (np.array([path.at(k).value for k in ks]) - theirs) / f.height
            better, worse = better + int((excess < -EQUAL).sum()), worse + int((excess > EQUAL).sum())
            equal, total = equal + int((np.abs(excess) <= EQUAL).sum()), total + seconds
            print(
                f"{name:12} {loss:9} {len(y)}x{X.shape[1]}: {1e3 * seconds[0]:.1f} ms, abess {1e3 * seconds[1]:.1f};"
                f" value {excess.min():+.1e} to {excess.max():+.1e}"
            )
    print(f"{better} sizes better than abess, {equal} equal, {worse} worse; {total[0]:.2f} s, abess {total[1]:.2f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="the small problems, one turn each")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--forward", action="store_true", help="also SequentialFeatureSelector (minutes)")
    parser.add_argument("--solve", type=int, metavar="N", help="only compare paths with solve, on N problems")
    parser.add_argument("--losses", action="store_true", help="only real tables with classes or counts")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    if args.losses:
        warnings.simplefilter("ignore")
        return loss_tables()
    if args.solve:
        print(against_solve(args.solve, args.seed))
        return
    warnings.simplefilter("ignore")
    turns = 1 if args.quick else args.turns
    lines = []
    for name, (problem, wanted) in LINEAR.items():
        if problem.size == "small" or not args.quick:
            lines.append(path_line(name, problem, wanted, turns, not args.quick))
    if not args.quick:
        lines.append(path_line("1000x5000, k=1..60", LOGISTIC, 10, turns, True))
        lines += cv_lines(turns)
    if args.forward:
        lines.append(forward_line())
    columns = ("", "pursuit s", "other s", "ratio", "wanted", "", "")
    table = Table(*columns, title="Paths and the choice of k, one thread each", title_justify="left")
    for line in lines:
        table.add_row(*line.shown())
    console = Console(width=None if Console().is_terminal else 170, highlight=False)
    console.print(table)


if __name__ == "__main__":
    main()
