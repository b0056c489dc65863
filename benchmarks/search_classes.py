"""``auto`` next to abess on real tables with two classes, k = 1..10: ``python benchmarks/search_classes.py``.

The tables are those of kind "c" with two labels in tables.npz (as in search_tables.py, whose turns, columns and table
are used), sizes up to p - 1, logistic loss with an intercept and no ridge. Values are refits on the supports by SciPy
(``problems.objective``, on standardised columns, which changes no value), in units of the value without features. Every
case is one line of ``--out`` as soon as it is done; ``--resume`` goes on with the file.
"""

import argparse
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
from machine import BUSY, facts
from resumable import Entry, Key, run
from rich.console import Console
from run import show_lines
from search_tables import columns, data_file, show, take_turns
from verdict import Line, line

from problems import Data, objective

SIZES = range(1, 11)
EQUAL = 1e-6  # of the null value, by which ours may be worse
TIMES = 3.0  # abess's, that all cases together may take


def tables() -> dict[str, Data]:
    """The tables with two classes, y 0 and 1."""
    found = {}
    with np.load(data_file(), allow_pickle=False) as file:
        for name in sorted({entry.split("/")[0] for entry in file.files}):
            if str(file[f"{name}/kind"]) == "c" and len(labels := np.unique(file[f"{name}/y"])) == 2:
                X = np.ascontiguousarray(file[f"{name}/X"], dtype=float)
                found[name] = Data(X, (file[f"{name}/y"] == labels[1]).astype(float), None)
    return found


def contenders(data: Data, k: int) -> dict[str, Callable[[], Any]]:
    from abess import LogisticRegression

    from pursuit import GLM, solve

    return {
        "auto": lambda: solve(GLM(data.X, data.y, "logistic"), k),
        "abess": lambda: np.flatnonzero(LogisticRegression(support_size=k, thread=1).fit(data.X, data.y).coef_),
    }


def measure(known: dict[str, Data], turns: int, key: Key) -> Entry:
    name, k = key
    data = known[name]
    seconds, found = take_turns(contenders(data, k), turns)
    spread = data.X.std(axis=0)
    judged = Data((data.X - data.X.mean(axis=0)) / np.where(spread > 0, spread, 1), data.y, None)
    values = [objective("logistic", judged, support) for support in (found["auto"].support, found["abess"])]
    null = objective("logistic", judged, np.empty(0, np.int64))
    return {
        "n": len(data.y),
        "p": data.X.shape[1],
        "ours": values[0] / null,
        "theirs": values[1] / null,
        "seconds": seconds["auto"],
        "abess": seconds["abess"],
        "optimality": found["auto"].optimality,
    }


def judged(entries: dict[Key, Entry]) -> list[Line]:
    ours, theirs, apart = columns(list(entries.values()))
    worst, ratio = list(entries)[int(apart.argmax())], float(ours.sum() / theirs.sum())
    measured = f"{apart.max():+.1e} ({worst[0]}, k={worst[1]}); {np.sum(apart > EQUAL)} of {len(apart)} cases above"
    total = f"{ratio:.2f} ({1e3 * ours.sum():.0f} over {1e3 * theirs.sum():.0f} ms)"
    return [
        line("worse than abess, of the null value", f"<= {EQUAL:g}", measured, apart.max() <= EQUAL),
        line("total time over abess's", f"<= {TIMES:g}", total, ratio <= TIMES),
        ("strictly better than abess (1e-9)", "reported", f"{np.mean(apart < -1e-9):.1%}", "-"),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", help="these only, with commas")
    parser.add_argument("--turns", type=int, default=3, help="timed turns; short calls get four times as many")
    parser.add_argument("--resume", action="store_true", help="go on with the file of an earlier run")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "search_classes.jsonl")
    args = parser.parse_args()
    console = Console(width=None if Console().is_terminal else 160, highlight=False)
    machine, known = facts(), tables()
    show_lines(console, "Machine", ("", ""), machine.items())
    names = args.tables.split(",") if args.tables else list(known)
    keys: list[Key] = [(name, k) for name in names for k in SIZES if k <= known[name].X.shape[1] - 1]
    if not args.resume:
        args.out.unlink(missing_ok=True)
    entries = run(partial(measure, known, args.turns), keys, args.out, 1, console)
    show(console, entries)
    busy = "; THE MACHINE WAS BUSY: ratios of times are not final" if BUSY in machine["load before the run"] else ""
    show_lines(console, f"Tables with two classes{busy}", ("figure", "wanted", "measured", ""), judged(entries))


if __name__ == "__main__":
    main()
