"""Base against head: ``python benchmarks/compare.py BASE_REV [HEAD_REV]`` (head is HEAD unless given).

Each revision is exported, built and installed into a virtual environment of its own in a temporary folder (some
minutes). Then a process of each, in turns, times a handful of calls; the fastest of all turns counts. Revisions are
those of this repository; what is not committed takes no part. Extra arguments: ``--rounds N`` (default 5).
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]


def calls() -> dict[str, float]:
    """Seconds of a handful of calls with the pursuit of this interpreter; best of a few."""
    from peers import estimator, solver

    from problems import LINEAR, LOGISTIC

    seconds = {}
    for problem in (*LINEAR, *LOGISTIC[:2]):
        data = problem.make(0)
        for name, prepare in (("grahtp", solver("grahtp")), ("omp", solver("omp")), ("estimator", estimator)):
            fit = prepare(problem, data)
            times = []
            for _ in range(4):
                began = time.perf_counter()
                fit()
                times.append(time.perf_counter() - began)
            seconds[f"{problem.name} {name}"] = min(times[1:])
    return seconds


def build(revision: str, folder: Path) -> Path:
    """The Python of an environment that has this revision installed."""
    source, venv = folder / "source", folder / "venv"
    source.mkdir(parents=True)
    archive = subprocess.run(["git", "archive", revision], cwd=ROOT, check=True, capture_output=True).stdout
    subprocess.run(["tar", "-x", "-C", source], input=archive, check=True)
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    python = venv / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "-q", source], check=True)
    return python


def turn(python: Path) -> dict[str, float]:
    done = subprocess.run([python, __file__, "--child"], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("base")
    parser.add_argument("head", nargs="?", default="HEAD")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        pythons = {which: build(getattr(args, which), Path(folder) / which) for which in ("base", "head")}
        best: dict[str, dict[str, float]] = {"base": {}, "head": {}}
        for _ in range(args.rounds):
            for which, python in pythons.items():
                for call, seconds in turn(python).items():
                    best[which][call] = min(seconds, best[which].get(call, seconds))
    print(f"{'call':40} {'base ms':>9} {'head ms':>9} {'head/base':>9}")
    for call, base in best["base"].items():
        head = best["head"][call]
        print(f"{call:40} {1e3 * base:9.2f} {1e3 * head:9.2f} {head / base:9.2f}")


if __name__ == "__main__":
    if sys.argv[1:] == ["--child"]:
        print(json.dumps(calls()))
    else:
        main()
