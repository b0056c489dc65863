"""``auto`` next to abess on real regression tables, k = 1..10 and 20: ``python benchmarks/search_tables.py``.

The tables are those of kind "r" in tables.npz (from $PURSUIT_DATA or ../shared/data), columns as in the file, sizes up
to p - 1. Seconds are processor time on one thread, contenders in turns, the fastest turn counts; ours include building
the objective. Values are refits on the supports (``problems.objective``, on standardised columns, which changes no
value), in units of the value without features. Every case is one line of ``--out`` as soon as it is done; ``--resume``
goes on with the file, without it the file is written anew.
"""

import argparse
import os
import time
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
from rich.table import Table
from run import show_lines
from verdict import Line, line

from problems import Data, objective

SIZES = (*range(1, 11), 20)
EQUAL = {"default": 1e-6, "fast": 1e-4, "thorough": 1e-6}  # of the null value, by which ours may be worse
SLOWER = 1.5  # times abess, up to which a case counts as as fast
SHORT = 0.02  # seconds below which a call gets four times the turns


def data_file() -> Path:
    folder = os.environ.get("PURSUIT_DATA") or Path(__file__).parents[2] / "shared" / "data"
    return Path(folder) / "tables.npz"


def regression_tables() -> dict[str, int]:
    """Names of the tables with a numeric target, and their numbers of columns."""
    with np.load(data_file(), allow_pickle=False) as file:
        names = sorted({entry.split("/")[0] for entry in file.files})
        return {name: file[f"{name}/X"].shape[1] for name in names if str(file[f"{name}/kind"]) == "r"}


def load(name: str) -> Data:
    with np.load(data_file(), allow_pickle=False) as file:
        X, y = (np.ascontiguousarray(file[f"{name}/{part}"], dtype=float) for part in "Xy")
    return Data(X, y, None)


def take_turns(calls: dict[str, Callable[[], Any]], turns: int) -> tuple[dict[str, float], dict[str, Any]]:
    """Processor seconds of the fastest turn of each, after a first that does not count; and what they returned."""
    answers = {name: call() for name, call in calls.items()}
    seconds = dict.fromkeys(calls, np.inf)
    for turn in range(4 * turns):
        for name, call in calls.items():
            if turn < turns or seconds[name] < SHORT:
                began = time.process_time()
                call()
                seconds[name] = min(seconds[name], time.process_time() - began)
    return seconds, answers


def contenders(data: Data, k: int, effort: str | None) -> dict[str, Callable[[], Any]]:
    """``solve`` on a fresh objective, and abess at one size; each returns what it found."""
    from abess import LinearRegression

    from pursuit import GLM, solve

    options = {"effort": effort} if effort else {}
    return {
        "auto": lambda: solve(GLM(data.X, data.y), k, **options),
        "abess": lambda: np.flatnonzero(LinearRegression(support_size=k, thread=1).fit(data.X, data.y).coef_),
    }


def measure(turns: int, key: Key) -> Entry:
    name, k, effort = key
    data = load(name)
    seconds, found = take_turns(contenders(data, k, effort), turns)
    spread = data.X.std(axis=0)
    judged = Data((data.X - data.X.mean(axis=0)) / np.where(spread > 0, spread, 1), data.y, None)
    values = [objective("linear", judged, support) for support in (found["auto"].support, found["abess"])]
    null = float(data.y.var() / 2)
    return {
        "n": len(data.y),
        "p": data.X.shape[1],
        "ours": values[0] / null,
        "theirs": values[1] / null,
        "seconds": seconds["auto"],
        "abess": seconds["abess"],
        "optimality": found["auto"].optimality,
    }


def show(console: Console, entries: dict[Key, Entry]) -> None:
    table = Table(title="auto next to abess by table; differences are ours - abess's, of the null value")
    for head in (
        "table",
        "n x p",
        "sizes",
        "auto ms",
        "abess ms",
        "ratio",
        f"within {SLOWER}x",
        "worst difference",
        "best difference",
        "auto better",
        "swap_optimal",
    ):
        table.add_column(head, justify="left" if head == "table" else "right")
    for name in dict.fromkeys(key[0] for key in entries):
        cases = {key[1]: entry for key, entry in entries.items() if key[0] == name}
        ours, theirs, apart = columns(list(cases.values()))
        sizes, first = list(cases), next(iter(cases.values()))
        best = sum(entry["optimality"] == "swap_optimal" for entry in cases.values())
        table.add_row(
            name,
            f"{first['n']} x {first['p']}",
            str(len(cases)),
            f"{1e3 * ours.sum():.2f}",
            f"{1e3 * theirs.sum():.2f}",
            f"{ours.sum() / theirs.sum():.2f}",
            f"{np.mean(ours <= SLOWER * theirs):.0%}",
            f"{apart.max():+.1e} (k={sizes[int(apart.argmax())]})",
            f"{apart.min():+.1e} (k={sizes[int(apart.argmin())]})",
            str(int(np.sum(apart < -1e-9))),
            f"{best}/{len(cases)}",
        )
    console.print(table)


def columns(cases: list[Entry]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Seconds of ours and theirs, and the difference of values."""
    ours, theirs = (np.array([case[field] for case in cases]) for field in ("seconds", "abess"))
    return ours, theirs, np.array([case["ours"] - case["theirs"] for case in cases])


def judged(entries: dict[Key, Entry], effort: str | None) -> list[Line]:
    ours, theirs, apart = columns(list(entries.values()))
    room, worst = EQUAL[effort or "default"], list(entries)[int(apart.argmax())]
    measured = f"{apart.max():+.1e} ({worst[0]}, k={worst[1]}); {np.sum(apart > room)} of {len(apart)} cases above"
    ratio, share = float(ours.sum() / theirs.sum()), float(np.mean(ours <= SLOWER * theirs))
    spread = np.quantile(ours / theirs, [0.1, 0.5, 0.9])
    fast = effort == "fast"
    total = f"{ratio:.2f} ({1e3 * ours.sum():.0f} over {1e3 * theirs.sum():.0f} ms)"
    return [
        line("worse than abess, of the null value", f"<= {room:g}", measured, apart.max() <= room),
        line("total time over abess's", "<= 4", total, ratio <= 4) if not fast else ("total time", "", total, "-"),
        line(f"share within {SLOWER}x abess", ">= 90%", f"{share:.1%}", share >= 0.9)
        if fast
        else (f"share within {SLOWER}x abess", "reported", f"{share:.1%}", "-"),
        ("ratio of times, 10%, 50%, 90%", "reported", ", ".join(f"{r:.2f}" for r in spread), "-"),
        ("strictly better than abess (1e-9)", "reported", f"{np.mean(apart < -1e-9):.1%}", "-"),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", help="these only, with commas; or a number: so many, spread over the alphabet")
    parser.add_argument("--turns", type=int, default=5, help="timed turns; short calls get four times as many")
    parser.add_argument("--effort", choices=list(EQUAL), help="passed on to solve")
    parser.add_argument("--resume", action="store_true", help="go on with the file of an earlier run")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "search_tables.jsonl")
    args = parser.parse_args()
    console = Console(width=None if Console().is_terminal else 160, highlight=False)
    machine, known = facts(), regression_tables()
    show_lines(console, "Machine", ("", ""), machine.items())
    names = list(known)
    if args.tables and args.tables.isdigit():
        names = [names[int(i)] for i in np.linspace(0, len(names) - 1, int(args.tables))]
    elif args.tables:
        names = args.tables.split(",")
    keys: list[Key] = [(name, k, args.effort) for name in names for k in SIZES if k <= known[name] - 1]
    if not args.resume:
        args.out.unlink(missing_ok=True)
    entries = run(partial(measure, args.turns), keys, args.out, 1, console)
    show(console, entries)
    busy = "; THE MACHINE WAS BUSY: ratios of times are not final" if BUSY in machine["load before the run"] else ""
    show_lines(
        console,
        f"Regression tables, effort {args.effort or 'not given'}{busy}",
        ("figure", "wanted", "measured", ""),
        judged(entries, args.effort),
    )


if __name__ == "__main__":
    main()
