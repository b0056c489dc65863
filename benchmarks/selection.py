"""Does the chosen model predict: ``python benchmarks/selection.py``, the 24 cells of ``cells.py`` or real data.

Errors are in percent: 100 log relative test error (squared), 100 times log loss (others), so that differences of both
are percent. Differences are paired by data set, with their standard errors. Every fit is one line of
``--out``/selection.jsonl, written when it is done: a run that was stopped goes on where it was.
"""

import argparse
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from cells import CELLS, sample
from choosers import choosers, deviance, quiet
from resumable import run
from rich.console import Console
from rich.table import Table

THREE = {"squared": ("lasso", "relaxed lasso", "elastic net"), "logistic": ("l1",), "poisson": ("l1",)}
REAL = {"diabetes": "squared", "california": "squared", "riboflavin": "squared", "breast_cancer": "logistic"}
Key = tuple[str, str, int, int, str]  # loss, cell or real set, seed, turn, chooser
Entry = dict[str, Any]


def real(name: str, seed: int, turn: int) -> tuple[np.ndarray, ...]:
    """Rows to fit and rows to judge; columns standardised by the former."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.preprocessing import PolynomialFeatures

    folder = Path(os.environ.get("PURSUIT_DATA") or Path(__file__).parents[2] / "shared" / "data")
    if name == "breast_cancer":
        X, y = load_breast_cancer(return_X_y=True)
    else:
        stored = {"diabetes": "diabetes_x2", "california": "cal_housing"}.get(name, name)
        with np.load(folder / f"{stored}.npz", allow_pickle=False) as file:
            X, y = np.asarray(file["X"], float), np.asarray(file["y"], float)
    rows = np.random.default_rng([seed, turn]).permutation(len(y))
    fitted = 300 if name == "california" else int(0.75 * len(y))
    train, test = rows[:fitted], rows[fitted:]
    parts = [(part - X[train].mean(0)) / X[train].std(0).clip(1e-12) for part in (X[train], X[test])]
    if name == "california":
        cubic = PolynomialFeatures(3, include_bias=False)
        parts = [cubic.fit_transform(part) for part in parts]
        middle, scale = parts[0].mean(0), parts[0].std(0)
        parts = [(part - middle) / scale for part in parts]
    return parts[0], y[train].astype(float), parts[1], y[test].astype(float)


def measure(key: Key) -> Entry:
    """One fit, judged."""
    loss, where, seed, turn, name = key
    chooser = choosers(loss)[name]
    if where in REAL:
        X, y, X_test, y_test = real(where, seed, turn)
    else:
        data = sample(loss, int(where), seed, turn)
        X, y = data.X, data.y
    began = time.perf_counter()
    coef, intercept = quiet(chooser, X, y)
    spent = time.perf_counter() - began
    entry: Entry = {"seconds": spent, "features": int(np.count_nonzero(coef))}
    if where in REAL:
        return entry | {"error": -100 * deviance(loss, y_test, X_test @ coef + intercept)}
    return entry | {"error": data.error(coef, intercept), "f": data.f_score(coef)}


def wanted(given: argparse.Namespace) -> Iterator[Key]:
    """Turn by turn, so that a stopped run is balanced over the cells."""
    places = [(given.loss, str(cell)) for cell in range(len(CELLS))]
    if given.real:
        places = [(loss, name) for name, loss in REAL.items()]
    for turn in range(given.sets):
        for loss, where in places:
            for name in choosers(loss):
                if not given.only or name in given.only:
                    yield loss, where, given.seed, turn, name


def columns(entries: dict[Key, Entry], field: str) -> dict[str, dict[tuple[str, int], float]]:
    """By chooser: the field by (place, turn)."""
    found: dict[str, dict[tuple[str, int], float]] = {}
    for (_, where, _, turn, name), entry in entries.items():
        found.setdefault(name, {})[where, turn] = entry.get(field, np.nan)
    return found


def paired(ours: dict[tuple[str, int], float], theirs: dict[tuple[str, int], float]) -> str:
    apart = np.array([ours[at] - theirs[at] for at in ours if at in theirs])
    if len(apart) < 2 or not np.isfinite(apart).all():
        return "-"
    return f"{apart.mean():+.2f} ({apart.std(ddof=1) / np.sqrt(len(apart)):.2f})"


def over_cells(name: str, error: dict[str, dict[tuple[str, int], float]], three: tuple[str, ...]) -> tuple[str, str]:
    """The worst cell's error over the best of the three, and in how many cells it is within 5%."""
    places = sorted({where for where, _ in error[name]})
    ratios = []
    for where in places:
        mean = {who: np.mean([value for at, value in error[who].items() if at[0] == where]) for who in {name, *three}}
        ratios.append(np.exp((mean[name] - min(mean[who] for who in three)) / 100))
    return f"{max(ratios):.3f}", f"{sum(ratio <= 1.05 for ratio in ratios)} of {len(ratios)}"


def show(console: Console, entries: dict[Key, Entry], loss: str, title: str) -> None:
    error, features, f, seconds = (columns(entries, name) for name in ("error", "features", "f", "seconds"))
    three = tuple(name for name in THREE[loss] if name in error)
    table = Table(title=title)
    heads = [f"to {name}" for name in three] + [
        "features",
        "F",
        "worst cell",
        "within 5%",
        f"time / {three[0] if three else '-'}",
    ]
    for head in ["percent (standard error)", *heads]:
        table.add_column(head)
    for name in error:
        against = ["" if name == other else paired(error[name], error[other]) for other in three]
        cells = over_cells(name, error, three) if three else ("", "")
        time_ratio = np.sum([*seconds[name].values()]) / np.sum([*seconds[three[0]].values()]) if three else np.nan
        means = f"{np.mean([*features[name].values()]):.1f}", f"{np.mean([*f[name].values()]):.2f}"
        table.add_row(name, *against, *means, *cells, f"{time_ratio:.2f}")
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="two data sets per cell")
    parser.add_argument("--sets", type=int, default=40, help="data sets per cell, or splits of real data (default 40)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="processes (times are honest with one)")
    parser.add_argument("--loss", choices=THREE, default="squared")
    parser.add_argument("--real", action="store_true", help="real data instead of the cells")
    parser.add_argument("--only", action="append", metavar="NAME", help="these choosers only")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    given = parser.parse_args()
    given.sets = min(given.sets, 2) if given.quick else given.sets
    console = Console(width=None if Console().is_terminal else 150, highlight=False)
    entries = run(measure, list(wanted(given)), given.out / "selection.jsonl", given.jobs, console)
    if not given.real:
        title = f"{given.loss}: {len(CELLS)} cells, {given.sets} data sets each, seed {given.seed}"
        show(console, entries, given.loss, title)
        return
    for name, loss in REAL.items():
        part = {key: entry for key, entry in entries.items() if key[1] == name}
        if part:
            show(console, part, loss, f"{name}: {given.sets} splits, minus 100 {'R2' if loss == 'squared' else 'D2'}")


if __name__ == "__main__":
    main()
