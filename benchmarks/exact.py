"""Proofs: how far, how fast, and never wrong: ``python benchmarks/exact.py [--okridge] [--write]``.

Seconds are those of ``solve`` (auto) and ``certify`` together on a fresh objective, to a relative gap of 1e-6; fastest
of ``--turns``. Processor seconds stand beside them, since a busy machine stretches the first. ``--okridge`` makes an
environment for OKRidge 0.1.1 (it needs numpy < 2) in a temporary folder, or takes the Python given; it runs once, after
a small problem, on one thread (its best), to its usual gap of 1e-4. ``--write`` writes docs/exact.md.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
from machine import facts
from quality import spaced_instance
from rich.console import Console
from run import show_lines
from scipy.special import expit
from verdict import Line, line

import pursuit
from problems import Data

ROOT = Path(__file__).parents[1]
NEEDS = ("okridge==0.1.1", "numpy<2", "requests", "scikit-learn", "psutil", "pandas")
LIMIT = 300.0  # seconds that OKRidge may take
CHILD = """
import contextlib, io, json, sys, time
import numpy as np
from okridge.tree import BNBTree
data = np.load(sys.argv[1])
X, y, k, ridge, limit = data["X"], data["y"], int(data["k"]), float(data["ridge"]), float(data["limit"])
def solve(X, y, k):
    began, own = time.perf_counter(), time.process_time()
    with contextlib.redirect_stdout(io.StringIO()):
        _, x, gap, _, _ = BNBTree(X=X, y=y, lambda2=ridge).solve(k=k, gap_tol=1e-4, time_limit=limit)
    spent = time.perf_counter() - began, time.process_time() - own
    return {"seconds": spent[0], "processor": spent[1], "gap": float(gap), "x": np.asarray(x).tolist()}
solve(X[:200, :50], y[:200], 3)
print(json.dumps(solve(X, y, k)))
"""


@dataclass
class Spent:
    """Wall and processor seconds; for a peer also its gap and our value of its coefficients."""

    seconds: float
    processor: float
    gap: float = 0.0
    value: float = np.nan

    def __str__(self) -> str:
        left = "" if self.gap <= 1.1e-4 else f", gap {self.gap:.1%} left"
        return f"{self.seconds:.2f} ({self.processor:.2f}){left}"


@dataclass
class Row:
    """One line of the table; ``okridge`` may be a sentence."""

    name: str
    k: int
    proof: pursuit.Certificate
    spent: Spent
    okridge: Spent | str = "-"
    lines: list[Line] = field(default_factory=list)


def okridge(python: Path, f: pursuit.GLM, data: Data, k: int, ridge: float) -> Spent | str:
    """What OKRidge spent, or why not."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.npz"
        np.savez(path, X=data.X, y=data.y, k=k, ridge=ridge, limit=LIMIT)
        alone = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # three times faster than with two
        done = subprocess.run([python, "-c", CHILD, path], capture_output=True, text=True, env=alone)
    if done.returncode:
        return f"failed: {done.stderr.strip().splitlines()[-1]}"
    answer = json.loads(done.stdout.splitlines()[-1])
    x = np.array(answer["x"])
    support = np.flatnonzero(x)
    return Spent(answer["seconds"], answer["processor"], answer["gap"], f.at(support, x[support]).value)


def environment(folder: Path) -> Path | str:
    """A Python with OKRidge, or why there is none."""
    python = folder / "bin" / "python"
    for command in (
        [sys.executable, "-m", "venv", folder],
        [python, "-m", "pip", "--disable-pip-version-check", "install", "-q", *NEEDS],
        [python, "-c", "import okridge.tree"],
    ):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            said = (done.stderr or done.stdout).strip().splitlines()
            return f"could not be installed: {said[-1] if said else 'no reason given'}"
    return python


def proof_of(f: pursuit.GLM, k: int, limit: float) -> tuple[pursuit.Certificate, Spent]:
    began, own = time.perf_counter(), time.process_time()
    proof = pursuit.certify(f, pursuit.solve(f, k), time_limit=limit)
    return proof, Spent(time.perf_counter() - began, time.process_time() - own)


def ridge(n: int, p: int, k: int, rho: float, most: float | None, turns: int, python: Path | str) -> Row:
    """Sum of squares plus 0.1 ||x||^2; ``most`` seconds allowed, or a tenth of OKRidge's."""
    data = spaced_instance(n, p, k, rho, 5.0, 0)
    runs = []
    for _ in range(turns):
        f = pursuit.GLM(data.X, data.y, l2=0.1 / n, fit_intercept=False)
        runs.append(proof_of(f, k, 60.0))
    proof, spent = min(runs, key=lambda run: run[1].seconds)
    row = Row(f"ridge n={n} p={p}, AR {rho:g}", k, proof, spent)
    row.okridge = python if isinstance(python, str) else okridge(python, f, data, k, 0.1)
    row.lines.append(line(f"{row.name}, k={k}", "proved", proof.status, proof.status == "proved"))
    if not isinstance(row.okridge, str):
        peer = row.okridge
        shares = spent.seconds / peer.seconds, spent.processor / peer.processor
        said = f"{shares[0]:.4f} (processor {shares[1]:.4f})"
        row.lines.append(line(f"{row.name}: share of OKRidge's time", "< 0.1", said, max(shares) < 0.1))
        excess = proof.upper / peer.value - 1
        row.lines.append(line(f"{row.name}: value against OKRidge's", "<= +1e-9", f"{excess:+.1e}", excess <= 1e-9))
    if most is not None:
        row.lines.append(line(f"{row.name}: seconds", f"< {most:g}", f"{spent.seconds:.2f}", spent.seconds < most))
    return row


def logistic(n: int, p: int, k: int, limit: float, rho: float) -> Row:
    data = spaced_instance(n, p, k, rho, 5.0, 0)
    chance = expit(data.X[:, data.planted].sum(axis=1))
    y = (np.random.default_rng(0).random(n) < chance).astype(float)
    proof, spent = proof_of(pursuit.GLM(data.X, y, "logistic", l2=0.01), k, limit)
    row = Row(f"logistic n={n} p={p}, AR {rho:g}, l2=0.01", k, proof, spent, "squared loss only")
    met = proof.rel_gap <= 0.01
    row.lines = [line(f"{row.name}, {limit:g} s: gap", "<= 1%", f"{proof.rel_gap:.3%} ({proof.status})", met)]
    return row


def perspective(n: int, p: int, k: int, turns: int) -> Row:
    """The bound without branching of a GraHTP result, against the time of the fit."""
    data = spaced_instance(n, p, k, 0.5, 5.0, 0)
    fits, bounds, own = [], [], []
    for _ in range(turns):
        f = pursuit.GLM(data.X, data.y, l2=0.01)
        result = pursuit.solve(f, k, solver="grahtp")
        fits.append(result.seconds)
        before = time.process_time()
        proof = pursuit.certify(f, result)
        bounds.append(proof.seconds)
        own.append(time.process_time() - before)
    row = Row(f"bound only, GraHTP n={n} p={p}, AR 0.5, l2=0.01", k, proof, Spent(min(bounds), min(own)))
    ratio = min(bounds) / min(fits)
    said = f"{ratio:.2f} ({min(bounds):.2f} over {min(fits):.2f} s), gap {proof.rel_gap:.2%}"
    row.lines = [line(f"{row.name}: bound's time over the fit's", "<= 5", said, ratio <= 5)]
    return row


def judge(seed: int) -> tuple[int, int, bool]:
    """Bounds above the enumerated optimum and false proofs at three time limits; and whether the last one proved."""
    sys.path.append(str(ROOT / "tests"))
    from certificates.instances import instance

    case = instance(seed, most=14)
    optimum = case.optimum()
    room, above, false = 1e-9 * max(1.0, abs(optimum)), 0, 0
    result = pursuit.solve(case.objective, case.k, solver="omp", **case.options)
    for limit in (0, None, 2.0):
        proof = pursuit.certify(case.objective, result, time_limit=limit)
        above += proof.lower > optimum + room
        false += proof.status == "proved" and proof.upper > optimum + 1e-6 * abs(proof.upper) + room
    return above, false, proof.status == "proved"


def never_wrong(count: int) -> list[Line]:
    """The instances of tests/certificates, at most 14 columns."""
    with ProcessPoolExecutor() as pool:
        judged = list(pool.map(judge, range(count), chunksize=10))
    wrong = [seed for seed, (above, false, _) in enumerate(judged) if above or false]
    above, false, proved = (sum(column) for column in zip(*judged, strict=True))
    name = f"{count} enumerated instances, p <= 14"
    return [
        line(f"{name}: bounds above the optimum", "0", f"{above} {wrong[:5] or ''}".strip(), above == 0),
        line(f"{name}: false proofs", "0", str(false), false == 0),
        (f"{name}: proved within 2 s", "reported", f"{proved / count:.1%}", "-"),
    ]


def tables(turns: int) -> list[Line]:
    """All sizes with three subsets each, in one table; processor seconds, fastest of ``turns``."""
    instances = {f"AR 0.5, SNR 1, seed {seed}": spaced_instance(200, 30, 6, 0.5, 1.0, seed) for seed in range(3)}
    wanted = dict.fromkeys(instances, 2.0) | {"hitters": 0.02, "car_prices": 0.1, "sleep75": 2.0, "card": 2.0}
    problems = {name: (data.X, data.y) for name, data in instances.items()}
    path = Path(os.environ.get("PURSUIT_DATA") or ROOT.parent / "shared" / "data") / "tables.npz"
    if path.exists():
        with np.load(path) as held:
            problems |= {
                name: (held[f"{name}/X"].astype(float), held[f"{name}/y"].astype(float))
                for name in ("hitters", "car_prices", "sleep75", "card")
            }
    lines = []
    for name, (X, y) in problems.items():
        spent = []
        for _ in range(turns):
            began = time.process_time()
            table = pursuit.best_subsets(X, y, X.shape[1], 3)
            spent.append(time.process_time() - began)
        proved = sum(row.proved for row in table)
        figure = f"best_subsets, {name} ({X.shape[0]} x {X.shape[1]}), all sizes, nbest=3: processor seconds"
        said = f"{min(spent):.4f}, {proved} of {len(table)} rows proved"
        met = min(spent) < wanted[name] and proved == len(table)
        lines.append(line(figure, f"< {wanted[name]:g}, proved", said, met))
    return lines


HEAD = ("instance", "k", "value", "lower bound", "gap", "nodes", "seconds", "OKRidge seconds", "times faster")


def cells(row: Row) -> tuple[str, ...]:
    ratio = "-" if isinstance(row.okridge, str) else f"{row.okridge.seconds / row.spent.seconds:.0f}"
    gap = "proved" if row.proof.status == "proved" else f"{row.proof.rel_gap:.2%}"
    value, lower = f"{row.proof.upper:.8f}", f"{row.proof.lower:.8f}"
    return row.name, str(row.k), value, lower, gap, str(row.proof.nodes), str(row.spent), str(row.okridge), ratio


def page(rows: list[Row], lines: list[Line], machine: dict[str, str]) -> str:
    table = [HEAD, ("---",) * len(HEAD), *(cells(row) for row in rows)]
    judged = [("figure", "wanted", "measured", "verdict"), ("---",) * 4, *lines]
    show = {"t": table, "j": judged}
    text = {key: "\n".join(f"| {' | '.join(cell)} |" for cell in part) for key, part in show.items()}
    return f"""# Proofs, next to other exact methods

Written by `python benchmarks/exact.py --okridge --write`; {machine["processor"]}, {machine["cores"]} cores, numpy
{machine["numpy"]}, load before the run {machine["load before the run"]}.

Tables of best subsets ([summary.md](summary.md)) are proved by leaps and bounds, all sizes at once
([adr/0023](adr/0023-leaps-and-bounds.md)); their lines are those of `--only tables`.

`pursuit.certify(objective, result, time_limit=...)`. AR(1) rows, coefficients 1 at equal spacing, SNR 5, seed 0. Ridge:
a sum of squares plus 0.1 ||x||^2 (`l2=0.1/n`), no intercept. Seconds are those of `solve` and `certify` together to a
relative gap of 1e-6, processor seconds in brackets; OKRidge 0.1.1 gets 1e-4, a warm-up, one thread (its best here) and
{LIMIT:g} seconds at most. A gap is relative to the value. OKRidge solves ridge regression only; l0bnb takes a penalty
instead of k, so it has no row: tried by hand on the first instance, with a penalty of 100 a column (for which the
same 10 columns are best) and M = 2, l0bnb 1.0.0 had a lower bound of 2722 for the optimum of 3063 after 74 s.

{text["t"]}

{text["j"]}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--okridge", nargs="?", const="", metavar="PYTHON", help="run OKRidge too")
    parser.add_argument("--write", action="store_true", help="write docs/exact.md")
    parser.add_argument("--quick", action="store_true", help="small instances, 100 enumerated ones")
    parser.add_argument("--only", choices=["ridge", "logistic", "perspective", "tables", "enumerated"], help="one part")
    parser.add_argument("--turns", type=int, default=3, help="timed turns (default 3)")
    parser.add_argument("--instances", type=int, help="enumerated instances (default 2000)")
    given = parser.parse_args()
    console = Console(width=None if Console().is_terminal else 160, highlight=False)
    machine, rows, lines = facts(), [], []
    show_lines(console, "Machine", ("", ""), machine.items())
    with tempfile.TemporaryDirectory() as folder:
        python: Path | str = "not run"
        if given.okridge is not None:
            python = Path(given.okridge) if given.okridge else environment(Path(folder) / "venv")
        if isinstance(python, str):
            console.print(f"OKRidge: {python}")
        small, turns = given.quick, given.turns
        sizes = (
            [(300, 100, 5, 0.5, None), (300, 100, 5, 0.9, None)]
            if small
            else [(2000, 1000, 10, 0.5, None), (2000, 1000, 10, 0.9, None), (6000, 3000, 10, 0.5, 3.0)]
        )
        shape = (200, 60, 4, 3.0) if small else (1000, 500, 8, 60.0)
        wide = (300, 5000, 10) if small else (5000, 20000, 50)
        parts = [("ridge", partial(ridge, *size, turns, python)) for size in sizes]
        parts += [("logistic", partial(logistic, *shape, rho)) for rho in (0.5, 0.9)]
        parts += [("perspective", partial(perspective, *wide, turns))]
        for name, make in parts:
            if given.only in (None, name):
                rows.append(make())
                lines += rows[-1].lines
                show_lines(console, rows[-1].name, HEAD, [cells(rows[-1])])
    if given.only in (None, "tables"):
        lines += tables(max(turns, 5))
    if given.only in (None, "enumerated"):
        lines += never_wrong(given.instances or (100 if small else 2000))
    show_lines(console, "Reach", ("figure", "wanted", "measured", ""), lines)
    if given.write:
        (ROOT / "docs" / "exact.md").write_text(page(rows, lines, machine))


if __name__ == "__main__":
    main()
