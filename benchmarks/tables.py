"""Does the chosen model predict on real tables: ``python benchmarks/tables.py``, 31 of the tables of tables.npz.

Rows are split 4 times into three quarters to fit and a quarter to judge; columns are standardised by the former. Errors
are in percent: 100 log mean squared error (regression), 100 times log loss (classes), 100 times half the mean deviance
(counts), so that differences are percent. A set's difference is the mean over its splits; standard errors are over
sets, and in the rows of single sets over splits. Sets alternate between two halves: constants of the rule may be tuned
on the first, and the second judges. Every fit is one line of ``--out``/tables.jsonl: a stopped run goes on.

Its 1028 fits (with adelie and abess) take 860 processor seconds, two fifths of them the lasso and its kin on
permeability and abess on classes: about 8 minutes on two free cores.
"""

import argparse
import os
import time
from functools import partial
from pathlib import Path

import numpy as np
from choosers import choosers, log_loss, pursuit, quiet
from resumable import Entry, Key, run
from rich.console import Console
from rich.table import Table
from scipy.special import xlogy

KINDS = {
    "squared": "ames biomass car_prices card carseats chem_yield college hitters hotel_rates loans meats midwest mlb1 "
    "nbasal permeability prison saratoga sleep75 tissue_gene uscrime",
    "logistic": "ad_data attrition cells churn heart loanapp oj pima spam7",
    "poisson": "doctor medpar",
}
SETS = {name: loss for loss, names in KINDS.items() for name in names.split()}
HALVES = {name: i % 2 for names in KINDS.values() for i, name in enumerate(names.split())}
AGAINST = {"squared": ("lasso", "elastic net", "relaxed lasso", "abess cv"), "logistic": ("l1",), "poisson": ("l1",)}
EXACT_FIT = "sleep75"  # its error is rounding: in the rows of single sets, not in the means over sets
WORSE = 10.0  # percent, beyond two standard errors: a set that is marked


def table(name: str, split: int) -> tuple[np.ndarray, ...]:
    """Rows to fit and rows to judge."""
    folder = Path(os.environ.get("PURSUIT_DATA") or Path(__file__).parents[2] / "shared" / "data")
    with np.load(folder / "tables.npz", allow_pickle=False) as file:
        X, y = np.asarray(file[f"{name}/X"], float), file[f"{name}/y"]
    y = (y == np.unique(y)[-1]).astype(float) if SETS[name] == "logistic" else np.asarray(y, float)
    rows = np.random.default_rng([split, 12]).permutation(len(y))
    train, test = np.split(rows, [int(0.75 * len(y))])
    varies = np.ptp(X[train], axis=0) > 0
    middle, scale = X[train][:, varies].mean(0), X[train][:, varies].std(0)
    return (X[train][:, varies] - middle) / scale, y[train], (X[test][:, varies] - middle) / scale, y[test]


def error(loss: str, y: np.ndarray, eta: np.ndarray) -> float:
    lost = log_loss(loss, y, eta[:, None])[:, 0]
    if loss == "squared":  # one table has an exact fit: below a millionth of a standard deviation errors are equal
        return 100 * float(np.log(max(lost.mean(), 1e-12 * y.var())))
    return 100 * float((lost + (xlogy(y, y) - y if loss == "poisson" else 0)).mean())


def everyone(loss: str) -> dict:
    found = choosers(loss)
    found["pursuit explain"] = partial(pursuit, loss, goal="explain")
    return found


def measure(key: Key) -> Entry:
    """One fit, judged."""
    name, split, chooser = key
    loss = SETS[name]
    X, y, X_test, y_test = table(name, split)
    began = time.process_time()
    coef, intercept = quiet(everyone(loss)[chooser], X, y)
    spent = time.process_time() - began
    lost = error(loss, y_test, X_test @ coef + intercept)
    return {"seconds": spent, "features": int(np.count_nonzero(coef)), "error": lost}


class Judged:
    """Entries by chooser, set and split."""

    def __init__(self, entries: dict[Key, Entry]) -> None:
        self.entries = entries

    def column(self, chooser: str, field: str, name: str) -> np.ndarray:
        found = {split: e[field] for (where, split, who), e in self.entries.items() if (where, who) == (name, chooser)}
        return np.array([found[split] for split in sorted(found)], dtype=float)

    def names(self, chooser: str) -> list[str]:
        return list(dict.fromkeys(where for where, _, who in self.entries if who == chooser))

    def apart(self, ours: str, theirs: str, name: str) -> tuple[float, float]:
        """Mean difference over splits and its standard error."""
        a, b = self.column(ours, "error", name), self.column(theirs, "error", name)
        if len(a) != len(b) or not len(a):
            return np.nan, np.nan
        return float((a - b).mean()), float((a - b).std(ddof=1) / np.sqrt(len(a))) if len(a) > 1 else np.nan

    def over_sets(self, ours: str, theirs: str, names: list[str]) -> str:
        each = np.array([self.apart(ours, theirs, name)[0] for name in names])
        each = each[np.isfinite(each)]
        if len(each) < 2:
            return "-"
        error = each.std(ddof=1) / np.sqrt(len(each))
        return f"{each.mean():+.1f} ({error:.1f}), median {np.median(each):+.1f}, worst {each.max():+.1f}"

    def features(self, ours: str, theirs: str, names: list[str]) -> str:
        """Ratio of mean numbers of features over sets: of the means, and the geometric mean of ratios."""
        a, b = (np.array([self.column(who, "features", name).mean() for name in names]) for who in (ours, theirs))
        with np.errstate(all="ignore"):
            return f"{a.sum() / b.sum():.2f} ({np.exp(np.mean(np.log(np.maximum(a, 0.5) / np.maximum(b, 0.5)))):.2f})"


def show(console: Console, judged: Judged, loss: str, whom: list[str]) -> None:
    against = [name for name in AGAINST[loss] if judged.names(name)]
    if not against:
        return
    every = [name for name in SETS if SETS[name] == loss and judged.names(whom[0]).count(name)]
    for half, title in ((None, "all sets"), (0, "first half (tuning)"), (1, "second half (judging)")):
        names = [name for name in every if name != EXACT_FIT and half in (None, HALVES[name])]
        out = Table(title=f"{loss}, {title}: {len(names)} sets; percent (standard error over sets), worst set")
        for head in ("", *(f"to {name}" for name in against), f"features / {against[0]} (geometric)", "seconds"):
            out.add_column(head)
        for who in whom:
            if not judged.names(who):
                continue
            seconds = sum(judged.column(who, "seconds", name).sum() for name in names)
            cells = ["" if who == other else judged.over_sets(who, other, names) for other in against]
            out.add_row(who, *cells, judged.features(who, against[0], names), f"{seconds:.1f}")
        console.print(out)
    ours = whom[0]
    out = Table(title=f"{loss}: {ours} by set (standard error over splits)")
    for head in ("set", "half", *(f"to {name}" for name in against), "features", f"of {against[0]}", "seconds", ""):
        out.add_column(head)
    for name in every:
        pairs = [judged.apart(ours, other, name) for other in against]
        first, spread = pairs[0]
        own, theirs = (judged.column(who, "features", name).mean() for who in (ours, against[0]))
        mark = "worse" if first - 2 * spread > WORSE else ""
        cells = [f"{d:+.1f} ({e:.1f})" for d, e in pairs]
        spent = judged.column(ours, "seconds", name).mean()
        out.add_row(name, str(HALVES[name]), *cells, f"{own:.1f}", f"{theirs:.1f}", f"{spent:.2f}", mark)
    console.print(out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=4)
    parser.add_argument("--jobs", type=int, default=2, help="processes, one thread each")
    parser.add_argument("--loss", choices=KINDS, action="append")
    parser.add_argument("--only", action="append", metavar="NAME", help="these choosers only, the first is 'ours'")
    parser.add_argument("--sets", help="these sets only, with commas")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    given = parser.parse_args()
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    console = Console(width=None if Console().is_terminal else 160, highlight=False)
    wanted = set(given.sets.split(",")) if given.sets else set(SETS)
    losses = given.loss or list(KINDS)
    who = {loss: [name for name in everyone(loss) if not given.only or name in given.only] for loss in losses}
    keys: list[Key] = [
        (name, split, chooser)
        for split in range(given.splits)
        for name, loss in SETS.items()
        if loss in losses and name in wanted
        for chooser in who[loss]
    ]
    judged = Judged(run(measure, keys, given.out / "tables.jsonl", given.jobs, console))
    for loss in losses:
        show(console, judged, loss, who[loss])


if __name__ == "__main__":
    main()
