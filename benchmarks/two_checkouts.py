"""Small data, two checkouts in turns: ``python benchmarks/two_checkouts.py BASE [HEAD] [--calls 300] [--rounds 5]``.

BASE and HEAD (this checkout unless given) are folders with ``src/pursuit`` and a compiled core, either beside it or
where ``make .venv/stamp-dev`` puts it. A process of each makes the calls: building the objective, then ``solve``. One
call of BASE, one of HEAD, and so on, so that both see the same machine. For each problem: the ratio HEAD / BASE of the
least processor time of all calls, median of the rounds, on one thread. Wanted of a change that claims not to cost small
data anything: at most 1.03.
"""

import argparse
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

WORKER = """
import glob, os, sys, time
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"
root = sys.argv[1]
sys.meta_path[:] = [finder for finder in sys.meta_path if "ScikitBuild" not in type(finder).__name__]
sys.path.insert(0, root + "/src")
import importlib.util, pursuit
assert pursuit.__file__.startswith(root), pursuit.__file__
places = "/src/pursuit", "/.venv/lib/python*/site-packages/pursuit"
core = [file for place in places for file in glob.glob(root + place + "/_core*.so")]
spec = importlib.util.spec_from_file_location("pursuit._core", core[0])
pursuit._core = sys.modules["pursuit._core"] = module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
import numpy as np

def problem(n, p, k, loss):
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, p))
    y = X[:, :k] @ rng.standard_normal(k) + rng.standard_normal(n)
    y = (y > 0).astype(float) if loss == "logistic" else y
    return lambda: pursuit.solve(pursuit.GLM(X, y, loss, l2=1e-3), k)

calls = {name: problem(*settings) for name, settings in eval(sys.argv[2]).items()}
for line in sys.stdin:
    call = calls[line.strip()]
    began = time.process_time()
    call()
    print(time.process_time() - began, flush=True)
"""

#: rows, columns, k, loss
PROBLEMS = {
    "100 x 20": (100, 20, 3, "squared"),
    "442 x 64": (442, 64, 10, "squared"),
    "569 x 30 logistic": (569, 30, 5, "logistic"),
}


def worker(root: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WORKER, str(root.resolve()), repr(PROBLEMS)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def seconds(process: subprocess.Popen[str], name: str) -> float:
    assert process.stdin is not None
    assert process.stdout is not None
    print(name, file=process.stdin, flush=True)
    return float(process.stdout.readline())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base", type=Path)
    parser.add_argument("head", type=Path, nargs="?", default=ROOT)
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    both = worker(args.base), worker(args.head)
    for name in PROBLEMS:
        for process in both:
            seconds(process, name)  # imports, caches
        ratios = list[float]()
        for _ in range(args.rounds):
            times = [[seconds(process, name) for process in both] for _ in range(args.calls)]
            base, head = (min(some) for some in zip(*times, strict=True))
            ratios.append(head / base)
        rounds = ", ".join(f"{ratio:.3f}" for ratio in ratios)
        least = f"ms {1e3 * base:.3f} and {1e3 * head:.3f}"
        print(f"{name}: {statistics.median(ratios):.3f} ({rounds}), {least}", flush=True)
    for process in both:
        process.terminate()


if __name__ == "__main__":
    main()
