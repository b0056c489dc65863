"""Random problems of the worst kind against enumeration by an independent referee: ``make fuzz-proofs``.

    python tools/fuzz_proofs.py --small 18000 --large 2000 --jobs 2 [--first 100000]

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
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: E402

from fuzz.judge import judge  # noqa: E402
from fuzz.problems import draw  # noqa: E402

CHUNK = 20


def run(task: tuple[int, int]) -> list[tuple[int, int, str]]:
    """Complaints about the problems of some seeds."""
    first, most = task
    found = []
    for seed in range(first, first + CHUNK):
        try:
            with np.errstate(all="ignore"):
                complaints = judge(draw(seed, most))
        except Exception as error:  # a crash is a complaint too
            where = traceback.extract_tb(error.__traceback__)[-1]
            complaints = [f"crash: {type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"]
        found += [(seed, most, complaint) for complaint in complaints]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", type=int, default=18_000, help="problems with at most 7 columns")
    parser.add_argument("--large", type=int, default=2_000, help="problems with at most 12 columns")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    options = parser.parse_args()
    tasks = [
        (options.first + i, most)
        for many, most in ((options.small, 7), (options.large, 12))
        for i in range(0, many, CHUNK)
    ]
    kinds: Counter[str] = Counter()
    began = time.perf_counter()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns) as bar, ProcessPoolExecutor(options.jobs) as pool:
        job = bar.add_task("problems", total=len(tasks) * CHUNK)
        for found in pool.map(run, tasks):
            bar.advance(job, CHUNK)
            for seed, most, complaint in found:
                kinds[complaint.split(":")[0].split(" on ")[0].split(" at ")[0]] += 1
                bar.console.print(f"seed {seed}, most {most}: {complaint}", markup=False, highlight=False)
    print(f"{len(tasks) * CHUNK} problems, {sum(kinds.values())} complaints, {time.perf_counter() - began:.0f} s")
    for kind, count in kinds.most_common():
        print(f"{count:6d}  {kind}")
    return 1 if kinds else 0


if __name__ == "__main__":
    sys.exit(main())
