"""Large sparse data through the pursuits: passes over X, seconds, memory, loss. ``python benchmarks/scale_sparse.py``.

Data: newsgroups_bigrams (tf-idf, unit rows; 18821 x 1283064) and rcv1_binary from $PURSUIT_DATA, else ../shared/data.
No intercept, no standardisation. Every fit runs in a process of its own on one thread.

| column | what |
|---|---|
| passes | products with the whole of X; of several right-hand sides, one for every eight; of some rows, their share |
| gathers | reads of X for some columns only: their entries, or their product with a vector |
| seconds | of the processor, of one ``solve``; the first pass, which checks that X is finite, is among them |
| floor | passes times the seconds of one pass, measured in the same process |
| memory | the peak beyond X, as a multiple of the bytes of X (CSR); without the vectors over all columns in brackets |
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from memory import resident
from rich.console import Console
from rich.table import Table

import pursuit
from dual import DATA, load
from pursuit import GLM
from pursuit.designs import Sparse

BATCH = ("grahtp", "fgrahtp", "grasp", "pht", "svrght", "diht", "sdiht")
SINGLE = ("omp", "ompr", "foba", "fbs", "arht", "local_search", "auto")
RIDGE = 1e-5
VECTORS = 12  # over all columns, that a solver may hold: points, gradients, what is being ranked
EIGHT = 8  # right-hand sides that share a trip through X


class Counting(Sparse):
    """A sparse matrix that counts how often it is read; rows taken from it count for their share."""

    def __init__(self, X: Any, tally: dict[str, float] | None = None, share: float = 1.0) -> None:
        super().__init__(X)
        self.tally, self.share = {"passes": 0.0, "gathers": 0.0} if tally is None else tally, share

    def take(self, rows: Any) -> "Counting":
        return Counting(self.X[rows], self.tally, self.share * len(rows) / self.shape[0])

    def sweep(self, loss: Any, rows: Any, order: Any, *given: Any) -> None:
        self.tally["passes"] += self.share * len(order) / self.shape[0]
        super().sweep(loss, rows, order, *given)


def counted(name: str, column: str, trips: Any) -> Any:
    def method(self: Counting, *given: Any, **named: Any) -> Any:
        self.tally[column] += self.share * trips(*given)
        return getattr(super(Counting, self), name)(*given, **named)

    return method


for name in ("value_gradient", "stats"):
    setattr(Counting, name, counted(name, "passes", lambda *given: 1))
for name in ("rmatmat", "cross"):
    setattr(Counting, name, counted(name, "passes", lambda w, *given: -(-w.shape[1] // EIGHT)))
for name in ("block", "matmat"):
    setattr(Counting, name, counted(name, "gathers", lambda *given: 1))


def measure(name: str, solver: str, k: int, l2: float, limit: float) -> dict[str, Any]:
    """One fit, in this process."""
    X, y = load(name)
    design = Counting(X)
    f = GLM(design, y, "logistic", l2=l2, fit_intercept=False)
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")  # the high-water mark starts again from here
    before, began = resident("VmRSS"), time.process_time()
    try:
        most_seconds = None if solver in SINGLE and k > 1000 else limit  # a limit is consent to whatever it costs
        result = pursuit.solve(f, k, solver=solver, time_limit=most_seconds)
    except ValueError as refused:
        return {"refused": str(refused)}
    spent, most = time.process_time() - began, resident("VmHWM") - before
    tally = dict(design.tally)
    cols, passes = result.support, []
    for _ in range(5):
        began = time.process_time()
        f.data.at(cols, result.coef, 0.0)
        passes.append(time.process_time() - began)
    return {
        **tally,
        "seconds": spent,
        "pass": min(passes),
        "memory": most,
        "csr": design.nbytes,
        "vector": 8 * f.dim,
        "value": result.value,
        "status": result.status,
        "iterations": result.n_iter,
        "size": len(cols),
        "reason": result.reason,
    }


def apart(*given: Any) -> dict[str, Any]:
    """The same in a process of its own, on one thread."""
    command = [sys.executable, __file__, "--one", *map(str, given)]
    found = subprocess.run(
        command, check=True, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    return json.loads(found.stdout)


def row(found: dict[str, Any]) -> list[str]:
    if "refused" in found:
        return [found["refused"]]
    floor = found["passes"] * found["pass"]
    beyond = found["memory"] - VECTORS * found["vector"]
    return [
        f"{found['value']:.5f}",
        str(found["iterations"]),
        f"{found['passes']:.0f}",
        f"{found['gathers']:.0f}",
        f"{found['seconds']:.2f}",
        f"{floor:.2f}",
        f"{found['seconds'] / floor:.1f}",
        f"{found['memory'] / found['csr']:.2f} ({max(beyond, 0) / found['csr']:.2f})",
        found["status"],
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=("newsgroups_bigrams", "rcv1_binary"), help="one data set")
    parser.add_argument("--solvers", nargs="+", default=[*BATCH, *SINGLE], help="all by default")
    parser.add_argument("--k", nargs="+", type=int, default=[100, 1000, 10_000, 60_000])
    parser.add_argument("--l2", type=float, default=RIDGE)
    parser.add_argument("--limit", type=float, default=600.0, help="seconds for a fit (default 600)")
    parser.add_argument("--one", nargs=5, metavar=("DATA", "SOLVER", "K", "L2", "LIMIT"), help="one fit, as JSON")
    given = parser.parse_args()
    if given.one:
        name, solver, k, l2, limit = given.one
        print(json.dumps(measure(name, solver, int(k), float(l2), float(limit))))
        return
    console = Console(width=140)
    for name in [given.only] if given.only else ("newsgroups_bigrams", "rcv1_binary"):
        if not (DATA / f"{name}.npz").exists():
            console.print(f"{name}: skipped, {name}.npz is not there (set PURSUIT_DATA)")
            continue
        table = Table(title=f"{name}, logistic, l2={given.l2:g}")
        for column in ("solver", "k", "loss", "iterations", "passes", "gathers", "seconds", "floor", "times the floor"):
            table.add_column(column, justify="left" if column == "solver" else "right")
        table.add_column("memory", justify="right")
        table.add_column("ended")
        for solver in given.solvers:
            for k in given.k:
                found = apart(name, solver, k, given.l2, given.limit)
                table.add_row(solver, str(k), *row(found))
                console.print(f"{solver} k={k}: {found}", style="dim")
        console.print(table)


if __name__ == "__main__":
    main()
