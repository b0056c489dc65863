"""Random designs whose constants are enumerated against ``curvature`` and ``theorems``: ``make fuzz-curvature``.

    python tools/fuzz_curvature.py --problems 2000 --jobs 1 [--first 0]

Prints every complaint (a bound that is not valid, a false "certified" or "refuted"), then how often truncated power and
the searches came within 1% of the optimum; the exit code is 1 if there was a complaint.
"""

import argparse
import os
import sys
import traceback
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import numpy as np  # noqa: E402

from fuzz.curvature import judge  # noqa: E402

CHUNK = 20


def run(first: int) -> tuple[list[str], np.ndarray]:
    """Complaints about the problems of some seeds, and how many were solved."""
    complaints, hits = [], np.zeros(3)
    for seed in range(first, first + CHUNK):
        try:
            found, good = judge(seed)
        except Exception as error:  # a crash is a complaint too
            where = traceback.extract_tb(error.__traceback__)[-1]
            found, good = [f"crash: {error!r} ({Path(where.filename).name}:{where.lineno})"], (0, 0, 0)
        complaints += [f"seed {seed}: {words}" for words in found]
        hits += good
    return complaints, hits


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, default=2000)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    options = parser.parse_args()
    firsts = range(options.first, options.first + options.problems, CHUNK)
    count, hits = 0, np.zeros(3)
    with ProcessPoolExecutor(options.jobs) as pool:
        for complaints, good in pool.map(run, firsts):
            hits += good
            count += len(complaints)
            for words in complaints:
                print(words, flush=True)
    shares = 100 * hits / (len(firsts) * CHUNK)
    print(
        f"{len(firsts) * CHUNK} problems, {count} complaints; within 1%: truncated power {shares[0]:.1f}%, "
        f"largest {shares[1]:.1f}%, smallest {shares[2]:.1f}%"
    )
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
