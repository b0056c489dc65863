"""``auto`` next to abess's MultiTaskRegression for several responses: ``python benchmarks/search_responses.py``.

Random problems of 500 x 1000, q = 5, k = 10 (every fifth one) and smaller, with independent and correlated columns: for
each ``solve`` at one size and ``path`` over k = 1..20, next to abess at the same sizes. Values are refits on supports,
in units of the value without columns. Seconds are processor time on one thread, contenders in turns, the fastest turn
counts; ours include building the objective. One line for each problem.
"""

import argparse
import os
import warnings
from collections.abc import Callable
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
from search_tables import take_turns

from pursuit import GLM, path, solve

SIZES = range(1, 21)
EQUAL = 1e-9  # of the null value


def draw(seed: int) -> tuple[np.ndarray, np.ndarray, int]:
    """X, responses and k."""
    rng = np.random.default_rng([seed, 26])
    if seed % 5 == 0:
        n, p, q, k = 500, 1000, 5, 10
    else:
        n, p, q = int(rng.integers(60, 400)), int(rng.integers(25, 300)), int(rng.integers(2, 7))
        k = int(rng.integers(2, 13))
    X = rng.standard_normal((n, p))
    if seed % 3 == 1:
        X += rng.uniform(0.5, 2) * rng.standard_normal((n, 2)) @ rng.standard_normal((2, p))
    elif seed % 3 == 2:
        for j in range(1, p):
            X[:, j] = 0.7 * X[:, j - 1] + np.sqrt(1 - 0.7**2) * X[:, j]
    signal = X[:, rng.choice(p, k, replace=False)] @ rng.standard_normal((k, q))
    return X, signal + rng.uniform(0.5, 2) * signal.std() * rng.standard_normal((n, q)), k


def chosen(coef: np.ndarray) -> np.ndarray:
    return np.flatnonzero(np.abs(coef).sum(axis=1))


def contenders(X: np.ndarray, Y: np.ndarray, k: int, sizes: range) -> dict[str, Callable[[], Any]]:
    """Supports at one size, and at every size of a path."""
    from abess import MultiTaskRegression

    def fit(size: Any) -> Any:
        return MultiTaskRegression(support_size=size, thread=1).fit(X, Y)

    return {
        "auto": lambda: solve(GLM(X, Y), k),
        "abess": lambda: chosen(fit(k).coef_),
        "path": lambda: path(GLM(X, Y), sizes),
        "abess path": lambda: fit(list(sizes)),
    }


def value(f: GLM, columns: Any) -> float:
    """The least value on some columns."""
    columns = np.asarray(columns, dtype=np.int64)
    return f.refit_on_data(f.coordinates(columns)).value if len(columns) else f.null.value


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0, help="the first one")
    parser.add_argument("--turns", type=int, default=1)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    worse = better = path_worse = sizes_worse = 0
    total = dict.fromkeys(("auto", "abess", "path", "abess path"), 0.0)
    from abess import MultiTaskRegression

    for seed in range(args.seed, args.seed + args.problems):
        X, Y, k = draw(seed)
        f, sizes = GLM(X, Y), range(1, min(SIZES.stop, X.shape[1]))
        seconds, found = take_turns(contenders(X, Y, k, sizes), args.turns)
        room = EQUAL * f.null.value
        ours, theirs = found["auto"].value, value(f, found["abess"])
        worse, better = worse + (ours > theirs + room), better + (ours < theirs - room)
        wrong = []
        for at in found["path"]:  # abess keeps one size of its path: the others are fitted apart
            support = chosen(MultiTaskRegression(support_size=at.k, thread=1).fit(X, Y).coef_)
            if at.value > value(f, support) + room:
                wrong.append(at.k)
        path_worse, sizes_worse = path_worse + bool(wrong), sizes_worse + len(wrong)
        for name, one in seconds.items():
            total[name] += one
        times = ", ".join(f"{name} {1e3 * one:.1f}" for name, one in seconds.items())
        values = f"auto, abess {ours / f.null.value:.6f}, {theirs / f.null.value:.6f}; {found['auto'].optimality}"
        case = f"seed {seed} {X.shape[0]}x{X.shape[1]} q={Y.shape[1]} k={k}"
        print(f"{case}: {values}; path worse at {wrong or 'no size'}; ms {times}", flush=True)
    times = ", ".join(f"{name} {one:.2f}" for name, one in total.items())
    print(
        f"{args.problems} problems: worse than abess in {worse}, better in {better}; paths worse in {path_worse} "
        f"({sizes_worse} sizes); seconds {times}"
    )


if __name__ == "__main__":
    main()
