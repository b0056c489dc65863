"""Whether values fall with k and are no worse than the path's: ``python benchmarks/search_monotone.py``.

Problems: the regression tables of ``search_tables`` from three sizes on, and simulated ones of ``search_quality``; each
without and with a ridge. Every problem is solved at k and k + 1, and has a path of both sizes. A value counts as worse
if it is so by more than 1e-9 of the null value. Where n p k is at most 1e7 no value may be; beyond that the rate is
reported.
"""

import argparse
from collections.abc import Iterator

import numpy as np
from search_quality import draw
from search_tables import load, regression_tables

from problems import Data

SIZES = (3, 8, 15)  # of the tables
RIDGE = 1e-2  # times the median variance of the columns
WORSE = 1e-9  # of the null value
SMALL = 1e7  # n p k up to which no value may be worse


def problems(simulated: int) -> Iterator[tuple[str, Data, int]]:
    """Name, data and k."""
    for name, p in regression_tables().items():
        data = load(name)
        for k in sorted({min(k, p - 2) for k in SIZES}):
            yield name, data, k
    for seed in range(1000, 1000 + simulated):
        kind, data, k = draw(seed)
        yield f"{kind} {seed}", data, k


def complaints(data: Data, k: int, l2: float) -> list[str]:
    """What is worse than it should be."""
    from pursuit import GLM, path, solve

    def objective() -> GLM:
        return GLM(data.X, data.y, l2=l2)

    room = WORSE * objective().null.value
    values = {size: solve(objective(), size).value for size in (k, k + 1)}
    found = []
    if values[k + 1] > values[k] + room:
        found.append(f"solve: {values[k + 1] - values[k]:.1e} worse at {k + 1} than at {k}")
    known = {at.k: at.value for at in path(objective(), [k, k + 1])}
    found += [
        f"solve at {size}: {(values[size] - known[size]) / room * WORSE:.1e} of the null value above the path"
        for size in values
        if size in known and values[size] > known[size] + room
    ]
    if known.get(k + 1, 0.0) > known.get(k, np.inf) + room:
        found.append(f"path: {known[k + 1] - known[k]:.1e} worse at {k + 1} than at {k}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulated", type=int, default=40, help="simulated problems")
    args = parser.parse_args()
    counts = {True: [0, 0], False: [0, 0]}
    for name, data, k in problems(args.simulated):
        n, p = data.X.shape
        for l2 in (0.0, RIDGE * float(np.median(data.X.var(axis=0)))):
            small, found = n * p * (k + 1) <= SMALL, complaints(data, k, l2)
            counts[small][0] += 1
            counts[small][1] += bool(found)
            for text in found:
                print(f"{name} {n}x{p} k={k} l2={l2:.2g}{'' if small else ' (large)'}: {text}", flush=True)
    for small, (total, worse) in counts.items():
        print(f"n p k {'<=' if small else '>'} {SMALL:g}: {worse} of {total} problems have a worse value")
    return int(counts[True][1] > 0)


if __name__ == "__main__":
    raise SystemExit(main())
