"""Side by side with abess, skscope and scikit-learn's OMP: ``make bench``, or ``python benchmarks/run.py --help``.

Everyone gets the same arrays (float64, C-order unless ``--order F``). After a first call each, which is reported apart,
contenders take turns (a-b-c-a-b-c) and the fastest of their turns counts. The objective of every support is computed by
one neutral function (``problems.objective``). Tables are printed, and written as CSV to benchmarks/results/.
"""

import argparse
import csv
import gc
import time
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

import numpy as np
from floor import best_of, floor, gemm_speed, passes, search_floor
from machine import BUSY, facts
from memory import beyond_x
from peers import CONTENDERS, RECORDED, Contender, Fit
from rich.console import Console
from rich.table import Table
from rows import Row
from verdict import Line, memory_verdict, search_verdict, verdict

from problems import PROBLEMS, Data, Problem, objective

PAUSE = 0.01  # seconds before each timed call, so that the threads of the call before have gone to sleep
SHORT = 0.1  # calls faster than this get five times the turns: their noise is relatively larger


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small problems only, one timed call each")
    parser.add_argument("--only", action="append", metavar="NAME", help="problems whose name contains NAME")
    parser.add_argument("--repeats", type=int, default=5, help="timed calls per contender (default 5)")
    parser.add_argument("--peers", action=argparse.BooleanOptionalAction, default=True, help="run other packages")
    parser.add_argument("--memory", action=argparse.BooleanOptionalAction, default=True, help="measure peak memory")
    parser.add_argument("--order", choices="CF", default="C", help="memory order of X for everyone")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def timed(fit: Fit) -> tuple[float, np.ndarray]:
    gc.collect()
    time.sleep(PAUSE)
    began = time.perf_counter()
    support = fit()
    return time.perf_counter() - began, np.asarray(support)


def race(
    problem: Problem, data: Data, contenders: Iterable[Contender], repeats: int, quick: bool
) -> tuple[list[Row], float]:
    """All contenders on one problem, in turns; and the fastest pass over X met between the turns."""
    rows, running = [], []
    for contender in contenders:
        row = Row(problem.name, contender.name)
        rows.append(row)
        if not contender.installed:
            row.note = "not installed"
            continue
        try:
            fit = contender.prepare(problem, data)
            first, support = timed(fit)
        except Exception as error:
            if contender.ours:
                raise
            row.note = f"failed: {type(error).__name__}: {error}"
            continue
        row.first_seconds, row.size = first, len(support)
        row.objective = objective(problem.kind, data, support)
        row.found = None if data.planted is None else len(np.intersect1d(support, data.planted))
        running.append((contender, fit, row))
    short, once = 1 if quick else 5, np.inf
    ways = passes(data) if problem.kind == "linear" else ()
    for turn in range(short * repeats):
        for contender, fit, row in running:
            most = min(repeats, 2) if contender.compiles else repeats
            if turn < most or (turn < short * repeats and row.seconds < SHORT):
                seconds = timed(fit)[0]
                row.seconds = seconds if row.seconds is None else min(row.seconds, seconds)
        for way in ways:
            once = min(once, best_of(way, 200, 0.1))
    return rows, once


def run(problem: Problem, args: argparse.Namespace) -> tuple[list[Row], list[Line], str]:
    """Rows, verdict and a caption for one problem."""
    data = problem.make(args.seed, args.order)
    contenders = [one for one in CONTENDERS if one.enters(problem) and (args.peers or one.ours)]
    rows, once = race(problem, data, contenders, 1 if args.quick else args.repeats, args.quick)
    recorded = [row for row in RECORDED if row[0] == problem.name]
    peers = [row.seconds for row in rows if not row.ours and row.seconds is not None]  # of this run only
    rows += [Row(name, who, seconds, objective=f, note="recorded, not run") for name, who, seconds, f in recorded]
    for row in rows:
        if row.ours and peers:
            row.vs_peer = min(peers) / row.seconds
    if problem.kind != "linear":
        return rows, search_verdict(problem, rows), ""
    lowest, turns = floor(problem, data, once)
    search = search_floor(problem, once)
    for row in rows:
        if row.seconds is not None:
            row.vs_floor, row.vs_search_floor = row.seconds / lowest, row.seconds / search
    caption = (
        f"floor {1e3 * lowest:.2f} ms = {turns + 1} passes of {1e3 * once:.2f} ms and {turns} refits; "
        f"dgemm {gemm_speed() / 1e9:.0f} Gflop/s\n"
        f"search floor {1e3 * search:.2f} ms = 2 passes and n p k / 2 multiply-adds; "
        f"sgemm {gemm_speed(single=True) / 1e9:.0f} Gflop/s"
    )
    del data
    extra = {}
    if args.memory and problem.size == "large":
        extra = beyond_x(problem, args.seed, args.order)
    return rows, verdict(problem, rows) + search_verdict(problem, rows) + memory_verdict(problem, extra), caption


def shown(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)


def show(console: Console, title: str, rows: list[Row], caption: str) -> None:
    table = Table(title=title, caption=caption, title_justify="left", caption_justify="left")
    table.add_column("contender", no_wrap=True)
    for column in ("seconds", "first call", "objective", "planted", "x fastest peer", "x floor", "x search floor"):
        table.add_column(column, justify="right")
    table.add_column("")
    for row in rows:
        found = "" if row.size is None else f"{'-' if row.found is None else row.found}/{row.size}"
        table.add_row(
            row.contender,
            shown(row.seconds, ".5f"),
            shown(row.first_seconds, ".4f"),
            shown(row.objective, ".10f"),
            found,
            shown(row.vs_peer, ".2f"),
            shown(row.vs_floor, ".2f"),
            shown(row.vs_search_floor, ".2f"),
            row.note,
            style="bold" if row.ours else None,
        )
    console.print(table)


def show_lines(console: Console, title: str, columns: tuple[str, ...], lines: Iterable[tuple[str, ...]]) -> None:
    table = Table(*columns, title=title, title_justify="left")
    for line in lines:
        table.add_row(*line, style="red" if line[-1] == "NOT MET" else None)
    console.print(table)


def write(path: Path, lines: list[dict[str, object]]) -> None:
    if lines:
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(lines[0]))
            writer.writeheader()
            writer.writerows(lines)


def main() -> None:
    args = options()
    console = Console(width=None if Console().is_terminal else 140, highlight=False)
    machine = facts()
    show_lines(console, "Machine", ("", ""), machine.items())
    all_rows: list[Row] = []
    lines: list[Line] = []
    for problem in PROBLEMS:
        if (args.only and not any(name in problem.name for name in args.only)) or (
            args.quick and problem.size != "small"
        ):
            continue
        if problem.size == "sparse" and not problem.path.exists():
            console.print(f"{problem.name}: skipped, its data are not in $PURSUIT_DATA or ../shared/data")
            continue
        rows, judged, caption = run(problem, args)
        show(console, problem.name, rows, caption)
        all_rows += rows
        lines += judged
    if lines:
        busy = (
            "; THE MACHINE WAS BUSY: nothing below about time is final"
            if BUSY in machine["load before the run"]
            else ""
        )
        show_lines(
            console,
            f"Reach (solver=grahtp, where auto is not named){busy}",
            ("figure", "wanted", "measured", ""),
            lines,
        )
    folder = Path(__file__).parent / "results" / time.strftime("%Y%m%d-%H%M%S")
    folder.mkdir(parents=True)
    write(folder / "rows.csv", [asdict(row) for row in all_rows])
    write(
        folder / "verdict.csv",
        [dict(zip(("figure", "wanted", "measured", "met"), line, strict=True)) for line in lines],
    )
    write(folder / "machine.csv", [{"fact": fact, "value": value} for fact, value in machine.items()])
    console.print(f"written to {folder.relative_to(Path(__file__).parents[1])}/")


if __name__ == "__main__":
    main()
