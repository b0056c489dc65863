"""``auto`` next to abess for several classes: ``python benchmarks/search_several_classes.py [--fresh 100]``.

Real tables with more than two classes (tables.npz, columns as in the file), k = 1..10; with ``--fresh`` random problems
instead, k as drawn, for ``--loss`` logistic and poisson too. Of these the best known value is the least of ``auto``,
abess and a thorough search of ``--seconds``. Seconds are processor time on one thread, contenders in turns, the fastest
turn counts; ours include building the objective. Values are refits on the supports, in units of the value without
features. One line for each case.
"""

import argparse
import os
import warnings
from collections.abc import Callable, Iterator
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
from search_tables import data_file, take_turns

from pursuit import GLM, solve
from pursuit.objectives.multi import MultiGLM

SIZES = range(1, 11)
LOSSES = ("multinomial", "logistic", "poisson")
EQUAL = 1e-6  # of the null value


def tables() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Name, X and classes of the tables with more than two classes."""
    with np.load(data_file(), allow_pickle=False) as file:
        for name in sorted({entry.split("/")[0] for entry in file.files}):
            y = np.unique(file[f"{name}/y"], return_inverse=True)[1]
            if str(file[f"{name}/kind"]) == "c" and y.max() > 1:
                yield name, np.ascontiguousarray(file[f"{name}/X"], dtype=float), y


def draw(seed: int, loss: str = "multinomial") -> tuple[np.ndarray, np.ndarray, int]:
    """X, targets and k: independent, correlated or rare binary columns in turn."""
    rng = np.random.default_rng([seed, 25])
    n, p, classes = int(rng.integers(80, 400)), int(rng.integers(20, 200)), int(rng.integers(3, 6))
    X = rng.standard_normal((n, p))
    if seed % 3 == 1:
        X += rng.uniform(0.5, 2) * rng.standard_normal((n, 2)) @ rng.standard_normal((2, p))
    elif seed % 3 == 2:
        X = (rng.uniform(0, 2, p) < X).astype(float)
    truth = int(rng.integers(2, 9))
    classes = classes if loss == "multinomial" else 2
    weights = rng.uniform(0.5, 2) * rng.standard_normal((truth, classes))
    score = X[:, rng.choice(p, truth, replace=False)] @ weights
    if loss == "poisson":
        y = rng.poisson(np.exp(score[:, 0] / max(1.0, 0.7 * score[:, 0].std()))).astype(float)
    else:
        y = np.unique((score + rng.gumbel(size=(n, classes))).argmax(axis=1), return_inverse=True)[1]
    X = X[:, np.ptp(X, axis=0) > 0]  # abess takes no constant columns
    return X, y, max(1, round(truth * 2 ** rng.uniform(-1, 1)))


def objective(loss: str, X: np.ndarray, y: np.ndarray) -> Any:
    return MultiGLM(X, y) if loss == "multinomial" else GLM(X, y.astype(float), loss)


def contenders(loss: str, X: np.ndarray, y: np.ndarray, k: int) -> dict[str, Callable[[], Any]]:
    """``solve`` on a fresh objective, and the columns of abess at one size."""
    import abess

    kind = getattr(abess, f"{loss.capitalize()}Regression")

    def columns() -> np.ndarray:
        coef = kind(support_size=k, thread=1).fit(X, y).coef_
        return np.flatnonzero(np.abs(coef.reshape(X.shape[1], -1)).sum(axis=1))

    return {"auto": lambda: solve(objective(loss, X, y), k), "abess": columns}


def value(f: Any, columns: Any) -> float:
    """The least value on some columns."""
    columns = np.asarray(columns, dtype=np.int64)
    return f.refit((columns[:, None] * f.width + np.arange(f.width)).ravel()).value


def _thorough(loss: str, X: np.ndarray, y: np.ndarray, k: int, seconds: float) -> float:
    return solve(objective(loss, X, y), k, effort="thorough", time_limit=seconds, random_state=1).value


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fresh", type=int, default=0, help="random problems")
    parser.add_argument("--seed", type=int, default=1000, help="first seed of these")
    parser.add_argument("--seconds", type=float, default=5.0, help="of a thorough search")
    parser.add_argument(
        "--loss", choices=["multinomial", "logistic", "poisson"], default="multinomial", help="of these"
    )
    parser.add_argument("--turns", type=int, default=1)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    loss = args.loss if args.fresh else "multinomial"
    cases = [] if args.fresh else [(name, X, y, k) for name, X, y in tables() for k in SIZES if k < X.shape[1]]
    cases += [(f"seed {seed}", *draw(seed, args.loss)) for seed in range(args.seed, args.seed + args.fresh)]
    worse, ours, theirs, at_best = 0, 0.0, 0.0, 0
    for name, X, y, k in cases:
        f = objective(loss, X, y)
        seconds, found = take_turns(contenders(loss, X, y, k), args.turns)
        values = [value(f, found["auto"].support), value(f, found["abess"])]
        best = min(values)
        if args.fresh:
            best = min(best, _thorough(loss, X, y, k, args.seconds))
        scale = abs(f.null.value)
        worse += values[0] > values[1] + EQUAL * scale
        at_best += values[0] <= best + EQUAL * scale
        ours, theirs = ours + seconds["auto"], theirs + seconds["abess"]
        shares = ", ".join(f"{one / scale:.6f}" for one in (*values, best))
        times = ", ".join(f"{1e3 * one:.1f}" for one in seconds.values())
        print(
            f"{name} {X.shape[0]}x{X.shape[1]} k={k}: auto, abess, best {shares}; ms {times}; "
            f"{found['auto'].optimality}",
            flush=True,
        )
    print(
        f"{len(cases)} cases: worse than abess in {worse}, at the best known in {at_best}, total time {ours:.2f} s "
        f"for {theirs:.2f} s: {ours / max(theirs, 1e-9):.1f} times"
    )


if __name__ == "__main__":
    main()
