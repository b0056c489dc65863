"""Random covariance matrices of the worst kind, every claim about their graphs against refits of all of them.

    python tools/fuzz_graphs.py --problems 10000 --jobs 2 [--first 100000]

Prints every complaint as it comes, then how many there were of each kind; the exit code is 1 if there was one.
"""

import argparse
import os
import sys
import time
import traceback
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import numpy as np  # noqa: E402

from graphs.fuzzed import draw, judge  # noqa: E402

CHUNK = 20


def run(first: int) -> list[tuple[int, str]]:
    """Complaints about the problems of some seeds."""
    found = []
    for seed in range(first, first + CHUNK):
        try:
            with np.errstate(all="ignore"):
                problem = draw(seed)
                complaints = [f"{complaint} [{problem.solver}]" for complaint in judge(problem)]
        except Exception as error:  # a crash is a complaint too
            where = traceback.extract_tb(error.__traceback__)[-1]
            complaints = [f"crash: {type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"]
        found += [(seed, complaint) for complaint in complaints]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, default=10_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    options = parser.parse_args()
    kinds: Counter[str] = Counter()
    began = time.perf_counter()
    with ProcessPoolExecutor(options.jobs) as pool:
        for found in pool.map(run, range(options.first, options.first + options.problems, CHUNK)):
            for seed, complaint in found:
                kinds[" ".join(complaint.split()[:2])] += 1
                print(f"seed {seed}: {complaint}", flush=True)
    print(f"{options.problems} problems, {sum(kinds.values())} complaints, {time.perf_counter() - began:.0f} s")
    for kind, count in kinds.most_common():
        print(f"{count:6d}  {kind}")
    return 1 if kinds else 0


if __name__ == "__main__":
    sys.exit(main())
