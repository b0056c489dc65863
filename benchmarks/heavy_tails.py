"""Does anything help on heavy-tailed columns: ``python benchmarks/heavy_tails.py``, the regression tables of tables.py.

Every variant changes ``SparseRegressorCV()``: predictions clipped to the range of the fitted values, or of y, with a
margin (a share of that range); columns clipped at fit and predict (winsorised) at 8 interquartile ranges beyond the
quartiles, and where that range is 0 but there are more than two values at 8 standard deviations too; columns clipped at
predict only, to their range in the rows that were fitted; the mean with LassoCV's prediction. Numbers are 100 log mean
squared error minus that of the plain fit: negative helps. Every fit is one line of ``--out``/heavy_tails.jsonl: a
stopped run goes on where it was.
"""

import argparse
import os
from pathlib import Path

import numpy as np
from choosers import FOLDS, quiet, read
from resumable import Entry, Key, run
from rich.console import Console
from rich.table import Table
from sklearn.linear_model import LassoCV
from tables import KINDS, error, table

from pursuit import SparseRegressorCV

TIMES = 8.0  # interquartile ranges, or standard deviations
MARGINS = (0.0, 0.1, 0.25, 0.5)
NAMES = [name for name in KINDS["squared"].split() if name != "sleep75"]  # which has an exact fit


def limits(X: np.ndarray, zero_inflated: bool) -> tuple[np.ndarray, np.ndarray]:
    """Between what columns are clipped; X is standardised."""
    low, high = np.percentile(X, [25, 75], axis=0)
    width = high - low
    below, above = (np.where(width > 0, end, np.inf) for end in (TIMES * width - low, TIMES * width + high))
    if zero_inflated:
        odd = (width == 0) & np.array([len(np.unique(column)) > 2 for column in X.T])
        below, above = np.where(odd, TIMES, below), np.where(odd, TIMES, above)
    return -below, above


def around(values: np.ndarray, margin: float) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    return low - margin * (high - low), high + margin * (high - low)


def measure(key: Key) -> Entry:
    name, split = key
    X, y, T, truth = table(name, split)
    model = SparseRegressorCV().fit(X, y)
    plain, fitted = model.predict(T), model.predict(X)
    found = {"plain": plain, "columns to their range": model.predict(np.clip(T, X.min(0), X.max(0)))}
    found |= {f"to fitted + {margin:g}": np.clip(plain, *around(fitted, margin)) for margin in MARGINS}
    found |= {f"to y + {margin:g}": np.clip(plain, *around(y, margin)) for margin in MARGINS}
    entry: Entry = {}
    for title, zero_inflated in (("winsorised", False), ("winsorised, zero-inflated too", True)):
        low, high = limits(X, zero_inflated)
        entry[f"columns {title}"] = beyond = int((np.clip(X, low, high) != X).any(0).sum())
        again = SparseRegressorCV().fit(np.clip(X, low, high), y) if beyond else model
        found[title] = again.predict(np.clip(T, low, high))
    coef, intercept = quiet(lambda X, y: read(LassoCV(cv=FOLDS).fit(X, y)), X, y)
    lasso = T @ coef + intercept
    found |= {"lasso": lasso, "mean with lasso": 0.5 * (plain + lasso)}
    return entry | {title: error("squared", truth, eta) for title, eta in found.items()}


def show(console: Console, entries: dict[Key, Entry], names: list[str]) -> None:
    variants = [
        field for field in next(iter(entries.values())) if field != "key" and not field.startswith("columns win")
    ]
    out = Table(title="100 log mean squared error to the plain fit: mean over sets (standard error over sets), by set")
    for head in ("", "mean", *names):
        out.add_column(head)
    for variant in variants:
        if variant == "plain":
            continue
        by_set = [
            np.mean([entry[variant] - entry["plain"] for (at, _), entry in entries.items() if at == name])
            for name in names
        ]
        mean = f"{np.mean(by_set):+.1f} ({np.std(by_set, ddof=1) / np.sqrt(len(by_set)):.1f})"
        out.add_row(variant, mean, *(f"{value:+.1f}" for value in by_set))
    console.print(out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=4)
    parser.add_argument("--sets", help="these sets only, with commas")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    given = parser.parse_args()
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    console = Console(width=None if Console().is_terminal else 240, highlight=False)
    names = given.sets.split(",") if given.sets else NAMES
    keys: list[Key] = [(name, split) for split in range(given.splits) for name in names]
    entries = run(measure, keys, given.out / "heavy_tails.jsonl", given.jobs, console)
    show(console, entries, [name for name in names if any(at == name for at, _ in entries)])


if __name__ == "__main__":
    main()
